//! Everything in the file as plain rows, and plain rows into an empty file.

use crate::connection::{open_importer, open_reader};
use crate::fault::{Fault, store_error};
use async_trait::async_trait;
use entourage_store::{Batch, Cell, Export, Import, StoreError, Table, not_empty};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Row, ToSql, params_from_iter};
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// Batches that are read before somebody takes them.
const AHEAD: usize = 2;

/// Rows come from a thread that reads in one transaction. It ends when they are read, or nobody takes them any more.
#[derive(Debug)]
pub(crate) struct SqliteExport {
    batches: mpsc::Receiver<Result<Batch, StoreError>>,
}

impl SqliteExport {
    pub(crate) fn start(database: PathBuf) -> Self {
        let (sender, batches) = mpsc::channel(AHEAD);
        tokio::task::spawn_blocking(move || {
            if let Err(fault) = read_all(&database, &sender) {
                // Nobody who could hear of it is nobody who wants it.
                _ = sender.blocking_send(Err(fault.into()));
            }
        });
        Self { batches }
    }
}

#[async_trait]
impl Export for SqliteExport {
    async fn next(&mut self) -> Result<Option<Batch>, StoreError> {
        self.batches.recv().await.transpose()
    }
}

fn read_all(database: &Path, sender: &mpsc::Sender<Result<Batch, StoreError>>) -> Result<(), Fault> {
    let connection = open_reader(database)?;
    let snapshot = connection.unchecked_transaction()?;
    for table in Table::ALL {
        let mut query = snapshot.prepare(&select(table))?;
        let mut rows = query.query([])?;
        let mut batch = Vec::new();
        while let Some(row) = rows.next()? {
            batch.push(cells(row, table)?);
            if batch.len() == table.batch() {
                let full = Batch { table, rows: std::mem::take(&mut batch) };
                if sender.blocking_send(Ok(full)).is_err() {
                    return Ok(());
                }
            }
        }
        if !batch.is_empty() && sender.blocking_send(Ok(Batch { table, rows: batch })).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

fn select(table: Table) -> String {
    let order = match table.order() {
        [] => String::new(),
        order => format!(" ORDER BY {}", order.join(", ")),
    };
    match table {
        // The newest events may have been deleted; their positions are never given again.
        Table::Position => "SELECT max(ifnull((SELECT max(position) FROM events), 0),
                                       ifnull((SELECT value FROM meta WHERE name = 'position'), 0))"
            .to_owned(),
        Table::Blobs
        | Table::Threads
        | Table::Events
        | Table::Lines
        | Table::Keys
        | Table::RootKeys
        | Table::Runs
        | Table::Files
        | Table::DeadLetters => {
            format!("SELECT {} FROM {}{order}", columns(table).join(", "), name(table))
        }
    }
}

/// What somebody held when the process died is ready again: opening the file has seen to that.
fn columns(table: Table) -> Vec<String> {
    table.columns().iter().map(|column| format!("\"{column}\"")).collect()
}

fn name(table: Table) -> &'static str {
    match table {
        Table::Blobs => "blobs",
        Table::Threads => "threads",
        Table::Events => "events",
        Table::Lines => "lines",
        Table::Keys => "keys",
        Table::RootKeys => "root_keys",
        Table::Runs => "runs",
        Table::Files => "files",
        Table::DeadLetters => "dead_letters",
        Table::Position => "meta",
    }
}

fn cells(row: &Row<'_>, table: Table) -> rusqlite::Result<Vec<Cell>> {
    let cell = |column| {
        Ok(match row.get_ref(column)? {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(number) => Cell::Integer(number),
            ValueRef::Text(_) => Cell::Text(row.get(column)?),
            ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
            ValueRef::Real(_) => return Err(rusqlite::Error::InvalidQuery),
        })
    };
    (0..table.columns().len()).map(cell).collect()
}

/// One transaction on a connection of its own; the store's writer has nothing to do meanwhile.
#[derive(Debug)]
pub(crate) struct SqliteImport {
    /// Away only while a batch is written.
    connection: Option<Connection>,
}

impl SqliteImport {
    pub(crate) async fn start(database: PathBuf) -> Result<Self, StoreError> {
        let begin = move || {
            let connection = open_importer(&database)?;
            connection.execute_batch("BEGIN IMMEDIATE")?;
            let has_rows = "SELECT EXISTS (SELECT 1 FROM threads) OR EXISTS (SELECT 1 FROM blobs)";
            if connection.query_row(has_rows, [], |row| row.get(0))? {
                return Err(Fault::from(not_empty()));
            }
            Ok(connection)
        };
        Ok(Self { connection: Some(blocking(begin).await?) })
    }

    fn take(&mut self) -> Result<Connection, StoreError> {
        let lost = || StoreError::Unavailable("the copy was given up".to_owned());
        self.connection.take().ok_or_else(lost)
    }
}

#[async_trait]
impl Import for SqliteImport {
    async fn put(&mut self, batch: Batch) -> Result<(), StoreError> {
        let connection = self.take()?;
        let write = move || {
            for row in &batch.rows {
                insert(&connection, batch.table, row)?;
            }
            Ok(connection)
        };
        self.connection = Some(blocking(write).await?);
        Ok(())
    }

    async fn finish(mut self: Box<Self>) -> Result<(), StoreError> {
        let connection = self.take()?;
        blocking(move || {
            connection.execute_batch("COMMIT")?;
            connection.close().map_err(|(_, error)| Fault::from(error))
        })
        .await
    }
}

fn insert(connection: &Connection, table: Table, row: &[Cell]) -> rusqlite::Result<()> {
    let sql = match table {
        Table::Position => "INSERT OR REPLACE INTO meta (name, value) VALUES ('position', ?)".to_owned(),
        Table::Blobs
        | Table::Threads
        | Table::Events
        | Table::Lines
        | Table::Keys
        | Table::RootKeys
        | Table::Runs
        | Table::Files
        | Table::DeadLetters => {
            let places = vec!["?"; row.len()].join(", ");
            format!("INSERT INTO {} ({}) VALUES ({places})", name(table), columns(table).join(", "))
        }
    };
    connection.prepare_cached(&sql)?.execute(params_from_iter(row.iter().map(Bound)))?;
    Ok(())
}

struct Bound<'c>(&'c Cell);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Cell::Null => ToSqlOutput::Owned(Value::Null),
            Cell::Integer(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            Cell::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Cell::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|fault| StoreError::Unavailable(format!("a copy did not end: {fault}")))?;
    done.map_err(|fault| match fault {
        Fault::Sqlite(error) => store_error(&error),
        Fault::Store(error) => error,
    })
}
