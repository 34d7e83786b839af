//! The one client of these tests: sends a body, reads what comes back as far as it comes.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use bytes::Bytes;
use entourage_testkit::FakeModel;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{HeaderMap, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// A connection; dropping it closes it.
pub(crate) struct Client {
    sender: SendRequest<Full<Bytes>>,
    driver: JoinHandle<()>,
}

impl Client {
    pub(crate) async fn connect(model: &FakeModel) -> Client {
        let address = model.url().trim_start_matches("http://").trim_end_matches("/v1");
        let stream = TcpStream::connect(address).await.unwrap();
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        // A broken connection shows in the answer.
        let driver = tokio::spawn(async move { connection.await.unwrap_or_default() });
        Client { sender, driver }
    }

    pub(crate) async fn post(&mut self, path: &str, body: String) -> Response<Incoming> {
        let request = hyper::Request::post(path).header("host", "localhost").header("authorization", "Bearer key");
        self.sender.ready().await.unwrap();
        self.sender.send_request(request.body(Full::from(body)).unwrap()).await.unwrap()
    }

    pub(crate) async fn ask(&mut self, path: &str, body: &Value) -> Answer {
        let response = self.post(path, body.to_string()).await;
        Answer::read(response).await
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
    /// Whether the body came to its end.
    pub(crate) whole: bool,
}

impl Answer {
    async fn read(response: Response<Incoming>) -> Answer {
        let (head, mut incoming) = response.into_parts();
        let (mut body, mut whole) = (Vec::new(), true);
        while let Some(frame) = incoming.frame().await {
            match frame {
                Ok(frame) => body.extend_from_slice(frame.data_ref().unwrap()),
                Err(_) => whole = false,
            }
        }
        let body = String::from_utf8(body).unwrap();
        Answer { status: head.status.as_u16(), headers: head.headers, body, whole }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The data of each event; those that are not JSON as text.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.split("\n\n").filter_map(|event| event.split_once("data: "));
        data.map(|(_, data)| serde_json::from_str(data).unwrap_or(Value::from(data))).collect()
    }

    /// All texts found at `pointer` in the events, put together.
    pub(crate) fn joined(&self, pointer: &str) -> String {
        self.events().iter().filter_map(|event| event.pointer(pointer)?.as_str().map(str::to_owned)).collect()
    }
}

/// A new connection, one question to the chat completions, plain or streamed as the body says.
pub(crate) async fn ask(model: &FakeModel, body: &Value) -> Answer {
    Client::connect(model).await.ask("/v1/chat/completions", body).await
}

/// A chat request with one user message; streamed ones ask for their usage.
pub(crate) fn chat(text: &str) -> Value {
    json!({ "model": "test-model", "messages": [{ "role": "user", "content": text }] })
}

pub(crate) fn streamed(mut body: Value) -> Value {
    body["stream"] = true.into();
    body
}

/// Whether the next frame is still to come. Leaves nothing behind that would wait for it.
pub(crate) async fn is_waiting(body: &mut Incoming) -> bool {
    let mut frame = pin!(body.frame());
    poll_fn(|context| Poll::Ready(frame.as_mut().poll(context).is_pending())).await
}
