//! Accepts connections and takes each request through the brain. What goes wrong on a connection is ignored: a client
//! that leaves is normal here.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::answer;
use super::answer_body::AnswerBody;
use super::counters::{Counters, OpenConnection, PendingAnswer};
use super::ids::Ids;
use super::{Brain, Dialect, Reply, Request};

/// A pause before accepting again when the process is out of file descriptors.
const ACCEPT_AGAIN: Duration = Duration::from_millis(10);

/// What every connection of one server sees.
pub(super) struct Shared {
    pub(super) brain: Box<dyn Brain>,
    pub(super) started: Instant,
    pub(super) ids: Ids,
    pub(super) counters: Arc<Counters>,
    /// `None` when recording is off.
    pub(super) record: Option<watch::Sender<Vec<Arc<Request>>>>,
}

/// Runs until aborted. The connections are owned by this future and end with it.
pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(converse(stream, Arc::clone(&shared)));
                }
                Err(_) => tokio::time::sleep(ACCEPT_AGAIN).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    let _open = OpenConnection::new(Arc::clone(&shared.counters));
    // Fails only on a connection that is already gone, which the next read finds out.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|incoming| handle(incoming, Arc::clone(&shared)));
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn handle(incoming: hyper::Request<Incoming>, shared: Arc<Shared>) -> Result<Response<AnswerBody>, hyper::Error> {
    let pending = PendingAnswer::new(Arc::clone(&shared.counters));
    let (head, body) = incoming.into_parts();
    let body = body.collect().await?;
    let Some(dialect) = Dialect::of_path(head.uri.path()).filter(|_| head.method == Method::POST) else {
        return Ok(answer::refuse(404, "the fake model answers POST /chat/completions and POST /messages", pending));
    };
    let request = Arc::new(Request::new(dialect, head.headers, body.to_bytes(), shared.started.elapsed()));
    if let Some(record) = &shared.record {
        record.send_modify(|requests| requests.push(Arc::clone(&request)));
    }
    let reply = shared.brain.reply(&request);
    wait(&reply).await;
    Ok(answer::render(&request, &reply, &shared.ids, pending))
}

async fn wait(reply: &Reply) {
    if !reply.delay().is_zero() {
        tokio::time::sleep(reply.delay()).await;
    }
    if reply.hangs() {
        std::future::pending().await
    }
}
