//! The three files of one run.

use super::{Folder, Shown, blocking};
use crate::dex::{self, Record};
use crate::runtime::{Inner, RuntimeError};
use entourage_engine::{dex_word, profile_id};
use entourage_model::{RunId, RunStatus, Timestamp};
use entourage_store::{RunRow, StoreError};
use serde_json::{Value, json};
use std::io;

/// Events that are read at once.
const PAGE: usize = 500;

pub(super) fn folder_of(run: &RunId) -> String {
    format!("runs/{run}")
}

fn file(run: &RunId, name: &str) -> String {
    format!("{}/{name}", folder_of(run))
}

/// Whether the files say that the run has ended as it did. Its status is written last: then nothing is missing.
pub(super) fn is_whole(folder: &Folder, run: &RunId, status: RunStatus) -> io::Result<bool> {
    let bytes = folder.read(&file(run, "status.json"))?.unwrap_or_default();
    let told: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    Ok(status.is_terminal() && told["status"] == dex_word(status))
}

/// Writes what is missing: the request, then the events, then the status.
pub(super) async fn catch_up(
    inner: &Inner,
    folder: Folder,
    run: &RunId,
    shown: &mut Shown,
) -> Result<(), RuntimeError> {
    let Some(row) = inner.store.run(run).await? else { return Ok(()) };
    // Another node may have written to the same folder meanwhile.
    let known = if inner.store.is_shared() { None } else { shown.seq };
    let seq = match known {
        Some(seq) => seq,
        None => first_look(&folder, &row).await.map_err(|fault| unwritten(&fault))?,
    };
    let (lines, seq) = lines(inner, &row, seq).await?;
    let status = row.status;
    let document = if shown.status == Some(status) { None } else { Some(told(inner, &row).await?) };
    let (lines_file, status_file) = (file(run, "events.jsonl"), file(run, "status.json"));
    let write = move || {
        if !lines.is_empty() {
            folder.append(&lines_file, &lines)?;
        }
        match document {
            Some(document) => folder.replace(&status_file, document.to_string().as_bytes()),
            None => Ok(()),
        }
    };
    blocking(write).await.map_err(|fault| unwritten(&fault))?;
    (shown.seq, shown.status) = (Some(seq), Some(status));
    Ok(())
}

/// Writes the request if nobody has, and says which event was shown last.
async fn first_look(folder: &Folder, row: &RunRow) -> io::Result<u64> {
    let (folder, run) = (folder.clone(), row.id.clone());
    let request = json!({
        "runId": row.id,
        "profile": profile_id(&row.agent),
        "task": row.request,
        "threadId": row.thread,
        "parentThreadId": row.parent,
        "createdAt": row.created_at.to_utc(),
    });
    blocking(move || {
        let request_file = file(&run, "request.json");
        if folder.read(&request_file)?.is_none() {
            folder.replace(&request_file, request.to_string().as_bytes())?;
        }
        let last = folder.last_line(&file(&run, "events.jsonl"))?.unwrap_or_default();
        let last: Value = serde_json::from_slice(&last).unwrap_or_default();
        Ok(last["seq"].as_u64().unwrap_or_default())
    })
    .await
}

/// The events behind `seq` as lines, and the number of the last one.
async fn lines(inner: &Inner, row: &RunRow, mut seq: u64) -> Result<(Vec<u8>, u64), StoreError> {
    let mut lines = Vec::new();
    loop {
        let page = inner.store.journal(row.thread, seq, PAGE).await?;
        for stored in &page {
            seq = stored.seq;
            lines.extend_from_slice(dex::shown_event(&stored.event, seq).to_string().as_bytes());
            lines.push(b'\n');
        }
        if page.len() < PAGE {
            return Ok((lines, seq));
        }
    }
}

async fn told(inner: &Inner, row: &RunRow) -> Result<Value, RuntimeError> {
    let time = |at: Option<Timestamp>| at.map(Timestamp::to_utc);
    // Before its end there is nothing that its journal would have to be read for.
    let record = if row.status.is_terminal() { Record::read(inner, &row.id).await? } else { None };
    let result = record.and_then(|record| record.result());
    Ok(json!({
        "runId": row.id,
        "profile": profile_id(&row.agent),
        "status": dex_word(row.status),
        // Whoever works on it; here that is a thread.
        "gatewayRunId": row.thread,
        "result": result,
        "error": row.error,
        "createdAt": row.created_at.to_utc(),
        "startedAt": time(row.started_at),
        "endedAt": time(row.ended_at),
    }))
}

fn unwritten(fault: &io::Error) -> RuntimeError {
    RuntimeError::Broken(fault.to_string())
}
