//! Threads as others see them.

use crate::{Communication, Name, ThreadId, Timestamp};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreadStatus {
    /// Nothing to do until somebody writes.
    Idle,
    /// Has work that no process has taken up.
    Ready,
    Running,
    /// For a child, a person, a timer or variables.
    Waiting,
    Done,
    Failed,
    Terminated,
}

impl ThreadStatus {
    pub const ALL: [Self; 7] =
        [Self::Idle, Self::Ready, Self::Running, Self::Waiting, Self::Done, Self::Failed, Self::Terminated];

    pub fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Terminated => "terminated",
        }
    }

    /// Neither at work nor waiting for anything but a message.
    pub fn is_settled(self) -> bool {
        match self {
            Self::Ready | Self::Running | Self::Waiting => false,
            Self::Idle | Self::Done | Self::Failed | Self::Terminated => true,
        }
    }
}

/// A child in its parent's registry, spelt as Standard Agents does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistryEntry {
    pub reference: ThreadId,
    /// The agent's name.
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub description: String,
    pub resumable: bool,
    pub blocking: bool,
    /// The name that the parent gave to this instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spawn_group_id: Option<String>,
    pub created_at: Timestamp,
    pub status: String,
    pub parent_communication: Communication,
}
