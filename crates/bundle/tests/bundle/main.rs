//! Projects in, artifacts out, and back; what was tampered with is refused.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod build;
mod golden;
mod hostile;
mod kit;
mod layout;
mod packages;
mod unpack;
