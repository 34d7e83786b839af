//! The task list of a thread: what is to be done, and to whom it was given.

use crate::{Name, RunId, RunStatus};
use serde::{Deserialize, Serialize};

/// One entry of a thread's task list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskItem {
    /// Its name within the thread.
    pub id: String,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub progress: Progress,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignment: Option<Assignment>,
}

/// How far a task has come, in the judgement of whoever keeps the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    #[default]
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

impl Progress {
    pub const ALL: [Self; 4] = [Self::Pending, Self::InProgress, Self::Completed, Self::Cancelled];

    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Whose work a task is, and what became of it so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// Its name beyond the thread.
    pub id: String,
    /// The profile that does it.
    pub agent: Name,
    /// Absent: it was not started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    pub status: RunStatus,
    /// What the run came to, in short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
}

impl Assignment {
    /// One that nobody works on.
    pub fn open(id: String, agent: Name) -> Self {
        Self { id, agent, run: None, status: RunStatus::Pending, response: None }
    }
}
