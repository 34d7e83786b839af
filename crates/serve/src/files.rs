//! `/threads/{id}/files`: a thread's own file system.

use crate::body::Raw;
use crate::fault::Fault;
use crate::path::Path;
use crate::service::Admitted;
use crate::shape::File;
use crate::threads::found;
use axum::Json;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

const UNKNOWN_TYPE: &str = "application/octet-stream";
const TYPE_BYTES_MAX: usize = 256;

#[derive(Serialize, ToSchema)]
pub(crate) struct Files<'r> {
    files: Vec<File<'r>>,
}

/// All files of the thread.
#[utoipa::path(get, path = "/threads/{id}/files", tag = "files", params(("id" = String, Path)), responses(
    (status = 200, description = "In order of their paths", body = Files),
    (status = 404, description = "There is no such thread"),
))]
pub(crate) async fn list(Admitted(service): Admitted, Path(id): Path<String>) -> Result<Response, Fault> {
    let thread = found(&service, &id).await?.id;
    let files = service.runtime.files(thread).await?;
    Ok(Json(Files { files: files.iter().map(File::from).collect() }).into_response())
}

/// The bytes of a file, for programs: a browser neither shows nor runs them.
#[utoipa::path(get, path = "/threads/{id}/files/{*path}", tag = "files", params(("id" = String, Path), ("path" = String, Path)),
    responses(
        (status = 200, description = "The bytes, of the type that the file has", body = Vec<u8>, content_type = "*/*"),
        (status = 400, description = "That is no path of a file"),
        (status = 404, description = "There is no such file"),
    ),
)]
pub(crate) async fn read(
    Admitted(service): Admitted,
    Path((id, path)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let thread = found(&service, &id).await?.id;
    let file = service.runtime.file(thread, &checked(&path)?).await?;
    let (row, bytes) = file.ok_or_else(|| Fault::not_found("file"))?;
    let mut response = bytes.into_response();
    let kind = HeaderValue::from_str(&row.mime_type).unwrap_or(HeaderValue::from_static(UNKNOWN_TYPE));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, kind);
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(response)
}

/// Writes a file, in place of one that is there. Its type is that of the request.
#[utoipa::path(put, path = "/threads/{id}/files/{*path}", tag = "files", params(("id" = String, Path), ("path" = String, Path)),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses(
        (status = 201, description = "It is there", body = File),
        (status = 400, description = "That is no path of a file"),
        (status = 413, description = "It is too large"),
    ),
)]
pub(crate) async fn write(
    Admitted(service): Admitted,
    Path((id, path)): Path<(String, String)>,
    headers: HeaderMap,
    Raw(bytes): Raw,
) -> Result<Response, Fault> {
    let thread = found(&service, &id).await?.id;
    let path = checked(&path)?;
    let said = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = match said.filter(|kind| !kind.is_empty() && kind.len() <= TYPE_BYTES_MAX) {
        Some(kind) => kind.to_owned(),
        None => entourage_model::mime_type(&path, &bytes).to_owned(),
    };
    let row = service.runtime.put_file(thread, path, kind, &bytes).await?;
    Ok((StatusCode::CREATED, Json(File::from(&row))).into_response())
}

/// Removes a file.
#[utoipa::path(delete, path = "/threads/{id}/files/{*path}", tag = "files", params(("id" = String, Path), ("path" = String, Path)),
    responses(
        (status = 204, description = "It is gone"),
        (status = 400, description = "That is no path of a file"),
        (status = 404, description = "There is no such file"),
    ),
)]
pub(crate) async fn delete(
    Admitted(service): Admitted,
    Path((id, path)): Path<(String, String)>,
) -> Result<StatusCode, Fault> {
    let thread = found(&service, &id).await?.id;
    if service.runtime.delete_file(thread, &checked(&path)?).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Fault::not_found("file"))
    }
}

/// A path that is empty.
pub(crate) async fn nameless(Admitted(service): Admitted, Path(id): Path<String>) -> Result<Response, Fault> {
    found(&service, &id).await?;
    checked("").map(IntoResponse::into_response)
}

/// The path in the thread, which is absolute there. In a URL it has no slash before it: that would be a second one.
fn checked(path: &str) -> Result<String, Fault> {
    let path = if path.starts_with('/') { "//" } else { path };
    entourage_model::file_path(path).map_err(|fault| Fault::bad_request(fault.to_string()))
}
