//! Whether the server lives.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`
    status: &'static str,
}

/// Answers as long as the server lives; needs no token.
#[utoipa::path(get, path = "/healthz", tag = "server", security(()), responses(
    (status = 200, description = "It lives", body = Health),
))]
pub(crate) async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}
