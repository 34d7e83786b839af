//! Why a model did not answer: for the caller, who branches and reports, and for the loop that asks again.

use std::fmt;
use std::time::Duration;

/// What kept a model from answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The provider refused the key, or what the key may do.
    Unauthorized,
    /// The provider knows no such model or path.
    NotFound,
    RateLimited,
    /// No first byte, or no further one, in time.
    Timeout,
    /// No connection, or one that broke.
    Unreachable,
    /// The provider answered that it cannot answer now, or stopped in the middle.
    Unavailable,
    /// The request itself is at fault: asking again would not help.
    BadRequest,
    /// The answer could not be understood.
    Malformed,
    /// Neither text nor calls.
    Empty,
    UnknownProvider,
    /// Nobody named a model: neither the request nor the settings.
    NoModel,
    MissingKey,
    /// The offline model has no reply, or was told to fail.
    Script,
}

impl FailureKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::NotFound => "not_found",
            Self::RateLimited => "rate_limited",
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::Unavailable => "unavailable",
            Self::BadRequest => "bad_request",
            Self::Malformed => "malformed",
            Self::Empty => "empty",
            Self::UnknownProvider => "unknown_provider",
            Self::NoModel => "no_model",
            Self::MissingKey => "missing_key",
            Self::Script => "script",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// No model of the request answered. Kind and status are those of the last one asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelFailure {
    pub kind: FailureKind,
    /// For people: every model that was asked, where, and what went wrong there. Never holds a key.
    pub message: String,
    /// Requests made, over all models.
    pub attempts: u32,
    pub status: Option<u16>,
}

/// Whether the same request may succeed later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retry {
    Never,
    /// Not before this long, if the provider said so.
    Later(Option<Duration>),
}

/// Why one request gave no answer. `why` continues a sentence that begins with the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FailedAttempt {
    pub(super) kind: FailureKind,
    pub(super) why: String,
    pub(super) retry: Retry,
    pub(super) status: Option<u16>,
}

impl FailedAttempt {
    pub(super) fn lasting(kind: FailureKind, why: impl Into<String>) -> Self {
        Self { kind, why: why.into(), retry: Retry::Never, status: None }
    }

    pub(super) fn passing(kind: FailureKind, why: impl Into<String>) -> Self {
        Self { kind, why: why.into(), retry: Retry::Later(None), status: None }
    }

    /// How long the provider asked to be left alone.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self.retry {
            Retry::Never => None,
            Retry::Later(wait) => wait,
        }
    }
}
