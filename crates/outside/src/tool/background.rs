//! Blocking work, away from the threads that drive futures.

use super::Output;
use crate::workspace::{Stop, StopOnDrop};
use std::panic::resume_unwind;
use tokio::task::spawn_blocking;

/// Runs `work`, which gives a text or a refusal, and waits for it. When the waiting ends early, the work is told to stop; a panic of it is a panic here.
pub(super) async fn in_background<F>(work: F) -> Output
where
    F: FnOnce(&Stop) -> Result<String, Output> + Send + 'static,
{
    let stop = Stop::default();
    let _stop_on_drop = StopOnDrop(stop.clone());
    match spawn_blocking(move || work(&stop)).await {
        Ok(Ok(text)) => Output::success(text),
        Ok(Err(refusal)) => refusal,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Output::error("The call was not started, because the runtime is shutting down."),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;

    #[tokio::test]
    async fn work_stops_when_nobody_waits_for_it() {
        let (stopped, told) = std::sync::mpsc::channel();
        {
            let mut waiting = pin!(in_background(move |stop| {
                while !stop.is_set() {
                    std::thread::yield_now();
                }
                let _ = stopped.send(());
                Ok(String::new())
            }));
            // Once is enough to start it, and it cannot end by itself.
            poll_fn(|context| {
                assert!(waiting.as_mut().poll(context).is_pending());
                Poll::Ready(())
            })
            .await;
        }
        assert_eq!(told.recv(), Ok(()));
    }
}
