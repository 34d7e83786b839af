//! Lines from outside: order, keys, limits, and the thread they wake.

use super::world::{World, blank, line, numbered, text, texts};
use crate::row::{Commit, Enqueued, NewLine};
use crate::store::EnqueueError;
use entourage_model::{Attachment, Item, NodeId, RunStatus, ThreadId, ThreadStatus};
use std::sync::Arc;

async fn keyed(world: &mut World, to: ThreadId, key: &str, text: &str) -> Result<Enqueued, EnqueueError> {
    let item = world.message(text);
    world.store().enqueue(to, NewLine { key: Some(key.to_owned()), ..line(item) }, None).await
}

async fn bounded(world: &mut World, to: ThreadId, item: Item, messages_max: u32) -> Result<Enqueued, EnqueueError> {
    world.store().enqueue(to, NewLine { messages_max, ..line(item) }, None).await
}

pub async fn lines_are_numbered_without_gaps(mut world: World) {
    let node = world.node().await;
    let thread = world.held(node).await.lease.thread;
    for number in 1..=5 {
        assert_eq!(world.enqueue(thread, "text").await, number);
    }
    assert_eq!(world.waiting(thread).await.iter().map(|line| line.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
}

pub async fn a_missing_thread_takes_no_line(mut world: World) {
    let nobody = world.thread_id();
    let item = world.message("hello");
    let refused = world.store().enqueue(nobody, line(item), None).await;
    assert!(matches!(refused, Err(EnqueueError::NoThread)));
}

pub async fn a_terminated_thread_takes_no_line(mut world: World) {
    let node = world.node().await;
    let thread = world.terminated(node).await;
    let item = world.message("hello");
    let run = world.new_run(thread);
    let new = NewLine { run: Some(run.clone()), ..line(item) };
    assert!(matches!(world.store().enqueue(thread, new, Some(node)).await, Err(EnqueueError::Terminated)));
    assert_eq!(world.store().run(&run.id).await.expect("it can be read"), None);
    assert_eq!(world.waiting(thread).await, []);
}

pub async fn a_repeated_key_gives_the_first_line(mut world: World) {
    let node = world.node().await;
    let thread = world.held(node).await.lease.thread;
    let run = |world: &mut World, item: Item| {
        let Item::Message(mut posted) = item else { unreachable!("it is a message") };
        posted.run = Some(world.run_id());
        Arc::make_mut(&mut posted.message).metadata.insert("weight".to_owned(), 0.1.into());
        Item::Message(posted)
    };
    let item = world.message("hello");
    let first = run(&mut world, item);
    world.enqueue(thread, "before").await;
    let new = NewLine { key: Some("k".to_owned()), ..line(first.clone()) };
    let queued = world.store().enqueue(thread, new, None).await.expect("it is new");
    assert_eq!((queued.number, queued.repeated, queued.first), (2, false, None));
    let item = world.message("hello");
    let second = run(&mut world, item);
    assert_ne!(first, second, "a repetition draws its own ids");
    let run = world.new_run(thread);
    let new = NewLine { key: Some("k".to_owned()), run: Some(run.clone()), ..line(second) };
    let repeated = world.store().enqueue(thread, new, Some(node)).await.expect("it is the same");
    assert_eq!(repeated, Enqueued { number: 2, repeated: true, first: Some(first), claim: None, holder: None });
    assert_eq!(world.waiting(thread).await, numbered(&[(1, "before"), (2, "hello")]));
    assert_eq!(world.store().run(&run.id).await.expect("it can be read"), None);
}

pub async fn a_key_with_another_message_is_a_conflict(mut world: World) {
    let node = world.node().await;
    let thread = world.held(node).await.lease.thread;
    keyed(&mut world, thread, "k", "hello").await.expect("it is new");
    assert!(matches!(keyed(&mut world, thread, "k", "hallo").await, Err(EnqueueError::Conflict)));
    assert_eq!(world.waiting(thread).await, numbered(&[(1, "hello")]));
    assert_eq!(keyed(&mut world, thread, "other", "hallo").await.expect("it is new").number, 2);
}

pub async fn a_key_does_not_ask_what_became_of_attached_files(mut world: World) {
    let node = world.node().await;
    let thread = world.held(node).await.lease.thread;
    let mut attached = |path: &str, size: u64| {
        let Item::Message(mut posted) = world.message("hello") else { unreachable!("it is a message") };
        let (path, name, mime_type) = (path.to_owned(), "x".to_owned(), "text/plain".to_owned());
        Arc::make_mut(&mut posted.message).attachments = vec![Attachment { path, name, mime_type, size, digest: None }];
        NewLine { key: Some("k".to_owned()), ..line(Item::Message(posted)) }
    };
    let [first, again, other] = [attached("/x", 1), attached("/x", 2), attached("/y", 1)];
    world.store().enqueue(thread, first, None).await.expect("it is new");
    assert!(world.store().enqueue(thread, again, None).await.expect("the same paths are attached").repeated);
    assert!(matches!(world.store().enqueue(thread, other, None).await, Err(EnqueueError::Conflict)));
}

pub async fn a_key_is_remembered_when_its_line_is_gone(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let thread = claim.lease.thread;
    keyed(&mut world, thread, "k", "hello").await.expect("it is new");
    let commit = Commit { consumed: vec![1], status: ThreadStatus::Terminated, seen: 1, ..blank(&claim) };
    assert!(world.commit(&claim, commit).await.parked);
    let repeated = keyed(&mut world, thread, "k", "hello").await.expect("even though the thread is terminated");
    assert_eq!((repeated.number, repeated.repeated), (1, true));
    assert_eq!(repeated.first.as_ref().map(text).as_deref(), Some("hello"));
    assert_eq!(world.waiting(thread).await, []);
}

pub async fn a_key_belongs_to_one_thread(mut world: World) {
    let node = world.node().await;
    let (left, right) = (world.held(node).await.lease.thread, world.held(node).await.lease.thread);
    keyed(&mut world, left, "k", "hello").await.expect("it is new");
    assert!(!keyed(&mut world, right, "k", "hallo").await.expect("it is new here").repeated);
}

pub async fn a_full_queue_refuses_messages_only(mut world: World) {
    let node = world.node().await;
    let thread = world.held(node).await.lease.thread;
    bounded(&mut world, thread, Item::Stop, 2).await.expect("no message");
    for text in ["one", "two"] {
        let item = world.message(text);
        bounded(&mut world, thread, item, 2).await.expect("there is room");
    }
    let item = world.message("three");
    assert!(matches!(bounded(&mut world, thread, item, 2).await, Err(EnqueueError::QueueFull)));
    bounded(&mut world, thread, Item::Terminate, 2).await.expect("no message");
    let item = world.message("three");
    let queued = bounded(&mut world, thread, item, 3).await.expect("there is room now");
    assert_eq!(queued.number, 5, "a refused line took no number");
}

pub async fn a_consumed_message_makes_room(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    for _ in 0..2 {
        world.enqueue(claim.lease.thread, "text").await;
    }
    world.commit(&claim, Commit { consumed: vec![2], ..blank(&claim) }).await;
    for fits in [true, false] {
        let item = world.message("text");
        assert_eq!(bounded(&mut world, claim.lease.thread, item, 2).await.is_ok(), fits);
    }
}

async fn wake(world: &mut World, claim: Option<NodeId>) -> (ThreadId, Enqueued) {
    let node = world.node().await;
    let thread = world.parked(node).await;
    let item = world.message("hello");
    let queued = world.store().enqueue(thread, line(item), claim).await.expect("the queue takes it");
    (thread, queued)
}

pub async fn a_parked_thread_is_claimed_with_its_line(mut world: World) {
    let node = world.node().await;
    let (thread, queued) = wake(&mut world, Some(node)).await;
    assert_eq!(queued.holder, None);
    let claim = queued.claim.expect("it was parked");
    assert_eq!((claim.lease.thread, claim.lease.node, claim.attempts), (thread, node, 1));
    assert_eq!(texts(&claim.lines), numbered(&[(1, "hello")]));
    assert_eq!(world.row(thread).await.status, ThreadStatus::Running);
    world.commit(&claim, blank(&claim)).await;
}

pub async fn a_parked_thread_becomes_ready_without_a_claim(mut world: World) {
    let (thread, queued) = wake(&mut world, None).await;
    assert_eq!((queued.claim, queued.holder), (None, None));
    assert_eq!(world.row(thread).await.status, ThreadStatus::Ready);
    let node = world.node().await;
    let item = world.message("more");
    let queued = world.store().enqueue(thread, line(item), Some(node)).await.expect("the queue takes it");
    assert_eq!((queued.claim, queued.holder), (None, None), "whoever claims next takes it");
    assert_eq!(texts(&world.claim_all(node).await[0].lines), numbered(&[(1, "hello"), (2, "more")]));
}

pub async fn a_held_thread_is_left_to_its_holder(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let other = world.node().await;
    let item = world.message("hello");
    let queued = world.store().enqueue(claim.lease.thread, line(item), Some(other)).await.expect("it takes it");
    assert_eq!((queued.claim, queued.holder), (None, Some(node)));
    world.commit(&claim, blank(&claim)).await;
}

pub async fn a_run_is_written_with_its_line(mut world: World) {
    let node = world.node().await;
    let thread = world.parked(node).await;
    let run = world.new_run(thread);
    let item = world.message("work");
    let new = NewLine { run: Some(run.clone()), ..line(item) };
    world.store().enqueue(thread, new, None).await.expect("the queue takes it");
    let row = world.run(&run.id).await;
    assert_eq!((row.status, row.thread, row.agent), (RunStatus::Pending, thread, run.agent));
}
