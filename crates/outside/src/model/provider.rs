//! What every provider can do: one request.

use super::failure::FailedAttempt;
use super::watch::Watch;
use async_trait::async_trait;
use entourage_model::{ModelAnswer, ModelRequest};

#[async_trait]
pub(super) trait Provider: Send + Sync {
    /// Asks once; whether to ask again is not its business. `model` is the part of the reference behind the provider;
    /// the request's own list is not looked at. Dropping the future closes the connection.
    async fn ask(&self, request: &ModelRequest, model: &str, watch: &dyn Watch) -> Result<ModelAnswer, FailedAttempt>;
}
