//! Why one attempt failed, and whether another one might not.

use super::patience::ASKED_PAUSE_MAX;
use bytes::Bytes;
use entourage_bundle::{Exit, Fault, Reference};
use entourage_model::Report;
use reqwest::{Response, StatusCode};
use serde_json::Value;
use std::error::Error;
use std::io;
use std::time::Duration;

/// How long a registry may say nothing, connecting included: before an answer, and in the middle of it.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(30);
/// How much of a registry's own words people are shown.
const WORDS_CHARS_MAX: usize = 300;
const WORDS_BYTES_MAX: usize = 64 << 10;
/// How long they are waited for: the refusal itself is known.
const WORDS_WAIT: Duration = Duration::from_secs(10);

/// Whether anything is known that could prove who we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asker {
    Known,
    Nobody,
    /// Something is, and was not sent to a service that is not the registry's.
    Withheld,
}

#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) fault: Box<Fault>,
    pub(super) may_pass: bool,
    /// How long the registry asks us to wait.
    pub(super) pause: Option<Duration>,
}

/// A fault of the bytes, or of our own machine, is the same the next time.
impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self { fault: Box::new(fault), may_pass: false, pause: None }
    }
}

impl Trouble {
    fn lasting(report: Report) -> Self {
        Self::from(Fault::new(Exit::Network, report))
    }

    pub(super) fn passing(self) -> Self {
        Self { may_pass: true, ..self }
    }

    /// No answer came. Whoever says nothing at all for as long as we wait would say nothing the next time either.
    pub(super) fn unreachable(host: &str, error: &reqwest::Error) -> Self {
        if let Some(reason) = distrust(error) {
            let report =
                Report::error("B083", format!("the certificate of the registry `{host}` is refused: {reason}"));
            return Self::lasting(report.hint("`SSL_CERT_FILE` names a file of certificates that are trusted"));
        }
        let report = Report::error("B040", format!("the registry `{host}` cannot be reached: {}", cause(error)));
        let report = report.hint("look at the name and the network; `--plain-http` is for a registry without TLS");
        let trouble = Self::lasting(report);
        let is_lasting = error.is_builder() || error.is_redirect() || error.is_timeout();
        if is_lasting { trouble } else { trouble.passing() }
    }

    /// Nothing came for as long as we wait.
    pub(super) fn silent(host: &str) -> Self {
        let what = format!("the registry `{host}` said nothing for {} s", SILENCE_MAX.as_secs());
        Self::lasting(Report::error("B040", what).hint("look at the network, or ask whoever runs the registry"))
    }

    /// What we sent was not taken any more.
    pub(super) fn stalled(host: &str, silence: Duration) -> Self {
        let what = format!("the registry `{host}` took nothing and said nothing for {} s", silence.as_secs());
        Self::lasting(Report::error("B040", what).hint("look at the network, and try again")).passing()
    }

    /// Who we are was not enough, and this is what the registry says about it.
    pub(super) fn refused(host: &str, asker: Asker, words: &str) -> Self {
        let report = match asker {
            Asker::Known => Report::error(
                "B041",
                format!("the registry `{host}` refuses the credential that is known for it{words}"),
            )
            .hint(format!("`entourage login {host}` stores another one; perhaps it may not do this")),
            Asker::Withheld => {
                let what = format!(
                    "the registry `{host}` wants the credential to be sent elsewhere, which was not done{words}"
                );
                Report::error("B041", what).hint("its token service has to be at the registry's host, or in its domain")
            }
            Asker::Nobody => {
                let what = format!("the registry `{host}` wants to know who asks, and no credential is known{words}");
                Report::error("B041", what)
                    .hint(format!("`entourage login {host} --username NAME --password-stdin` stores one"))
            }
        };
        Self::lasting(report)
    }

    /// The credential cannot be found out, or may not be sent.
    pub(super) fn no_credential(what: impl Into<String>, hint: &str) -> Self {
        Self::lasting(Report::error("B042", what).hint(hint))
    }

    /// There is no such tag or repository.
    pub(super) fn not_there(reference: &Reference) -> Self {
        let report = Report::error("B043", format!("the registry has no `{reference}`"));
        Self::lasting(report.hint("look at the repository and the tag; some registries hide what one may not read"))
    }

    /// An answer that is no answer to what was asked.
    pub(super) fn odd(host: &str, what: impl AsRef<str>) -> Self {
        let report = Report::error("B044", format!("the registry `{host}` {}", what.as_ref()));
        Self::lasting(report.hint("is this the address of an OCI registry?"))
    }

    /// A status that nobody expected here.
    pub(super) async fn of_status(host: &str, response: Response) -> Self {
        let status = response.status();
        let pause = retry_after(&response);
        let words = words(response).await;
        if status == StatusCode::FORBIDDEN {
            let report = Report::error("B041", format!("the registry `{host}` does not allow this{words}"));
            return Self::lasting(report.hint(format!("`entourage login {host}` stores another credential")));
        }
        let asked = pause.filter(|pause| *pause > ASKED_PAUSE_MAX);
        let asked = asked.map(|pause| format!("; it wants to be asked again in {} s", pause.as_secs()));
        let trouble = Self::odd(host, format!("answered {status}{words}{}", asked.unwrap_or_default()));
        match status.as_u16() {
            408 | 425 | 429 | 500 | 502 | 503 | 504 => Self { pause, ..trouble.passing() },
            _ => trouble,
        }
    }
}

/// Only the form in seconds: a date would need a clock that both agree on.
fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(reqwest::header::RETRY_AFTER)?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}

/// What the registry says about it, after a colon; nothing if it says nothing that can be shown.
pub(super) async fn words(response: Response) -> String {
    let Ok(Ok(body)) = tokio::time::timeout(WORDS_WAIT, bounded(response, WORDS_BYTES_MAX)).await else {
        return String::new();
    };
    let Ok(answer) = serde_json::from_slice::<Value>(&body) else { return String::new() };
    let error = &answer["errors"][0];
    let said = ["message", "code"].into_iter().find_map(|key| error[key].as_str().filter(|text| !text.is_empty()));
    let said: String = said.unwrap_or_default().chars().filter(|letter| !letter.is_control()).collect();
    match said.char_indices().nth(WORDS_CHARS_MAX) {
        _ if said.is_empty() => String::new(),
        Some((end, _)) => format!(": {}…", &said[..end]),
        None => format!(": {said}"),
    }
}

/// Why a body was not read.
#[derive(Debug)]
pub(super) enum Unread {
    TooLong,
    /// Nothing came for too long.
    Silent,
    Broken(reqwest::Error),
}

/// The next piece of a body, unless it keeps us waiting.
pub(super) async fn chunk(response: &mut Response) -> Result<Option<Bytes>, Unread> {
    let chunk = tokio::time::timeout(SILENCE_MAX, response.chunk()).await.map_err(|_| Unread::Silent)?;
    chunk.map_err(Unread::Broken)
}

/// A body that may be no longer than this, whatever the registry announces.
pub(super) async fn bounded(mut response: Response, bytes_max: usize) -> Result<Vec<u8>, Unread> {
    let mut body = Vec::new();
    while let Some(chunk) = chunk(&mut response).await? {
        if body.len() + chunk.len() > bytes_max {
            return Err(Unread::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Why TLS does not believe that it is the registry. Absent: something else went wrong.
fn distrust(error: &reqwest::Error) -> Option<String> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(found) = cause {
        if let Some(rustls::Error::InvalidCertificate(_)) = found.downcast_ref() {
            return Some(found.to_string());
        }
        // An error of input and output hides what it is made of from `source`.
        let inner = found.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = inner.map(|inner| inner as &(dyn Error + 'static)).or_else(|| found.source());
    }
    None
}

/// The innermost error says what happened; the outer ones repeat the address.
fn cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_is_busy_says_how_long_we_are_to_wait() {
        let cases = [
            (429, Some("7"), true, Some(7)),
            (503, Some(" 120 "), true, Some(120)),
            (503, None, true, None),
            (503, Some("Wed, 21 Oct 2015 07:28:00 GMT"), true, None),
            (503, Some("-1"), true, None),
            (418, Some("7"), false, None),
        ];
        for (status, said, may_pass, seconds) in cases {
            let mut answer = hyper::Response::builder().status(status);
            if let Some(said) = said {
                answer = answer.header("retry-after", said);
            }
            let trouble = Trouble::of_status("r.test", Response::from(answer.body("").unwrap())).await;
            let expected = (may_pass, seconds.map(Duration::from_secs));
            assert_eq!((trouble.may_pass, trouble.pause), expected, "{status} {said:?}");
        }
    }
}
