//! The files of threads.

use crate::body::{digest, get, signed, time, unsigned};
use crate::database::{Database, Param};
use crate::text::{escape, unescape};
use entourage_model::ThreadId;
use entourage_store::{FileRow, StoreError};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// Refuses a file without its content or its thread.
pub(crate) async fn put(database: &Database, thread: ThreadId, file: &FileRow) -> Result<(), StoreError> {
    let sql = "WITH blob AS (SELECT 1 FROM @.blobs WHERE digest = $3),
                 written AS (
                   INSERT INTO @.files (thread, path, digest, size, mime_type, created_at)
                   SELECT id, $2, $3, $4, $5, $6 FROM @.threads, blob WHERE id = $1
                   ON CONFLICT (thread, path) DO UPDATE SET digest = excluded.digest, size = excluded.size,
                     mime_type = excluded.mime_type, created_at = excluded.created_at
                   RETURNING 1)
               SELECT EXISTS (SELECT 1 FROM blob), EXISTS (SELECT 1 FROM written)";
    let (path, mime_type) = (escape(&file.path), escape(&file.mime_type));
    let params: [Param<'_>; 6] = [
        (&thread.uuid(), Type::UUID),
        (&path, Type::TEXT),
        (&&file.digest.as_bytes()[..], Type::BYTEA),
        (&signed(file.size), Type::INT8),
        (&mime_type, Type::TEXT),
        (&file.created_at.0, Type::INT8),
    ];
    let rows = database.rows(sql, &params).await?;
    let row = rows.first().ok_or_else(|| StoreError::Corrupt("a file had no answer".to_owned()))?;
    match (get(row, 0)?, get(row, 1)?) {
        (true, true) => Ok(()),
        (false, _) => Err(StoreError::Unavailable(format!("there is no blob {}", file.digest))),
        (true, false) => Err(StoreError::Unavailable(format!("there is no thread {thread}"))),
    }
}

pub(crate) async fn list(database: &Database, thread: ThreadId) -> Result<Vec<FileRow>, StoreError> {
    let sql = "SELECT path, digest, size, mime_type, created_at FROM @.files WHERE thread = $1 ORDER BY path";
    let rows = database.rows(sql, &[(&thread.uuid(), Type::UUID)]).await?;
    let file = |row: &Row| {
        Ok(FileRow {
            path: unescape(get(row, 0)?),
            digest: digest(row, 1)?,
            size: unsigned(row, 2)?,
            mime_type: unescape(get(row, 3)?),
            created_at: time(row, 4)?,
        })
    };
    rows.iter().map(file).collect()
}

/// Returns whether there was such a file.
pub(crate) async fn delete(database: &Database, thread: ThreadId, path: &str) -> Result<bool, StoreError> {
    let sql = "DELETE FROM @.files WHERE thread = $1 AND path = $2 RETURNING 1";
    let rows = database.rows(sql, &[(&thread.uuid(), Type::UUID), (&escape(path), Type::TEXT)]).await?;
    Ok(!rows.is_empty())
}
