//! Who looks on while a model answers.

use std::time::Duration;

/// Told of an answer while it comes in. Called from the task that asks, and not to be kept waiting.
pub trait Watch: Send + Sync {
    /// The next piece of the text, in order; never empty. An answer may also come as one piece.
    fn delta(&self, text: &str);

    /// A request failed and number `attempt`, counted over all models, follows after `wait`. Whatever `delta` gave
    /// before belongs to the failed one and is void.
    fn retrying(&self, attempt: u32, wait: Duration, why: &str);
}

/// Looks away.
impl Watch for () {
    fn delta(&self, _: &str) {}

    fn retrying(&self, _: u32, _: Duration, _: &str) {}
}
