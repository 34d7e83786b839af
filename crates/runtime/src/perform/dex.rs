//! Looking up runs of the `dex` dialect, for the thread that asked for them.

use super::look::Found;
use crate::dex::{RESULT_BYTES_MAX, Record, Window, document};
use crate::runtime::{Inner, RuntimeError};
use entourage_model::{Act, Outcome, RunId, ThreadId};
use serde_json::{Value, json};

/// What the results that are joined take up together, and what each may at least.
const JOINED_BYTES_MAX: usize = 64 << 10;
const JOINED_BYTES_MIN: usize = 1 << 10;

/// The document of one run.
pub(super) async fn run(inner: &Inner, thread: ThreadId, run: &RunId, window: Window) -> Result<Found, RuntimeError> {
    let Some((told, acts)) = read(inner, thread, run, window).await? else {
        return Ok(Found::nothing(format!("There is no run `{run}`.")));
    };
    Ok(Found { outcome: Outcome::Done, text: told.to_string(), acts })
}

/// The documents of the runs of these tasks, in their order: as many as an answer may hold, and how to join the others.
pub(super) async fn joined(
    inner: &Inner,
    thread: ThreadId,
    tasks: Vec<(String, RunId)>,
) -> Result<Found, RuntimeError> {
    let (mut results, mut acts, mut used) = (Vec::new(), Vec::new(), 0);
    let share = JOINED_BYTES_MAX / tasks.len().max(1);
    let result_bytes_max = share.clamp(JOINED_BYTES_MIN, RESULT_BYTES_MAX);
    let window = Window { after: None, from: None, result_bytes_max };
    for (place, (task, run)) in tasks.iter().enumerate() {
        let Some((mut told, read)) = read(inner, thread, run, window).await? else { continue };
        // What each of them did on the way is looked up by whoever needs it: together they would be too much.
        if let Some(told) = told.as_object_mut() {
            told.insert("taskId".to_owned(), task.as_str().into());
            told.remove("events");
            told.remove("eventsCut");
        }
        used += told.to_string().len();
        if used > inner.limits.tool_output_bytes && !results.is_empty() {
            let rest: Vec<&str> = tasks[place..].iter().map(|(task, _)| task.as_str()).collect();
            let cut = json!({"leftOut": rest.len(), "readOn": {"tool": "task_join", "arguments": {"taskIds": rest}}});
            let text = json!({ "results": results, "resultsCut": cut }).to_string();
            return Ok(Found { outcome: Outcome::Done, text, acts });
        }
        results.push(told);
        acts.extend(read);
    }
    Ok(Found { outcome: Outcome::Done, text: json!({ "results": results }).to_string(), acts })
}

/// Other threads' runs are none of its business.
async fn read(
    inner: &Inner,
    thread: ThreadId,
    run: &RunId,
    window: Window,
) -> Result<Option<(Value, Vec<Act>)>, RuntimeError> {
    let record = Record::read(inner, run).await?.filter(|record| record.row.parent == Some(thread));
    Ok(record.map(|record| {
        let is_over = record.row.status.is_terminal();
        let acts = if is_over { vec![Act::ReadRun { run: run.clone() }] } else { Vec::new() };
        (document(&record, window), acts)
    }))
}
