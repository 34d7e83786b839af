//! Everything that only reads, over a few connections of its own.

pub(crate) mod file;
pub(crate) mod journal;
pub(crate) mod run;
pub(crate) mod thread;

use crate::connection::open_reader;
use crate::fault::Fault;
use entourage_store::StoreError;
use rusqlite::{Connection, ToSql};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Reads that may go on at once; the others wait.
const READERS: usize = 4;

/// Connections that are opened when they are first needed and closed with the store.
#[derive(Debug)]
pub(crate) struct Readers {
    database: PathBuf,
    free: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Readers {
    pub(crate) fn new(database: PathBuf) -> Self {
        Self { database, free: Arc::new(Semaphore::new(READERS)), idle: Arc::default() }
    }

    /// Runs a query where it may block.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let closed = || StoreError::Unavailable("the store is closed".to_owned());
        let permit = Arc::clone(&self.free).acquire_owned().await.map_err(|_| closed())?;
        let (database, idle, free) = (self.database.clone(), Arc::clone(&self.idle), Arc::clone(&self.free));
        let work = move || {
            let taken = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = match taken {
                Some(connection) => connection,
                None => open_reader(&database).map_err(Fault::from)?,
            };
            let answer = query(&connection);
            let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
            // One that was under way while the store was closed is not kept.
            if !free.is_closed() {
                idle.push(connection);
            }
            drop(permit);
            answer
        };
        let answer = tokio::task::spawn_blocking(work).await;
        answer
            .map_err(|fault| StoreError::Unavailable(format!("a read did not end: {fault}")))?
            .map_err(StoreError::from)
    }

    pub(crate) fn close(&self) {
        self.free.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The conditions of a listing, each with its value.
#[derive(Default)]
pub(crate) struct Conditions {
    terms: Vec<&'static str>,
    values: Vec<Box<dyn ToSql>>,
}

impl Conditions {
    /// Holds if there is no value. The term's parameter is a plain `?`.
    pub(crate) fn when<V: ToSql + 'static>(&mut self, term: &'static str, value: Option<V>) {
        if let Some(value) = value {
            self.terms.push(term);
            self.values.push(Box::new(value));
        }
    }

    pub(crate) fn only(&mut self, term: &'static str, wanted: bool) {
        if wanted {
            self.terms.push(term);
        }
    }

    /// The `WHERE` clause; empty if there is no condition.
    pub(crate) fn clause(&self) -> String {
        if self.terms.is_empty() { String::new() } else { format!("WHERE {}", self.terms.join(" AND ")) }
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &dyn ToSql> {
        self.values.iter().map(AsRef::as_ref)
    }
}
