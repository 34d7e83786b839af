//! The one document that `subagent` answers about a run: bounded, with a handle to what was left out.

use super::Record;
use entourage_engine::{Bounds, dex_fit};
use serde_json::{Value, json};

/// A result of more bytes is cut to these.
pub(crate) const RESULT_BYTES_MAX: usize = 16 << 10;
/// Of a result that is too long, a text may have this part of the room.
const RESULT_TEXT_PART: usize = 4;
const RESULT_ENTRIES_MAX: usize = 50;
/// What the shown events take up together.
const EVENTS_BYTES_MAX: usize = 12 << 10;
const EVENT_TEXT_BYTES_MAX: usize = 2 << 10;
const EVENT_ENTRIES_MAX: usize = 50;
/// A part of the result's own text, as it is read on.
const PART_BYTES_MAX: usize = 32 << 10;

/// Which part of a run is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// The events behind this number; otherwise the last ones.
    pub(crate) after: Option<u64>,
    /// The text of the result from this byte on; otherwise the result itself.
    pub(crate) from: Option<usize>,
    /// What the result may take up.
    pub(crate) result_bytes_max: usize,
}

pub(crate) fn document(record: &Record, window: Window) -> Value {
    let run = &record.row.id;
    let (result, rest) = match window.from {
        Some(from) => (part(record, from), None),
        None => bounded_result(record, window.result_bytes_max),
    };
    let events = if window.from.is_some() { Events::default() } else { events(record, window.after) };
    let mut document = json!({
        "runId": run,
        "profile": record.profile(),
        "status": record.word(),
        "result": result,
        "events": events.shown,
        "gatewayRunId": record.row.thread,
    });
    if let Some(bytes) = rest {
        document["resultCut"] = json!({
            "bytes": bytes,
            "readAll": {"tool": "subagent", "arguments": {"action": "result", "runId": run, "offset": 0}},
        });
    }
    if events.before + events.behind > 0 || events.is_cut {
        let after = if events.behind > 0 { events.last } else { 0 };
        document["eventsCut"] = json!({
            "leftOut": events.before + events.behind,
            "readOn": {"tool": "subagent", "arguments": {"action": "status", "runId": run, "after": after}},
            "file": format!("runs/{run}/events.jsonl"),
        });
    }
    document
}

/// The result, and how many bytes it has if that is not all of it.
fn bounded_result(record: &Record, bytes_max: usize) -> (Value, Option<usize>) {
    let Some(result) = record.result() else { return (Value::Null, None) };
    let bytes = result.to_string().len();
    if bytes <= bytes_max {
        return (result, None);
    }
    let bounds = Bounds { text: bytes_max / RESULT_TEXT_PART, entries: RESULT_ENTRIES_MAX };
    (dex_fit(&result, bytes_max, bounds), Some(bytes))
}

/// A piece of the result's JSON text.
fn part(record: &Record, from: usize) -> Value {
    let Some(text) = record.result().map(|result| result.to_string()) else { return Value::Null };
    let from = text.floor_char_boundary(from.min(text.len()));
    let to = text.floor_char_boundary(from.saturating_add(PART_BYTES_MAX).min(text.len()));
    let next = (to < text.len()).then_some(to);
    json!({"offset": from, "text": &text[from..to], "bytes": text.len(), "nextOffset": next})
}

#[derive(Debug, Default)]
struct Events {
    shown: Vec<Value>,
    /// How many there are before the shown ones, and behind them.
    before: usize,
    behind: usize,
    /// A text of theirs is not shown whole.
    is_cut: bool,
    last: u64,
}

/// With `after` the first ones behind it, else the last ones: as many as fit.
fn events(record: &Record, after: Option<u64>) -> Events {
    let number = |event: &Value| event["seq"].as_u64().unwrap_or_default();
    let whole: Vec<Value> = record.events().filter(|event| after.is_none_or(|after| number(event) > after)).collect();
    let bounds = Bounds { text: EVENT_TEXT_BYTES_MAX, entries: EVENT_ENTRIES_MAX };
    let mut all: Vec<Value> = whole.iter().map(|event| dex_fit(event, EVENTS_BYTES_MAX, bounds)).collect();
    let (total, is_cut) = (all.len(), all != whole);
    if after.is_none() {
        all.reverse();
    }
    let mut used = 0;
    let fits = |event: &&Value| {
        used += event.to_string().len();
        used <= EVENTS_BYTES_MAX
    };
    // None is longer than all may be together; one is shown in any case: whoever reads on must come further.
    let fitting = all.iter().take_while(fits).count();
    all.truncate(fitting.max(1));
    if after.is_none() {
        all.reverse();
    }
    let left = total - all.len();
    let (before, behind) = if after.is_none() { (left, 0) } else { (0, left) };
    Events { before, behind, is_cut, last: all.last().map(number).unwrap_or_default(), shown: all }
}
