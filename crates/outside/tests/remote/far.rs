//! A server of the task protocol that answers as it is told to, and remembers what it was asked.

use bytes::Bytes;
use futures::Stream;
use futures::stream;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) headers: hyper::HeaderMap,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;
/// Answers a request, given how many of the same line came before it.
type Script = dyn Fn(&Asked, usize) -> Answer + Send + Sync;

pub(crate) struct Far {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Far {
    pub(crate) async fn start(script: impl Fn(&Asked, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, asked) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let (script, kept): (Arc<Script>, _) = (Arc::new(script), Arc::clone(&asked));
        // It ends with the test's runtime.
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (script, kept) = (Arc::clone(&script), Arc::clone(&kept));
                let service = hyper::service::service_fn(move |request: Request<Incoming>| {
                    let (script, kept) = (Arc::clone(&script), Arc::clone(&kept));
                    async move { Ok::<_, Infallible>(answer(request, &*script, &kept).await) }
                });
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        Self { address, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// How often this line was asked.
    pub(crate) fn times(&self, line: &str) -> usize {
        self.asked().iter().filter(|asked| asked.line == line).count()
    }
}

async fn answer(request: Request<Incoming>, script: &Script, kept: &Mutex<Vec<Asked>>) -> Answer {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let asked = Asked {
        line: format!("{} {}", head.method, head.uri),
        headers: head.headers,
        body: String::from_utf8(body.to_vec()).unwrap(),
    };
    let before = {
        let mut kept = kept.lock().unwrap();
        let before = kept.iter().filter(|earlier| earlier.line == asked.line).count();
        kept.push(asked.clone());
        before
    };
    script(&asked, before)
}

pub(crate) fn says(status: u16, body: &str) -> Answer {
    let body = Full::new(Bytes::from(body.to_owned()));
    Response::builder().status(status).header("content-type", "application/json").body(body.boxed()).unwrap()
}

/// A stream of these pieces, which then ends.
pub(crate) fn streams(pieces: &[&str]) -> Answer {
    let pieces: Vec<_> = pieces.iter().map(|piece| Bytes::from((*piece).to_owned())).collect();
    streamed("text/event-stream", stream::iter(pieces))
}

pub(crate) fn streamed(kind: &str, pieces: impl Stream<Item = Bytes> + Send + Sync + 'static) -> Answer {
    use futures::StreamExt as _;
    let body = StreamBody::new(pieces.map(|piece| Ok(Frame::data(piece))));
    Response::builder().header("content-type", kind).body(BodyExt::boxed(body)).unwrap()
}
