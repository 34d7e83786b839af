//! Reads an answer, streamed or plain, from bytes that arrive cut anywhere.

use super::chunk::Chunk;
use super::draft::{Draft, too_long};
use super::events::{EVENT_BYTES_MAX, Events, TooLong};
use crate::model::complaint;
use crate::model::failure::{FailedAttempt, FailureKind};
use crate::model::watch::Watch;
use entourage_model::ModelAnswer;
use reqwest::header::{CONTENT_TYPE, HeaderMap};

/// An answer so far.
#[derive(Debug)]
pub(super) struct Answer {
    shape: Shape,
    draft: Draft,
}

#[derive(Debug)]
enum Shape {
    /// The headers did not say; the first byte will.
    Unknown,
    Streamed(Events),
    Plain(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    More,
    /// Nothing that follows matters.
    Complete,
}

impl Answer {
    pub(super) fn new(headers: &HeaderMap) -> Self {
        let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let shape = if content_type.contains("event-stream") {
            Shape::Streamed(Events::default())
        } else if content_type.contains("json") {
            Shape::Plain(Vec::new())
        } else {
            Shape::Unknown
        };
        Self { shape, draft: Draft::default() }
    }

    /// Whether the message is whole, though more could follow.
    pub(super) fn is_finished(&self) -> bool {
        self.draft.is_finished()
    }

    /// Takes the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8], watch: &dyn Watch) -> Result<Progress, FailedAttempt> {
        if let Shape::Unknown = self.shape {
            let Some(first) = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) else { return Ok(Progress::More) };
            self.shape = if *first == b'{' { Shape::Plain(Vec::new()) } else { Shape::Streamed(Events::default()) };
        }
        match &mut self.shape {
            Shape::Unknown => Ok(Progress::More),
            Shape::Streamed(events) => read_events(events, &mut self.draft, bytes, watch),
            Shape::Plain(body) => {
                body.extend_from_slice(bytes);
                if body.len() > EVENT_BYTES_MAX { Err(too_long()) } else { Ok(Progress::More) }
            }
        }
    }

    /// Called when no more bytes come.
    pub(super) fn finish(mut self, watch: &dyn Watch) -> Result<ModelAnswer, FailedAttempt> {
        match &mut self.shape {
            Shape::Plain(body) => {
                read_chunk(body, &mut self.draft, watch)?;
                self.draft.mark_finished();
            }
            Shape::Streamed(events) if !self.draft.is_finished() => {
                // The last event may lack its blank line. Half an event means that the stream was cut.
                let _ = read_events(events, &mut self.draft, b"\n\n", watch);
            }
            Shape::Unknown | Shape::Streamed(_) => {}
        }
        if !self.draft.is_finished() {
            return Err(FailedAttempt::passing(FailureKind::Unavailable, "stopped before the end of its answer"));
        }
        self.draft.finish()
    }
}

fn read_events(
    events: &mut Events,
    draft: &mut Draft,
    mut bytes: &[u8],
    watch: &dyn Watch,
) -> Result<Progress, FailedAttempt> {
    while let Some(data) = events.next(&mut bytes).map_err(|TooLong| too_long())? {
        if data.trim_ascii() == b"[DONE]" {
            draft.mark_finished();
            return Ok(Progress::Complete);
        }
        read_chunk(data, draft, watch)?;
    }
    Ok(Progress::More)
}

fn read_chunk(data: &[u8], draft: &mut Draft, watch: &dyn Watch) -> Result<(), FailedAttempt> {
    let chunk: Chunk<'_> = serde_json::from_slice(data).map_err(|error| {
        FailedAttempt::passing(FailureKind::Malformed, format!("answered what is not Chat Completions: {error}"))
    })?;
    if chunk.error.is_some() {
        return Err(complaint::of_document(data));
    }
    if let Some(usage) = &chunk.usage {
        draft.take_usage(usage);
    }
    // Only one choice is ever asked for.
    chunk.choices.iter().flatten().next().map_or(Ok(()), |choice| draft.take(choice, watch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::failure::Retry;
    use entourage_model::Usage;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use std::sync::Mutex;
    use std::time::Duration;

    #[derive(Default)]
    struct Heard(Mutex<String>);

    impl Watch for Heard {
        fn delta(&self, text: &str) {
            self.0.lock().unwrap().push_str(text);
        }

        fn retrying(&self, _: u32, _: Duration, _: &str) {}
    }

    const STREAM: &str = "text/event-stream; charset=utf-8";

    fn read<'a>(
        content_type: &str,
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<(ModelAnswer, String), FailedAttempt> {
        let heard = Heard::default();
        let mut answer = Answer::new(&HeaderMap::from_iter([(CONTENT_TYPE, content_type.parse().unwrap())]));
        for piece in pieces {
            if answer.push(piece, &heard)? == Progress::Complete {
                break;
            }
        }
        Ok((answer.finish(&heard)?, heard.0.into_inner().unwrap()))
    }

    fn whole(content_type: &str, body: &str) -> Result<ModelAnswer, FailedAttempt> {
        read(content_type, [body.as_bytes()]).map(|(answer, _)| answer)
    }

    fn stream(deltas: &[Value]) -> String {
        let chunks = deltas.iter().map(|delta| json!({ "choices": [{ "index": 0, "delta": delta }] }));
        let end = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] });
        chunks.chain([end]).map(|chunk| format!("data: {chunk}\n\n")).collect()
    }

    fn calls(answer: &ModelAnswer) -> Vec<(&str, &str, &str)> {
        let parts = answer.calls.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str()));
        parts.collect()
    }

    /// One piece of a call; an empty text is none.
    fn call(index: Option<u64>, id: &str, name: &str, arguments: &str) -> Value {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let function = json!({ "name": some(name), "arguments": arguments });
        json!({ "tool_calls": [{ "index": index, "id": some(id), "function": function }] })
    }

    /// Every oddity in one stream.
    fn odd_stream() -> String {
        let mut body = ": hello\r\n\r\n".to_owned();
        body += &stream(&[
            json!({ "role": "assistant", "content": "" }),
            json!({ "content": "Grüße, " }),
            json!({ "content": "\"世界\"\n🦀" }),
            call(Some(0), "a", "fetch", ""),
            call(Some(1), "b", "store", ""),
            call(Some(0), "", "", "{\"url\":"),
            call(Some(1), "", "", "not j"),
            call(Some(0), "", "", "\"ü\"}"),
            call(Some(1), "", "", "son"),
        ])
        .replace('\n', "\r\n");
        body += "event: message\ndata:{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":9}}\n\n";
        body + "data: [DONE]\n\n"
    }

    #[test]
    fn a_stream_becomes_text_calls_and_usage() {
        let (answer, heard) = read(STREAM, [odd_stream().as_bytes()]).unwrap();
        assert_eq!(answer.text, "Grüße, \"世界\"\n🦀");
        assert_eq!(heard, answer.text);
        assert_eq!(calls(&answer), [("a", "fetch", "{\"url\":\"ü\"}"), ("b", "store", "not json")]);
        assert_eq!(answer.usage, Usage { input_tokens: 7, output_tokens: 9, steps: 1 });
    }

    proptest! {
        #[test]
        fn a_stream_may_be_cut_anywhere_and_says_the_same(cuts in vec(any::<prop::sample::Index>(), 0..40)) {
            let body = odd_stream();
            let mut cuts = cuts.iter().map(|cut| cut.index(body.len())).collect::<Vec<_>>();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut rest = body.as_bytes();
            let mut taken = 0;
            for cut in cuts {
                let (piece, after) = rest.split_at(cut - taken);
                pieces.push(piece);
                rest = after;
                taken = cut;
            }
            pieces.push(rest);
            prop_assert_eq!(read(STREAM, pieces), read(STREAM, [body.as_bytes()]));
        }
    }

    #[test]
    fn a_stream_byte_by_byte_says_the_same() {
        let body = odd_stream();
        assert_eq!(read(STREAM, body.as_bytes().chunks(1)), read(STREAM, [body.as_bytes()]));
    }

    #[test]
    fn a_plain_answer_is_read_whatever_was_asked_for() {
        let body = json!({
            "choices": [{ "finish_reason": "tool_calls", "message": { "content": "hm", "tool_calls": [
                { "id": "x", "function": { "name": "fetch", "arguments": "" } },
                { "id": "x", "function": { "name": "fetch", "arguments": { "as": "object" } } },
            ] } }],
            "usage": { "prompt_tokens": 1, "completion_tokens": 2 },
        });
        for content_type in ["application/json", "text/plain"] {
            let answer = whole(content_type, &format!("\n{body}")).unwrap();
            assert_eq!(answer.text, "hm");
            assert_eq!(calls(&answer), [("x", "fetch", "{}"), ("x_2", "fetch", "{\"as\":\"object\"}")]);
        }
    }

    #[test]
    fn a_stream_of_no_told_type_is_known_by_its_first_byte() {
        assert_eq!(whole("text/plain", &stream(&[json!({ "content": "hi" })])).unwrap().text, "hi");
    }

    #[test]
    fn the_end_may_be_told_by_the_reason_or_by_the_mark() {
        let text = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n";
        let reason = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}";
        for end in ["data: [DONE]\n\n", "data: [DONE]", &format!("{reason}\n\n"), reason] {
            assert_eq!(whole(STREAM, &format!("{text}{end}")).unwrap().text, "hi", "{end}");
        }
        for end in ["", "data: {\"choi", "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"\"}]}\n\n"] {
            let failed = whole(STREAM, &format!("{text}{end}")).unwrap_err();
            assert_eq!((failed.kind, failed.retry), (FailureKind::Unavailable, Retry::Later(None)), "{end}");
        }
    }

    #[test]
    fn what_is_no_answer_may_be_asked_for_again() {
        for (content_type, body) in
            [("application/json", ""), ("application/json", "{\"choices\":3}"), (STREAM, "data: nonsense\n\n")]
        {
            let failed = whole(content_type, body).unwrap_err();
            assert_eq!((failed.kind, failed.retry), (FailureKind::Malformed, Retry::Later(None)), "{body}");
        }
        let invalid: &[u8] = b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\n\n";
        assert_eq!(read(STREAM, [invalid]).unwrap_err().kind, FailureKind::Malformed);
    }

    #[test]
    fn an_error_within_the_answer_is_a_failure() {
        let error = json!({ "error": { "message": "too much", "type": "server_error" } });
        for (content_type, body) in [(STREAM, format!("data: {error}\n\n")), ("application/json", error.to_string())] {
            let failed = whole(content_type, &body).unwrap_err();
            assert_eq!(failed.kind, FailureKind::Unavailable);
            assert_eq!(failed.why, "broke off with an error: too much");
        }
    }

    #[test]
    fn calls_are_told_apart_without_numbers_and_despite_equal_ones() {
        let equal =
            stream(&[call(Some(0), "a", "one", "1"), call(Some(0), "a", "one", "2"), call(Some(0), "b", "two", "3")]);
        assert_eq!(calls(&whole(STREAM, &equal).unwrap()), [("a", "one", "12"), ("b", "two", "3")]);
        let unnumbered = stream(&[call(None, "a", "one", "1"), call(None, "", "", "2"), call(None, "b", "two", "3")]);
        assert_eq!(calls(&whole(STREAM, &unnumbered).unwrap()), [("a", "one", "12"), ("b", "two", "3")]);
    }

    #[test]
    fn a_refusal_is_what_the_model_says() {
        assert_eq!(whole(STREAM, &stream(&[json!({ "content": null, "refusal": "no" })])).unwrap().text, "no");
    }

    #[test]
    fn a_content_in_parts_is_their_text() {
        let parts = json!([{ "type": "thinking", "thinking": [] }, { "type": "text", "text": "a\n" }, { "text": "b" }]);
        assert_eq!(whole(STREAM, &stream(&[json!({ "content": parts })])).unwrap().text, "a\nb");
        let plain = json!({ "choices": [{ "finish_reason": "stop", "message": { "content": parts } }] });
        assert_eq!(whole("application/json", &plain.to_string()).unwrap().text, "a\nb");
        assert_eq!(whole(STREAM, &stream(&[json!({ "content": 7 })])).unwrap_err().kind, FailureKind::Malformed);
    }

    #[test]
    fn a_call_without_a_name_is_no_call() {
        let body = stream(&[json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "{}" } }] })]);
        assert_eq!(whole(STREAM, &body).unwrap_err().kind, FailureKind::Malformed);
    }

    #[test]
    fn ten_megabytes_of_arguments_are_taken_and_seventeen_are_not() {
        let body = |megabytes: usize| {
            let piece = json!({ "tool_calls": [{ "index": 0, "id": "a", "function": {
                "name": "store", "arguments": "\"".repeat(1 << 20),
            } }] });
            stream(&vec![piece; megabytes])
        };
        assert_eq!(whole(STREAM, &body(10)).unwrap().calls[0].arguments.len(), 10 << 20);
        let failed = whole(STREAM, &body(17)).unwrap_err();
        assert_eq!((failed.kind, failed.retry), (FailureKind::Malformed, Retry::Never));
    }
}
