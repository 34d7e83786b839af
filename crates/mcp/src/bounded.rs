//! What a server writes, as long as its lines have an end.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// Fails when a line is longer than it may be: whoever waits for that message is told so, and memory is not its to fill.
#[derive(Debug)]
pub(crate) struct Bounded<R> {
    inner: R,
    line: usize,
    bytes_max: usize,
}

impl<R> Bounded<R> {
    pub(crate) fn new(inner: R, bytes_max: usize) -> Self {
        Self { inner, line: 0, bytes_max }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let new = &buffer.filled()[before..];
        self.line = match new.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => new.len() - end - 1,
            None => self.line + new.len(),
        };
        if self.line > self.bytes_max {
            // Whoever is told of a failure has been given nothing.
            buffer.set_filled(before);
            return Poll::Ready(Err(io::Error::other(format!("a message of more than {} bytes", self.bytes_max))));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    #[tokio::test]
    async fn only_a_line_without_end_is_refused() {
        for (text, is_fine) in [("aaaa\nbbbb\ncccc", true), ("aaaaa", false), ("a\nbbbbb", false), ("", true)] {
            let mut read = String::new();
            let done = Bounded::new(text.as_bytes(), 4).read_to_string(&mut read).await;
            assert_eq!(done.is_ok(), is_fine, "{text:?}");
        }
    }
}
