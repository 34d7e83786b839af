//! `entourage store …`: looking after the store itself.

use crate::failure::{Exit, Failure};
use crate::invocation::Invocation;
use crate::storage::Storage;
use clap::Subcommand;
use entourage_model::Severity;
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Look for damage
    Check,
}

/// `entourage store check`.
pub(crate) async fn check(invocation: &Invocation) -> Result<(), Failure> {
    let storage = Storage::look(invocation)?;
    let reports = storage.store.check().await.map_err(|error| storage.refused(&error))?;
    storage.store.close().await;
    let errors = reports.iter().filter(|report| report.severity == Severity::Error).count();
    if invocation.is_json() {
        invocation.screen.json(&json!({ "reports": reports }));
    } else {
        let paint = invocation.screen.data_paint();
        let found: String = reports.iter().map(|report| format!("{}\n\n", paint.report(report))).collect();
        let summary = if errors == 0 { "is sound".to_owned() } else { format!("has {errors} faults") };
        invocation.screen.data(&format!("{found}the store `{}` {summary}", storage.place));
    }
    if errors == 0 { Ok(()) } else { Err(Failure::told(Exit::Store)) }
}
