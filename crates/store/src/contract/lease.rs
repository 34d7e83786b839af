//! Taking threads up, giving them back, and waking them in time.

use super::world::{World, blank, numbered, texts};
use crate::row::{Claim, Commit, Lease};
use crate::store::{CommitError, NODE_LIFE};
use entourage_model::{NodeId, ThreadId, ThreadStatus, Timestamp, Write};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn threads(claims: &[Claim]) -> Vec<ThreadId> {
    claims.iter().map(|claim| claim.lease.thread).collect()
}

async fn ready(world: &mut World) -> ThreadId {
    let new = world.root();
    let id = new.id;
    world.create(new, None).await;
    id
}

/// A waiting thread that wants to be taken up at this time.
async fn sleeper(world: &mut World, node: NodeId, wake_at: Timestamp) -> ThreadId {
    let claim = world.held(node).await;
    let commit = Commit { status: ThreadStatus::Waiting, wake_at: Some(wake_at), ..blank(&claim) };
    assert!(world.commit(&claim, commit).await.parked);
    claim.lease.thread
}

pub async fn claims_are_made_longest_waiting_first(mut world: World) {
    let node = world.node().await;
    let held = world.held(node).await;
    let first = ready(&mut world).await;
    world.advance(SECOND).await;
    let due = world.store().now().after(SECOND);
    let second = sleeper(&mut world, node, due).await;
    world.advance(SECOND * 2).await;
    let third = ready(&mut world).await;
    world.advance(SECOND).await;
    world.store().release(held.lease).await.expect("it is held");
    assert_eq!(threads(&world.store().claim(node, 2, None).await.expect("it may")), [first, second]);
    assert_eq!(threads(&world.store().claim(node, 0, None).await.expect("it may")), []);
    assert_eq!(threads(&world.claim_all(node).await), [third, held.lease.thread]);
    assert_eq!(threads(&world.claim_all(node).await), []);
}

pub async fn a_claimed_thread_is_not_claimed_again(mut world: World) {
    let (node, other) = (world.node().await, world.node().await);
    let thread = ready(&mut world).await;
    assert_eq!(threads(&world.claim_all(node).await), [thread]);
    assert_eq!(world.claim_all(other).await, []);
    assert_eq!(world.claim_all(node).await, []);
}

pub async fn claims_can_be_kept_to_one_tree(mut world: World) {
    let node = world.node().await;
    let root = world.held(node).await;
    let child = world.child_of(&root);
    let due = Some(world.store().now());
    let spawn = vec![Write::Spawn(Box::new(child.clone()))];
    let commit = Commit { writes: spawn, status: ThreadStatus::Waiting, wake_at: due, ..blank(&root) };
    world.commit(&root, commit).await;
    let other = ready(&mut world).await;
    let mut ours = threads(&world.store().claim(node, 10, Some(root.root)).await.expect("it may"));
    ours.sort_unstable();
    assert_eq!(ours, [root.lease.thread, child.id]);
    assert_eq!(threads(&world.claim_all(node).await), [other]);
}

pub async fn a_claim_holds_what_the_thread_needs(mut world: World) {
    let node = world.node().await;
    let new = world.root();
    world.create(new.clone(), None).await;
    for text in ["one", "two"] {
        world.enqueue(new.id, text).await;
    }
    let [claim] = &world.claim_all(node).await[..] else { unreachable!("one thread is ready") };
    assert_eq!(claim.lease, Lease { thread: new.id, node, epoch: 1 });
    assert_eq!((claim.attempts, claim.seq, claim.root, claim.bundle), (1, 1, new.id, new.bundle));
    assert_eq!(texts(&claim.lines), numbered(&[(1, "one"), (2, "two")]));
}

pub async fn attempts_are_counted_at_claim_and_reset_at_commit(mut world: World) {
    let node = world.node().await;
    let thread = ready(&mut world).await;
    let claim = world.claim_all(node).await.remove(0);
    assert_eq!((claim.attempts, world.row(thread).await.attempts), (1, 1));
    world.commit(&claim, blank(&claim)).await;
    assert_eq!(world.row(thread).await.attempts, 0);
}

pub async fn a_thread_that_was_tried_in_vain_is_taken_up_alone(mut world: World) {
    // Takes up what it is given, and dies.
    async fn claim_in_vain(world: &mut World) -> Vec<ThreadId> {
        let node = world.node().await;
        let claims = world.claim_all(node).await;
        world.advance(NODE_LIFE * 2).await;
        world.store().sweep().await.expect("it can be swept");
        threads(&claims)
    }
    let waiting = [ready(&mut world).await, ready(&mut world).await, ready(&mut world).await];
    for _ in 0..2 {
        assert_eq!(claim_in_vain(&mut world).await, waiting);
    }
    let mut tried = Vec::new();
    for _ in 0..3 {
        tried.extend(claim_in_vain(&mut world).await);
    }
    tried.sort_unstable();
    assert_eq!(tried, waiting, "each of them once");
    let node = world.node().await;
    let fresh = ready(&mut world).await;
    for _ in 0..3 {
        let claims = world.claim_all(node).await;
        assert!(claims.len() == 1 && claims[0].lease.thread != fresh);
    }
    assert_eq!(threads(&world.claim_all(node).await), [fresh]);
}

pub async fn a_released_thread_is_ready_and_its_attempt_does_not_count(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    world.store().release(claim.lease).await.expect("it is held");
    let row = world.row(claim.lease.thread).await;
    assert_eq!((row.status, row.epoch, row.attempts), (ThreadStatus::Ready, claim.lease.epoch, 0));
    assert!(matches!(world.refused(&claim, blank(&claim)).await, CommitError::Fenced));
    assert_eq!(world.claim_all(node).await[0].lease.epoch, claim.lease.epoch + 1);
}

pub async fn a_stale_release_changes_nothing(mut world: World) {
    let node = world.node().await;
    let old = world.held(node).await;
    world.store().release(old.lease).await.expect("it is held");
    let new = world.claim_all(node).await.remove(0);
    world.store().release(old.lease).await.expect("a lost lease is no error");
    let missing = Lease { thread: world.thread_id(), ..old.lease };
    world.store().release(missing).await.expect("a missing thread is no error");
    assert_eq!(world.row(old.lease.thread).await.status, ThreadStatus::Running);
    world.commit(&new, blank(&new)).await;
}

pub async fn a_thread_wakes_when_its_time_has_come(mut world: World) {
    let node = world.node().await;
    let now = world.store().now();
    let due = now.after(SECOND * 10);
    let thread = sleeper(&mut world, node, due).await;
    sleeper(&mut world, node, now.after(SECOND * 3600)).await;
    world.advance(SECOND * 9).await;
    assert_eq!(world.claim_all(node).await, []);
    world.advance(SECOND).await;
    world.store().heartbeat(node).await.expect("it lives");
    let claims = world.claim_all(node).await;
    assert_eq!(threads(&claims), [thread]);
    assert_eq!(world.row(thread).await.wake_at, Some(due), "the commit decides what comes next");
    assert_eq!(world.claim_all(node).await, []);
    let commit = Commit { status: ThreadStatus::Idle, ..blank(&claims[0]) };
    assert!(world.commit(&claims[0], commit).await.parked);
    assert_eq!(world.row(thread).await.wake_at, None);
    assert_eq!(world.claim_all(node).await, []);
}

pub async fn only_a_parked_thread_is_taken_up_for_its_time(mut world: World) {
    let (node, other) = (world.node().await, world.node().await);
    let due = world.store().now();
    let held = world.held(node).await;
    world.commit(&held, Commit { wake_at: Some(due), ..blank(&held) }).await;
    assert_eq!(world.claim_all(other).await, [], "a running thread is awake");
    let woken = sleeper(&mut world, node, due).await;
    world.enqueue(woken, "wakes it").await;
    assert_eq!(world.row(woken).await.status, ThreadStatus::Ready);
    assert_eq!(threads(&world.claim_all(other).await), [woken], "it is ready and due, and taken up once");
}
