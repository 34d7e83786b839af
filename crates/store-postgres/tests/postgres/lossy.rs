//! A wire that loses answers: what was asked for has happened, and whoever asked is not told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};

/// Stands between a store and its server, until it is dropped.
pub(crate) struct Lossy {
    pub(crate) port: u16,
    lose: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<()>,
}

impl Lossy {
    pub(crate) async fn before(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let (lose, server) = (Arc::new(AtomicBool::new(false)), server.to_owned());
        let losing = Arc::clone(&lose);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await.expect("the server answers");
                tokio::spawn(pass(client, server, Arc::clone(&losing)));
            }
        });
        Self { port, lose, task }
    }

    /// The next answer is lost, and the connection with it.
    pub(crate) fn lose_one(&self) {
        self.lose.store(true, Ordering::SeqCst);
    }

    pub(crate) fn has_lost(&self) -> bool {
        !self.lose.load(Ordering::SeqCst)
    }
}

impl Drop for Lossy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass(client: TcpStream, server: TcpStream, lose: Arc<AtomicBool>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let asked = tokio::spawn(async move { copy(&mut from_client, &mut to_server).await });
    let mut answer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from_server.read(&mut answer).await {
        if lose.swap(false, Ordering::SeqCst) || to_client.write_all(&answer[..length]).await.is_err() {
            break;
        }
    }
    asked.abort();
}
