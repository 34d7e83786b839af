//! Blobs and the files that point at them.

use crate::column::{digest, time, unsigned};
use crate::fault::Fault;
use entourage_model::{Digest, ThreadId};
use entourage_store::{Blob, FileRow};
use rusqlite::{Connection, OptionalExtension};

pub(crate) fn blob(connection: &Connection, digest: Digest) -> Result<Option<Blob>, Fault> {
    let mut query = connection.prepare_cached("SELECT body FROM blobs WHERE digest = ?1")?;
    Ok(query.query_row([digest.as_bytes()], |row| row.get(0)).optional()?)
}

pub(crate) fn list(connection: &Connection, thread: ThreadId) -> Result<Vec<FileRow>, Fault> {
    let mut query = connection.prepare_cached(
        "SELECT path, digest, size, mime_type, created_at FROM files WHERE thread = ?1 ORDER BY path",
    )?;
    let files = query.query_map([thread.as_bytes()], |row| {
        Ok(FileRow {
            path: row.get(0)?,
            digest: digest(row, 1)?,
            size: unsigned(row, 2)?,
            mime_type: row.get(3)?,
            created_at: time(row, 4)?,
        })
    })?;
    Ok(files.collect::<rusqlite::Result<_>>()?)
}
