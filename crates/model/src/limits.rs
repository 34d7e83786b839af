//! Everything has a limit; these are their names and defaults.

use serde::{Deserialize, Serialize};

/// Limits of one project. Reaching one is an ordinary, explained outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// How deep below a root (which is 0) a thread may lie.
    pub depth: u32,
    /// Children of one thread that have not ended.
    pub children_live: u32,
    /// Threads below one root, ended ones included.
    pub children_total: u32,
    /// Model calls of one side in one session.
    pub steps: u32,
    /// Turns of both sides in one session.
    pub session_turns: u32,
    /// The time of one session. In a process that takes up what another left it has all of it again.
    pub run_seconds: u64,
    pub first_byte_seconds: u64,
    pub stall_seconds: u64,
    /// Requests for one model answer, the first included.
    pub model_attempts: u32,
    pub queue_messages: u32,
    pub message_bytes: usize,
    pub tool_output_bytes: usize,
    pub http_body_bytes: usize,
    pub script_bytes: usize,
    pub script_seconds: u64,
    pub shell_seconds: u64,
    pub shell_bytes: u64,
    pub artifact_bytes: u64,
    /// How long a request for variables is kept.
    pub variables_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 3,
            children_live: 20,
            children_total: 200,
            steps: 250,
            session_turns: 100,
            run_seconds: 3600,
            first_byte_seconds: 120,
            stall_seconds: 45,
            model_attempts: 3,
            queue_messages: 1000,
            message_bytes: 1 << 20,
            tool_output_bytes: 256 << 10,
            http_body_bytes: 4 << 20,
            script_bytes: 64 << 20,
            script_seconds: 30,
            shell_seconds: 600,
            shell_bytes: 2 << 30,
            artifact_bytes: 512 << 20,
            variables_seconds: 86_400,
        }
    }
}
