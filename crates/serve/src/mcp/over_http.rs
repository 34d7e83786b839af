//! `/mcp`. Every request stands for itself, so that a server can be restarted between any two.

use super::Mcp;
use super::running::{SESSION, key_of};
use crate::body::Raw;
use crate::service::Service;
use axum::Json;
use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequest as _, Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use rmcp::ErrorData;
use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use std::sync::Arc;

const PATH: &str = "/mcp";

/// As much of a message as is looked at before the protocol's own code sees it.
#[derive(Deserialize)]
struct Glance {
    method: String,
    #[serde(default)]
    params: Option<Params>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    request_id: Option<RequestId>,
}

pub(crate) fn over_http(service: &Service) -> Router<Service> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(service.runtime.limits().http_body_bytes)
        // Whose requests are answered at all was decided before.
        .disable_allowed_hosts();
    let mcp = Mcp::new(service.clone());
    let made = mcp.clone();
    let inner: StreamableHttpService<Mcp, NeverSessionManager> =
        StreamableHttpService::new(move || Ok(made.clone()), Arc::default(), config);
    Router::new().route_service(PATH, inner).layer(from_fn_with_state(mcp, look))
}

/// What the protocol's own code cannot read it takes for another type than JSON, which the guard has seen that it is.
fn misunderstood(bytes: &[u8]) -> Response {
    let error = match serde_json::from_slice::<IgnoredAny>(bytes) {
        Ok(_) => ErrorData::invalid_request("this is no message of the protocol, or more than one", None),
        Err(fault) => ErrorData::parse_error(format!("the body is no JSON: {fault}"), None),
    };
    let answer = Json(json!({ "jsonrpc": "2.0", "id": null, "error": error }));
    (StatusCode::BAD_REQUEST, answer).into_response()
}

/// Takes calls back, and gives clients a name for that: without sessions nobody else does. A client that begins is given
/// one, and whoever comes with one that we have never seen is as welcome.
async fn look(State(mcp): State<Mcp>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    // As every other body is read: it has a size and a time.
    let bytes = match Raw::from_request(Request::from_parts(parts.clone(), body), &()).await {
        Ok(Raw(bytes)) => bytes,
        Err(fault) => return fault.into_response(),
    };
    let glance = serde_json::from_slice::<Glance>(&bytes).ok();
    let is_greeting = glance.as_ref().is_some_and(|glance| glance.method == "initialize");
    if let Some(Glance { method, params: Some(Params { request_id: Some(id) }) }) = &glance
        && method == "notifications/cancelled"
    {
        mcp.running.cancel(&key_of(Some(&parts), id));
    }
    let mut response = next.run(Request::from_parts(parts, Body::from(bytes.clone()))).await;
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return misunderstood(&bytes);
    }
    if is_greeting && response.status().is_success() {
        let name = mcp.service.runtime.fresh_id();
        if let Ok(name) = HeaderValue::from_str(&name) {
            response.headers_mut().insert(SESSION, name);
        }
    }
    response
}
