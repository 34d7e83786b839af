//! A connection on which nothing that was received waits to be acknowledged.
//!
//! A server that writes an answer in pieces, and leaves it to the system to join small ones, sends the next piece when the
//! one before was acknowledged. On a connection that goes back and forth Linux puts that off for 40 ms: as much would be
//! added to every step.

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::net::TcpStream;

#[derive(Debug)]
pub(super) struct QuickAck(TokioIo<TcpStream>);

impl QuickAck {
    pub(super) fn new(stream: TokioIo<TcpStream>) -> Self {
        Self(stream)
    }

    fn stream(self: Pin<&mut Self>) -> Pin<&mut TokioIo<TcpStream>> {
        Pin::new(&mut self.get_mut().0)
    }
}

impl Read for QuickAck {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        // The system forgets it with what is sent, so that every read asks for it. Where it cannot be had, answers are late.
        #[cfg(target_os = "linux")]
        let _ = self.0.inner().set_quickack(true);
        self.stream().poll_read(context, buffer)
    }
}

impl Write for QuickAck {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.stream().poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream().poll_write_vectored(context, pieces)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use futures::FutureExt as _;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    /// Waits for nothing, like a connection between two answers.
    fn look(connection: &mut QuickAck) {
        let mut bytes = [0; 8];
        let mut buffer = hyper::rt::ReadBuf::new(&mut bytes);
        let read = std::future::poll_fn(|context| Pin::new(&mut *connection).poll_read(context, buffer.unfilled()));
        assert!(read.now_or_never().is_none(), "nothing was sent");
    }

    #[tokio::test]
    async fn whoever_waits_for_an_answer_acknowledges_at_once() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        let mut connection = QuickAck::new(TokioIo::new(client));
        let mut byte = [0];
        for _ in 0..5 {
            server.write_all(b"?").await.unwrap();
            connection.0.inner_mut().read_exact(&mut byte).await.unwrap();
            connection.0.inner_mut().write_all(b"!").await.unwrap();
            server.read_exact(&mut byte).await.unwrap();
        }
        assert!(!connection.0.inner().quickack().unwrap(), "it goes back and forth");
        look(&mut connection);
        assert!(connection.0.inner().quickack().unwrap());
    }
}
