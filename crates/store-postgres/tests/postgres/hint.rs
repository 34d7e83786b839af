//! What one process does, the others hear.

use crate::world::{World, message, new_thread, step};
use entourage_store::{Hint, NewLine, Store};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;

/// Until this is heard; the test's own limit ends one that never is.
async fn hear(hints: &mut Receiver<Hint>, wanted: Hint) {
    let heard = async { while hints.recv().await.expect("the store is open") != wanted {} };
    tokio::time::timeout(Duration::from_secs(20), heard).await.expect("it is heard");
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_work_and_changes_are_heard_by_the_others() {
    let world = World::new();
    let (here, there) = (world.open().await, world.open().await);
    let mut hints = there.hints().expect("sessions last");
    hear(&mut hints, Hint::All).await;
    let claim = world.held(&there, 1).await;
    let (thread, root) = (claim.lease.thread, claim.root);
    let line = NewLine { item: message(1, "hello"), key: None, run: None, messages_max: 9 };
    here.enqueue(thread, line, None).await.expect("the queue takes it");
    hear(&mut hints, Hint::Queued(thread)).await;
    here.create(new_thread(2), None).await.expect("it can be made");
    hear(&mut hints, Hint::Ready).await;
    here.commit(claim.lease, step(&claim, 1)).await.expect("the lease is good");
    hear(&mut hints, Hint::Changed { root, thread }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_that_lost_its_connection_looks_at_everything() {
    let world = World::new();
    let store = world.open().await;
    let mut hints = store.hints().expect("sessions last");
    hear(&mut hints, Hint::All).await;
    let database = Arc::clone(&world.database);
    tokio::task::spawn_blocking(move || database.cut_connections()).await.expect("it can be cut");
    hear(&mut hints, Hint::All).await;
}
