//! The body of an answer as it goes out: pieces of data, pauses between them, and perhaps a break instead of an end.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

use super::counters::PendingAnswer;

#[derive(Debug)]
pub(super) enum Piece {
    Data(Bytes),
    Pause(Duration),
    /// Lets the connection write out what it holds; a break would throw that away.
    Flush,
    /// Closes the connection in the middle of the body.
    Break,
}

#[derive(Debug)]
pub(super) struct AnswerBody {
    pieces: VecDeque<Piece>,
    pausing: Option<Pin<Box<Sleep>>>,
    /// What `content-length` promises; without it the body is chunked.
    length: Option<u64>,
    pending: PendingAnswer,
}

impl AnswerBody {
    pub(super) fn new(pieces: VecDeque<Piece>, length: Option<u64>, mut pending: PendingAnswer) -> AnswerBody {
        if pieces.is_empty() {
            // hyper never asks an empty body for its end.
            pending.finish();
        }
        AnswerBody { pieces, pausing: None, length, pending }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        loop {
            if let Some(pause) = &mut self.pausing {
                ready!(pause.as_mut().poll(context));
                self.pausing = None;
            }
            match self.pieces.pop_front() {
                None => return Poll::Ready(None),
                Some(Piece::Data(data)) => {
                    if self.pieces.is_empty() {
                        self.pending.finish();
                    }
                    return Poll::Ready(Some(Ok(Frame::data(data))));
                }
                Some(Piece::Pause(length)) => self.pausing = Some(Box::pin(tokio::time::sleep(length))),
                Some(Piece::Flush) => {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Some(Piece::Break) => {
                    self.pending.finish();
                    return Poll::Ready(Some(Err(io::Error::other("the answer breaks off here"))));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty() && self.pausing.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map(SizeHint::with_exact).unwrap_or_default()
    }
}
