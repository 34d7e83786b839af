//! The one thread that writes. Commands that come at once share one transaction, and so one flush of the disk.

mod desk;
#[cfg(test)]
mod tests;

use crate::command::{Command, Order, Sent};
use crate::fault::store_error;
use crate::folder::Folder;
use desk::Desk;
use entourage_store::{Clock, StoreError};
use rusqlite::Connection;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use tokio::sync::mpsc;

/// Commands that may wait; whoever comes later waits to be let in.
const WAITING_MAX: usize = 4096;

/// Called once, when the disk can no longer be trusted.
pub(crate) type Fatal = Arc<dyn Fn(&StoreError) + Send + Sync>;

/// The writer as callers see it. The thread ends when this is dropped or closed, after what was sent to it.
pub(crate) struct Writer {
    orders: Mutex<Option<mpsc::Sender<Box<dyn Order>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    transactions: Arc<AtomicU64>,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("transactions", &self.transactions()).finish_non_exhaustive()
    }
}

impl Writer {
    pub(crate) fn start(
        folder: Folder,
        connection: Connection,
        clock: Clock,
        fatal: Fatal,
    ) -> Result<Self, StoreError> {
        let (orders, inbox) = mpsc::channel(WAITING_MAX);
        let transactions = Arc::new(AtomicU64::new(0));
        let mut desk =
            Desk::new(connection, clock, fatal, Arc::clone(&transactions)).map_err(|error| store_error(&error))?;
        let work = move || {
            desk.work(inbox);
            // The connection first: while it closes, nobody else may open the file.
            drop(desk);
            drop(folder);
        };
        let thread = thread::Builder::new().name("store-writer".to_owned()).spawn(work);
        let thread = thread.map_err(|fault| StoreError::Unavailable(format!("no thread for the writer: {fault}")))?;
        Ok(Self { orders: Mutex::new(Some(orders)), thread: Mutex::new(Some(thread)), transactions })
    }

    /// Returns once the command's transaction is on the disk. Dropping the future does not take the command back.
    pub(crate) async fn write<C: Command>(&self, command: C) -> Result<C::Answer, StoreError> {
        let closed = || StoreError::Unavailable("the store is closed".to_owned());
        let (sent, answer) = Sent::new(command);
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or_else(closed)?;
        orders.send(Box::new(sent)).await.map_err(|_| closed())?;
        drop(orders);
        answer.await.map_err(|_| StoreError::Unavailable("the writer has died".to_owned()))?
    }

    /// Finishes what was sent, closes the file and lets go of the folder.
    pub(crate) async fn close(&self) {
        drop(self.orders.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A writer that panicked has sounded its alarm already.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }

    pub(crate) fn transactions(&self) -> u64 {
        self.transactions.load(Ordering::Relaxed)
    }
}
