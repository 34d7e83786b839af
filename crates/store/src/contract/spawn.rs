//! New threads, and how many fit into a tree.

use super::world::{World, blank, event, numbered, texts};
use crate::row::Commit;
use crate::store::{CommitError, StoreError};
use entourage_model::{NewThread, RunStatus, ThreadStatus, Write};

fn spawns<'c>(children: impl IntoIterator<Item = &'c NewThread>) -> Vec<Write> {
    children.into_iter().map(|child| Write::Spawn(Box::new(child.clone()))).collect()
}

pub async fn a_new_thread_has_events_lines_and_run(mut world: World) {
    let node = world.node().await;
    let mut new = world.root();
    let thread = new.id;
    let run = world.new_run(thread);
    new.events.push(event("second"));
    new.items = vec![world.message("one"), world.message("two")];
    new.run = Some(run.clone());
    new.tags = vec!["a tag".to_owned(), "it's \"quoted\"".to_owned()];
    new.user_id = Some("somebody".to_owned());
    let claim = world.create(new.clone(), Some(node)).await.expect("a claim was asked for");
    assert_eq!((claim.lease.thread, claim.lease.node, claim.lease.epoch), (thread, node, 1));
    assert_eq!((claim.attempts, claim.seq, claim.root, claim.bundle), (1, 2, thread, new.bundle));
    assert_eq!(texts(&claim.lines), numbered(&[(1, "one"), (2, "two")]));
    let lines = world.store().lines(thread, 0).await.expect("it can be read");
    assert_eq!(lines, claim.lines);
    let events: Vec<_> = (1..).zip(new.events.clone()).collect();
    assert_eq!(world.events(thread).await, events);
    let row = world.row(thread).await;
    assert_eq!((row.status, row.epoch, row.attempts, row.seq), (ThreadStatus::Running, 1, 1, 2));
    assert_eq!((row.tags, row.user_id, row.agent), (new.tags, new.user_id, new.agent));
    let row = world.run(&run.id).await;
    assert_eq!((row.status, row.thread, row.request), (RunStatus::Pending, thread, run.request));
    world.commit(&claim, Commit { consumed: vec![1], ..blank(&claim) }).await;
}

pub async fn a_thread_exists_once(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let again = super::world::new_thread(claim.lease.thread, None, claim.lease.thread);
    let refused = world.store().create(again.clone(), None).await.expect_err("it is there already");
    assert!(matches!(refused, StoreError::Unavailable(_)));
    let commit = Commit { events: vec![event("lost")], writes: spawns([&again]), ..blank(&claim) };
    assert!(matches!(world.refused(&claim, commit).await, CommitError::Store(StoreError::Unavailable(_))));
    assert_eq!(world.events(claim.lease.thread).await.len(), 1);
    world.commit(&claim, blank(&claim)).await;
}

pub async fn a_new_thread_brings_its_journal_when_it_is_claimed(mut world: World) {
    let node = world.node().await;
    let new = world.root();
    let root = world.create(new.clone(), Some(node)).await.expect("a claim was asked for");
    assert_eq!(root.journal.as_ref(), Some(&new.events));
    let child = world.child_of(&root);
    let commit = Commit { writes: spawns([&child]), claim: true, ..blank(&root) };
    let claim = world.commit(&root, commit).await.claims.remove(0);
    assert_eq!(claim.journal, Some(child.events));
    world.store().release(claim.lease).await.expect("it is held");
    assert_eq!(world.claim_all(node).await[0].journal, None, "an older one is read by whoever wants it");
}

pub async fn a_thread_without_work_rests_until_somebody_writes(mut world: World) {
    let node = world.node().await;
    let new = NewThread { at_work: false, ..world.root() };
    world.create(new.clone(), None).await;
    assert_eq!(world.row(new.id).await.status, ThreadStatus::Idle);
    assert_eq!(world.claim_all(node).await, []);
    world.enqueue(new.id, "work").await;
    assert_eq!(texts(&world.claim_all(node).await[0].lines), numbered(&[(1, "work")]));
}

pub async fn a_spawned_thread_is_claimed_with_its_lines(mut world: World) {
    let node = world.node().await;
    let parent = world.held(node).await;
    let mut child = world.child_of(&parent);
    child.items = vec![world.message("do this"), world.message("and that")];
    let run = world.new_run(child.id);
    child.run = Some(run.clone());
    let commit = Commit { events: vec![event("x")], writes: spawns([&child]), claim: true, ..blank(&parent) };
    let done = world.commit(&parent, commit).await;
    assert_eq!(done.notified, []);
    let [claim] = &done.claims[..] else { unreachable!("one thread was spawned: {done:?}") };
    assert_eq!((claim.lease.thread, claim.lease.node, claim.lease.epoch), (child.id, node, 1));
    assert_eq!((claim.attempts, claim.seq, claim.root, claim.bundle), (1, 1, parent.root, child.bundle));
    assert_eq!(texts(&claim.lines), numbered(&[(1, "do this"), (2, "and that")]));
    let row = world.row(child.id).await;
    assert_eq!((row.status, row.parent, row.depth), (ThreadStatus::Running, Some(parent.lease.thread), 1));
    assert_eq!(world.run(&run.id).await.status, RunStatus::Pending);
    let journal = world.store().journal(child.id, 0, 9).await.expect("it can be read");
    assert_eq!(journal.last().map(|event| event.position), Some(done.position));
    world.commit(claim, blank(claim)).await;
}

pub async fn a_spawned_thread_is_ready_without_a_claim(mut world: World) {
    let node = world.node().await;
    let parent = world.held(node).await;
    let mut child = world.child_of(&parent);
    child.items = vec![world.message("do this")];
    let done = world.commit(&parent, Commit { writes: spawns([&child]), ..blank(&parent) }).await;
    assert_eq!((done.claims, done.notified), (Vec::new(), Vec::new()));
    let row = world.row(child.id).await;
    assert_eq!((row.status, row.epoch, row.attempts), (ThreadStatus::Ready, 0, 0));
    let claims = world.claim_all(node).await;
    assert_eq!(texts(&claims[0].lines), numbered(&[(1, "do this")]));
}

pub async fn a_claim_holds_lines_delivered_later_in_its_commit(mut world: World) {
    let node = world.node().await;
    let parent = world.held(node).await;
    let mut child = world.child_of(&parent);
    child.items = vec![world.message("one")];
    let mut writes = spawns([&child]);
    writes.push(Write::Deliver { to: child.id, item: Box::new(world.message("two")) });
    let done = world.commit(&parent, Commit { writes, claim: true, ..blank(&parent) }).await;
    assert_eq!((done.claims.len(), done.notified), (1, Vec::new()));
    assert_eq!(texts(&done.claims[0].lines), numbered(&[(1, "one"), (2, "two")]));
}

pub async fn a_full_tree_refuses_the_whole_commit(mut world: World) {
    let node = world.node().await;
    let parent = world.held(node).await;
    let thread = parent.lease.thread;
    let children: Vec<_> = (0..4).map(|_| world.child_of(&parent)).collect();
    let base = Commit { children_total: 3, ..blank(&parent) };
    world.commit(&parent, Commit { writes: spawns(&children[..2]), ..base.clone() }).await;
    let before = world.row(thread).await;
    let commit = Commit { events: vec![event("lost")], writes: spawns(&children[2..]), ..base.clone() };
    assert!(matches!(world.refused(&parent, commit).await, CommitError::TreeFull { left: 1 }));
    assert_eq!(world.row(thread).await, before);
    assert_eq!(world.store().thread(children[2].id).await.expect("it can be read"), None);
    world.commit(&parent, Commit { writes: spawns(&children[2..3]), ..base.clone() }).await;
    let commit = Commit { writes: spawns(&children[3..]), ..base };
    assert!(matches!(world.refused(&parent, commit).await, CommitError::TreeFull { left: 0 }));
}

pub async fn grandchildren_count_toward_the_root(mut world: World) {
    let node = world.node().await;
    let root = world.held(node).await;
    let child = world.child_of(&root);
    let commit = Commit { writes: spawns([&child]), claim: true, ..blank(&root) };
    let child = world.commit(&root, commit).await.claims.remove(0);
    let grandchildren = [world.child_of(&child), world.child_of(&child)];
    let commit = Commit { writes: spawns(&grandchildren), children_total: 2, ..blank(&child) };
    assert!(matches!(world.refused(&child, commit.clone()).await, CommitError::TreeFull { left: 1 }));
    world.commit(&child, Commit { children_total: 3, ..commit }).await;
    let commit = Commit { writes: spawns(&[world.child_of(&root)]), children_total: 3, ..blank(&root) };
    assert!(matches!(world.refused(&root, commit).await, CommitError::TreeFull { left: 0 }));
}

pub async fn a_deleted_child_makes_room(mut world: World) {
    let node = world.node().await;
    let root = world.held(node).await;
    let child = world.child_of(&root);
    let base = Commit { children_total: 1, ..blank(&root) };
    world.commit(&root, Commit { writes: spawns([&child]), ..base.clone() }).await;
    world.store().delete(child.id).await.expect("it can be deleted");
    let writes = spawns(&[world.child_of(&root)]);
    world.commit(&root, Commit { writes, ..base }).await;
}
