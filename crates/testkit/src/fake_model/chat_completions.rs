//! A message in the words of OpenAI's Chat Completions.

use bytes::Bytes;
use serde_json::{Value, json};

use super::answer::{Stamp, Usage};
use super::reply::{Message, Stop, Tokens, ToolCall};

/// Any fixed second: an answer does not depend on the clock.
const CREATED: u64 = 1_700_000_000;

pub(super) fn plain(message: &Message, stamp: &Stamp<'_>) -> Bytes {
    let calls = message.calls.iter().enumerate().map(|(index, call)| tool_call(index, call, stamp));
    let mut said = json!({ "role": "assistant", "content": message.text });
    if !message.calls.is_empty() {
        said["tool_calls"] = calls.collect();
    }
    let body = json!({
        "id": format!("chatcmpl-{}", stamp.id),
        "object": "chat.completion",
        "created": CREATED,
        "model": stamp.model,
        "choices": [{ "index": 0, "message": said, "finish_reason": finish_reason(message) }],
        "usage": usage(stamp.tokens),
    });
    Bytes::from(body.to_string())
}

/// The events up to the one that ends the message.
pub(super) fn beginning(message: &Message, stamp: &Stamp<'_>) -> Vec<Bytes> {
    let mut deltas = vec![json!({ "role": "assistant", "content": message.text.as_ref().map(|_| "") })];
    for word in message.text.iter().flat_map(|text| text.split_inclusive(' ')) {
        deltas.push(json!({ "content": word }));
    }
    for (index, call) in message.calls.iter().enumerate() {
        let mut opening = tool_call(index, call, stamp);
        opening["index"] = index.into();
        opening["function"]["arguments"] = "".into();
        deltas.push(json!({ "tool_calls": [opening] }));
        deltas.push(json!({ "tool_calls": [{ "index": index, "function": { "arguments": call.arguments } }] }));
    }
    deltas.into_iter().map(|delta| event(&chunk(&delta, None, stamp))).collect()
}

/// The event that ends the message, the usage if it was asked for, and `[DONE]`.
pub(super) fn ending(message: &Message, stamp: &Stamp<'_>) -> Vec<Bytes> {
    let mut events = vec![event(&chunk(&json!({}), Some(finish_reason(message)), stamp))];
    if stamp.usage == Usage::Shown {
        let mut last = chunk(&Value::Null, None, stamp);
        last["choices"] = json!([]);
        last["usage"] = usage(stamp.tokens);
        events.push(event(&last));
    }
    events.push(Bytes::from_static(b"data: [DONE]\n\n"));
    events
}

fn tool_call(index: usize, call: &ToolCall, stamp: &Stamp<'_>) -> Value {
    json!({
        "id": format!("call_{}_{index}", stamp.id),
        "type": "function",
        "function": { "name": call.tool, "arguments": call.arguments },
    })
}

fn chunk(delta: &Value, finish_reason: Option<&str>, stamp: &Stamp<'_>) -> Value {
    json!({
        "id": format!("chatcmpl-{}", stamp.id),
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": stamp.model,
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish_reason }],
    })
}

fn event(chunk: &Value) -> Bytes {
    Bytes::from(format!("data: {chunk}\n\n"))
}

fn finish_reason(message: &Message) -> &'static str {
    match message.stop {
        Some(Stop::Length) => "length",
        Some(Stop::Filter) => "content_filter",
        None if message.calls.is_empty() => "stop",
        None => "tool_calls",
    }
}

fn usage(Tokens { input, output }: Tokens) -> Value {
    json!({ "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output })
}
