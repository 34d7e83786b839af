//! What a command writes, as it comes: shown to people, and kept up to a bound.

use crate::tool::{Attendant, Stream};
use std::collections::VecDeque;
use std::fmt;

/// How much of the beginning of each stream is kept, and how much of its end beyond that.
const HEAD_BYTES_MAX: usize = 4 << 20;
const TAIL_BYTES_MAX: usize = 1 << 20;
/// How much of each stream is shown while it comes.
const SHOWN_BYTES_MAX: usize = 1 << 20;

/// Both streams of one command.
#[derive(Debug)]
pub(super) struct Captured<'a> {
    pub(super) stdout: Captive<'a>,
    pub(super) stderr: Captive<'a>,
}

#[derive(Debug)]
pub(super) struct Captive<'a> {
    stream: Stream,
    attendant: Option<&'a dyn Attendant>,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// What is in neither.
    lost: u64,
    shown: usize,
    /// The beginning of a character whose end has not come yet.
    partial: Vec<u8>,
}

impl<'a> Captured<'a> {
    pub(super) fn new(attendant: Option<&'a dyn Attendant>) -> Self {
        let captive = |stream| Captive {
            stream,
            attendant,
            head: Vec::new(),
            tail: VecDeque::new(),
            lost: 0,
            shown: 0,
            partial: Vec::new(),
        };
        Self { stdout: captive(Stream::Stdout), stderr: captive(Stream::Stderr) }
    }
}

impl Captive<'_> {
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.show(bytes);
        let room = HEAD_BYTES_MAX - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(TAIL_BYTES_MAX);
        self.tail.drain(..surplus);
        self.lost += u64::try_from(surplus).unwrap_or(u64::MAX);
    }

    fn show(&mut self, bytes: &[u8]) {
        let Some(attendant) = self.attendant.filter(|_| self.shown < SHOWN_BYTES_MAX) else { return };
        self.shown += bytes.len();
        self.partial.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.partial) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => self.partial.len(),
        };
        if whole > 0 {
            attendant.show(self.stream, &String::from_utf8_lossy(&self.partial[..whole]));
            self.partial.drain(..whole);
        }
    }

    fn text(&self) -> String {
        let mut bytes = self.head.clone();
        if self.lost > 0 {
            bytes.extend_from_slice(format!("\n[cut: {} bytes were not kept]\n", self.lost).as_bytes());
        }
        bytes.extend(&self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The streams that have something in them, each under its name.
impl fmt::Display for Captured<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [("stdout", self.stdout.text()), ("stderr", self.stderr.text())];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|(_, text)| !text.is_empty())
            .map(|(name, text)| format!("{name}:\n{}", text.trim_end_matches('\n')))
            .collect();
        f.write_str(if parts.is_empty() { "(no output)" } else { "" })?;
        f.write_str(&parts.join("\n\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_trait::async_trait;
    use std::sync::Mutex;

    #[derive(Debug, Default)]
    struct Seen(Mutex<Vec<String>>);

    #[async_trait]
    impl Attendant for Seen {
        fn show(&self, _: Stream, text: &str) {
            self.0.lock().unwrap().push(text.to_owned());
        }

        async fn keep(&self, _: &str, _: Vec<u8>) -> Option<String> {
            None
        }

        async fn file(&self, _: &str) -> Option<Vec<u8>> {
            None
        }
    }

    #[test]
    fn characters_are_shown_whole_and_broken_ones_do_not_stop_the_rest() {
        let seen = Seen::default();
        let mut captured = Captured::new(Some(&seen));
        for piece in [&b"a\xc3"[..], b"\xa9b", b"\xff", b"c"] {
            captured.stdout.take(piece);
        }
        assert_eq!(*seen.0.lock().unwrap(), ["a", "éb", "\u{fffd}", "c"]);
        assert_eq!(captured.to_string(), "stdout:\naéb\u{fffd}c");
    }

    #[test]
    fn an_endless_stream_keeps_its_beginning_and_its_end() {
        let seen = Seen::default();
        let mut captured = Captured::new(Some(&seen));
        captured.stderr.take(b"first");
        for _ in 0..10 {
            captured.stderr.take(&vec![b'x'; 1 << 20]);
        }
        captured.stderr.take(b"last");
        let text = captured.to_string();
        assert!(text.starts_with("stderr:\nfirstxxx") && text.ends_with("xxxlast"));
        assert!(text.contains("\n[cut: 5242889 bytes were not kept]\n"));
        assert!(text.len() < (5 << 20) + 100, "{}", text.len());
        assert!(seen.0.lock().unwrap().iter().map(String::len).sum::<usize>() <= 2 << 20);
    }
}
