//! Connections: how many, how long, and how they end.

use crate::framing::Framed;
use crate::guard::Arrival;
use crate::router::router;
use crate::service::Service;
use axum::Router;
use axum::http::Request;
use futures::future::BoxFuture;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service as _;

/// More wait in the system's queue.
const CONNECTIONS_MAX: usize = 4096;
const HEADERS_MAX: usize = 64;
/// Of all headers together.
const HEADER_BYTES_MAX: usize = 128 << 10;
/// How long a client may take to say what it wants, also between two requests.
const HEADER_TIME: Duration = Duration::from_secs(15);
/// How long connections may take to end once the server drains.
const DRAIN_TIME: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("{address} cannot be listened on: {fault}")]
    Listen { address: SocketAddr, fault: io::Error },
}

/// Ends a server: no new connections, and those that are open end soon.
#[derive(Clone, Debug, Default)]
pub struct Drain(CancellationToken);

impl Drain {
    pub fn begin(&self) {
        self.0.cancel();
    }
}

/// A server that listens and answers nobody yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    pub async fn listen(address: SocketAddr) -> Result<Self, ServeError> {
        let listen = async {
            let listener = TcpListener::bind(address).await?;
            Ok((listener.local_addr()?, listener))
        };
        let (address, listener) = listen.await.map_err(|fault| ServeError::Listen { address, fault })?;
        Ok(Self { listener, address })
    }

    /// What it listens on, with the port that the system chose where none was given.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until `drain` begins, and then until the open ones are answered or time is over.
    pub fn run(self, service: Service, drain: Drain) -> BoxFuture<'static, ()> {
        // In a box, so that everything that is served is compiled here and not by whoever awaits this.
        Box::pin(self.answer(service, drain))
    }

    async fn answer(self, service: Service, drain: Drain) {
        let router = router(service.clone());
        let (slots, connections) = (Arc::new(Semaphore::new(CONNECTIONS_MAX)), TaskTracker::new());
        loop {
            let accepted = tokio::select! {
                () = drain.0.cancelled() => break,
                accepted = self.accept(&slots) => accepted,
            };
            let (slot, stream) = match accepted {
                Ok(accepted) => accepted,
                Err(fault) => {
                    // Out of descriptors, most likely: others have to end first.
                    tracing::warn!("a connection cannot be accepted: {fault}");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let (router, drain, meters) = (router.clone(), drain.clone(), service.meters.clone());
            let listened = self.address;
            connections.spawn(async move {
                let (_slot, _counted) = (slot, meters.connection());
                converse((stream, listened), router, &drain).await;
            });
        }
        connections.close();
        _ = tokio::time::timeout(DRAIN_TIME, connections.wait()).await;
    }

    async fn accept(&self, slots: &Arc<Semaphore>) -> io::Result<(tokio::sync::OwnedSemaphorePermit, TcpStream)> {
        let slot = Arc::clone(slots).acquire_owned().await.map_err(io::Error::other)?;
        let (stream, _) = self.listener.accept().await?;
        Ok((slot, stream))
    }
}

/// Answers the requests of one connection, until either end has enough.
async fn converse((stream, listened): (TcpStream, SocketAddr), router: Router, drain: &Drain) {
    let Ok(address) = stream.local_addr() else { return };
    let address = SocketAddr::new(address.ip().to_canonical(), address.port());
    _ = stream.set_nodelay(true);
    let stream = Framed::new(stream);
    let (doubt, number) = (stream.doubt(), AtomicU64::new(0));
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        let is_doubtful = doubt.is_about(number.fetch_add(1, Ordering::Relaxed));
        request.extensions_mut().insert(Arrival { address, listened, is_doubtful });
        router.clone().call(request)
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME);
    builder.max_headers(HEADERS_MAX).max_header_size(HEADER_BYTES_MAX).max_buf_size(HEADER_BYTES_MAX);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = drain.0.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(fault) = ended {
        tracing::debug!("a connection ended: {fault}");
    }
}
