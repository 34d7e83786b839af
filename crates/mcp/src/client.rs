//! The client for servers on the network. It reads no more of an answer than a message may have.

use futures::stream::{BoxStream, Stream, StreamExt as _};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode};
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::common::http_header::{EVENT_STREAM_MIME_TYPE, HEADER_SESSION_ID, JSON_MIME_TYPE};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// So much of an answer that nobody understands is told.
const SHOWN: usize = 256;

type Fault = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// Only what is posted is done here: the library reads an answer of JSON whole, however long it is.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    bytes_max: usize,
}

impl Client {
    pub(crate) fn new(http: reqwest::Client, bytes_max: usize) -> Self {
        Self { http, bytes_max }
    }

    async fn text(&self, response: Response) -> Result<Vec<u8>, Fault> {
        let mut text = Vec::new();
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            text.extend_from_slice(&chunk?);
            if text.len() > self.bytes_max {
                return Err(too_long(self.bytes_max).into());
            }
        }
        Ok(text)
    }

    /// What the server says to a message.
    async fn read(
        &self,
        (message, has_session): (&ClientJsonRpcMessage, bool),
        response: Response,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (kind, session) = (header(CONTENT_TYPE.as_str()), header(HEADER_SESSION_ID));
        let is = |mime: &str| kind.as_deref().is_some_and(|kind| kind.starts_with(mime));
        let is_json = is(JSON_MIME_TYPE);
        if status.is_success() && is(EVENT_STREAM_MIME_TYPE) {
            let events = SseStream::from_bytes_stream(bounded(response.bytes_stream(), self.bytes_max));
            return Ok(StreamableHttpPostResponse::Sse(events.boxed(), session));
        }
        let text = self.text(response).await?;
        if !status.is_success() {
            return refused(message, (status, has_session), &text);
        }
        let awaits_nothing = !matches!(message, ClientJsonRpcMessage::Request(_));
        match serde_json::from_slice(&text) {
            Ok(said) if is_json => Ok(StreamableHttpPostResponse::Json(said, session)),
            _ if awaits_nothing && (is_json || text.is_empty()) => Ok(StreamableHttpPostResponse::Accepted),
            _ if is_json => Err(StreamableHttpError::UnexpectedServerResponse(shown(&text).into())),
            _ => Err(StreamableHttpError::UnexpectedContentType(kind)),
        }
    }
}

impl StreamableHttpClient for Client {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        custom: Headers,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let mut headers: HeaderMap = custom.into_iter().collect();
        let both = [EVENT_STREAM_MIME_TYPE, JSON_MIME_TYPE].join(", ");
        let bearer = token.map(|token| format!("Bearer {token}"));
        let ours = [
            (ACCEPT, Some(both.as_str())),
            (HeaderName::from_static("mcp-session-id"), session.as_deref()),
            (AUTHORIZATION, bearer.as_deref()),
        ];
        for (name, value) in ours.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            let value = HeaderValue::from_str(value).map_err(io::Error::other)?;
            headers.insert(name, value);
        }
        let response = self.http.post(uri.as_ref()).headers(headers).json(&message).send().await?;
        self.read((&message, session.is_some()), response).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        custom: Headers,
    ) -> Result<(), Fault> {
        self.http.delete_session(uri, session, token, custom).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        custom: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Fault> {
        let bytes_max = self.bytes_max;
        self.http.get_stream_with_max_sse_event_size(uri, session, last, token, custom, bytes_max).await
    }
}

/// A refusal in the protocol's own words is an answer, but for one that says who may come in.
fn refused(
    message: &ClientJsonRpcMessage,
    (status, has_session): (StatusCode, bool),
    text: &[u8],
) -> Result<StreamableHttpPostResponse, Fault> {
    let what = format!("HTTP {status}: {}", shown(text));
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(StreamableHttpError::UnexpectedServerResponse(what.into()));
    }
    let said = match serde_json::from_slice(text) {
        Ok(ServerJsonRpcMessage::Error(error)) => Some(error),
        _ => None,
    };
    // A server of an earlier version knows nothing of the first question, and may not repeat whose it was.
    if let ClientJsonRpcMessage::Request(request) = message
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && status.is_client_error()
        && !has_session
    {
        let error = said.map_or_else(|| ErrorData::invalid_request(what, None), |said| said.error);
        let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(answer, None));
    }
    match said {
        Some(error) => Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), None)),
        None => Err(StreamableHttpError::UnexpectedServerResponse(what.into())),
    }
}

fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(SHOWN)]).into_owned()
}

fn too_long(bytes_max: usize) -> io::Error {
    io::Error::other(format!("a message of more than {bytes_max} bytes"))
}

/// The stream until an event is longer than it may be. An event ends with an empty line.
fn bounded<B: AsRef<[u8]>>(
    chunks: impl Stream<Item = Result<B, reqwest::Error>>,
    bytes_max: usize,
) -> impl Stream<Item = Result<B, io::Error>> {
    let (mut event, mut line) = (0, 0);
    chunks.map(move |chunk| {
        let chunk = chunk.map_err(io::Error::other)?;
        for byte in chunk.as_ref() {
            match byte {
                b'\n' if line == 0 => event = 0,
                b'\n' => line = 0,
                b'\r' => {}
                _ => (event, line) = (event + 1, line + 1),
            }
            if event > bytes_max {
                return Err(too_long(bytes_max));
            }
        }
        Ok(chunk)
    })
}
