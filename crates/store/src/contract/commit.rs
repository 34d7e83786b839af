//! Commits: who may, what is written, whether the lease stays.

use super::world::{World, blank, event, numbered, texts};
use crate::row::{Commit, Lease};
use crate::store::CommitError;
use entourage_model::{ThreadStatus, Usage};
use std::time::Duration;

pub async fn events_are_appended_in_order(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let first = world.commit(&claim, Commit { events: vec![event("a"), event("b")], ..blank(&claim) }).await;
    let next = Commit { seq: 3, events: vec![event("c")], ..blank(&claim) };
    let second = world.commit(&claim, next).await;
    assert!(second.position > first.position, "positions grow");
    let events = world.events(claim.lease.thread).await;
    assert_eq!(events[1..], [(2, event("a")), (3, event("b")), (4, event("c"))]);
    assert_eq!(world.row(claim.lease.thread).await.seq, 4);
    let journal = world.store().journal(claim.lease.thread, 3, 10).await.expect("it can be read");
    assert_eq!(journal[0].position, second.position);
}

pub async fn a_stale_epoch_is_fenced_and_changes_nothing(mut world: World) {
    let node = world.node().await;
    let old = world.held(node).await;
    let thread = old.lease.thread;
    world.enqueue(thread, "waits").await;
    world.store().release(old.lease).await.expect("it is held");
    let new = world.claim_all(node).await.remove(0);
    assert!(new.lease.epoch > old.lease.epoch);
    let before = world.row(thread).await;
    let child = world.child_of(&old);
    let commit = Commit {
        events: vec![event("stale")],
        writes: vec![entourage_model::Write::Spawn(Box::new(child.clone()))],
        consumed: vec![1],
        status: ThreadStatus::Idle,
        ..blank(&old)
    };
    assert!(matches!(world.refused(&old, commit).await, CommitError::Fenced));
    assert_eq!(world.row(thread).await, before);
    assert_eq!(world.waiting(thread).await, numbered(&[(1, "waits")]));
    assert_eq!(world.store().thread(child.id).await.expect("it can be read"), None);
    world.commit(&new, Commit { events: vec![event("fresh")], ..blank(&new) }).await;
}

pub async fn another_node_is_fenced(mut world: World) {
    let node = world.node().await;
    let mut claim = world.held(node).await;
    let held = claim.lease;
    claim.lease = Lease { node: world.node().await, ..held };
    assert!(matches!(world.refused(&claim, blank(&claim)).await, CommitError::Fenced));
    claim.lease = held;
    world.commit(&claim, blank(&claim)).await;
}

pub async fn a_wrong_seq_is_fenced(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    for seq in [0, 2] {
        assert!(matches!(world.refused(&claim, Commit { seq, ..blank(&claim) }).await, CommitError::Fenced));
    }
    world.commit(&claim, blank(&claim)).await;
}

pub async fn a_deleted_thread_is_fenced(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    world.store().delete(claim.lease.thread).await.expect("it can be deleted");
    assert!(matches!(world.refused(&claim, blank(&claim)).await, CommitError::Fenced));
}

pub async fn a_running_thread_keeps_its_lease(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    for _ in 0..3 {
        assert!(!world.commit(&claim, blank(&claim)).await.parked);
        assert_eq!(world.row(claim.lease.thread).await.status, ThreadStatus::Running);
    }
}

pub async fn a_parked_thread_gives_its_lease_back(mut world: World) {
    use ThreadStatus::{Done, Failed, Idle, Ready, Running, Terminated, Waiting};
    for status in ThreadStatus::ALL {
        let node = world.node().await;
        let claim = world.held(node).await;
        let thread = claim.lease.thread;
        let parked = world.commit(&claim, Commit { status, ..blank(&claim) }).await.parked;
        let row = world.row(thread).await;
        match status {
            Running => assert!(!parked),
            Idle | Ready | Waiting | Done | Failed | Terminated => {
                assert!(parked);
                assert!(matches!(world.refused(&claim, blank(&claim)).await, CommitError::Fenced));
            }
        }
        assert_eq!((row.status, row.epoch), (status, claim.lease.epoch));
    }
}

pub async fn a_line_that_came_late_keeps_the_thread_from_parking(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let thread = claim.lease.thread;
    world.enqueue(thread, "late").await;
    let commit = Commit { status: ThreadStatus::Idle, ..blank(&claim) };
    assert!(!world.commit(&claim, commit.clone()).await.parked);
    assert_eq!(world.row(thread).await.status, ThreadStatus::Running);
    // A line that the decision knew of does not hold it, whether it is consumed or not.
    assert!(world.commit(&claim, Commit { seen: 1, ..commit }).await.parked);
    assert_eq!(world.row(thread).await.status, ThreadStatus::Idle);
    assert_eq!(world.waiting(thread).await, numbered(&[(1, "late")]));
}

pub async fn a_late_line_that_is_consumed_does_not_keep_it(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    for text in ["early", "late"] {
        world.enqueue(claim.lease.thread, text).await;
    }
    let commit = Commit { status: ThreadStatus::Idle, seen: 1, consumed: vec![2], ..blank(&claim) };
    assert!(world.commit(&claim, commit).await.parked);
}

pub async fn consumed_lines_leave_the_queue(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let thread = claim.lease.thread;
    for text in ["one", "two", "three", "four"] {
        world.enqueue(thread, text).await;
    }
    world.commit(&claim, Commit { consumed: vec![1, 3, 9], ..blank(&claim) }).await;
    assert_eq!(world.waiting(thread).await, numbered(&[(2, "two"), (4, "four")]));
    let behind = world.store().lines(thread, 2).await.expect("it can be read");
    assert_eq!(texts(&behind), numbered(&[(4, "four")]));
    world.commit(&claim, Commit { consumed: vec![2, 4], ..blank(&claim) }).await;
    assert_eq!(world.enqueue(thread, "five").await, 5, "a number is never given again");
}

pub async fn buried_lines_become_dead_letters(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let other = world.held(node).await;
    let thread = claim.lease.thread;
    for text in ["poison", "fine", "worse"] {
        world.enqueue(thread, text).await;
    }
    let commit = Commit { buried: vec![1, 3, 7], burial: Some("it killed us".to_owned()), ..blank(&claim) };
    world.commit(&claim, commit).await;
    assert_eq!(world.waiting(thread).await, numbered(&[(2, "fine")]));
    let letters = world.store().dead_letters(None).await.expect("they can be read");
    let told: Vec<_> =
        letters.iter().map(|letter| (letter.number, super::world::text(&letter.item), letter.reason.clone())).collect();
    assert_eq!(
        told,
        [(1, "poison".to_owned(), "it killed us".to_owned()), (3, "worse".to_owned(), "it killed us".to_owned())]
    );
    assert_eq!(world.store().dead_letters(Some(thread)).await.expect("they can be read"), letters);
    assert_eq!(world.store().dead_letters(Some(other.lease.thread)).await.expect("they can be read"), []);
}

pub async fn usage_adds_up(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let usage = Usage { input_tokens: 10, output_tokens: 3, steps: 1 };
    for _ in 0..3 {
        world.commit(&claim, Commit { usage, ..blank(&claim) }).await;
    }
    let expected = Usage { input_tokens: 30, output_tokens: 9, steps: 3 };
    assert_eq!(world.row(claim.lease.thread).await.usage, expected);
}

pub async fn a_terminated_thread_has_its_time_and_sleeps_for_good(mut world: World) {
    let node = world.node().await;
    let thread = world.terminated(node).await;
    let row = world.row(thread).await;
    assert_eq!(row.status, ThreadStatus::Terminated);
    assert!(row.terminated_at.is_some());
    let claim = world.held(node).await;
    let due = Some(world.store().now().after(Duration::from_secs(1)));
    let commit = Commit { status: ThreadStatus::Terminated, wake_at: due, ..blank(&claim) };
    world.commit(&claim, commit).await;
    assert!(world.row(claim.lease.thread).await.terminated_at.is_some(), "also without the event");
    world.advance(Duration::from_secs(2)).await;
    assert_eq!(world.claim_all(node).await, []);
    assert_eq!(world.row(claim.lease.thread).await.wake_at, None);
}

pub async fn an_empty_commit_has_no_position(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    assert_eq!(world.commit(&claim, blank(&claim)).await.position, 0);
}
