//! A wire between a store and a server, in the test's hands: it can be away and come back, and tell lies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// What stands in an answer, and what is passed on in its place, of the same length.
pub(crate) type Lie = (String, String);

pub(crate) struct Wire {
    pub(crate) port: u16,
    away: Arc<AtomicBool>,
    /// One for each connection that found nobody.
    turned_away: Arc<Semaphore>,
    task: tokio::task::JoinHandle<()>,
}

impl Wire {
    pub(crate) async fn before(server: &str, lie: Option<Lie>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let (away, turned_away) = (Arc::new(AtomicBool::new(false)), Arc::new(Semaphore::new(0)));
        let (is_away, count, server) = (Arc::clone(&away), Arc::clone(&turned_away), server.to_owned());
        let task = tokio::spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                if is_away.load(Ordering::SeqCst) {
                    open.shutdown().await;
                    drop(client);
                    count.add_permits(1);
                    continue;
                }
                let server = TcpStream::connect(&server).await.expect("the server answers");
                open.spawn(pass(client, server, lie.clone(), Arc::clone(&is_away)));
            }
        });
        Self { port, away, turned_away, task }
    }

    /// From now on nobody is there, and whoever finds that is counted.
    pub(crate) fn cut(&self) {
        self.away.store(true, Ordering::SeqCst);
        self.turned_away.forget_permits(usize::MAX);
    }

    pub(crate) fn mend(&self) {
        self.away.store(false, Ordering::SeqCst);
    }

    /// Until this many have found nobody.
    pub(crate) async fn until_turned_away(&self, many: u32) {
        self.turned_away.acquire_many(many).await.expect("nobody closes it").forget();
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass(client: TcpStream, server: TcpStream, lie: Option<Lie>, is_away: Arc<AtomicBool>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let asked = tokio::spawn(async move { copy(&mut from_client, &mut to_server).await });
    let mut answer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from_server.read(&mut answer).await {
        let told = &mut answer[..length];
        if let Some((truth, lie)) = &lie {
            while let Some(at) = told.windows(truth.len()).position(|part| part == truth.as_bytes()) {
                told[at..at + truth.len()].copy_from_slice(lie.as_bytes());
            }
        }
        if is_away.load(Ordering::SeqCst) || to_client.write_all(told).await.is_err() {
            break;
        }
    }
    asked.abort();
}
