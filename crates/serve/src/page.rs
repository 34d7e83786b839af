//! `/`: the web page, one file that talks to the API like any other client.

use axum::http::HeaderValue;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use std::sync::LazyLock;

const PAGE: &str = include_str!("page.html");

/// Only the page's own script and style run, known by their digests, and it may only talk to this server.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let digest = |tag: &str| {
        let text = inside(tag).expect("the page has a script and a style");
        STANDARD.encode(Sha256::digest(text.as_bytes()))
    };
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        digest("script"),
        digest("style"),
    );
    HeaderValue::from_str(&policy).expect("digests are plain text")
});

pub(crate) async fn page() -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (CONTENT_SECURITY_POLICY, POLICY.clone()),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    ];
    (headers, PAGE).into_response()
}

fn inside(tag: &str) -> Option<&'static str> {
    let (_, rest) = PAGE.split_once(&format!("<{tag}>"))?;
    Some(rest.split_once(&format!("</{tag}>"))?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_never_read_as_a_page() {
        let script = inside("script").unwrap();
        for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "DOMParser", "href"] {
            assert!(!script.contains(way), "{way}");
        }
        assert_eq!(PAGE.matches("<script").count() + PAGE.matches("<style").count(), 2);
        assert!(!PAGE.contains(" style=") && !PAGE.contains(" onclick="));
    }
}
