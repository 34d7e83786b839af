//! Bytes under their digests: in the database up to a size, beyond it in a place outside, if there is one.
//!
//! Nothing deletes a blob, here as little as in the other stores: a deleted thread takes its files along, and what they
//! pointed at may be another's.

use crate::body::get;
use crate::database::{Database, token};
use crate::fault::store_error;
use crate::place::Stage;
use crate::refusal;
use crate::settings::{Address, Options};
use async_trait::async_trait;
use entourage_model::Digest;
use entourage_store::{Blob, StoreError};
use std::fmt::Debug;
use std::sync::Arc;
use tokio_postgres::types::Type;
use uuid::Uuid;

/// A place outside the database, which every process of the store reaches: a shared folder, an object store.
#[async_trait]
pub trait BlobPlace: Debug + Send + Sync + 'static {
    /// Keeps the bytes for good before it returns. Repeating it changes nothing.
    async fn put(&self, digest: Digest, bytes: &[u8]) -> Result<(), StoreError>;

    async fn get(&self, digest: Digest) -> Result<Option<Blob>, StoreError>;
}

/// What was found where a blob should lie.
#[derive(Debug)]
pub(crate) enum Found {
    Whole(Blob),
    /// Something else lies there.
    Changed,
    /// Nothing does, although the place is the right one.
    Lost,
}

/// The place of this store.
///
/// A folder may be another one tomorrow, because nothing is mounted there any more, and two nodes may have been told
/// different places. So a blob lies in each store's place that only the store knows of, its mark: a place without
/// it is not the store's, and nothing is written there.
#[derive(Debug)]
pub(crate) struct Outside {
    place: Arc<dyn BlobPlace>,
    mark: Uuid,
    bytes_max: usize,
}

impl Outside {
    /// The place that the address or the program names, once it has shown that it can be used; none if neither does.
    pub(crate) async fn open(
        database: &Database,
        address: &Address,
        options: &Options,
    ) -> Result<Option<Arc<Self>>, StoreError> {
        let opening = match &address.blobs {
            Some(blobs) => Some(blobs.open(options, Stage::Opening).await?),
            None => options.blobs.clone(),
        };
        let Some(opening) = opening else { return no_place(database).await };
        let mark = settle(database, &*opening).await?;
        // Whoever opens it may write here, or hears it now.
        put_mark(&*opening, mark).await?;
        let place = match &address.blobs {
            Some(blobs) => blobs.open(options, Stage::AtWork).await?,
            None => opening,
        };
        let bytes_max = address.blob_bytes.unwrap_or(options.blob_bytes_max);
        Ok(Some(Arc::new(Self { place, mark, bytes_max })))
    }

    /// Whether a blob of this length lies here.
    pub(crate) fn takes(&self, length: usize) -> bool {
        length > self.bytes_max
    }

    pub(crate) async fn put(&self, digest: Digest, bytes: &[u8]) -> Result<(), StoreError> {
        self.look().await?;
        self.place.put(digest, bytes).await
    }

    pub(crate) async fn find(&self, digest: Digest) -> Result<Found, StoreError> {
        match self.place.get(digest).await? {
            Some(bytes) if Digest::of(&bytes) == digest => Ok(Found::Whole(bytes)),
            Some(_) => Ok(Found::Changed),
            None => {
                self.look().await?;
                Ok(Found::Lost)
            }
        }
    }

    pub(crate) async fn get(&self, digest: Digest) -> Result<Blob, StoreError> {
        match self.find(digest).await? {
            Found::Whole(bytes) => Ok(bytes),
            Found::Changed => Err(StoreError::Corrupt(format!("the content of blob {digest} has changed"))),
            Found::Lost => Err(StoreError::Corrupt(format!("the place outside the database has lost blob {digest}"))),
        }
    }

    /// Whether this is still the store's place.
    async fn look(&self) -> Result<(), StoreError> {
        if has_mark(&*self.place, self.mark).await? {
            return Ok(());
        }
        Err(StoreError::Unavailable(format!("{:?} does not hold this store's blobs now", self.place)))
    }
}

/// The row comes last: a blob that it names is there.
pub(crate) async fn put(
    database: &Database,
    outside: Option<&Outside>,
    digest: Digest,
    bytes: &[u8],
) -> Result<(), StoreError> {
    let Some(outside) = outside.filter(|outside| outside.takes(bytes.len())) else {
        // One that lay outside comes back: whoever puts it here may not reach it there.
        let sql = "INSERT INTO @.blobs AS b (digest, body) VALUES ($1, $2)
                   ON CONFLICT (digest) DO UPDATE SET body = excluded.body WHERE b.body IS NULL";
        return database.rows(sql, &[(&&digest.as_bytes()[..], Type::BYTEA), (&bytes, Type::BYTEA)]).await.map(drop);
    };
    outside.put(digest, bytes).await?;
    // Not into a store that has got another place meanwhile.
    let sql = "WITH place AS (SELECT 1 FROM @.meta WHERE name = 'blobs' AND value = $2::text),
                 written AS (INSERT INTO @.blobs (digest) SELECT $1 FROM place ON CONFLICT (digest) DO NOTHING)
               SELECT count(*) FROM place";
    let places: i64 =
        database.value(sql, &[(&&digest.as_bytes()[..], Type::BYTEA), (&outside.mark.to_string(), Type::TEXT)]).await?;
    if places == 1 {
        return Ok(());
    }
    Err(StoreError::Unavailable("the store's long blobs lie in another place now: open it anew".to_owned()))
}

pub(crate) async fn read(
    database: &Database,
    outside: Option<&Outside>,
    digest: Digest,
) -> Result<Option<Blob>, StoreError> {
    let sql = "SELECT body FROM @.blobs WHERE digest = $1";
    let rows = database.rows(sql, &[(&&digest.as_bytes()[..], Type::BYTEA)]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    match (get::<Option<Blob>>(row, 0)?, outside) {
        (Some(body), _) => Ok(Some(body)),
        (None, Some(outside)) => outside.get(digest).await.map(Some),
        (None, None) => Err(untold(digest)),
    }
}

/// One that another process has put outside since this one opened the store.
pub(crate) fn untold(digest: Digest) -> StoreError {
    let what = format!("blob {digest} lies in a place outside the database, which this process was not told");
    StoreError::Unavailable(what)
}

/// Without a place there may be nothing outside.
async fn no_place(database: &Database) -> Result<Option<Arc<Outside>>, StoreError> {
    if kept(database).await?.is_some() && has_outside(database).await? {
        return Err(refusal::no_place());
    }
    Ok(None)
}

/// What the store knows its place by. It gets one with its first place, and another one with another place, as long as
/// nothing lies in the one that it had.
async fn settle(database: &Database, place: &dyn BlobPlace) -> Result<Uuid, StoreError> {
    let known = kept(database).await?;
    if let Some(mark) = known {
        if has_mark(place, mark).await? {
            return Ok(mark);
        }
        if has_outside(database).await? {
            return Err(refusal::other_place(place));
        }
    }
    let mark = token();
    put_mark(place, mark).await?;
    keep(database, mark, known.unwrap_or_default()).await?;
    let kept = kept(database).await?.unwrap_or_default();
    // Somebody else may have been quicker, with a place of its own.
    if kept != mark && !has_mark(place, kept).await? {
        return Err(refusal::other_place(place));
    }
    Ok(kept)
}

/// The mark as it lies in the place, for people who find it.
fn text_of(mark: Uuid) -> String {
    format!("Here lie the long blobs of an entourage store, by their digests. This one is its mark: {mark}\n")
}

async fn put_mark(place: &dyn BlobPlace, mark: Uuid) -> Result<(), StoreError> {
    let text = text_of(mark);
    place.put(Digest::of(text.as_bytes()), text.as_bytes()).await
}

async fn has_mark(place: &dyn BlobPlace, mark: Uuid) -> Result<bool, StoreError> {
    Ok(place.get(Digest::of(text_of(mark).as_bytes())).await?.is_some())
}

async fn kept(database: &Database) -> Result<Option<Uuid>, StoreError> {
    let rows = database.rows("SELECT value FROM @.meta WHERE name = 'blobs'", &[]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let mark = get::<String>(row, 0)?.parse();
    mark.map(Some).map_err(|_| StoreError::Corrupt("the mark of the place of long blobs cannot be read".to_owned()))
}

/// In the place of the one before, unless somebody has put something outside: nobody does while it is looked.
async fn keep(database: &Database, mark: Uuid, before: Uuid) -> Result<(), StoreError> {
    let sql = database.spell(&format!(
        "BEGIN;
         LOCK TABLE @.blobs IN SHARE ROW EXCLUSIVE MODE;
         INSERT INTO @.meta AS m (name, value) VALUES ('blobs', '{mark}')
           ON CONFLICT (name) DO UPDATE SET value = excluded.value
           WHERE m.value = '{before}' AND NOT EXISTS (SELECT 1 FROM @.blobs WHERE body IS NULL);
         COMMIT"
    ));
    let client = database.client().await?;
    let kept = client.batch_execute(&sql).await;
    if kept.is_err() {
        // Only a transaction that was begun can be left; there may be none.
        let _ = client.batch_execute("ROLLBACK").await;
    }
    kept.map_err(|error| store_error(&error))
}

async fn has_outside(database: &Database) -> Result<bool, StoreError> {
    database.value("SELECT EXISTS (SELECT 1 FROM @.blobs WHERE body IS NULL)", &[]).await
}
