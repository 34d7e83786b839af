//! `entourage check`: faults in settings and declarations, with their places.

use crate::failure::{Exit, Failure};
use crate::invocation::Invocation;
use crate::models;
use clap::Args;
use entourage_model::{Report, Severity};
use serde_json::json;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage check                            every fault of this project, each with its place
  entourage --project ../other check --json  the same for a program

Exits with 1 if there is any error; warnings alone are 0.")]
pub(crate) struct Arguments {}

pub(crate) fn perform(invocation: &Invocation) -> Result<(), Failure> {
    let loaded = invocation.declarations();
    let provider = models::unknown_provider(&invocation.settings);
    let reports: Vec<_> = invocation.settings_reports.iter().chain(&provider).chain(&loaded.reports).collect();
    let count = |severity| reports.iter().filter(|report| report.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if invocation.is_json() {
        invocation.screen.json(&json!({ "reports": reports }));
    } else {
        invocation.screen.data(&words(&reports, loaded.team.agents.len(), (errors, warnings), invocation));
    }
    if errors == 0 { Ok(()) } else { Err(Failure::told(Exit::Usage)) }
}

fn words(reports: &[&Report], agents: usize, (errors, warnings): (usize, usize), invocation: &Invocation) -> String {
    let paint = invocation.screen.data_paint();
    let mut text = String::new();
    for report in reports {
        text.push_str(&paint.report(report));
        text.push_str("\n\n");
    }
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    text.push_str(&format!(
        "{}, {}, {}",
        plural(agents, "agent"),
        plural(errors, "error"),
        plural(warnings, "warning")
    ));
    text
}
