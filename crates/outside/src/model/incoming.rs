//! One answer as it comes in, under the two time-outs: to its first byte, and between its pieces.

use super::complaint;
use super::direct::DirectAnswer;
use super::failure::{FailedAttempt, FailureKind};
use super::http::transport_failure;
use super::settings::ModelLimits;
use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How much of an error's body is read.
const ERROR_BYTES_MAX: usize = 64 << 10;
/// How long an answer's end may follow its last word. A body that was read to its end leaves a connection to reuse.
const END_WAIT: Duration = Duration::from_millis(50);

/// Dropping it closes the connection, unless the body was read to its end.
pub(super) struct Incoming {
    response: Response,
    patience: Patience,
}

/// An answer by whoever was asked for it.
pub(super) enum Response {
    Client(reqwest::Response),
    Direct(DirectAnswer),
}

impl Response {
    fn status(&self) -> StatusCode {
        match self {
            Self::Client(response) => response.status(),
            Self::Direct(answer) => answer.response.status(),
        }
    }

    fn headers(&self) -> &HeaderMap {
        match self {
            Self::Client(response) => response.headers(),
            Self::Direct(answer) => answer.response.headers(),
        }
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, FailedAttempt> {
        match self {
            Self::Client(response) => response.chunk().await.map_err(|error| transport_failure(&error)),
            Self::Direct(answer) => answer.chunk().await,
        }
    }
}

impl Incoming {
    /// Waits for the answer. One that is no success is read and becomes the failure it tells of.
    pub(super) async fn wait(
        answer: impl Future<Output = Result<Response, FailedAttempt>>,
        limits: ModelLimits,
    ) -> Result<Self, FailedAttempt> {
        let patience = Patience::new(limits);
        let response = timeout(patience.left(), answer).await.map_err(|_| patience.spent())??;
        let incoming = Self { response, patience };
        if incoming.response.status().is_success() { Ok(incoming) } else { Err(incoming.into_failure().await) }
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// The next bytes, never none of them; `None` at the end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, FailedAttempt> {
        loop {
            let next = timeout(self.patience.left(), self.response.chunk()).await;
            let next = next.map_err(|_| self.patience.spent())?;
            match next? {
                Some(bytes) if bytes.is_empty() => {}
                Some(bytes) => {
                    self.patience.hear();
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
        self.patience.hear();
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

/// How much longer to wait for a provider to say something.
pub(super) struct Patience {
    limits: ModelLimits,
    /// When the request went out; absent once anything was heard.
    silent_since: Option<Instant>,
}

impl Patience {
    /// Time runs from now.
    pub(super) fn new(limits: ModelLimits) -> Self {
        Self { limits, silent_since: Some(Instant::now()) }
    }

    pub(super) fn hear(&mut self) {
        self.silent_since = None;
    }

    pub(super) fn left(&self) -> Duration {
        match self.silent_since {
            Some(start) => self.limits.first_byte.saturating_sub(start.elapsed()),
            None => self.limits.stall,
        }
    }

    /// What it means that nothing came in that time.
    pub(super) fn spent(&self) -> FailedAttempt {
        let why = match self.silent_since {
            Some(_) => format!("sent nothing within {:?}", self.limits.first_byte),
            None => format!("stopped in the middle of its answer for {:?}", self.limits.stall),
        };
        FailedAttempt::passing(FailureKind::Timeout, why)
    }
}
