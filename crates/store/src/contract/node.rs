//! Processes: heartbeats, deaths, and what the sweep does with a dead one's threads.

use super::world::{World, blank};
use crate::row::Commit;
use crate::store::{CommitError, NODE_LIFE, StoreError};
use entourage_model::ThreadStatus;
use std::time::Duration;

const MOMENT: Duration = Duration::from_millis(1);

pub async fn a_node_that_was_never_registered_is_dead(mut world: World) {
    let stranger = world.stranger();
    assert!(matches!(world.store().heartbeat(stranger).await, Err(StoreError::NodeDead)));
    assert!(matches!(world.store().claim(stranger, 1, None).await, Err(StoreError::NodeDead)));
}

pub async fn a_heartbeat_keeps_a_node_alive(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    for _ in 0..3 {
        world.advance(NODE_LIFE - MOMENT).await;
        world.store().heartbeat(node).await.expect("it lives");
        assert_eq!(world.store().sweep().await.expect("it can be swept"), 0);
    }
    world.commit(&claim, blank(&claim)).await;
}

pub async fn a_dead_node_stays_dead_and_claims_nothing(mut world: World) {
    let node = world.node().await;
    let new = world.root();
    world.create(new, None).await;
    world.advance(NODE_LIFE + MOMENT).await;
    world.store().sweep().await.expect("it can be swept");
    assert!(matches!(world.store().heartbeat(node).await, Err(StoreError::NodeDead)));
    assert!(matches!(world.store().claim(node, 1, None).await, Err(StoreError::NodeDead)));
    let other = world.node().await;
    assert_eq!(world.claim_all(other).await.len(), 1);
}

pub async fn threads_of_a_dead_node_are_swept_once(mut world: World) {
    let dying = world.node().await;
    let lost = [world.held(dying).await, world.held(dying).await];
    let asleep = world.parked(dying).await;
    world.advance(NODE_LIFE - MOMENT).await;
    let living = world.node().await;
    let kept = world.held(living).await;
    assert_eq!(world.store().sweep().await.expect("it can be swept"), 0);
    world.advance(MOMENT * 2).await;
    assert_eq!(world.store().sweep().await.expect("it can be swept"), 2);
    assert_eq!(world.store().sweep().await.expect("it can be swept"), 0);
    for claim in &lost {
        let row = world.row(claim.lease.thread).await;
        assert_eq!((row.status, row.epoch, row.attempts), (ThreadStatus::Ready, claim.lease.epoch + 1, 1));
    }
    assert_eq!(world.row(asleep).await.status, ThreadStatus::Idle);
    world.commit(&kept, blank(&kept)).await;
    let taken = world.claim_all(living).await;
    assert_eq!(taken.len(), 2);
    assert!(taken.iter().all(|claim| claim.attempts == 2), "the attempt of the dead node counts");
}

pub async fn a_zombie_cannot_commit_after_the_sweep(mut world: World) {
    let zombie = world.node().await;
    let claim = world.held(zombie).await;
    world.advance(NODE_LIFE + MOMENT).await;
    world.commit(&claim, Commit { status: ThreadStatus::Running, ..blank(&claim) }).await;
    world.store().sweep().await.expect("it can be swept");
    assert!(matches!(world.refused(&claim, blank(&claim)).await, CommitError::Fenced));
}
