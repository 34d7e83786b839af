//! What SQLite's errors mean to a store.

use entourage_store::StoreError;
use rusqlite::{ErrorCode, ffi};

/// Why something could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Sqlite(error) => store_error(&error),
            Fault::Store(error) => error,
        }
    }
}

pub(crate) fn store_error(error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full,
        _ if is_full(error) => StoreError::Full,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt(error.to_string()),
        _ => StoreError::Unavailable(error.to_string()),
    }
}

/// After such an error nobody knows what is on the disk: nothing may be written any more.
///
/// A failed flush is never repeated, since the kernel may have dropped what it could not write and say so only once.
pub(crate) fn is_fatal(error: &rusqlite::Error) -> bool {
    let broken = [ErrorCode::SystemIoFailure, ErrorCode::DatabaseCorrupt, ErrorCode::NotADatabase];
    error.sqlite_error_code().is_some_and(|code| broken.contains(&code)) && !is_full(error)
}

/// The index of the write-ahead log did not fit: a full disk, before anything was written.
fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_IOERR_SHMSIZE)
}
