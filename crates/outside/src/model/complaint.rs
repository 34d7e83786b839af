//! What a provider says went wrong, by status or in an error document, and what that means for the next request.

use super::failure::{FailedAttempt, FailureKind, Retry};
use super::retry_after;
use entourage_model::one_line;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// How much of a provider's own words a message shows.
const SHOWN_CHARS_MAX: usize = 300;

/// The meaning of an answer whose status is no success.
pub(super) fn of_status(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> FailedAttempt {
    let said = ErrorDocument::read(body);
    let (kind, mut retry) = meaning(status.as_u16());
    if let Retry::Later(wait) = &mut retry {
        *wait = retry_after::read(headers);
    }
    if said.is_lasting() {
        retry = Retry::Never;
    }
    let why = format!("answered {status}{}", said.tail());
    FailedAttempt { kind, why, retry, status: Some(status.as_u16()) }
}

/// The meaning of an error document in an answer that began as a success.
pub(super) fn of_document(body: &[u8]) -> FailedAttempt {
    let said = ErrorDocument::read(body);
    let (kind, retry) = said.status().map_or((FailureKind::Unavailable, Retry::Later(None)), meaning);
    let retry = if said.is_lasting() { Retry::Never } else { retry };
    FailedAttempt { kind, why: format!("broke off with an error{}", said.tail()), retry, status: said.status() }
}

fn meaning(status: u16) -> (FailureKind, Retry) {
    match status {
        401 | 403 => (FailureKind::Unauthorized, Retry::Never),
        404 => (FailureKind::NotFound, Retry::Never),
        408 => (FailureKind::Timeout, Retry::Later(None)),
        409 | 425 => (FailureKind::Unavailable, Retry::Later(None)),
        429 => (FailureKind::RateLimited, Retry::Later(None)),
        500.. => (FailureKind::Unavailable, Retry::Later(None)),
        _ => (FailureKind::BadRequest, Retry::Never),
    }
}

/// The parts that the providers' error documents have in common, however they nest them.
struct ErrorDocument {
    message: String,
    /// `type`, `code` and `status`, whichever are there.
    words: Vec<String>,
}

impl ErrorDocument {
    /// A body that is no JSON is taken as the message.
    fn read(body: &[u8]) -> Self {
        let Ok(document) = serde_json::from_slice::<Value>(body) else {
            return Self { message: String::from_utf8_lossy(body).into_owned(), words: Vec::new() };
        };
        // Gemini puts the document into a list.
        let document = document.get(0).unwrap_or(&document);
        let error = document.get("error").filter(|error| !error.is_null()).unwrap_or(document);
        let text = |key: &str| error.get(key).and_then(Value::as_str);
        let message = error.as_str().or_else(|| text("message")).or_else(|| text("detail"));
        let words = ["type", "code", "status"].into_iter().filter_map(|key| match error.get(key)? {
            Value::String(word) => Some(word.to_ascii_lowercase()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        });
        Self { message: message.unwrap_or_default().to_owned(), words: words.collect() }
    }

    /// The status that the document's words amount to.
    fn status(&self) -> Option<u16> {
        let number = |word: &String| word.parse().ok().filter(|status| (400..600).contains(status));
        let by_word = |word: &String| {
            let known = [
                ("rate_limit", 429),
                ("resource_exhausted", 429),
                ("insufficient_quota", 429),
                ("overloaded", 529),
                ("authentication", 401),
                ("api_key", 401),
                ("permission", 403),
                ("not_found", 404),
                ("invalid_request", 400),
                ("context_length", 400),
            ];
            known.into_iter().find(|(part, _)| word.contains(part)).map(|(_, status)| status)
        };
        self.words.iter().find_map(number).or_else(|| self.words.iter().find_map(by_word))
    }

    /// An empty account comes as 429 and does not fill up by waiting.
    fn is_lasting(&self) -> bool {
        self.words.iter().any(|word| word == "insufficient_quota")
    }

    /// The message on one line, behind a colon; nothing if there is none.
    fn tail(&self) -> String {
        let line = one_line(&self.message);
        if line.is_empty() {
            return line;
        }
        match line.char_indices().nth(SHOWN_CHARS_MAX) {
            Some((end, _)) => format!(": {}…", &line[..end]),
            None => format!(": {line}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn check(status: u16, body: &str, kind: FailureKind, retry: Retry, why: &str) {
        let headers = HeaderMap::from_iter([("retry-after".parse().unwrap(), "7".parse().unwrap())]);
        let failed = of_status(StatusCode::from_u16(status).unwrap(), &headers, body.as_bytes());
        assert_eq!((failed.kind, failed.retry, failed.why.as_str()), (kind, retry, why));
    }

    #[test]
    fn a_status_says_whether_to_ask_again() {
        let later = Retry::Later(Some(Duration::from_secs(7)));
        check(400, "", FailureKind::BadRequest, Retry::Never, "answered 400 Bad Request");
        check(401, "", FailureKind::Unauthorized, Retry::Never, "answered 401 Unauthorized");
        check(403, "", FailureKind::Unauthorized, Retry::Never, "answered 403 Forbidden");
        check(404, "", FailureKind::NotFound, Retry::Never, "answered 404 Not Found");
        check(422, "", FailureKind::BadRequest, Retry::Never, "answered 422 Unprocessable Entity");
        check(408, "", FailureKind::Timeout, later, "answered 408 Request Timeout");
        check(409, "", FailureKind::Unavailable, later, "answered 409 Conflict");
        check(425, "", FailureKind::Unavailable, later, "answered 425 Too Early");
        check(429, "", FailureKind::RateLimited, later, "answered 429 Too Many Requests");
        check(503, "", FailureKind::Unavailable, later, "answered 503 Service Unavailable");
        check(529, "busy", FailureKind::Unavailable, later, "answered 529 <unknown status code>: busy");
    }

    #[test]
    fn every_form_of_error_document_gives_its_message() {
        let open = r#"{"error":{"message":"no\n such model","type":"invalid_request_error","code":null}}"#;
        check(404, open, FailureKind::NotFound, Retry::Never, "answered 404 Not Found: no such model");
        check(404, r#"{"error":"gone"}"#, FailureKind::NotFound, Retry::Never, "answered 404 Not Found: gone");
        check(404, r#"[{"error":{"message":"x"}}]"#, FailureKind::NotFound, Retry::Never, "answered 404 Not Found: x");
        check(404, r#"{"detail":"y"}"#, FailureKind::NotFound, Retry::Never, "answered 404 Not Found: y");
    }

    #[test]
    fn an_empty_account_is_not_asked_again() {
        let body = r#"{"error":{"message":"pay","code":"insufficient_quota"}}"#;
        check(429, body, FailureKind::RateLimited, Retry::Never, "answered 429 Too Many Requests: pay");
    }

    #[test]
    fn an_error_document_within_an_answer_is_read_by_its_words() {
        let kind = |body: &str| of_document(body.as_bytes()).kind;
        assert_eq!(kind(r#"{"error":{"type":"overloaded_error"}}"#), FailureKind::Unavailable);
        assert_eq!(kind(r#"{"error":{"code":"rate_limit_exceeded"}}"#), FailureKind::RateLimited);
        assert_eq!(kind(r#"{"error":{"code":401}}"#), FailureKind::Unauthorized);
        assert_eq!(kind(r#"{"error":{"message":"?"}}"#), FailureKind::Unavailable);
        assert_eq!(of_document(br#"{"error":{"type":"invalid_request_error"}}"#).retry, Retry::Never);
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let said = ErrorDocument { message: "ü".repeat(SHOWN_CHARS_MAX + 1), words: Vec::new() };
        assert_eq!(said.tail(), format!(": {}…", "ü".repeat(SHOWN_CHARS_MAX)));
    }
}
