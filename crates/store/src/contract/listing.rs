//! What is read back: threads, runs and journals, in pages.

use super::world::{World, blank, ending, event, first};
use crate::reading::JournalReader;
use crate::row::{Commit, Page, RunFilter, StoredEvent, ThreadFilter};
use entourage_model::{Outcome, RunId, RunStatus, ThreadId, ThreadStatus, Write};
use std::time::Duration;

async fn threads(world: &World, filter: ThreadFilter) -> Vec<ThreadId> {
    let rows = world.store().threads(&filter, first(100)).await.expect("they can be listed");
    rows.into_iter().map(|row| row.id).collect()
}

async fn runs(world: &World, filter: RunFilter) -> Vec<RunId> {
    let rows = world.store().runs(&filter, first(100)).await.expect("they can be listed");
    rows.into_iter().map(|row| row.id).collect()
}

pub async fn threads_come_newest_first_in_pages(mut world: World) {
    let mut made = Vec::new();
    for _ in 0..5 {
        let new = world.root();
        made.insert(0, new.id);
        world.create(new, None).await;
    }
    let mut page = first(2);
    let mut listed = Vec::new();
    for length in [2, 2, 1, 0] {
        let rows = world.store().threads(&ThreadFilter::default(), page).await.expect("they can be listed");
        assert_eq!(rows.len(), length);
        listed.extend(rows.iter().map(|row| row.id));
        page.after = listed.last().copied();
    }
    assert_eq!(listed, made);
}

pub async fn thread_filters_combine(mut world: World) {
    let node = world.node().await;
    let root = world.held(node).await;
    let mut child = world.child_of(&root);
    child.agent = "writer".into();
    child.tags = vec!["red".to_owned(), "green".to_owned()];
    child.user_id = Some("ann".to_owned());
    let mut other = world.root();
    other.tags = vec!["redder".to_owned()];
    let commit = Commit { writes: vec![Write::Spawn(Box::new(child.clone()))], ..blank(&root) };
    world.commit(&root, commit).await;
    world.create(other.clone(), None).await;
    let (root, child, other) = (root.lease.thread, child.id, other.id);
    let all = ThreadFilter::default;
    let cases = [
        (all(), vec![other, child, root]),
        (ThreadFilter { agent: Some("writer".into()), ..all() }, vec![child]),
        (ThreadFilter { status: Some(ThreadStatus::Running), ..all() }, vec![root]),
        (ThreadFilter { parent: Some(root), ..all() }, vec![child]),
        (ThreadFilter { parent: Some(child), ..all() }, vec![]),
        (ThreadFilter { root: Some(root), ..all() }, vec![child, root]),
        (ThreadFilter { root: Some(child), ..all() }, vec![]),
        (ThreadFilter { roots: true, ..all() }, vec![other, root]),
        (ThreadFilter { tag: Some("red".to_owned()), ..all() }, vec![child]),
        (ThreadFilter { tag: Some("re".to_owned()), ..all() }, vec![]),
        (ThreadFilter { user_id: Some("ann".to_owned()), ..all() }, vec![child]),
        (ThreadFilter { status: Some(ThreadStatus::Ready), tag: Some("green".to_owned()), ..all() }, vec![child]),
        (ThreadFilter { status: Some(ThreadStatus::Running), tag: Some("green".to_owned()), ..all() }, vec![]),
        (ThreadFilter { root: Some(root), roots: true, ..all() }, vec![root]),
        (ThreadFilter { unsettled: true, root: Some(root), ..all() }, vec![child, root]),
    ];
    for (filter, expected) in cases {
        assert_eq!(threads(&world, filter.clone()).await, expected, "{filter:?}");
    }
}

pub async fn threads_that_work_or_wait_are_found_by_one_look(mut world: World) {
    let node = world.node().await;
    let mut unsettled = Vec::new();
    for status in ThreadStatus::ALL {
        let claim = world.held(node).await;
        world.commit(&claim, Commit { status, ..blank(&claim) }).await;
        if [ThreadStatus::Ready, ThreadStatus::Running, ThreadStatus::Waiting].contains(&status) {
            unsettled.insert(0, claim.lease.thread);
        }
    }
    let filter = ThreadFilter { unsettled: true, ..ThreadFilter::default() };
    assert_eq!(threads(&world, filter.clone()).await, unsettled);
    let waiting = ThreadFilter { status: Some(ThreadStatus::Waiting), ..filter.clone() };
    assert_eq!(threads(&world, waiting).await, unsettled[..1]);
    let idle = ThreadFilter { status: Some(ThreadStatus::Idle), ..filter };
    assert_eq!(threads(&world, idle).await, []);
}

pub async fn runs_come_newest_first_in_pages(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let mut made = Vec::new();
    for burst in [2, 3] {
        // Runs of one commit are equally old: their ids decide.
        let mut new: Vec<_> = (0..burst).map(|_| world.new_run(claim.lease.thread)).collect();
        let writes = new.iter().cloned().map(Write::NewRun).collect();
        world.commit(&claim, Commit { writes, ..blank(&claim) }).await;
        world.advance(Duration::from_secs(1)).await;
        new.sort_by(|left, right| right.id.cmp(&left.id));
        made.splice(0..0, new.into_iter().map(|run| run.id));
    }
    let mut page = first(2);
    let mut listed: Vec<RunId> = Vec::new();
    for length in [2, 2, 1, 0] {
        let rows = world.store().runs(&RunFilter::default(), page.clone()).await.expect("they can be listed");
        assert_eq!(rows.len(), length);
        listed.extend(rows.into_iter().map(|row| row.id));
        page.after = listed.last().cloned();
    }
    assert_eq!(listed, made);
    page.after = Some(world.run_id());
    let rows = world.store().runs(&RunFilter::default(), page).await.expect("they can be listed");
    assert_eq!(rows, [], "nobody knows what lies behind a missing run");
}

pub async fn run_filters_combine(mut world: World) {
    let node = world.node().await;
    let (left, right) = (world.held(node).await, world.held(node).await);
    let mut made = Vec::new();
    for thread in [left.lease.thread, left.lease.thread, right.lease.thread] {
        let mut run = world.new_run(thread);
        run.parent = (thread == right.lease.thread).then_some(left.lease.thread);
        made.push(run.id.clone());
        world.commit(&left, Commit { writes: vec![Write::NewRun(run)], ..blank(&left) }).await;
        world.advance(Duration::from_secs(1)).await;
    }
    let end = |run: &RunId| Write::EndRun { run: run.clone(), ending: ending(Outcome::Done, "x") };
    let writes = vec![end(&made[0]), end(&made[2]), Write::DeliveredRun { run: made[0].clone() }];
    world.commit(&left, Commit { writes, ..blank(&left) }).await;
    let pick = |wanted: &[usize]| wanted.iter().map(|&index| made[index].clone()).collect::<Vec<_>>();
    let all = RunFilter::default;
    let cases = [
        (all(), pick(&[2, 1, 0])),
        (RunFilter { thread: Some(left.lease.thread), ..all() }, pick(&[1, 0])),
        (RunFilter { parent: Some(left.lease.thread), ..all() }, pick(&[2])),
        (RunFilter { status: Some(RunStatus::Done), ..all() }, pick(&[2, 0])),
        (RunFilter { status: Some(RunStatus::Pending), ..all() }, pick(&[1])),
        (RunFilter { unread: true, ..all() }, pick(&[2])),
        (RunFilter { unread: true, thread: Some(left.lease.thread), ..all() }, pick(&[])),
    ];
    for (filter, expected) in cases {
        assert_eq!(runs(&world, filter.clone()).await, expected, "{filter:?}");
    }
}

pub async fn a_journal_is_read_in_pages(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let events = (2..=5).map(|number| event(&number.to_string())).collect();
    world.commit(&claim, Commit { events, ..blank(&claim) }).await;
    let thread = claim.lease.thread;
    let read = async |after, limit| world.store().journal(thread, after, limit).await.expect("it can be read");
    let seqs = |page: &[StoredEvent]| page.iter().map(|event| event.seq).collect::<Vec<_>>();
    assert_eq!(seqs(&read(0, 2).await), [1, 2]);
    assert_eq!(seqs(&read(2, 2).await), [3, 4]);
    assert_eq!(seqs(&read(4, 9).await), [5]);
    assert_eq!(seqs(&read(5, 9).await), [0_u64; 0]);
    assert_eq!(seqs(&read(0, 0).await), [0_u64; 0]);
    let page = read(1, 1).await;
    assert_eq!((page[0].thread, &page[0].event), (thread, &event("2")));
}

pub async fn a_journal_of_many_pages_is_read_to_its_end(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let mut seq = claim.seq;
    // A page that is not full, two that are, and one more event.
    for length in [999, 2000, 2001] {
        let events = vec![event("again and again"); length - usize::try_from(seq).expect("a few")];
        world.commit(&claim, Commit { seq, events, ..blank(&claim) }).await;
        seq = length as u64;
        let store = world.store();
        let all = store.tree_journal(claim.root, 0, usize::MAX).await.expect("it can be read");
        assert_eq!(all.len(), length);
        for mut reader in
            [JournalReader::of_thread(store, claim.lease.thread), JournalReader::of_tree(store, claim.root, 0)]
        {
            for expected in &all {
                assert_eq!(reader.next().await.expect("it can be read").as_ref(), Some(expected));
            }
            assert_eq!(reader.next().await.expect("it can be read"), None);
        }
        let mut reader = JournalReader::of_tree(store, claim.root, all[1].position);
        assert_eq!(reader.next().await.expect("it can be read").as_ref(), Some(&all[2]));
    }
}

pub async fn events_name_the_epoch_that_they_were_written_under(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    world.commit(&claim, Commit { events: vec![event("a")], ..blank(&claim) }).await;
    world.store().release(claim.lease).await.expect("it is held");
    let again = world.claim_all(node).await.remove(0);
    world.commit(&again, Commit { events: vec![event("b")], ..blank(&again) }).await;
    let journal = world.store().journal(claim.lease.thread, 0, 9).await.expect("it can be read");
    let epochs: Vec<u64> = journal.iter().map(|event| event.epoch).collect();
    assert_eq!(epochs, [0, claim.lease.epoch, again.lease.epoch]);
    assert_eq!(world.store().tree_journal(claim.root, 0, 9).await.expect("it can be read"), journal);
}

pub async fn a_tree_journal_is_in_order_of_position(mut world: World) {
    let node = world.node().await;
    let root = world.held(node).await;
    let stranger = world.held(node).await;
    let child = world.child_of(&root);
    let commit = Commit { writes: vec![Write::Spawn(Box::new(child))], claim: true, ..blank(&root) };
    let child = world.commit(&root, commit).await.claims.remove(0);
    for (number, claim) in (0..).zip([&child, &stranger, &root, &child, &root]) {
        let seq = world.row(claim.lease.thread).await.seq;
        let events = vec![event(&number.to_string())];
        world.commit(claim, Commit { seq, events, ..blank(claim) }).await;
    }
    let read = async |after, limit| world.store().tree_journal(root.root, after, limit).await.expect("it can be read");
    let told = |page: &[StoredEvent]| page.iter().map(|event| (event.thread, event.seq)).collect::<Vec<_>>();
    let (root, child) = (root.lease.thread, child.lease.thread);
    let expected = [(root, 1), (child, 1), (child, 2), (root, 2), (child, 3), (root, 3)];
    let all = read(0, 100).await;
    assert_eq!(told(&all), expected);
    assert!(all.is_sorted_by(|left, right| left.position < right.position));
    let mut paged = Vec::new();
    let mut after = 0;
    for length in [4, 2, 0] {
        let page = read(after, 4).await;
        assert_eq!(page.len(), length);
        after = page.last().map_or(after, |event| event.position);
        paged.extend(page);
    }
    assert_eq!(paged, all);
    let below = world.store().tree_journal(child, 0, 100).await.expect("it can be read");
    assert_eq!(below, [], "only a root has a tree");
}

pub async fn positions_are_never_given_twice(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let last = world.commit(&claim, Commit { events: vec![event("a")], ..blank(&claim) }).await.position;
    world.store().delete(claim.lease.thread).await.expect("it can be deleted");
    let next = world.held(node).await;
    let journal = world.store().journal(next.lease.thread, 0, 1).await.expect("it can be read");
    assert!(journal[0].position > last);
    let page = Page { after: None, limit: 1 };
    assert_eq!(world.store().threads(&ThreadFilter::default(), page).await.expect("they can be listed").len(), 1);
}
