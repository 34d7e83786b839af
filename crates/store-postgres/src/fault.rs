//! What PostgreSQL's errors mean to a store.

use entourage_store::StoreError;
use std::error::Error as _;
use std::io;
use tokio_postgres::error::SqlState;

/// Why a statement was not answered.
#[derive(Debug)]
pub(crate) enum Fault {
    Sql(tokio_postgres::Error),
    /// Nobody may ask any more.
    Closed,
    /// It was answered, but not as it should be.
    Store(StoreError),
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<deadpool_postgres::PoolError> for Fault {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        match error {
            deadpool_postgres::PoolError::Backend(error) => Self::Sql(error),
            deadpool_postgres::PoolError::Closed
            | deadpool_postgres::PoolError::Timeout(_)
            | deadpool_postgres::PoolError::NoRuntimeSpecified
            | deadpool_postgres::PoolError::PostCreateHook(_) => Self::Closed,
        }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Sql(error) => store_error(&error),
            Fault::Store(error) => error,
            Fault::Closed => Self::Unavailable("the store is closed".to_owned()),
        }
    }
}

/// Whether the same statement may well succeed soon: the server is starting again, or two were in each other's way.
pub(crate) fn passes(fault: &Fault) -> bool {
    let Fault::Sql(error) = fault else { return false };
    let Some(code) = error.code() else { return is_lost(error) };
    let passing = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        // A primary that became a standby: the next connection may find the new one.
        SqlState::READ_ONLY_SQL_TRANSACTION,
    ];
    passing.contains(code) || code.code().starts_with("08")
}

/// Whether the connection is gone, and with it the answer.
fn is_lost(error: &tokio_postgres::Error) -> bool {
    // A certificate that is not trusted will not be the next time.
    let is_passing = |cause: &io::Error| cause.kind() != io::ErrorKind::InvalidData;
    let io = error.source().and_then(|cause| cause.downcast_ref()).is_some_and(is_passing);
    error.is_closed() || io || text(error).contains("timeout")
}

pub(crate) fn store_error(error: &tokio_postgres::Error) -> StoreError {
    match error.code() {
        Some(code) if *code == SqlState::DISK_FULL => StoreError::Full,
        Some(code) if *code == SqlState::DATA_CORRUPTED || *code == SqlState::INDEX_CORRUPTED => {
            StoreError::Corrupt(text(error))
        }
        _ => StoreError::Unavailable(text(error)),
    }
}

/// What happened, in the server's words where they are known, else with all that led to it.
pub(crate) fn text(error: &tokio_postgres::Error) -> String {
    if let Some(told) = error.as_db_error() {
        return told.message().to_owned();
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        let word = deeper.to_string();
        if !text.contains(&word) {
            text = format!("{text}: {word}");
        }
        cause = deeper.source();
    }
    text
}
