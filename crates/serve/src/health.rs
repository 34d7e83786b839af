//! Whether the server lives, and whether it is the one that it is taken for.

use crate::fault::Fault;
use crate::query::Query;
use crate::service::Service;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`
    status: &'static str,
    /// What only the server that wrote `server.json` can answer to the number that was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Doubt {
    /// A number that was never sent before, as 32 to 128 hexadecimal digits.
    #[param(pattern = "^[0-9A-Fa-f]{32,128}$")]
    nonce: Option<String>,
}

/// Answers as long as the server lives; needs no token.
#[utoipa::path(get, path = "/healthz", tag = "server", security(()), params(Doubt), responses(
    (status = 200, description = "It lives", body = Health),
    (status = 400, description = "That is no number that could be answered"),
))]
pub(crate) async fn healthz(State(service): State<Service>, Query(doubt): Query<Doubt>) -> Result<Json<Health>, Fault> {
    let Some(nonce) = doubt.nonce else { return Ok(Json(Health { status: "ok", proof: None })) };
    let proof = service.identity.as_ref().map(|identity| identity.proof(&nonce));
    match proof {
        Some(None) => Err(Fault::bad_request("`nonce` must be 32 to 128 hexadecimal digits")),
        Some(proof) => Ok(Json(Health { status: "ok", proof })),
        None => Ok(Json(Health { status: "ok", proof: None })),
    }
}
