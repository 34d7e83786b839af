//! A tree's journal among the events of many others.

use crate::world::{World, step};
use entourage_store::{Commit, Store, StoredEvent};

/// More than are looked through one by one for those of a tree.
const OTHERS: usize = 6000;

#[tokio::test]
async fn a_tree_that_was_quiet_for_long_is_read_as_any_other() {
    let world = World::new();
    let store = world.open();
    let (quiet, busy) = (world.held(&store, 1).await, world.held(&store, 2).await);
    let events = vec![step(&busy, 1).events.remove(0); OTHERS];
    store.commit(busy.lease, Commit { events, ..step(&busy, 1) }).await.expect("the lease is good");
    store.commit(quiet.lease, step(&quiet, 1)).await.expect("the lease is good");
    let read = async |after, limit| store.tree_journal(quiet.root, after, limit).await.expect("it can be read");
    let seqs = |events: &[StoredEvent]| events.iter().map(|event| event.seq).collect::<Vec<_>>();
    let all = read(0, 10).await;
    assert_eq!(seqs(&all), [1, 2]);
    assert_eq!(all, store.journal(quiet.lease.thread, 0, 10).await.expect("it can be read"));
    assert_eq!(seqs(&read(0, 1).await), [1]);
    assert_eq!(seqs(&read(all[0].position, 10).await), [2]);
    assert_eq!(seqs(&read(all[1].position, 10).await), [0; 0]);
}
