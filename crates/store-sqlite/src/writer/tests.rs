//! The writer: what shares a transaction, who fails when one command cannot be done, and what ends it all.

use super::*;
use crate::SqliteStore;
use crate::session::Session;
use crate::store::Options;
use entourage_model::{Digest, Ids, Timestamp};
use entourage_store::Store;
use futures::future::join_all;
use std::sync::Condvar;
use std::sync::atomic::AtomicU32;
use tokio::sync::Notify;

fn open(folder: &std::path::Path) -> SqliteStore {
    let options = Options { fatal: Arc::new(|_| {}), ..Options::default() };
    SqliteStore::open_with(folder, options).expect("the store can be opened")
}

/// A command of the tests: statements in the writer's transaction.
#[derive(Debug)]
struct Say(String);

impl Command for Say {
    type Answer = ();

    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<()> {
        session.all(&self.0, [], |_| Ok(())).map(drop)
    }
}

/// A command that waits until the gate is opened.
#[derive(Debug)]
struct WaitFor(Arc<Gate>);

#[derive(Debug, Default)]
struct Gate {
    reached: Notify,
    open: Mutex<bool>,
    opened: Condvar,
}

impl Command for WaitFor {
    type Answer = ();

    fn run(&self, _: &mut Session<'_>) -> rusqlite::Result<()> {
        self.0.reached.notify_one();
        let open = self.0.open.lock().expect("nobody panics with it");
        drop(self.0.opened.wait_while(open, |open| !*open).expect("nobody panics with it"));
        Ok(())
    }
}

/// Sends all of these while the writer is busy, so that they find each other in its queue.
async fn at_once<F: Future>(store: &SqliteStore, commands: impl Iterator<Item = F>) -> Vec<F::Output> {
    let gate = Arc::new(Gate::default());
    let busy = store.writer.write(WaitFor(Arc::clone(&gate)));
    let open = async {
        *gate.open.lock().expect("nobody panics with it") = true;
        gate.opened.notify_all();
    };
    let send = async {
        gate.reached.notified().await;
        // Futures are polled in order: the gate is opened when everything has been sent.
        tokio::join!(join_all(commands), open).0
    };
    tokio::join!(busy, send).1
}

fn heap(pages: usize) -> Vec<u8> {
    vec![7; pages * 4096]
}

#[tokio::test]
async fn commands_that_come_at_once_share_one_transaction() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = open(folder.path());
    let mut ids = Ids::new(Timestamp(0), 1);
    let nodes: Vec<_> = (0..64).map(|_| ids.node()).collect();
    let before = store.transactions();
    let answers = at_once(&store, nodes.iter().map(|&node| store.register(node))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(store.transactions() - before, 2, "the one that kept it busy, and one for all the others");
    for answer in join_all(nodes.iter().map(|&node| store.heartbeat(node))).await {
        answer.expect("each of them was written");
    }
}

#[tokio::test]
async fn only_the_guilty_command_fails() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = open(folder.path());
    let say = |number: u32| {
        let value = if number == 5 { "NULL".to_owned() } else { number.to_string() };
        store.writer.write(Say(format!("INSERT INTO meta (name, value) VALUES ('{number}', {value})")))
    };
    let answers = at_once(&store, (0..10).map(say)).await;
    let failed: Vec<_> = (0..).zip(&answers).filter(|(_, answer)| answer.is_err()).collect();
    assert!(matches!(failed[..], [(5, Err(StoreError::Unavailable(_)))]), "{failed:?}");
    let file = Connection::open(folder.path().join("entourage.db")).expect("the file exists");
    let written: u32 = file
        .query_row("SELECT count(*) FROM meta WHERE length(name) = 1", [], |row| row.get(0))
        .expect("it can be read");
    assert_eq!(written, 9);
}

#[tokio::test]
async fn a_full_disk_is_survived() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = open(folder.path());
    let put = async |bytes: &[u8]| store.put_blob(Digest::of(bytes), bytes).await;
    store.writer.write(Say("PRAGMA max_page_count = 60".to_owned())).await.expect("a setting");
    assert!(matches!(put(&heap(100)).await, Err(StoreError::Full)));
    put(&heap(2)).await.expect("what fits is still taken");
    store.writer.write(Say("PRAGMA max_page_count = 1000".to_owned())).await.expect("a setting");
    put(&heap(100)).await.expect("there is room again");
    assert_eq!(store.check().await.expect("it can be checked"), []);
}

#[tokio::test]
async fn a_damaged_file_ends_all_writing_and_says_so_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = open(folder.path());
    let root: u32 = {
        let file = Connection::open(folder.path().join("entourage.db")).expect("the file exists");
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'blobs'";
        file.query_row(sql, [], |row| row.get(0)).expect("the table exists")
    };
    store.close().await;
    damage(&folder.path().join("entourage.db"), root);
    let alarms = Arc::new(AtomicU32::new(0));
    let heard = Arc::clone(&alarms);
    let fatal: Fatal = Arc::new(move |error| {
        assert!(matches!(error, StoreError::Corrupt(_)), "{error:?}");
        heard.fetch_add(1, Ordering::SeqCst);
    });
    let store = SqliteStore::open_with(folder.path(), Options { fatal, ..Options::default() }).expect("page 1 is fine");
    let node = Ids::new(Timestamp(0), 1).node();
    store.register(node).await.expect("another table");
    assert!(matches!(store.put_blob(Digest::of(b"x"), b"x").await, Err(StoreError::Corrupt(_))));
    assert!(matches!(store.heartbeat(node).await, Err(StoreError::Corrupt(_))), "nothing is written any more");
    assert_eq!(alarms.load(Ordering::SeqCst), 1);
}

#[expect(clippy::disallowed_methods, reason = "the test damages its own file")]
fn damage(file: &std::path::Path, page: u32) {
    let mut bytes = std::fs::read(file).expect("it can be read");
    let end = page as usize * 4096;
    bytes[end - 4096..end].fill(0xff);
    std::fs::write(file, bytes).expect("it can be written");
}
