//! Lines that one thread's commit puts into another's queue.

use super::world::{World, blank, numbered, texts};
use crate::row::{Claim, Commit, Committed};
use entourage_model::{Event, ThreadId, ThreadStatus, Timestamp, Write};

async fn deliver(world: &mut World, from: &Claim, to: &[(ThreadId, &str)], claim: bool) -> Committed {
    let deliver = |&(to, text): &(ThreadId, &str)| Write::Deliver { to, item: Box::new(world.message(text)) };
    let writes = to.iter().map(deliver).collect();
    world.commit(from, Commit { writes, claim, ..blank(from) }).await
}

pub async fn a_delivery_to_a_missing_thread_is_dropped(mut world: World) {
    let node = world.node().await;
    let sender = world.held(node).await;
    let nobody = world.thread_id();
    let done = deliver(&mut world, &sender, &[(nobody, "hello")], true).await;
    assert_eq!((done.claims, done.notified), (Vec::new(), Vec::new()));
    assert_eq!(world.waiting(nobody).await, []);
}

pub async fn a_delivery_to_a_terminated_thread_is_dropped(mut world: World) {
    let node = world.node().await;
    let sender = world.held(node).await;
    let dead = world.terminated(node).await;
    let done = deliver(&mut world, &sender, &[(dead, "hello")], true).await;
    assert_eq!((done.claims, done.notified), (Vec::new(), Vec::new()));
    assert_eq!(world.waiting(dead).await, []);
    assert_eq!(world.row(dead).await.status, ThreadStatus::Terminated);
}

pub async fn a_delivery_to_a_parked_thread_claims_it(mut world: World) {
    let node = world.node().await;
    let sender = world.held(node).await;
    let parked = world.parked(node).await;
    let before = world.row(parked).await;
    let done = deliver(&mut world, &sender, &[(parked, "hello")], true).await;
    assert_eq!(done.notified, []);
    let [claim] = &done.claims[..] else { unreachable!("one thread was woken: {done:?}") };
    assert_eq!((claim.lease.thread, claim.lease.node, claim.lease.epoch), (parked, node, before.epoch + 1));
    assert_eq!((claim.attempts, claim.seq, claim.root), (1, before.seq, parked));
    assert_eq!(texts(&claim.lines), numbered(&[(1, "hello")]));
    let after = world.row(parked).await;
    assert_eq!((after.status, after.epoch, after.attempts), (ThreadStatus::Running, before.epoch + 1, 1));
    world.commit(claim, blank(claim)).await;
    assert_eq!(world.claim_all(node).await, []);
}

pub async fn a_delivery_to_a_parked_thread_makes_it_ready_without_a_claim(mut world: World) {
    let node = world.node().await;
    let sender = world.held(node).await;
    let parked = world.parked(node).await;
    let done = deliver(&mut world, &sender, &[(parked, "one"), (parked, "two")], false).await;
    assert_eq!((done.claims, done.notified), (Vec::new(), Vec::new()));
    assert_eq!(world.row(parked).await.status, ThreadStatus::Ready);
    let claims = world.claim_all(node).await;
    assert_eq!(claims.len(), 1);
    assert_eq!(texts(&claims[0].lines), numbered(&[(1, "one"), (2, "two")]));
}

pub async fn two_deliveries_make_one_claim_with_both_lines(mut world: World) {
    let node = world.node().await;
    let sender = world.held(node).await;
    let (left, right) = (world.parked(node).await, world.parked(node).await);
    let to = [(left, "one"), (right, "other"), (left, "two")];
    let done = deliver(&mut world, &sender, &to, true).await;
    assert_eq!(done.notified, []);
    let mut claims = done.claims;
    claims.sort_by_key(|claim| claim.lease.thread);
    assert_eq!(claims.len(), 2);
    assert_eq!(texts(&claims[0].lines), numbered(&[(1, "one"), (2, "two")]));
    assert_eq!(texts(&claims[1].lines), numbered(&[(1, "other")]));
    assert_eq!(claims[0].attempts, 1);
}

pub async fn an_older_line_comes_first_in_the_claim(mut world: World) {
    let node = world.node().await;
    let sender = world.held(node).await;
    let claim = world.held(node).await;
    let thread = claim.lease.thread;
    world.enqueue(thread, "consumed").await;
    world.enqueue(thread, "waits").await;
    let commit = Commit { status: ThreadStatus::Waiting, seen: 2, consumed: vec![1], ..blank(&claim) };
    assert!(world.commit(&claim, commit).await.parked);
    let done = deliver(&mut world, &sender, &[(thread, "new")], true).await;
    assert_eq!(texts(&done.claims[0].lines), numbered(&[(2, "waits"), (3, "new")]));
}

pub async fn a_delivery_to_a_held_thread_notifies_its_own_node(mut world: World) {
    let (node, other) = (world.node().await, world.node().await);
    let sender = world.held(node).await;
    let (here, there) = (world.held(node).await, world.held(other).await);
    let new = world.root();
    let ready = new.id;
    world.create(new, None).await;
    let to = [here.lease.thread, there.lease.thread, ready, here.lease.thread];
    let done = deliver(&mut world, &sender, &to.map(|to| (to, "hello")), true).await;
    assert_eq!((done.claims, done.notified), (Vec::new(), vec![here.lease.thread]));
    assert_eq!(world.waiting(here.lease.thread).await, numbered(&[(1, "hello"), (2, "hello")]));
    assert_eq!(world.waiting(there.lease.thread).await, numbered(&[(1, "hello")]));
    assert_eq!(world.row(ready).await.status, ThreadStatus::Ready);
    world.commit(&here, blank(&here)).await;
    world.commit(&there, blank(&there)).await;
}

pub async fn a_delivery_to_itself_keeps_the_thread_from_parking(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let thread = claim.lease.thread;
    let writes = vec![Write::Deliver { to: thread, item: Box::new(world.message("to myself")) }];
    let commit = Commit { writes, status: ThreadStatus::Idle, claim: true, ..blank(&claim) };
    let done = world.commit(&claim, commit).await;
    assert!(!done.parked);
    assert_eq!((done.claims, done.notified), (Vec::new(), vec![thread]));
    assert_eq!(world.waiting(thread).await, numbered(&[(1, "to myself")]));
    let commit = Commit { status: ThreadStatus::Idle, consumed: vec![1], seen: 1, ..blank(&claim) };
    assert!(world.commit(&claim, commit).await.parked);
}

pub async fn a_delivery_behind_its_own_termination_is_dropped(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let thread = claim.lease.thread;
    let commit = Commit {
        events: vec![Event::Terminated { at: Timestamp(5) }],
        writes: vec![Write::Deliver { to: thread, item: Box::new(world.message("to myself")) }],
        status: ThreadStatus::Terminated,
        ..blank(&claim)
    };
    assert!(world.commit(&claim, commit).await.parked);
    assert_eq!(world.waiting(thread).await, []);
    assert_eq!(world.row(thread).await.terminated_at, Some(Timestamp(5)));
}
