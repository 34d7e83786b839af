//! Scripts in, values and faults out.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]
#![expect(clippy::needless_pass_by_value, reason = "`json!` is written in place")]

mod call;
mod files;
mod hook;
mod hostile;
mod imports;
mod limits;
mod memory;
mod places;
mod properties;
mod values;
