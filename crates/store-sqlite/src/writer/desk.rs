//! The writer's own side: the connection, the transactions, and what happens when one fails.

use super::Fatal;
use crate::column::unsigned;
use crate::command::Order;
use crate::fault::{is_fatal, store_error};
use crate::session::Session;
use entourage_store::{Clock, StoreError};
use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, DEFAULT_NAME};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::thread;
use tokio::sync::mpsc;

/// Commands that may share a transaction. A longer queue waits for the next one.
const BATCH_MAX: usize = 512;
/// Pages of the write-ahead log after which they are moved into the file: 16 MiB.
const LOG_PAGES: i32 = 4000;

pub(super) struct Desk {
    connection: Connection,
    clock: Clock,
    alarm: Alarm,
    /// Of the last event that was ever appended. One that was rolled back leaves a gap.
    position: u64,
    /// Pages in the write-ahead log after the last commit, as SQLite tells it.
    log_pages: Arc<AtomicI32>,
    /// How many there may be before they are moved.
    log_pages_max: i32,
    transactions: Arc<AtomicU64>,
    /// Why nothing may be written any more.
    broken: Option<rusqlite::Error>,
}

impl Desk {
    pub(super) fn new(
        mut connection: Connection,
        clock: Clock,
        fatal: Fatal,
        transactions: Arc<AtomicU64>,
    ) -> rusqlite::Result<Self> {
        let position = connection.query_row(
            "SELECT max(ifnull((SELECT max(position) FROM events), 0),
                        ifnull((SELECT value FROM meta WHERE name = 'position'), 0))",
            [],
            |row| unsigned(row, 0),
        )?;
        let log_pages = Arc::new(AtomicI32::new(0));
        let told = Arc::clone(&log_pages);
        // Instead of SQLite's own checkpoint, which would run before the callers have their answers.
        connection.wal_hook(Some(move |_: &mut Wal, pages| {
            told.store(pages, Ordering::Relaxed);
            Ok(())
        }))?;
        let (alarm, log_pages_max, broken) = (Alarm(fatal), LOG_PAGES, None);
        Ok(Self { connection, clock, alarm, position, log_pages, log_pages_max, transactions, broken })
    }

    /// Until nobody can send any more.
    pub(super) fn work(&mut self, mut inbox: mpsc::Receiver<Box<dyn Order>>) {
        let mut batch = Vec::with_capacity(BATCH_MAX);
        while inbox.blocking_recv_many(&mut batch, BATCH_MAX) > 0 {
            self.serve(&mut batch);
            batch.drain(..).for_each(|order| order.reply());
            self.empty_log();
        }
    }

    /// Gives every order its answer.
    fn serve(&mut self, batch: &mut [Box<dyn Order>]) {
        if self.broken.is_none() {
            match self.transact(batch) {
                Ok(()) => return,
                Err(error) if is_fatal(&error) => self.break_down(error),
                Err(error) => return self.serve_each(batch, &error),
            }
        }
        if let Some(broken) = &self.broken {
            batch.iter_mut().for_each(|order| order.fail(store_error(broken)));
        }
    }

    /// One of them is guilty, or together they do not fit: each has to stand for itself.
    fn serve_each(&mut self, batch: &mut [Box<dyn Order>], error: &rusqlite::Error) {
        match batch {
            [order] => order.fail(store_error(error)),
            _ => batch.iter_mut().for_each(|order| self.serve(std::slice::from_mut(order))),
        }
    }

    /// All of them or none.
    fn transact(&mut self, batch: &mut [Box<dyn Order>]) -> rusqlite::Result<()> {
        let done = self.run(batch);
        if done.is_err() && !self.connection.is_autocommit() {
            // Fails only where SQLite has rolled back by itself.
            let _ = self.execute("ROLLBACK");
        }
        done
    }

    fn run(&mut self, batch: &mut [Box<dyn Order>]) -> rusqlite::Result<()> {
        self.execute("BEGIN IMMEDIATE")?;
        for order in batch {
            let mut session = Session::new(&self.connection, self.clock.now(), self.position);
            order.run(&mut session)?;
            self.position = session.position;
        }
        self.execute("COMMIT")?;
        self.transactions.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }

    /// Moves the log into the file once it has grown, so that it can start over.
    fn empty_log(&mut self) {
        let pages = self.log_pages.swap(0, Ordering::Relaxed);
        if pages < self.log_pages_max || self.broken.is_some() {
            return;
        }
        match self.connection.wal_checkpoint_v2(DEFAULT_NAME, CheckpointMode::PASSIVE) {
            // A reader may still need a part of it: the rest is moved later, not again after every commit.
            Ok((all, moved)) => self.log_pages_max = if moved < all { all + LOG_PAGES / 4 } else { LOG_PAGES },
            Err(error) if is_fatal(&error) => self.break_down(error),
            Err(error) => tracing::warn!(%error, "the write-ahead log could not be moved"),
        }
    }

    fn break_down(&mut self, error: rusqlite::Error) {
        self.alarm.sound(&store_error(&error));
        self.broken = Some(error);
    }
}

/// Tells the process that its store is gone; also when the writer itself dies.
struct Alarm(Fatal);

impl Alarm {
    fn sound(&self, error: &StoreError) {
        tracing::error!(%error, "the store cannot be trusted any more");
        (self.0)(error);
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if thread::panicking() {
            self.sound(&StoreError::Unavailable("the writer has died".to_owned()));
        }
    }
}
