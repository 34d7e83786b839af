//! Whoever is shown what moves between a registry and the layout.

use std::fmt;

/// Told in order, one blob after another. A blob that has to be moved again begins again.
pub trait Watch: Send + Sync + fmt::Debug {
    fn begins(&self, what: &str, bytes: u64);

    /// So many bytes more.
    fn moved(&self, bytes: u64);

    /// It is where it belongs, or was already.
    fn ends(&self);
}

/// Nobody.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn begins(&self, _what: &str, _bytes: u64) {}

    fn moved(&self, _bytes: u64) {}

    fn ends(&self) {}
}
