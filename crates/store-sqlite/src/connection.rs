//! Connections to the file: how each is set up, and whether the file is ours to open.

use crate::fault::store_error;
use crate::folder::Folder;
use entourage_model::Timestamp;
use entourage_store::StoreError;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

const SCHEMA: &str = include_str!("schema.sql");
const SCHEMA_VERSION: u32 = 1;
/// `entg`, in the file's header.
const APPLICATION: i64 = 0x656e_7467;
/// Older ones can damage a file when two connections checkpoint and commit at once.
const SQLITE_MIN: i32 = 3_051_003;
const BUSY: Duration = Duration::from_secs(5);
/// More than there are statements, so that each is compiled once.
const STATEMENTS: usize = 96;

/// The one connection that writes. Whatever earlier processes held is ready again when this returns: the folder's
/// lock proves that they are gone.
pub(crate) fn open_writer(folder: &Folder, now: Timestamp) -> Result<Connection, StoreError> {
    if rusqlite::version_number() < SQLITE_MIN {
        return Err(StoreError::Unavailable(format!("SQLite {} is too old", rusqlite::version())));
    }
    let path = folder.database();
    if !path.exists() {
        folder.place(|path| build(path).map_err(|error| store_error(&error)))?;
    }
    let sqlite = |error: rusqlite::Error| store_error(&error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&path, flags).map_err(sqlite)?;
    check_header(&connection)?;
    set_up(&connection, "PRAGMA synchronous = OFF; PRAGMA cache_size = -8192;").map_err(sqlite)?;
    match take_back(&connection, now).map_err(sqlite) {
        // Who only wants to read may; the sweep does the rest once there is room again.
        Err(StoreError::Full) => tracing::warn!("the disk is full: threads of earlier processes stay as they are"),
        done => done?,
    }
    connection.execute_batch("PRAGMA synchronous = FULL").map_err(sqlite)?;
    Ok(connection)
}

pub(crate) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    set_up(&connection, "PRAGMA query_only = ON; PRAGMA cache_size = -2048;")?;
    Ok(connection)
}

/// A second connection that writes, for filling an empty file in one transaction.
pub(crate) fn open_importer(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    set_up(&connection, "PRAGMA synchronous = FULL; PRAGMA cache_size = -8192;")?;
    Ok(connection)
}

/// Nothing is flushed here: until the file has its name, losing it is no loss, and then it is flushed once as a whole.
fn build(path: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;")?;
    connection.execute_batch(SCHEMA)?;
    connection.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;
         PRAGMA journal_mode = WAL;"
    ))?;
    connection.close().map_err(|(_, error)| error)
}

fn check_header(connection: &Connection) -> Result<(), StoreError> {
    let sqlite = |error: rusqlite::Error| store_error(&error);
    connection.busy_timeout(BUSY).map_err(sqlite)?;
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(sqlite);
    if number("application_id")? != APPLICATION {
        return Err(StoreError::Corrupt("the file is not a store of this program".to_owned()));
    }
    let found = u32::try_from(number("user_version")?).unwrap_or(u32::MAX);
    if found > SCHEMA_VERSION {
        return Err(StoreError::Newer { found, known: SCHEMA_VERSION });
    }
    Ok(())
}

fn set_up(connection: &Connection, own: &str) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // There are no foreign keys; `check` looks after what they would.
    connection.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY;")?;
    connection.execute_batch(own)
}

/// Makes the threads of earlier processes ready. Looks only at the index of held threads: parked ones cost nothing.
///
/// Nothing is flushed: if this is lost, the next opening does it again. It always writes, so that the head of a new
/// write-ahead log is there already and is flushed with the first commit, not before it by a flush of its own.
fn take_back(connection: &Connection, now: Timestamp) -> rusqlite::Result<()> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    transaction.execute(
        "UPDATE threads INDEXED BY threads_owner SET status = 1, epoch = epoch + 1, owner = NULL, ready_at = ?1
         WHERE owner IS NOT NULL",
        [now.0],
    )?;
    transaction.execute("INSERT OR REPLACE INTO meta (name, value) VALUES ('opened_at', ?1)", [now.0])?;
    transaction.execute("DELETE FROM nodes", [])?;
    transaction.commit()
}
