//! Blobs: short ones in the database, long ones in a place outside, if there is one.

use crate::world::World;
use async_trait::async_trait;
use entourage_model::Digest;
use entourage_store::{Blob, Store, StoreError};
use entourage_store_postgres::{BlobPlace, Options, PostgresStore};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

#[derive(Debug, Default)]
struct Shelf(Mutex<HashMap<Digest, Blob>>);

#[async_trait]
impl BlobPlace for Shelf {
    async fn put(&self, digest: Digest, bytes: &[u8]) -> Result<(), StoreError> {
        self.0.lock().expect("no test panics here").insert(digest, bytes.to_vec());
        Ok(())
    }

    async fn get(&self, digest: Digest) -> Result<Option<Blob>, StoreError> {
        Ok(self.0.lock().expect("no test panics here").get(&digest).cloned())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_blobs_lie_outside_and_short_ones_in_the_database() {
    let world = World::new();
    let shelf = Arc::new(Shelf::default());
    let options = Options { blobs: Some(shelf.clone()), blob_bytes_max: 4, ..Options::default() };
    let store = PostgresStore::open(&world.url(), options).await.expect("it can be opened");
    for content in [&b"four"[..], b"five!", b""] {
        let digest = Digest::of(content);
        store.put_blob(digest, content).await.expect("it can be kept");
        assert_eq!(store.blob(digest).await.expect("it can be read").as_deref(), Some(content));
        let outside = shelf.0.lock().expect("no test panics here").contains_key(&digest);
        assert_eq!(outside, content.len() > 4);
    }
    let long = Digest::of(b"five!");
    let refused = PostgresStore::open(&world.url(), Options::default()).await.expect_err("it was not told the place");
    assert!(matches!(&refused, StoreError::Refused(report) if report.code.0 == "S048"), "{refused:?}");
    shelf.0.lock().expect("no test panics here").remove(&long);
    assert!(matches!(store.blob(long).await, Err(StoreError::Corrupt(_))), "the place has lost it");
    shelf.0.lock().expect("no test panics here").clear();
    assert!(matches!(store.blob(long).await, Err(StoreError::Unavailable(_))), "it is another place");
    assert!(matches!(store.put_blob(long, b"five!").await, Err(StoreError::Unavailable(_))), "it is another place");
}

/// Whoever has no place puts everything into the database, and gets it from there.
#[tokio::test(flavor = "multi_thread")]
async fn a_blob_that_lay_outside_comes_back_with_who_has_no_place() {
    let world = World::new();
    let stranger = world.open().await;
    let options = Options { blobs: Some(Arc::new(Shelf::default())), blob_bytes_max: 4, ..Options::default() };
    let store = PostgresStore::open(&world.url(), options).await.expect("it can be opened");
    let long = Digest::of(b"five!");
    store.put_blob(long, b"five!").await.expect("it can be kept");
    assert!(matches!(stranger.blob(long).await, Err(StoreError::Unavailable(_))), "it was not told the place");
    stranger.put_blob(long, b"five!").await.expect("it can be kept");
    for reader in [&stranger, &store] {
        assert_eq!(reader.blob(long).await.expect("it can be read").as_deref(), Some(&b"five!"[..]));
    }
}
