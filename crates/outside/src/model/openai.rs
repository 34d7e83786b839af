//! `openai:`, Chat Completions over HTTP: the hot path, written by hand.
//!
//! A call travels: `body` writes the request straight from the shared messages → [`Incoming`] reads the answer →
//! `events` splits it → `chunk` reads one event in place → `draft` puts text and calls together. Nothing of the
//! conversation is copied but into the bytes that are sent.

mod answer;
mod body;
mod chunk;
mod draft;
mod events;

use self::answer::{Answer, Progress};
use super::direct::Direct;
use super::endpoint::Endpoint;
use super::failure::{FailedAttempt, FailureKind};
use super::http::{Http, transport_failure};
use super::incoming::{Incoming, Response};
use super::provider::Provider;
use super::settings::{ModelLimits, ProviderSettings};
use super::watch::Watch;
use async_trait::async_trait;
use bytes::Bytes;
use entourage_model::{ModelAnswer, ModelRequest};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use std::sync::Arc;

pub(super) struct OpenAi {
    url: Url,
    /// Absent without a key. A key that no header can hold is a fault of every request.
    authorization: Result<Option<HeaderValue>, FailedAttempt>,
    form: Form,
    limits: ModelLimits,
    http: Arc<Http>,
    /// The shorter way, where it leads there.
    direct: Option<Direct>,
}

/// How an answer is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Streamed,
    Plain,
}

impl OpenAi {
    pub(super) fn new(endpoint: &Endpoint, settings: &ProviderSettings, limits: ModelLimits, http: Arc<Http>) -> Self {
        let url = endpoint.join("chat/completions");
        let authorization = authorization(settings);
        let direct = authorization.clone().ok().and_then(|authorization| Direct::new(&url, authorization));
        let form = if settings.stream { Form::Streamed } else { Form::Plain };
        Self { url, authorization, form, limits, http, direct }
    }

    async fn send(&self, body: Bytes) -> Result<Response, FailedAttempt> {
        if let Some(direct) = &self.direct {
            let answer = direct.send(body.clone()).await?;
            if !direct.is_moved(&answer) {
                return Ok(Response::Direct(answer));
            }
        }
        let mut headers = HeaderMap::with_capacity(2);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(authorization) = self.authorization.clone()? {
            headers.insert(AUTHORIZATION, authorization);
        }
        let request = self.http.client(&self.url)?.post(self.url.clone()).headers(headers).body(body);
        request.send().await.map(Response::Client).map_err(|error| transport_failure(&error))
    }
}

#[async_trait]
impl Provider for OpenAi {
    async fn ask(&self, request: &ModelRequest, model: &str, watch: &dyn Watch) -> Result<ModelAnswer, FailedAttempt> {
        let body = body::write(request, model, self.form)
            .map_err(|error| FailedAttempt::lasting(FailureKind::BadRequest, format!("could not be asked: {error}")))?;
        let mut incoming = Incoming::wait(self.send(body.into()), self.limits).await?;
        let mut answer = Answer::new(incoming.headers());
        loop {
            match incoming.chunk().await {
                Ok(Some(bytes)) => {
                    if answer.push(&bytes, watch)? == Progress::Complete {
                        incoming.end().await;
                        break;
                    }
                }
                Ok(None) => break,
                // Whatever follows the end of the message is not missed.
                Err(_) if answer.is_finished() => break,
                Err(failed) => return Err(failed),
            }
        }
        answer.finish(watch)
    }
}

fn authorization(settings: &ProviderSettings) -> Result<Option<HeaderValue>, FailedAttempt> {
    let Some(key) = &settings.api_key else { return Ok(None) };
    let mut value = HeaderValue::from_str(&format!("Bearer {}", key.reveal())).map_err(|_| {
        FailedAttempt::lasting(FailureKind::Unauthorized, "was not asked: the key has characters that no key has")
    })?;
    value.set_sensitive(true);
    Ok(Some(value))
}
