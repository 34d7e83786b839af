//! Turns a reply into the HTTP answer to one request.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::json;

use super::answer_body::{AnswerBody, Piece};
use super::counters::PendingAnswer;
use super::ids::Ids;
use super::reply::{Content, Message, Tokens};
use super::{Dialect, Reply, Request, chat_completions, messages};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// What a dialect writes around a message.
pub(super) struct Stamp<'a> {
    pub(super) model: &'a str,
    /// Unique to the answer; ids of calls are made from it.
    pub(super) id: &'a str,
    pub(super) tokens: Tokens,
    pub(super) usage: Usage,
}

/// Whether the stream of a chat completion tells its usage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Usage {
    Shown,
    Hidden,
}

/// An answer before it is wrapped: status, type, data in chunks, and how it goes out.
struct Draft {
    status: StatusCode,
    content_type: HeaderValue,
    chunks: Vec<Bytes>,
    /// `None` for a stream, whose length is not told.
    length: Option<usize>,
    cut: bool,
}

pub(super) fn render(request: &Request, reply: &Reply, ids: &Ids, pending: PendingAnswer) -> Response<AnswerBody> {
    let draft = match &reply.content {
        Content::Message(message) => say(request, message, ids),
        Content::Cut(message) => cut(request, message, ids),
        Content::Fail { status, body } => {
            let content_type = if body.starts_with('{') { JSON } else { TEXT };
            let status = StatusCode::from_u16(*status).expect("a status has three digits");
            whole(status, content_type, Bytes::from(body.clone()))
        }
        Content::Raw { body, content_type } => whole(StatusCode::OK, content_type.clone(), body.clone()),
        // Never sent: the server waits for ever on such a reply.
        Content::Hang => whole(StatusCode::OK, TEXT, Bytes::new()),
    };
    let mut response = wrap(draft, reply.stall, pending);
    for (name, value) in &reply.headers {
        response.headers_mut().insert(name, value.clone());
    }
    response
}

/// An answer of the server itself, to a request no brain gets to see.
pub(super) fn refuse(status: u16, message: &str, pending: PendingAnswer) -> Response<AnswerBody> {
    let status = StatusCode::from_u16(status).expect("a status has three digits");
    wrap(whole(status, JSON, error_body(message)), Duration::ZERO, pending)
}

fn say(request: &Request, message: &Message, ids: &Ids) -> Draft {
    if request.body().is_null() {
        return whole(StatusCode::BAD_REQUEST, JSON, error_body("the body is not JSON"));
    }
    let id = ids.next();
    let stamp = stamp(request, message, &id);
    match (request.dialect(), request.streamed()) {
        (Dialect::ChatCompletions, false) => whole(StatusCode::OK, JSON, chat_completions::plain(message, &stamp)),
        (Dialect::Messages, false) => whole(StatusCode::OK, JSON, messages::plain(message, &stamp)),
        (Dialect::ChatCompletions, true) => {
            let mut events = chat_completions::beginning(message, &stamp);
            events.extend(chat_completions::ending(message, &stamp));
            stream(events)
        }
        (Dialect::Messages, true) => {
            let mut events = messages::beginning(message, &stamp);
            events.extend(messages::ending(message, &stamp));
            stream(events)
        }
    }
}

fn cut(request: &Request, message: &Message, ids: &Ids) -> Draft {
    if !request.streamed() {
        let mut draft = say(request, message, ids);
        let half = draft.chunks[0].len() / 2;
        draft.chunks[0].truncate(half);
        return Draft { cut: true, ..draft };
    }
    let id = ids.next();
    let stamp = stamp(request, message, &id);
    let events = match request.dialect() {
        Dialect::ChatCompletions => chat_completions::beginning(message, &stamp),
        Dialect::Messages => messages::beginning(message, &stamp),
    };
    Draft { cut: true, ..stream(events) }
}

fn stamp<'a>(request: &'a Request, message: &Message, id: &'a str) -> Stamp<'a> {
    let tokens = message.tokens_for(request.bytes().len());
    let usage = if request.wants_usage() { Usage::Shown } else { Usage::Hidden };
    Stamp { model: request.model(), id, tokens, usage }
}

fn whole(status: StatusCode, content_type: HeaderValue, body: Bytes) -> Draft {
    Draft { status, content_type, length: Some(body.len()), chunks: vec![body], cut: false }
}

fn stream(events: Vec<Bytes>) -> Draft {
    Draft { status: StatusCode::OK, content_type: EVENTS, chunks: events, length: None, cut: false }
}

fn error_body(message: &str) -> Bytes {
    Bytes::from(json!({ "error": { "message": message, "type": "fake_model" } }).to_string())
}

fn wrap(draft: Draft, stall: Duration, pending: PendingAnswer) -> Response<AnswerBody> {
    let mut chunks = VecDeque::from(draft.chunks);
    chunks.retain(|chunk| !chunk.is_empty());
    if !stall.is_zero() && chunks.len() == 1 {
        let half = chunks[0].len() / 2;
        let rest = chunks[0].split_off(half);
        chunks.push_back(rest);
    }
    let mut pieces: VecDeque<Piece> = chunks.into_iter().map(Piece::Data).collect();
    if !stall.is_zero() && !pieces.is_empty() {
        pieces.insert(1, Piece::Pause(stall));
    }
    if draft.cut {
        pieces.extend([Piece::Flush, Piece::Break]);
    }
    let length = draft.length.map(|length| length as u64);
    let mut response = Response::new(AnswerBody::new(pieces, length, pending));
    *response.status_mut() = draft.status;
    response.headers_mut().insert(CONTENT_TYPE, draft.content_type);
    response
}
