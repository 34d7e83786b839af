//! What the model says to one request, and how badly it says it.

use std::time::Duration;

use bytes::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use serde_json::Value;

/// Why the model stopped in the middle of what it had to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The limit of output tokens.
    Length,
    /// The provider's filter.
    Filter,
}

/// One reply. Starts as words, calls or a fault, then takes modifiers: `Reply::text("hi").after(latency)`.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) content: Content,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    delay: Duration,
    pub(super) stall: Duration,
}

#[derive(Debug, Clone)]
pub(super) enum Content {
    /// Put into the dialect of the request.
    Message(Message),
    /// As `Message`, but the connection closes before its end.
    Cut(Message),
    Fail {
        status: u16,
        body: String,
    },
    /// Sent byte for byte, streamed or not.
    Raw {
        body: Bytes,
        content_type: HeaderValue,
    },
    Hang,
}

/// What an assistant says, whatever the dialect.
#[derive(Debug, Clone, Default)]
pub(super) struct Message {
    pub(super) text: Option<String>,
    pub(super) calls: Vec<ToolCall>,
    pub(super) stop: Option<Stop>,
    pub(super) tokens: Option<Tokens>,
}

#[derive(Debug, Clone)]
pub(super) struct ToolCall {
    pub(super) tool: String,
    /// JSON, unless the reply is about malformed arguments.
    pub(super) arguments: String,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Tokens {
    pub(super) input: u64,
    pub(super) output: u64,
}

impl Reply {
    pub fn text(text: impl Into<String>) -> Reply {
        Reply::new(Content::Message(Message { text: Some(text.into()), ..Message::default() }))
    }

    /// One tool call. Its id is given out when the reply is sent, so a reply said twice makes two different calls.
    pub fn call(tool: impl Into<String>, arguments: Value) -> Reply {
        Reply::calls([(tool, arguments)])
    }

    /// Several tool calls in one reply, in this order.
    pub fn calls<T: Into<String>>(calls: impl IntoIterator<Item = (T, Value)>) -> Reply {
        let calls = calls.into_iter().map(|(tool, arguments)| ToolCall::new(tool, arguments.to_string())).collect();
        Reply::new(Content::Message(Message { calls, ..Message::default() }))
    }

    /// A call whose arguments are this very text, JSON or not.
    pub fn malformed_arguments(tool: impl Into<String>, arguments: impl Into<String>) -> Reply {
        Reply::new(Content::Message(Message { calls: vec![ToolCall::new(tool, arguments)], ..Message::default() }))
    }

    /// Status 200 and a well-formed message that says nothing. For a body of no bytes see [`Reply::raw`].
    pub fn empty() -> Reply {
        Reply::new(Content::Message(Message::default()))
    }

    /// An error of the provider; a body that begins with `{` goes out as JSON.
    pub fn fail(status: u16, body: impl Into<String>) -> Reply {
        Reply::new(Content::Fail { status, body: body.into() })
    }

    /// Status 200 and exactly these bytes, whether or not the request asked for a stream.
    pub fn raw(body: impl Into<Bytes>, content_type: &str) -> Reply {
        let content_type = HeaderValue::from_str(content_type).expect("a content type is visible ASCII");
        Reply::new(Content::Raw { body: body.into(), content_type })
    }

    /// The connection closes after this text: a stream lacks its end, a plain body is shorter than it promised.
    pub fn cut(partial: impl Into<String>) -> Reply {
        Reply::new(Content::Cut(Message { text: Some(partial.into()), ..Message::default() }))
    }

    /// As [`Reply::cut`], in the middle of a tool call's arguments.
    pub fn cut_call(tool: impl Into<String>, partial_arguments: impl Into<String>) -> Reply {
        let calls = vec![ToolCall::new(tool, partial_arguments)];
        Reply::new(Content::Cut(Message { calls, ..Message::default() }))
    }

    /// Never answers; the connection stays open until the client closes it.
    pub fn hang() -> Reply {
        Reply::new(Content::Hang)
    }

    /// Text before the tool calls. Changes nothing on a fault.
    pub fn saying(mut self, text: impl Into<String>) -> Reply {
        if let Some(message) = self.message_mut() {
            message.text = Some(text.into());
        }
        self
    }

    /// The usage to report, in place of an estimate from the lengths. Changes nothing on a fault.
    pub fn tokens(mut self, input: u64, output: u64) -> Reply {
        if let Some(message) = self.message_mut() {
            message.tokens = Some(Tokens { input, output });
        }
        self
    }

    /// Ends the message for this reason, in place of its natural end. Changes nothing on a fault.
    pub fn stopped_by(mut self, stop: Stop) -> Reply {
        if let Some(message) = self.message_mut() {
            message.stop = Some(stop);
        }
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Reply {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a header's name is a token");
        let value = HeaderValue::from_str(value).expect("a header's value is visible ASCII");
        self.headers.push((name, value));
        self
    }

    /// Latency before the first byte, in the time of the runtime that the server runs in.
    pub fn after(mut self, delay: Duration) -> Reply {
        self.delay = delay;
        self
    }

    /// A pause after the first event of a stream, or after half of a plain body.
    pub fn stall_after_first_chunk(mut self, stall: Duration) -> Reply {
        self.stall = stall;
        self
    }

    pub(super) fn delay(&self) -> Duration {
        self.delay
    }

    pub(super) fn hangs(&self) -> bool {
        matches!(self.content, Content::Hang)
    }

    /// `None` for a fault.
    pub(super) fn message(&self) -> Option<&Message> {
        match &self.content {
            Content::Message(message) | Content::Cut(message) => Some(message),
            Content::Fail { .. } | Content::Raw { .. } | Content::Hang => None,
        }
    }

    fn new(content: Content) -> Reply {
        Reply { content, headers: Vec::new(), delay: Duration::ZERO, stall: Duration::ZERO }
    }

    fn message_mut(&mut self) -> Option<&mut Message> {
        match &mut self.content {
            Content::Message(message) | Content::Cut(message) => Some(message),
            Content::Fail { .. } | Content::Raw { .. } | Content::Hang => None,
        }
    }
}

impl Message {
    /// The usage to report; by default about four bytes to a token, so that it grows with the conversation.
    pub(super) fn tokens_for(&self, request_bytes: usize) -> Tokens {
        let said = self.text.as_ref().map_or(0, String::len)
            + self.calls.iter().map(|call| call.tool.len() + call.arguments.len()).sum::<usize>();
        let estimate = |bytes: usize| (bytes as u64).div_ceil(4);
        self.tokens.unwrap_or(Tokens { input: estimate(request_bytes), output: estimate(said) })
    }
}

impl ToolCall {
    fn new(tool: impl Into<String>, arguments: impl Into<String>) -> ToolCall {
        ToolCall { tool: tool.into(), arguments: arguments.into() }
    }
}
