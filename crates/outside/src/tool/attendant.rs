//! What the runtime does for a call while it runs.

use async_trait::async_trait;
use std::fmt::Debug;

/// Where a command wrote something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

impl Stream {
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// Whoever attends to one call: shows its output to people and keeps files for its thread.
#[async_trait]
pub trait Attendant: Send + Sync + Debug {
    /// A piece of output as it comes, in order within its stream. Called in the middle of the work: it does not wait, and
    /// may drop what nobody looks at. Of a call with endless output it is told only the beginning.
    fn show(&self, stream: Stream, text: &str);

    /// Keeps the whole of an output that is too long for the model and gives the path at which the thread will have it,
    /// once the call has ended. Nothing if it cannot be kept.
    async fn keep(&self, name: &str, bytes: Vec<u8>) -> Option<String>;

    /// The content of a file of the thread. Nothing if there is none.
    async fn file(&self, path: &str) -> Option<Vec<u8>>;
}
