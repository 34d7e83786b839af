//! Asking a model.

use super::{Flight, Place};
use crate::hub::Notice;
use crate::runtime::Inner;
use entourage_engine::Input;
use entourage_model::{ModelAnswer, ModelRequest};
use entourage_outside::model::Watch;
use futures::FutureExt as _;
use std::sync::Arc;
use std::time::Duration;

/// Tells whoever watches the tree how the answer comes along.
struct Live<'a> {
    inner: &'a Inner,
    place: Place,
}

impl Watch for Live<'_> {
    fn delta(&self, text: &str) {
        if self.inner.hub.is_watched() {
            self.inner.hub.tell(self.place.root, Notice::Delta { thread: self.place.thread, text: text.into() });
        }
    }

    fn retrying(&self, attempt: u32, wait: Duration, why: &str) {
        tracing::info!(thread = %self.place.thread, attempt, ?wait, why, "asking the model again");
        let notice = Notice::Retrying { thread: self.place.thread, attempt, why: why.into() };
        self.inner.hub.tell(self.place.root, notice);
    }
}

/// Dropping the flight closes the connection.
pub(crate) fn model(inner: &Arc<Inner>, place: Place, request: ModelRequest) -> Flight {
    let inner = Arc::clone(inner);
    async move {
        let answer = ask(&inner, place, &request).await;
        (Input::Answered(answer), true)
    }
    .boxed()
}

/// The model's answer, or why it gives none.
pub(super) async fn ask(inner: &Inner, place: Place, request: &ModelRequest) -> Result<ModelAnswer, String> {
    if let Some(task) = &request.remote {
        return inner.remotes.ask(task, &Live { inner, place }).await;
    }
    inner.models.ask(request, &Live { inner, place }).await.map_err(|failure| failure.to_string())
}
