//! `entourage store …`: looking after the store itself.

use crate::failure::{Exit, Failure};
use crate::invocation::Invocation;
use crate::key_file;
use crate::storage::Storage;
use clap::{Args, Subcommand};
use entourage_model::{Report, Severity};
use entourage_store::Table;
use serde_json::{Map, Value, json};

/// Rows of a table after which somebody who waits is told.
const STEP: u64 = 50_000;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Look for damage
    #[command(after_help = "Example:\n  entourage store check --json     exits with 9 if anything is damaged")]
    Check,
    /// Bring the store to the form that this version writes
    #[command(after_help = "\
Example:
  entourage --store postgres://me@db.example/threads store migrate     before the fleet is told of a new version

Every command does so when it opens a store of an earlier version. A store of a newer one is refused.")]
    Migrate,
    /// Copy everything into an empty store
    #[command(after_help = "\
Examples:
  entourage store copy --to postgres://me@db.example/threads
  entourage --store postgres://me@db.example/threads store copy --to sqlite:backup

Nobody may work on the store meanwhile. What is copied is read back and compared.")]
    Copy(CopyArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CopyArguments {
    /// The store to fill: `sqlite:DIR` or `postgres://…`
    #[arg(long, value_name = "URL")]
    to: String,
}

/// `entourage store check`.
pub(crate) async fn check(invocation: &Invocation) -> Result<(), Failure> {
    let storage = Storage::look(invocation).await?;
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

/// `entourage store migrate`: opening a store is what brings it up to date.
pub(crate) async fn migrate(invocation: &Invocation) -> Result<(), Failure> {
    let storage = existing(invocation).await?;
    storage.store.close().await;
    if invocation.is_json() {
        invocation.screen.json(&json!({ "store": storage.place }));
    } else {
        invocation.screen.data(&format!("the store `{}` is up to date", storage.place));
    }
    Ok(())
}

/// `entourage store copy`.
pub(crate) async fn copy(invocation: &Invocation, arguments: CopyArguments) -> Result<(), Failure> {
    let from = existing(invocation).await?;
    let to = Storage::open_url(&arguments.to).await?;
    let told = |table: Table, count: u64| {
        if count.is_multiple_of(STEP) {
            invocation.screen.note(&format!("{count} {}", table.word()));
        }
    };
    let copied = entourage_store::copy(&*from.store, &*to.store, told).await;
    let copied = copied.map_err(|error| to.refused(&error))?;
    key_file::hand_over(&invocation.project, &to).await?;
    from.store.close().await;
    to.store.close().await;
    let rows = copied.into_iter().filter(|(table, _)| *table != Table::Position);
    if invocation.is_json() {
        let rows: Map<String, Value> =
            rows.map(|(table, count)| (table.word().replace(' ', "_"), json!(count))).collect();
        invocation.screen.json(&json!({ "from": from.place, "to": to.place, "rows": rows }));
    } else {
        let rows: Vec<String> = rows.map(|(table, count)| format!("{count} {}", table.word())).collect();
        let rows = if rows.is_empty() { "nothing".to_owned() } else { rows.join(", ") };
        invocation.screen.data(&format!("copied and compared: {rows}\nthe copy is `{}`", to.place));
    }
    Ok(())
}

/// The store, if there is one: none is made in order to be looked after.
async fn existing(invocation: &Invocation) -> Result<Storage, Failure> {
    match Storage::existing(invocation).await? {
        Some(storage) => Ok(storage),
        None => {
            let report = Report::error("S039", "there is no store here");
            Err(Failure::usage(report.hint("`--project`, `--data` or `--store` say where it is")))
        }
    }
}
