//! Texts by which rows are found, and what they may be.

use crate::fault::Fault;

/// Of a tag, of a user's id and of a variable's name.
const BYTES_MAX: usize = 1024;

pub(crate) const USER: &str = "`user_id`";
pub(crate) const VARIABLE: &str = "the name of a variable";

/// It is short, and a text that every store can hold.
pub(crate) fn check(what: &str, label: &str) -> Result<(), Fault> {
    if label.len() > BYTES_MAX || label.contains('\0') {
        return Err(Fault::bad_request(format!("{what} is a text of at most {BYTES_MAX} bytes without NUL")));
    }
    Ok(())
}
