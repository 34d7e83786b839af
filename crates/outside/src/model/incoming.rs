//! One answer as it comes in, under the two time-outs: to its first byte, and between its pieces.

use super::complaint;
use super::failure::{FailedAttempt, FailureKind};
use super::http::transport_failure;
use super::settings::ModelLimits;
use bytes::Bytes;
use reqwest::header::HeaderMap;
use reqwest::{RequestBuilder, Response};
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// How much of an error's body is read.
const ERROR_BYTES_MAX: usize = 64 << 10;
/// How long an answer's end may follow its last word. A body that was read to its end leaves a connection to reuse.
const END_WAIT: Duration = Duration::from_millis(50);

/// Dropping it closes the connection, unless the body was read to its end.
pub(super) struct Incoming {
    response: Response,
    limits: ModelLimits,
    /// Until the first byte: when it must be there.
    first_byte_at: Option<Instant>,
}

impl Incoming {
    /// Sends the request. An answer that is no success is read and becomes the failure it tells of.
    pub(super) async fn send(request: RequestBuilder, limits: ModelLimits) -> Result<Self, FailedAttempt> {
        let first_byte_at = Instant::now() + limits.first_byte;
        let sent = timeout_at(first_byte_at, request.send()).await.map_err(|_| silent(limits.first_byte))?;
        let response = sent.map_err(|error| transport_failure(&error))?;
        let incoming = Self { response, limits, first_byte_at: Some(first_byte_at) };
        if incoming.response.status().is_success() { Ok(incoming) } else { Err(incoming.into_failure().await) }
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// The next bytes, never none of them; `None` at the end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, FailedAttempt> {
        loop {
            let next = match self.first_byte_at {
                Some(moment) => timeout_at(moment, self.response.chunk()).await,
                None => timeout(self.limits.stall, self.response.chunk()).await,
            };
            let next = next.map_err(|_| match self.first_byte_at {
                Some(_) => silent(self.limits.first_byte),
                None => stalled(self.limits.stall),
            })?;
            match next.map_err(|error| transport_failure(&error))? {
                Some(bytes) if bytes.is_empty() => {}
                Some(bytes) => {
                    self.first_byte_at = None;
                    return Ok(Some(bytes));
                }
                None => return Ok(None),
            }
        }
    }

    /// Reads what is left, if that is next to nothing.
    pub(super) async fn end(mut self) {
        let rest = async { while let Ok(Some(_)) = self.response.chunk().await {} };
        // Late ends cost a connection, not the answer.
        let _ = timeout(END_WAIT, rest).await;
    }

    async fn into_failure(mut self) -> FailedAttempt {
        let mut body = Vec::new();
        // A body that breaks off or stalls still has its status.
        while let Ok(Some(bytes)) = self.chunk().await {
            body.extend_from_slice(&bytes);
            if body.len() > ERROR_BYTES_MAX {
                body.truncate(ERROR_BYTES_MAX);
                break;
            }
        }
        complaint::of_status(self.response.status(), self.response.headers(), &body)
    }
}

pub(super) fn silent(limit: Duration) -> FailedAttempt {
    FailedAttempt::passing(FailureKind::Timeout, format!("sent nothing within {limit:?}"))
}

pub(super) fn stalled(limit: Duration) -> FailedAttempt {
    FailedAttempt::passing(FailureKind::Timeout, format!("stopped in the middle of its answer for {limit:?}"))
}
