//! Being asked to end: Ctrl-C, and what a system sends to end a process in order.

use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens from its making on; until it is dropped these signals no longer end the process by themselves.
#[derive(Debug)]
pub(crate) struct Interrupts {
    signals: [Signal; 3],
}

impl Interrupts {
    pub(crate) fn listen() -> io::Result<Self> {
        let listen = |kind| signal(kind);
        Ok(Self {
            signals: [
                listen(SignalKind::interrupt())?,
                listen(SignalKind::terminate())?,
                listen(SignalKind::hangup())?,
            ],
        })
    }

    pub(crate) async fn next(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.signals;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
