//! Server-sent events out of bytes that arrive cut anywhere.

/// One event may hold a whole answer, with every quote and line break escaped.
pub(super) const EVENT_BYTES_MAX: usize = 64 << 20;

/// Splits a stream. Holds no more than the event that is not complete yet.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    /// The data lines of the event at hand, joined by line breaks.
    data: Vec<u8>,
    state: State,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Between,
    /// `data` is being filled.
    Within,
    /// `data` was given out and is to be emptied.
    Given,
}

/// An event is longer than [`EVENT_BYTES_MAX`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Events {
    /// The data of the next event, with its bytes taken off `input`; `None` when all of `input` is taken. Events
    /// without data, comments and all other fields are passed over.
    pub(super) fn next(&mut self, input: &mut &[u8]) -> Result<Option<&[u8]>, TooLong> {
        if self.state == State::Given {
            self.data.clear();
            self.state = State::Between;
        }
        while let Some(end) = input.iter().position(|byte| *byte == b'\n') {
            let (head, rest) = input.split_at(end);
            *input = &rest[1..];
            let is_blank = if self.line.is_empty() {
                self.state.take_line(head, &mut self.data)
            } else {
                self.line.extend_from_slice(head);
                let is_blank = self.state.take_line(&self.line, &mut self.data);
                self.line.clear();
                is_blank
            };
            self.check_size()?;
            if is_blank && self.state == State::Within {
                self.state = State::Given;
                return Ok(Some(&self.data));
            }
        }
        self.line.extend_from_slice(input);
        *input = &[];
        self.check_size()?;
        Ok(None)
    }

    fn check_size(&self) -> Result<(), TooLong> {
        if self.line.len() + self.data.len() > EVENT_BYTES_MAX { Err(TooLong) } else { Ok(()) }
    }
}

impl State {
    /// Adds a line to the event at hand; true for the blank line that ends it.
    fn take_line(&mut self, line: &[u8], data: &mut Vec<u8>) -> bool {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Some(value) = line.strip_prefix(b"data:") {
            if *self == Self::Within {
                data.push(b'\n');
            }
            *self = Self::Within;
            data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        }
        line.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stream: &str, expected: &[&str]) {
        let mut events = Events::default();
        let mut found = Vec::new();
        for byte in stream.as_bytes().chunks(1) {
            let mut input = byte;
            while let Some(data) = events.next(&mut input).unwrap() {
                found.push(String::from_utf8(data.to_vec()).unwrap());
            }
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn every_way_to_write_an_event_is_read() {
        check("data: a\n\ndata:b\n\n", &["a", "b"]);
        check("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check(": hello\n\nevent: x\nid: 1\ndata: a\nretry: 5\n\n\n\n", &["a"]);
        check("data: a\ndata: b\n\n", &["a\nb"]);
        check("data:  two spaces\n\n", &[" two spaces"]);
        check("event: x\n\n", &[]);
    }

    #[test]
    fn an_event_without_its_blank_line_is_not_given() {
        check("data: a\n\ndata: b\n", &["a"]);
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut events = Events { line: vec![b'x'; EVENT_BYTES_MAX], ..Events::default() };
        assert_eq!(events.next(&mut b"x".as_slice()), Err(TooLong));
    }
}
