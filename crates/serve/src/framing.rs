//! Finds requests that say in two ways how long their body is.
//!
//! The HTTP library takes one of the two and hides the other, and whoever stands in front of this server may take the
//! other one: so a request could be smuggled in as the body of another. The bytes are only looked at on their way in.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// As much of a line as tells what it is.
const LINE_BYTES_MAX: usize = 64;
const NOBODY: u64 = u64::MAX;

/// The number, on its connection, of a request whose length is in doubt. It is the connection's last one.
#[derive(Clone, Debug)]
pub(crate) struct Doubt(Arc<AtomicU64>);

impl Doubt {
    fn none() -> Self {
        Self(Arc::new(AtomicU64::new(NOBODY)))
    }

    pub(crate) fn is_about(&self, number: u64) -> bool {
        self.0.load(Ordering::Acquire) == number
    }
}

/// A connection whose requests are looked at.
#[derive(Debug)]
pub(crate) struct Framed<S> {
    stream: S,
    reader: Reader,
    doubt: Doubt,
}

impl<S> Framed<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, reader: Reader::default(), doubt: Doubt::none() }
    }

    pub(crate) fn doubt(&self) -> Doubt {
        self.doubt.clone()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Framed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if let Some(number) = self.reader.read(&buffer.filled()[before..]) {
            self.doubt.0.store(number, Ordering::Release);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Framed<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Follows requests by their lengths.
#[derive(Debug, Default)]
struct Reader {
    number: u64,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Head(Head),
    /// So many bytes of a body are still to come.
    Body(u64),
    /// Behind a request without a length, which ends its connection.
    Rest,
}

#[derive(Debug, Default)]
struct Head {
    line: Vec<u8>,
    has_lines: bool,
    length: Option<u64>,
    is_encoded: bool,
}

impl Default for Place {
    fn default() -> Self {
        Self::Head(Head::default())
    }
}

impl Reader {
    /// Returns the number of a request that has both a length and an encoding.
    fn read(&mut self, mut bytes: &[u8]) -> Option<u64> {
        while !bytes.is_empty() {
            match &mut self.place {
                Place::Rest => return None,
                Place::Body(left) => {
                    let here = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= here as u64;
                    bytes = &bytes[here..];
                    if *left == 0 {
                        self.place = Place::default();
                    }
                }
                Place::Head(head) => {
                    let end = bytes.iter().position(|byte| *byte == b'\n');
                    head.extend(&bytes[..end.unwrap_or(bytes.len())]);
                    bytes = &bytes[end.map_or(bytes.len(), |end| end + 1)..];
                    if end.is_some() && head.end_line() {
                        let (length, is_encoded) = (head.length, head.is_encoded);
                        let number = self.number;
                        self.number += 1;
                        self.place = match length {
                            _ if is_encoded => Place::Rest,
                            Some(length) if length > 0 => Place::Body(length),
                            Some(_) | None => Place::default(),
                        };
                        if is_encoded && length.is_some() {
                            return Some(number);
                        }
                    }
                }
            }
        }
        None
    }
}

impl Head {
    fn extend(&mut self, bytes: &[u8]) {
        let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Heeds the line. True behind the empty one that ends a head.
    fn end_line(&mut self) -> bool {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        if line.is_empty() {
            return self.has_lines;
        }
        self.has_lines = true;
        if let Some(colon) = line.iter().position(|byte| *byte == b':') {
            let (name, value) = (&line[..colon], &line[colon + 1..]);
            if name.eq_ignore_ascii_case(b"content-length") {
                // What is no number is refused by the HTTP library.
                let value = std::str::from_utf8(value).ok().and_then(|value| value.trim().parse().ok());
                self.length = Some(value.unwrap_or(0));
            } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
                self.is_encoded = true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the text in pieces of every size; all of them must find the same.
    fn check(text: &str, expected: Option<u64>) {
        for size in 1..=text.len() {
            let mut reader = Reader::default();
            let found = text.as_bytes().chunks(size).find_map(|piece| reader.read(piece));
            assert_eq!(found, expected, "{text:?} in pieces of {size}");
        }
    }

    const PLAIN: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    #[test]
    fn a_length_beside_an_encoding_is_found_in_either_order() {
        for both in [
            "Content-Length: 3\r\nTransfer-Encoding: chunked",
            "transfer-encoding: chunked\r\ncontent-length: 3",
            "Transfer-Encoding:chunked\nContent-Length:0",
            "Content-Length: x\r\nX: y\r\nTransfer-Encoding: gzip",
        ] {
            let request = format!("POST / HTTP/1.1\r\n{both}\r\n\r\n");
            check(&request, Some(0));
            check(&format!("{PLAIN}{request}"), Some(1));
            check(&format!("\r\n{PLAIN}\r\n{request}"), Some(1));
            check(&format!("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n12\n\r\n{request}"), Some(1));
        }
    }

    #[test]
    fn bodies_and_other_headers_are_nobodys_business() {
        let both = "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n";
        check(&format!("{PLAIN}{PLAIN}"), None);
        check(&format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{both}", both.len()), None);
        check(&format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{both}"), None);
        check("GET / HTTP/1.1\r\nX-Transfer-Encoding: a\r\nContent-Length: 0\r\n\r\n", None);
        let long = "x".repeat(300);
        check(&format!("GET / HTTP/1.1\r\nX: {long} Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"), None);
    }
}
