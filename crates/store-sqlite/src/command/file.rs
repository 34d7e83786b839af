//! Blobs and the files that point at them.

use super::Command;
use crate::column::signed;
use crate::session::Session;
use entourage_model::{Digest, ThreadId};
use entourage_store::{FileRow, StoreError};

#[derive(Debug)]
pub(crate) struct PutBlob {
    pub(crate) digest: Digest,
    pub(crate) bytes: Vec<u8>,
}

impl Command for PutBlob {
    type Answer = ();

    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<()> {
        session.execute(
            "INSERT INTO blobs (digest, body) VALUES (?1, ?2) ON CONFLICT (digest) DO NOTHING",
            (self.digest.as_bytes(), &self.bytes),
        )?;
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct PutFile {
    pub(crate) thread: ThreadId,
    pub(crate) file: FileRow,
}

impl Command for PutFile {
    type Answer = Result<(), StoreError>;

    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<Self::Answer> {
        let Self { thread, file } = self;
        if let Err(missing) = find_blob(session, file)? {
            return Ok(Err(missing));
        }
        if !put(session, *thread, file)? {
            return Ok(Err(StoreError::Unavailable(format!("there is no thread {thread}"))));
        }
        Ok(Ok(()))
    }
}

/// Refuses a file without its content.
pub(crate) fn find_blob(session: &Session<'_>, file: &FileRow) -> rusqlite::Result<Result<(), StoreError>> {
    let sql = "SELECT 1 FROM blobs WHERE digest = ?1";
    let found = session.one(sql, [file.digest.as_bytes()], |_| Ok(()))?;
    Ok(found.ok_or_else(|| StoreError::Unavailable(format!("there is no blob {}", file.digest))))
}

/// Returns whether there is such a thread.
pub(crate) fn put(session: &Session<'_>, thread: ThreadId, file: &FileRow) -> rusqlite::Result<bool> {
    let written = session.execute(
        "INSERT OR REPLACE INTO files (thread, path, digest, size, mime_type, created_at)
         SELECT id, ?2, ?3, ?4, ?5, ?6 FROM threads WHERE id = ?1",
        (thread.as_bytes(), &file.path, file.digest.as_bytes(), signed(file.size), &file.mime_type, file.created_at.0),
    )?;
    Ok(written > 0)
}

/// Returns whether there was such a file.
pub(crate) fn remove(session: &Session<'_>, thread: ThreadId, path: &str) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM files WHERE thread = ?1 AND path = ?2";
    Ok(session.execute(sql, (thread.as_bytes(), path))? > 0)
}

#[derive(Debug)]
pub(crate) struct DeleteFile {
    pub(crate) thread: ThreadId,
    pub(crate) path: String,
}

impl Command for DeleteFile {
    /// Whether there was such a file.
    type Answer = bool;

    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<bool> {
        remove(session, self.thread, &self.path)
    }
}
