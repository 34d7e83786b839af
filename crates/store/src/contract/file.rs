//! Blobs, files, and what is left when a thread is deleted or the store is closed.

use super::world::{World, blank, event, first, line};
use crate::row::{Commit, FileRow, NewLine, RunFilter};
use crate::store::{CommitError, StoreError};
use entourage_model::{Digest, ThreadId, Timestamp, Write};

fn file(path: &str, bytes: &[u8]) -> FileRow {
    FileRow {
        path: path.to_owned(),
        digest: Digest::of(bytes),
        size: bytes.len() as u64,
        mime_type: "text/plain".to_owned(),
        created_at: Timestamp(3),
    }
}

pub async fn blobs_are_kept_under_their_digest(world: World) {
    let big = vec![7; 3_000_000];
    for bytes in [&b""[..], b"some bytes", &big] {
        let digest = Digest::of(bytes);
        assert_eq!(world.store().blob(digest).await.expect("it can be read"), None);
        for _ in 0..2 {
            world.store().put_blob(digest, bytes).await.expect("it can be kept");
        }
        assert_eq!(world.store().blob(digest).await.expect("it can be read").as_deref(), Some(bytes));
    }
}

pub async fn files_point_at_blobs(mut world: World) {
    let node = world.node().await;
    let thread = world.held(node).await.lease.thread;
    let files = async |world: &World, of: ThreadId| world.store().files(of).await.expect("they can be listed");
    for bytes in [&b"one"[..], b"two"] {
        world.store().put_blob(Digest::of(bytes), bytes).await.expect("it can be kept");
    }
    for (path, bytes) in [("b.txt", &b"one"[..]), ("a.txt", b"one"), ("b.txt", b"two")] {
        world.store().put_file(thread, file(path, bytes)).await.expect("it can be put");
    }
    assert_eq!(files(&world, thread).await, [file("a.txt", b"one"), file("b.txt", b"two")]);
    let other = world.held(node).await.lease.thread;
    assert_eq!(files(&world, other).await, []);
    assert!(!world.store().delete_file(other, "a.txt").await.expect("it can be asked"));
    assert!(world.store().delete_file(thread, "a.txt").await.expect("it can be deleted"));
    assert!(!world.store().delete_file(thread, "a.txt").await.expect("it can be asked"));
    assert_eq!(files(&world, thread).await, [file("b.txt", b"two")]);
}

pub async fn a_file_needs_its_blob_and_its_thread(mut world: World) {
    let node = world.node().await;
    let thread = world.held(node).await.lease.thread;
    let refused = world.store().put_file(thread, file("a.txt", b"nowhere")).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))));
    world.store().put_blob(Digest::of(b"here"), b"here").await.expect("it can be kept");
    let nobody = world.thread_id();
    let refused = world.store().put_file(nobody, file("a.txt", b"here")).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))));
    assert_eq!(world.store().files(thread).await.expect("they can be listed"), []);
}

pub async fn files_of_a_commit_become_durable_with_it(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let (thread, other) = (claim.lease.thread, world.held(node).await.lease.thread);
    let files = async |world: &World, of: ThreadId| world.store().files(of).await.expect("they can be listed");
    world.store().put_blob(Digest::of(b"here"), b"here").await.expect("it can be kept");
    let put = |thread: ThreadId, path: &str| Write::PutFile { thread, file: file(path, b"here") };
    let writes = vec![put(thread, "/a"), put(thread, "/b"), put(other, "/c"), put(world.thread_id(), "/d")];
    world.commit(&claim, Commit { writes, ..blank(&claim) }).await;
    assert_eq!(files(&world, thread).await, [file("/a", b"here"), file("/b", b"here")]);
    assert_eq!(files(&world, other).await, [file("/c", b"here")], "another thread may be given a file");
    let remove = |path: &str| Write::RemoveFile { thread, path: path.to_owned() };
    let writes = vec![remove("/a"), put(thread, "/e"), remove("/e"), remove("/nowhere")];
    world.commit(&claim, Commit { writes, ..blank(&claim) }).await;
    assert_eq!(files(&world, thread).await, [file("/b", b"here")]);
    world.insist_on_soundness().await;
}

pub async fn a_commit_with_a_file_without_its_blob_writes_nothing(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let thread = claim.lease.thread;
    world.store().put_blob(Digest::of(b"here"), b"here").await.expect("it can be kept");
    let (before, child) = (world.row(thread).await, world.child_of(&claim));
    let writes = vec![
        Write::Spawn(Box::new(child.clone())),
        Write::PutFile { thread, file: file("/a", b"here") },
        Write::PutFile { thread, file: file("/b", b"nowhere") },
    ];
    let commit = Commit { events: vec![event("x")], writes, ..blank(&claim) };
    let refused = world.refused(&claim, commit).await;
    assert!(matches!(refused, CommitError::Store(StoreError::Unavailable(_))), "{refused:?}");
    assert_eq!(world.row(thread).await, before);
    assert_eq!(world.store().files(thread).await.expect("they can be listed"), []);
    assert_eq!(world.store().thread(child.id).await.expect("it can be read"), None);
    world.commit(&claim, Commit { events: vec![event("y")], ..blank(&claim) }).await;
}

pub async fn deleting_takes_the_subtree_and_leaves_the_rest(mut world: World) {
    let node = world.node().await;
    let root = world.held(node).await;
    let spawn = async |world: &mut World, parent: &crate::Claim| {
        let mut child = world.child_of(parent);
        child.items = vec![world.message("work")];
        child.run = Some(world.new_run(child.id));
        let commit = Commit { writes: vec![Write::Spawn(Box::new(child))], claim: true, ..blank(parent) };
        world.commit(parent, commit).await.claims.remove(0)
    };
    let (left, right) = (spawn(&mut world, &root).await, spawn(&mut world, &root).await);
    let below = spawn(&mut world, &left).await;
    let commit = Commit { buried: vec![1], events: vec![event("x")], ..blank(&below) };
    world.commit(&below, commit).await;
    world.store().put_blob(Digest::of(b"here"), b"here").await.expect("it can be kept");
    world.store().put_file(below.lease.thread, file("a.txt", b"here")).await.expect("it can be put");
    let keyed = NewLine { key: Some("k".to_owned()), ..line(world.message("keyed")) };
    world.store().enqueue(below.lease.thread, keyed, None).await.expect("it is taken");
    let mut gone = world.store().delete(left.lease.thread).await.expect("it can be deleted");
    gone.sort_unstable();
    assert_eq!(gone, [left.lease.thread, below.lease.thread]);
    for thread in gone {
        assert_eq!(world.store().thread(thread).await.expect("it can be read"), None);
        assert_eq!(world.events(thread).await, []);
        assert_eq!(world.waiting(thread).await, []);
        assert_eq!(world.store().files(thread).await.expect("they can be listed"), []);
        let filter = RunFilter { thread: Some(thread), ..RunFilter::default() };
        assert_eq!(world.store().runs(&filter, first(9)).await.expect("they can be listed"), []);
    }
    assert_eq!(world.store().dead_letters(None).await.expect("they can be read"), []);
    assert_eq!(world.store().delete(left.lease.thread).await.expect("a missing one is no error"), []);
    assert_eq!(world.events(right.lease.thread).await.len(), 1);
    assert_eq!(world.waiting(right.lease.thread).await.len(), 1);
    let left_over = world.store().runs(&RunFilter::default(), first(9)).await.expect("they can be listed");
    assert_eq!(left_over.len(), 1);
    world.commit(&right, blank(&right)).await;
    world.insist_on_soundness().await;
}

pub async fn a_sound_store_has_nothing_to_report(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let child = world.child_of(&claim);
    world.enqueue(claim.lease.thread, "hello").await;
    let run = world.new_run(claim.lease.thread);
    let writes = vec![Write::Spawn(Box::new(child)), Write::NewRun(run)];
    let commit = Commit { writes, events: vec![event("a"), event("b")], consumed: vec![1], ..blank(&claim) };
    world.commit(&claim, commit).await;
    world.terminated(node).await;
    world.insist_on_soundness().await;
}

pub async fn a_closed_store_refuses(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    world.store().close().await;
    world.store().close().await;
    assert!(world.store().thread(claim.lease.thread).await.is_err());
    assert!(world.store().heartbeat(node).await.is_err());
    assert!(world.store().commit(claim.lease, blank(&claim)).await.is_err());
}
