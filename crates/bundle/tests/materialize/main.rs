//! A bundle in, a harness's files out: read back by parsers that nobody here wrote.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod adapters;
mod documents;
mod folder;
mod hostile;
mod kit;
mod losses;
mod settings;
mod vendors;
