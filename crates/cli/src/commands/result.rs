//! `entourage result RUN`: the whole result of a run, which counts as read from then on.

use crate::failure::{Exit, Failure};
use crate::invocation::Invocation;
use crate::source::Holder;
use crate::{advice, identifier};
use clap::Args;
use entourage_model::{Report, RunStatus};
use entourage_serve::shape::Run;
use entourage_store::RunRow;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  entourage result 7f3a     any beginning or end of the id that is unique")]
pub(crate) struct Arguments {
    /// The run's id, or a part of it
    #[arg(value_name = "RUN")]
    run: String,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let holder = Holder::look(invocation).await?;
    let source = holder.source();
    let row = identifier::run(source, &arguments.run).await?;
    if invocation.is_json() {
        invocation.screen.json(&Run::from(&row));
    } else if let Some(result) = &row.result {
        invocation.screen.data(result);
    }
    if row.status.is_terminal() && invocation.screen.is_delivered() {
        source.mark_delivered(&row.id).await?;
    }
    source.close().await;
    outcome(&row, &holder)
}

fn outcome(row: &RunRow, holder: &Holder) -> Result<(), Failure> {
    let error = row.error.as_deref().unwrap_or_default();
    match row.status {
        RunStatus::Done => Ok(()),
        RunStatus::Failed => {
            let report = Report::error("C024", format!("agent `{}` failed: {error}", row.agent));
            Err(Failure::new(Exit::AgentFailed, report.hint(advice::for_failure(error, row.thread))))
        }
        RunStatus::Cancelled => {
            let report = Report::error("C025", format!("agent `{}` did not finish: {error}", row.agent));
            Err(Failure::new(Exit::Cancelled, report))
        }
        RunStatus::Interrupted => {
            let report = Report::error("C028", format!("run `{}` has no result yet: it is interrupted", row.id));
            Err(Failure::usage(report.hint("whoever started it can resume it; `entourage cancel` ends it")))
        }
        RunStatus::Pending | RunStatus::Running => {
            let report =
                Report::error("C028", format!("run `{}` has no result yet: it is {}", row.id, row.status.word()));
            Err(Failure::usage(report.hint(match holder {
                Holder::Store(_) => format!("`entourage resume {}` goes on with it", row.thread),
                Holder::Server(_) => {
                    format!("a server works on it: `entourage tail {} --follow` shows how", row.thread)
                }
            })))
        }
    }
}
