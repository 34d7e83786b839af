//! `/threads/{id}/messages`: what was said, and saying more.

use crate::body::Body;
use crate::cursor::parse_limit;
use crate::fault::Fault;
use crate::path::Path;
use crate::query::{Query, flag, number};
use crate::service::{Admitted, Service};
use crate::threads::found;
use crate::{key, schema};
use axum::Json;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use entourage_model::{Attachment, MessageId, Role, ThreadId};
use entourage_runtime::{Outgoing, Sent};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// Also messages that models see and people need not.
    #[param(value_type = Option<bool>)]
    include_silent: Option<String>,
    /// `next` of the page before.
    #[param(value_type = Option<u64>)]
    after: Option<String>,
    #[param(value_type = Option<u16>, minimum = 1, maximum = 1000)]
    limit: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Messages {
    #[schema(value_type = Vec<schema::Message>)]
    messages: Vec<Value>,
    /// The number of the page's last message, where there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

/// The messages of a thread, in order.
#[utoipa::path(get, path = "/threads/{id}/messages", tag = "messages", params(("id" = String, Path), Wanted), responses(
    (status = 200, description = "A page of them; `next` where there are more", body = Messages),
    (status = 400, description = "A number or a limit that cannot be"),
    (status = 404, description = "There is no such thread"),
))]
pub(crate) async fn list(
    Admitted(service): Admitted,
    Path(id): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Fault> {
    let thread = found(&service, &id).await?.id;
    let silent = flag("include_silent", wanted.include_silent.as_deref())?;
    let limit = parse_limit(wanted.limit.as_deref())?;
    let number = |text: &str| number(text).ok_or_else(|| Fault::bad_request("`after` must be the number of a message"));
    let after = wanted.after.as_deref().map(number).transpose()?.unwrap_or(0);
    // Tools may have changed what was said, so the messages are what the whole journal leads to.
    let state = service.runtime.state(thread).await?.ok_or_else(|| Fault::not_found("thread"))?;
    let lines = state.transcript.iter().zip(&state.numbers);
    let mut lines = lines.filter(|(message, number)| **number > after && (silent || !message.silent));
    let page: Vec<_> = lines.by_ref().take(limit).collect();
    let next = page.last().map(|(_, number)| **number).filter(|_| lines.next().is_some());
    let messages = page.into_iter().map(|(message, number)| message.shown(Some(*number))).collect();
    Ok(Json(Messages { messages, next }).into_response())
}

/// A message to be queued.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Said {
    content: String,
    #[serde(default)]
    role: Speaker,
    /// Paths of files in the thread.
    #[serde(default)]
    attachments: Vec<String>,
    #[serde(default)]
    silent: bool,
}

/// Who may be quoted.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Speaker {
    #[default]
    User,
    Assistant,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Queued {
    #[schema(value_type = String, format = Uuid)]
    message_id: MessageId,
    /// `queued`
    status: &'static str,
}

/// Queues a message. When this is answered, it is durable.
#[utoipa::path(post, path = "/threads/{id}/messages", tag = "messages", request_body = Said,
    params(
        ("id" = String, Path),
        ("idempotency-key" = Option<String>, Header, min_length = 1, max_length = 256, pattern = "^[ -~]*$",
            description = "The same key and body queue one message"),
    ),
    responses(
        (status = 202, description = "It waits for the thread's next step", body = Queued),
        (status = 400, description = "The body does not fit"),
        (status = 404, description = "There is no such thread"),
        (status = 409, description = "The thread is terminated, or the key was used for another request"),
        (status = 413, description = "The message is too large"),
        (status = 429, description = "The queue is full"),
    ),
)]
pub(crate) async fn send(
    Admitted(service): Admitted,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(said): Body<Said>,
) -> Result<Response, Fault> {
    let thread = found(&service, &id).await?.id;
    let key = key::given(&headers)?;
    let role = match said.role {
        Speaker::User => Role::User,
        Speaker::Assistant => Role::Assistant,
    };
    let outgoing = Outgoing { role, silent: said.silent, ..Outgoing::user(said.content) };
    let sent = match attachments(&service, thread, &said.attachments).await {
        Ok(attachments) => service.runtime.send(thread, Outgoing { attachments, ..outgoing }, key).await?,
        Err(fault) => repeated(&service, thread, (outgoing, &said.attachments), key).await?.ok_or(fault)?,
    };
    service.meters.message_queued();
    Ok((StatusCode::ACCEPTED, Json(Queued { message_id: sent.message, status: "queued" })).into_response())
}

/// What was sent with the key before, when the files were still there.
async fn repeated(
    service: &Service,
    thread: ThreadId,
    (outgoing, paths): (Outgoing, &[String]),
    key: Option<String>,
) -> Result<Option<Sent>, Fault> {
    let Some(key) = key else { return Ok(None) };
    // All that is compared of a file is its path.
    let gone = |path: String| Attachment { path, name: String::new(), mime_type: String::new(), size: 0, digest: None };
    let Ok(paths) = paths.iter().map(|path| entourage_model::file_path(path)).collect::<Result<Vec<_>, _>>() else {
        return Ok(None);
    };
    let attachments = paths.into_iter().map(gone).collect();
    Ok(service.runtime.sent_once(thread, Outgoing { attachments, ..outgoing }, key).await?)
}

/// The files of the thread that a request names.
async fn attachments(service: &Service, thread: ThreadId, paths: &[String]) -> Result<Vec<Attachment>, Fault> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let files = service.runtime.files(thread).await?;
    let attached = paths.iter().map(|path| {
        let path = entourage_model::file_path(path).map_err(|fault| Fault::bad_request(fault.to_string()))?;
        let row = files.iter().find(|row| row.path == path);
        let row = row.ok_or_else(|| Fault::bad_request(format!("the thread has no file `{path}`")))?;
        Ok(row.attachment())
    });
    attached.collect()
}
