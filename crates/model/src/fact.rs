//! What a tool call really did, as the runtime saw it: told beside the text that the model reads.

use serde::{Deserialize, Serialize};

/// One thing that a call did. A call that failed did nothing, unless it says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "did")]
pub enum Fact {
    /// The path is relative to the project; of a file elsewhere it is absolute.
    ReadFile {
        path: String,
    },
    ChangedFile {
        path: String,
    },
    /// Without an exit code it was stopped before it had one.
    RanCommand {
        command: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
    },
}
