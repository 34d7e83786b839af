//! Bytes under their digests: in the database up to a size, beyond it in a place outside, if there is one.

use crate::body::get;
use crate::database::Database;
use crate::settings::Options;
use async_trait::async_trait;
use entourage_model::Digest;
use entourage_store::{Blob, StoreError};
use std::fmt::Debug;
use tokio_postgres::types::Type;

/// A place outside the database, which every process of the store reaches: a shared folder, an object store.
#[async_trait]
pub trait BlobPlace: Debug + Send + Sync + 'static {
    /// Keeps the bytes for good before it returns. Repeating it changes nothing.
    async fn put(&self, digest: Digest, bytes: &[u8]) -> Result<(), StoreError>;

    async fn get(&self, digest: Digest) -> Result<Option<Blob>, StoreError>;
}

/// The row comes last: a blob that it names is there.
pub(crate) async fn put(
    database: &Database,
    options: &Options,
    digest: Digest,
    bytes: &[u8],
) -> Result<(), StoreError> {
    let outside = options.blobs.as_ref().filter(|_| bytes.len() > options.blob_bytes_max);
    let body = match outside {
        Some(place) => {
            place.put(digest, bytes).await?;
            None
        }
        None => Some(bytes),
    };
    let sql = "INSERT INTO @.blobs (digest, body) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING";
    database.rows(sql, &[(&&digest.as_bytes()[..], Type::BYTEA), (&body, Type::BYTEA)]).await.map(drop)
}

pub(crate) async fn read(database: &Database, options: &Options, digest: Digest) -> Result<Option<Blob>, StoreError> {
    let sql = "SELECT body FROM @.blobs WHERE digest = $1";
    let rows = database.rows(sql, &[(&&digest.as_bytes()[..], Type::BYTEA)]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    match (get::<Option<Blob>>(row, 0)?, &options.blobs) {
        (Some(body), _) => Ok(Some(body)),
        (None, Some(place)) => match place.get(digest).await? {
            Some(body) => Ok(Some(body)),
            None => Err(StoreError::Corrupt(format!("the place outside the database has lost blob {digest}"))),
        },
        (None, None) => {
            let what = format!("blob {digest} lies in a place outside the database, which this process was not told");
            Err(StoreError::Unavailable(what))
        }
    }
}
