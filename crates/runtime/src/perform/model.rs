//! Asking a model.

use super::{Flight, Place};
use crate::hub::Notice;
use crate::runtime::Inner;
use entourage_engine::Input;
use entourage_model::{ModelAnswer, ModelRequest, ThreadId};
use entourage_outside::model::{FailureKind, Watch};
use futures::FutureExt as _;
use std::sync::{Arc, PoisonError};
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
    let asked = inner.models.ask(request, &Live { inner, place }).await;
    let failure = match asked {
        Ok(answer) => return Ok(answer),
        Err(failure) => failure,
    };
    if failure.kind == FailureKind::MissingKey {
        wait_if_spared(inner, place.thread).await;
    }
    Err(failure.to_string())
}

/// Waits until the thread's question is taken back, if it is one of those that wait rather than fail.
pub(super) async fn wait_if_spared(inner: &Inner, thread: ThreadId) {
    if Spared::is(inner, thread) {
        let _until_dropped = Spared { inner, thread };
        std::future::pending::<()>().await;
    }
}

/// A thread that waits for a key or a server which this process does not have. Whoever takes its question back has no use for the
/// wait: it is told at once the next time.
struct Spared<'a> {
    inner: &'a Inner,
    thread: ThreadId,
}

impl Spared<'_> {
    fn is(inner: &Inner, thread: ThreadId) -> bool {
        inner.spared.lock().unwrap_or_else(PoisonError::into_inner).contains(&thread)
    }
}

impl Drop for Spared<'_> {
    fn drop(&mut self) {
        self.inner.spared.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.thread);
    }
}
