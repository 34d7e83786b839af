//! A message in the words of Anthropic's Messages.

use bytes::Bytes;
use serde_json::{Value, json};

use super::answer::Stamp;
use super::reply::{Message, Stop, ToolCall};

pub(super) fn plain(message: &Message, stamp: &Stamp<'_>) -> Bytes {
    let text = message.text.iter().map(|text| json!({ "type": "text", "text": text }));
    let calls = message.calls.iter().enumerate().map(|(index, call)| {
        // A plain body has no place for arguments that are not JSON; a text is the nearest wrong thing.
        let input = serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::from(call.arguments.as_str()));
        tool_use(index, call, &input, stamp)
    });
    let mut body = envelope(&text.chain(calls).collect(), stamp);
    body["stop_reason"] = stop_reason(message).into();
    body["usage"]["output_tokens"] = stamp.tokens.output.into();
    Bytes::from(body.to_string())
}

/// The events up to the one that ends the message.
pub(super) fn beginning(message: &Message, stamp: &Stamp<'_>) -> Vec<Bytes> {
    let mut events = vec![json!({ "type": "message_start", "message": envelope(&json!([]), stamp) })];
    let mut block = 0;
    if let Some(text) = &message.text {
        let deltas = text.split_inclusive(' ').map(|word| json!({ "type": "text_delta", "text": word }));
        events.extend(block_events(block, &json!({ "type": "text", "text": "" }), deltas));
        block += 1;
    }
    for (index, call) in message.calls.iter().enumerate() {
        let delta = json!({ "type": "input_json_delta", "partial_json": call.arguments });
        events.extend(block_events(block, &tool_use(index, call, &json!({}), stamp), [delta]));
        block += 1;
    }
    // The stop of the last block belongs to the ending: a cut message lacks it.
    if block > 0 {
        events.pop();
    }
    events.iter().map(event).collect()
}

/// The end of the last block, then of the message.
pub(super) fn ending(message: &Message, stamp: &Stamp<'_>) -> Vec<Bytes> {
    let blocks = usize::from(message.text.is_some()) + message.calls.len();
    let last_stop = blocks.checked_sub(1).map(block_stop);
    let delta = json!({
        "type": "message_delta",
        "delta": { "stop_reason": stop_reason(message), "stop_sequence": null },
        "usage": { "output_tokens": stamp.tokens.output },
    });
    last_stop.into_iter().chain([delta, json!({ "type": "message_stop" })]).map(|value| event(&value)).collect()
}

fn envelope(content: &Value, stamp: &Stamp<'_>) -> Value {
    json!({
        "id": format!("msg_{}", stamp.id),
        "type": "message",
        "role": "assistant",
        "model": stamp.model,
        "content": content,
        "stop_reason": null,
        "stop_sequence": null,
        "usage": { "input_tokens": stamp.tokens.input, "output_tokens": 0 },
    })
}

fn tool_use(index: usize, call: &ToolCall, input: &Value, stamp: &Stamp<'_>) -> Value {
    json!({ "type": "tool_use", "id": format!("toolu_{}_{index}", stamp.id), "name": call.tool, "input": input })
}

fn block_events(block: usize, start: &Value, deltas: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let mut events = vec![json!({ "type": "content_block_start", "index": block, "content_block": start })];
    for delta in deltas {
        events.push(json!({ "type": "content_block_delta", "index": block, "delta": delta }));
    }
    events.push(block_stop(block));
    events
}

fn block_stop(block: usize) -> Value {
    json!({ "type": "content_block_stop", "index": block })
}

fn event(value: &Value) -> Bytes {
    let name = value["type"].as_str().expect("every event has a type");
    Bytes::from(format!("event: {name}\ndata: {value}\n\n"))
}

fn stop_reason(message: &Message) -> &'static str {
    match message.stop {
        Some(Stop::Length) => "max_tokens",
        Some(Stop::Filter) => "refusal",
        None if message.calls.is_empty() => "end_turn",
        None => "tool_use",
    }
}
