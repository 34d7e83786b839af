//! Children that wait for variables, giving these to them, and taking the request back.

use crate::body::{Body, unique};
use crate::fault::Fault;
use crate::path::Path;
use crate::service::{Admitted, Service};
use crate::threads::found;
use crate::{key, label};
use axum::Json;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use entourage_model::{Name, RequestId, ThreadId};
use entourage_runtime::Given;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// What a child needs before it can start.
#[derive(Serialize, ToSchema)]
pub(crate) struct Wanted {
    #[schema(value_type = String, format = Uuid)]
    request_id: RequestId,
    #[schema(value_type = String, format = Uuid)]
    parent_thread_id: ThreadId,
    #[schema(value_type = String)]
    agent_name: Name,
    /// The names of all scoped variables that the child and what it can start must have.
    required: Vec<String>,
    /// Those of them that nobody has given.
    missing: Vec<String>,
}

/// Values for what is missing.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Values {
    #[serde(deserialize_with = "unique")]
    env: BTreeMap<String, String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Booted {
    #[schema(value_type = String, format = Uuid)]
    request_id: RequestId,
    #[schema(value_type = String, format = Uuid)]
    child_thread_id: ThreadId,
    /// `success`
    status: &'static str,
}

/// What a request for variables asks for.
#[utoipa::path(get, path = "/threads/{id}/variables/{request_id}", tag = "variables",
    params(("id" = String, Path), ("request_id" = String, Path)),
    responses(
        (status = 200, description = "The names of what is required and missing", body = Wanted),
        (status = 404, description = "There is no such thread or request, or it was used or is over"),
    ),
)]
pub(crate) async fn show(
    Admitted(service): Admitted,
    Path((id, request)): Path<(String, String)>,
) -> Result<Json<Wanted>, Fault> {
    let (thread, request_id) = named(&service, &id, &request).await?;
    let request = service.runtime.request(thread, request_id).await?.ok_or_else(unknown)?;
    Ok(Json(Wanted {
        request_id,
        parent_thread_id: thread,
        agent_name: request.entry.name().clone(),
        required: request.required,
        missing: request.missing,
    }))
}

/// Gives the variables and starts the child, as it was asked for. A request can be used once.
#[utoipa::path(post, path = "/threads/{id}/variables/{request_id}", tag = "variables", request_body = Values,
    params(
        ("id" = String, Path),
        ("request_id" = String, Path),
        ("idempotency-key" = Option<String>, Header, description = "The same key and body start one child"),
    ),
    responses(
        (status = 200, description = "The child is started", body = Booted),
        (status = 400, description = "Something is still missing; the request is as it was"),
        (status = 404, description = "There is no such thread or request, or it was used or is over"),
        (status = 409, description = "A limit does not let the child start now and the request is as it was, or the key was used for another request"),
    ),
)]
pub(crate) async fn give(
    Admitted(service): Admitted,
    Path((id, request)): Path<(String, String)>,
    headers: HeaderMap,
    Body(values): Body<Values>,
) -> Result<Response, Fault> {
    values.env.keys().try_for_each(|name| label::check(label::VARIABLE, name))?;
    let (thread, request_id) = named(&service, &id, &request).await?;
    match service.runtime.give(thread, request_id, values.env, key::given(&headers)?).await? {
        Given::Started(child_thread_id) => {
            Ok(Json(Booted { request_id, child_thread_id, status: "success" }).into_response())
        }
        Given::Missing(names) => {
            let text = format!("these variables are still missing: {}", names.join(", "));
            Err(Fault::new(StatusCode::BAD_REQUEST, "variables_missing", text))
        }
        Given::Unknown => Err(unknown()),
        Given::Full => {
            let text = "a limit does not let the child start now; try again when others have ended";
            Err(Fault::new(StatusCode::CONFLICT, "subagent_limit_reached", text))
        }
    }
}

/// Takes a request back: its child does not start any more.
#[utoipa::path(delete, path = "/threads/{id}/variables/{request_id}", tag = "variables",
    params(("id" = String, Path), ("request_id" = String, Path)),
    responses(
        (status = 204, description = "It is taken back"),
        (status = 404, description = "There is no such thread or request, or it was used or is over"),
    ),
)]
pub(crate) async fn withdraw(
    Admitted(service): Admitted,
    Path((id, request)): Path<(String, String)>,
) -> Result<StatusCode, Fault> {
    let (thread, request_id) = named(&service, &id, &request).await?;
    if service.runtime.withdraw(thread, request_id).await? { Ok(StatusCode::NO_CONTENT) } else { Err(unknown()) }
}

fn unknown() -> Fault {
    Fault::not_found("request for variables")
}

async fn named(service: &Service, thread: &str, request: &str) -> Result<(ThreadId, RequestId), Fault> {
    let thread = found(service, thread).await?.id;
    Ok((thread, request.parse().map_err(|_| unknown())?))
}
