//! A server that answers every request with the same bytes, for wires that the fake model does not speak.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// Ends with the test's runtime.
pub(crate) struct Canned {
    pub(crate) url: String,
    requests: mpsc::UnboundedReceiver<String>,
}

impl Canned {
    /// Answers with this head and body, then closes the connection.
    pub(crate) async fn start(head: &str, body: &str) -> Self {
        Self::hanging_up(&format!("{head}\r\nConnection: close"), body).await
    }

    /// The same without saying so before.
    pub(crate) async fn hanging_up(head: &str, body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answer = format!("HTTP/1.1 {head}\r\n\r\n{body}");
        let (sender, requests) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let request = read(&mut stream).await;
                let _ = sender.send(request);
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self { url, requests }
    }

    /// The next request: its head, a blank line, its body.
    pub(crate) async fn request(&mut self) -> String {
        self.requests.recv().await.unwrap()
    }
}

async fn read(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return text;
        }
    }
}
