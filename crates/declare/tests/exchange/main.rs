//! Other harnesses' files, in and out.
#![expect(clippy::panic, reason = "a test may")]

mod kit;
mod pages;
mod records;
