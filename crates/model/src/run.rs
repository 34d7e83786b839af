//! Runs: one delegated piece of work on a thread, and how such a thing ends.

use crate::Attachment;
use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::AddAssign;

/// A terminal run never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    Pending,
    Running,
    /// It waits to be resumed.
    Interrupted,
    Done,
    Failed,
    Cancelled,
}

impl RunStatus {
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Running, Self::Interrupted, Self::Done, Self::Failed, Self::Cancelled];

    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// How a call, run or turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Done,
    Failed,
    Cancelled,
    /// It was started and nobody knows what became of it.
    Unknown,
}

impl Outcome {
    /// The status of a run that ended so.
    pub fn run_status(self) -> RunStatus {
        match self {
            Self::Done => RunStatus::Done,
            Self::Failed | Self::Unknown => RunStatus::Failed,
            Self::Cancelled => RunStatus::Cancelled,
        }
    }
}

/// What an ended piece of work gives back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    pub outcome: Outcome,
    /// The result, or what went wrong.
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The limit that ended it, also when it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

impl Ending {
    /// What there was to show when a limit made it fail: then the text is this, and the limit is what went wrong.
    pub fn partial(&self) -> Option<&str> {
        let limit = self.limit.as_ref().filter(|_| self.outcome == Outcome::Failed)?;
        (!self.text.contains(limit.as_str())).then_some(self.text.as_str())
    }

    /// What went wrong, for one that is not done.
    pub fn fault(&self) -> &str {
        self.limit.as_deref().filter(|_| self.partial().is_some()).unwrap_or(&self.text)
    }
}

/// What models were paid for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub steps: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.steps += other.steps;
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), |mut sum, usage| {
            sum += usage;
            sum
        })
    }
}
