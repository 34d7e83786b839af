//! The id of a task as it stands in an address.

use crate::fault::Fault;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// Clients write ids as forms are written: a space is a `+`, and a `+` is `%2B`. So what the router has decoded already
/// would be too late.
#[derive(Debug)]
pub(crate) struct TaskId(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for TaskId {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Fault> {
        of_path(parts.uri.path()).map(Self).ok_or_else(|| Fault::not_found("task"))
    }
}

/// What stands behind `/tasks/`. Absent where the bytes are no text.
fn of_path(path: &str) -> Option<String> {
    let written = path.split('/').skip_while(|part| *part != "tasks").nth(1)?;
    let (mut bytes, mut rest) = (Vec::new(), written.as_bytes());
    while let [first, behind @ ..] = rest {
        let (byte, behind) = match (first, behind) {
            (b'+', behind) => (b' ', behind),
            (b'%', [high, low, behind @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                (digit(high)? * 16 + digit(low)?, behind)
            }
            (byte, behind) => (*byte, behind),
        };
        bytes.push(byte);
        rest = behind;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_forms_are_written() {
        for (path, id) in [
            ("/tasks/plain-1", Some("plain-1")),
            ("/api/tasks/a%2Fb+c%2Bd/events", Some("a/b c+d")),
            ("/tasks/%C3%A4%20b/wait", Some("ä b")),
            ("/tasks/100%", Some("100%")),
            ("/tasks/%zz", None),
            ("/tasks/%C3%28", None),
        ] {
            assert_eq!(of_path(path).as_deref(), id, "{path}");
        }
    }
}
