//! Many callers at once.

use super::world::{World, blank, event, line};
use crate::row::{Commit, NewLine};
use crate::store::CommitError;
use futures::future::join_all;
use std::collections::BTreeSet;

pub async fn concurrent_claims_take_each_thread_once(mut world: World) {
    let mut nodes = Vec::new();
    for _ in 0..8 {
        nodes.push(world.node().await);
    }
    for _ in 0..50 {
        let new = world.root();
        world.create(new, None).await;
    }
    let store = world.store();
    let rounds = nodes.iter().flat_map(|&node| (0..4).map(move |_| store.claim(node, 3, None)));
    let claims = join_all(rounds).await.into_iter().flat_map(|claims| claims.expect("a living node may claim"));
    let taken: Vec<_> = claims.map(|claim| claim.lease.thread).collect();
    let distinct: BTreeSet<_> = taken.iter().copied().collect();
    assert_eq!((taken.len(), distinct.len()), (50, 50));
}

pub async fn concurrent_lines_are_numbered_without_gaps(mut world: World) {
    let node = world.node().await;
    let thread = world.parked(node).await;
    let items: Vec<_> = (0..64).map(|number| world.message(&number.to_string())).collect();
    let store = world.store();
    let queued = join_all(items.into_iter().map(|item| store.enqueue(thread, line(item), Some(node)))).await;
    let queued: Vec<_> = queued.into_iter().map(|queued| queued.expect("the queue takes it")).collect();
    let numbers: BTreeSet<_> = queued.iter().map(|queued| queued.number).collect();
    assert_eq!(numbers, (1..=64).collect());
    assert_eq!(queued.iter().filter(|queued| queued.claim.is_some()).count(), 1, "it was parked once");
}

pub async fn one_of_many_commits_with_the_same_lease_wins(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let store = world.store();
    let commit = |number: u32| Commit { events: vec![event(&number.to_string())], ..blank(&claim) };
    let answers = join_all((0..32).map(|number| store.commit(claim.lease, commit(number)))).await;
    let won = answers.iter().filter(|answer| answer.is_ok()).count();
    let fenced = answers.iter().filter(|answer| matches!(answer, Err(CommitError::Fenced))).count();
    assert_eq!((won, fenced), (1, 31));
    assert_eq!(world.events(claim.lease.thread).await.len(), 2);
}

pub async fn a_key_used_at_once_queues_one_line(mut world: World) {
    let node = world.node().await;
    let thread = world.parked(node).await;
    let items: Vec<_> = (0..16).map(|_| world.message("the same")).collect();
    let store = world.store();
    let keyed = |item| NewLine { key: Some("k".to_owned()), ..line(item) };
    let queued = join_all(items.into_iter().map(|item| store.enqueue(thread, keyed(item), None))).await;
    let queued: Vec<_> = queued.into_iter().map(|queued| queued.expect("it is the same request")).collect();
    assert_eq!(queued.iter().filter(|queued| !queued.repeated).count(), 1);
    assert!(queued.iter().all(|queued| queued.number == 1));
}
