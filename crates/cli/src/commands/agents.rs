//! `entourage agents`: what this project declares, from which file and format.

use crate::declarations::is_of_packages;
use crate::invocation::Invocation;
use crate::table;
use clap::Args;
use entourage_model::{Report, Severity};
use entourage_serve::shape::AgentLine;
use serde_json::json;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage agents            the agents of this project, wherever they are declared
  entourage agents --json     the same for a program")]
pub(crate) struct Arguments {}

/// Broken settings and declarations are told on stderr; what is in order is listed.
pub(crate) fn perform(invocation: &Invocation) {
    let loaded = invocation.declarations();
    let is_told = |report: &&Report| report.severity == Severity::Error || is_of_packages(report);
    let told = loaded.reports.iter().filter(is_told);
    for report in invocation.settings_reports.iter().chain(told) {
        invocation.screen.report(report);
    }
    let agents = loaded.team.agents.values();
    if invocation.is_json() {
        let agents: Vec<_> = agents.map(|agent| AgentLine::from(&**agent)).collect();
        return invocation.screen.json(&json!({ "agents": agents }));
    }
    let rows: Vec<_> = agents
        .map(|agent| {
            let file = agent.source.file.clone().unwrap_or_else(|| "-".to_owned());
            let description = table::first_line(&agent.description, 80);
            [table::cell(agent.name.as_str()), agent.source.format.clone(), table::cell(&file), description]
        })
        .collect();
    let heads = ["AGENT", "FORMAT", "FILE", "DESCRIPTION"];
    invocation.screen.data(&table::lines(heads, &rows, invocation.screen.data_paint()));
}
