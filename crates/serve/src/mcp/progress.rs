//! Telling a client that waits that its call is still at work.

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use std::time::Duration;

/// How soon a client is told first, and how often then: some give up on a call that they hear nothing of for five seconds.
const FIRST: Duration = Duration::from_secs(1);
const EVERY: Duration = Duration::from_secs(3);

/// Does the work, and tells the client of it as long as it takes, if the client wants to know.
pub(super) async fn accompany<T>(context: &RequestContext<RoleServer>, work: impl Future<Output = T>) -> T {
    let Some(token) = context.meta.get_progress_token() else { return work.await };
    tokio::pin!(work);
    let (mut waited, mut pause) = (Duration::ZERO, FIRST);
    loop {
        match tokio::time::timeout(pause, work.as_mut()).await {
            Ok(done) => return done,
            Err(_) => waited += pause,
        }
        pause = EVERY;
        let message = format!("at work for {} seconds", waited.as_secs());
        let progress = ProgressNotificationParam::new(token.clone(), waited.as_secs_f64()).with_message(message);
        if let Err(fault) = context.peer.notify_progress(progress).await {
            tracing::debug!("a client could not be told of progress: {fault}");
        }
    }
}
