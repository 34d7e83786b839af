//! What a server tells of a task while it works: an event stream that is opened again wherever it breaks.
//!
//! Events only say when to look and what is being said. How a task ended is looked up, so that nothing depends on a
//! stream that a server may not have.

use super::wire::Refused;
use reqwest::Response;
use serde_json::Value;

/// An event longer than this is nobody's.
const EVENT_BYTES_MAX: usize = 4 << 20;

/// One task's stream.
#[derive(Debug, Default)]
pub(super) struct Ear {
    pub(super) lines: Lines,
    response: Option<Response>,
    /// The server has no streams, or none that can be listened to.
    pub(super) is_deaf: bool,
}

/// What was heard.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// A piece of what the agent says.
    Text(String),
    /// Something that a look tells more of.
    News,
}

impl Ear {
    pub(super) fn is_open(&self) -> bool {
        self.response.is_some()
    }

    /// Listens to this answer to a request for events. A server that refuses it for good is not asked again.
    pub(super) fn open(&mut self, answer: Result<Response, Refused>) {
        match answer {
            Ok(response) => {
                let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
                self.is_deaf = !kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
                self.response = (!self.is_deaf).then_some(response);
            }
            Err(Refused::Lasting(_)) => self.is_deaf = true,
            Err(Refused::Passing(..)) => {}
        }
    }

    pub(super) fn close(&mut self) {
        self.response = None;
        self.lines.unread.clear();
    }

    /// The next thing to heed; none when the stream has ended or broken. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<Heard> {
        loop {
            if let Some(heard) = self.lines.next() {
                return Some(heard);
            }
            match self.response.as_mut()?.chunk().await {
                Ok(Some(bytes)) if self.lines.unread.len() + bytes.len() <= EVENT_BYTES_MAX => {
                    self.lines.unread.extend_from_slice(&bytes);
                }
                Ok(Some(_)) => {
                    self.is_deaf = true;
                    self.close();
                }
                Ok(None) | Err(_) => self.close(),
            }
        }
    }
}

/// Events as they come in, in pieces of any size.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The number of the last event that was heard; the next stream goes on behind it.
    pub(super) after: u64,
    unread: Vec<u8>,
}

impl Lines {
    /// The next event that means something.
    fn next(&mut self) -> Option<Heard> {
        loop {
            // An empty line ends an event, whichever way lines end.
            let ends = [b"\n\n".as_slice(), b"\r\n\r\n"].map(|end| {
                let at = self.unread.windows(end.len()).position(|bytes| bytes == end);
                at.map(|at| (at, end.len()))
            });
            let (end, length) = ends.into_iter().flatten().min()?;
            let event: Vec<u8> = self.unread.drain(..end + length).take(end).collect();
            if let Some(heard) = self.heed(&String::from_utf8_lossy(&event)) {
                return Some(heard);
            }
        }
    }

    /// What an event means. One that was heard before the stream broke means nothing the second time.
    fn heed(&mut self, event: &str) -> Option<Heard> {
        let field = |name: &'static str| {
            let values = event.lines().filter_map(move |line| line.strip_prefix(name));
            values.map(|value| value.strip_prefix(' ').unwrap_or(value))
        };
        let data = field("data:").collect::<Vec<_>>().join("\n");
        let number = field("id:").next().and_then(|id| id.trim().parse::<u64>().ok());
        if number.is_some_and(|number| number <= self.after) {
            return None;
        }
        self.after = number.unwrap_or(self.after);
        let document: Value = serde_json::from_str(&data).ok()?;
        let text = |name: &str| document.get(name).and_then(Value::as_str);
        match text("type")? {
            "TEXT_DELTA" => text("text").filter(|text| !text.is_empty()).map(|text| Heard::Text(text.to_owned())),
            "STATUS" | "RUN_ERROR" | "REQUIRE_CONFIRM" => Some(Heard::News),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the stream in pieces of every size; all of them must hear the same.
    fn check(stream: &str, expected: &[Heard]) {
        for size in 1..=stream.len() {
            let (mut lines, mut heard) = (Lines::default(), Vec::new());
            for piece in stream.as_bytes().chunks(size) {
                lines.unread.extend_from_slice(piece);
                heard.extend(std::iter::from_fn(|| lines.next()));
            }
            assert_eq!(heard, expected, "{stream:?} in pieces of {size}");
        }
    }

    fn said(text: &str) -> Heard {
        Heard::Text(text.to_owned())
    }

    #[test]
    fn texts_and_endings_are_heard_and_the_rest_is_not() {
        let stream = "id: 1\nevent: RUN_STARTED\ndata: {\"type\":\"RUN_STARTED\"}\n\n: still here\n\n\
            id: 2\ndata:{\"type\":\"TEXT_DELTA\",\ndata: \"text\":\"hi\"}\n\ndata: no JSON\n\n\
            id: 3\ndata: {\"type\":\"STATUS\",\"status\":\"success\"}\n\n";
        check(stream, &[said("hi"), Heard::News]);
        check(&stream.replace('\n', "\r\n"), &[said("hi"), Heard::News]);
    }

    #[test]
    fn what_was_heard_already_is_not_heard_again() {
        let text = |id: u32| format!("id: {id}\ndata: {{\"type\":\"TEXT_DELTA\",\"text\":\"{id}\"}}\n\n");
        check(&format!("{}{}{}{}", text(1), text(2), text(1), text(3)), &[said("1"), said("2"), said("3")]);
    }
}
