//! Bodies that end too early, or never.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// What is sent of an answer.
#[derive(Debug)]
pub(super) struct Sent {
    left: Option<Bytes>,
    /// What is announced.
    length: Option<u64>,
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Fair,
    /// The connection breaks, once what was sent has left.
    Cut,
    Broken,
    /// Nothing more comes, and nobody hangs up.
    Silent,
    /// The same again.
    Never,
}

impl Sent {
    pub(super) fn whole(bytes: Bytes) -> Self {
        Self { length: Some(bytes.len() as u64), left: Some(bytes), end: End::Fair }
    }

    /// All is announced, and so much is sent.
    pub(super) fn cut(bytes: &Bytes, after: usize) -> Self {
        let length = Some(bytes.len() as u64);
        Self { length, left: Some(bytes.slice(..after.min(bytes.len()))), end: End::Cut }
    }

    /// All is announced, and half is sent.
    pub(super) fn silent(bytes: &Bytes) -> Self {
        Self { end: End::Silent, ..Self::cut(bytes, bytes.len() / 2) }
    }

    pub(super) fn endless() -> Self {
        Self { length: None, left: Some(Bytes::from(vec![b' '; 1 << 16])), end: End::Never }
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let piece = match self.end {
            End::Never => self.left.clone(),
            End::Fair | End::Cut | End::Broken | End::Silent => self.left.take(),
        };
        match piece {
            Some(piece) => Poll::Ready(Some(Ok(Frame::data(piece)))),
            None => match self.end {
                // The server writes out what it has whenever nothing more is ready.
                End::Cut => {
                    self.end = End::Broken;
                    context.waker().wake_by_ref();
                    Poll::Pending
                }
                End::Broken => Poll::Ready(Some(Err(io::Error::other("told to break here")))),
                End::Silent => Poll::Pending,
                End::Fair | End::Never => Poll::Ready(None),
            },
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
