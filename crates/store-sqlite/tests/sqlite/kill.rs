//! A process that is killed at any moment has lost nothing that it acknowledged.

use crate::world::{World, step};
use entourage_model::{Digest, ThreadId};
use entourage_store::Store;
use entourage_store::contract::sample::BUNDLE;
use entourage_store_sqlite::SqliteStore;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

const FOLDER: &str = "ENTOURAGE_TEST_VICTIM_FOLDER";
const THREADS: u64 = 8;

#[test]
fn kill_at_any_moment_loses_nothing_acknowledged() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return victim(&PathBuf::from(folder));
    }
    // Acknowledgements until the kill: within the first batch, then ever deeper.
    for until in [1, 10, 100, 500, 2000] {
        let world = World::new();
        let acknowledged = murder(world.folder(), until);
        assert!(acknowledged.values().sum::<u64>() >= until);
        autopsy(world.folder(), &acknowledged);
    }
}

/// Commits on eight threads at once, says so, and does not stop.
fn victim(folder: &Path) {
    let work = async {
        let store = Arc::new(SqliteStore::open(folder).expect("the store can be opened"));
        let world = World::new();
        let mut tasks = Vec::new();
        for seed in 1..=THREADS {
            let claim = world.held(store.as_ref(), seed).await;
            let store = Arc::clone(&store);
            tasks.push(tokio::spawn(async move {
                for seq in claim.seq.. {
                    store.commit(claim.lease, step(&claim, seq)).await.expect("the lease is good");
                    // One write, so that a line is printed whole or not at all.
                    let told = format!("acknowledged {} {}\n", claim.lease.thread, seq + 1);
                    std::io::stdout().write_all(told.as_bytes()).expect("somebody listens");
                }
            }));
        }
        futures::future::join_all(tasks).await;
    };
    tokio::runtime::Runtime::new().expect("a runtime can be made").block_on(work);
}

/// Returns the last event of each thread that the victim acknowledged before it died.
fn murder(folder: &Path, until: u64) -> BTreeMap<ThreadId, u64> {
    let mut child = Command::new(std::env::current_exe().expect("this very program"))
        .args(["--exact", "kill::kill_at_any_moment_loses_nothing_acknowledged", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it can be started");
    let mut acknowledged = BTreeMap::new();
    let mut heard = 0;
    for line in BufReader::new(child.stdout.take().expect("it is piped")).lines() {
        let line = line.expect("lines are text");
        let Some((thread, seq)) = line.strip_prefix("acknowledged ").and_then(|told| told.split_once(' ')) else {
            continue;
        };
        let thread = thread.parse::<ThreadId>().expect("a whole line");
        acknowledged.insert(thread, seq.parse::<u64>().expect("a whole line"));
        heard += 1;
        if heard == until {
            // SIGKILL. What is still in the pipe was acknowledged as well, so that reading goes on to its end.
            child.kill().expect("it runs");
        }
    }
    child.wait().expect("it was started");
    acknowledged
}

fn autopsy(folder: &Path, acknowledged: &BTreeMap<ThreadId, u64>) {
    let look = async {
        let store = SqliteStore::open(folder).expect("the store can be opened at once");
        store.put_blob(Digest::of(BUNDLE), BUNDLE).await.expect("it can be kept");
        assert_eq!(store.check().await.expect("it can be checked"), []);
        for (&thread, &last) in acknowledged {
            let events = store.journal(thread, 0, usize::MAX).await.expect("it can be read");
            let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
            assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>(), "thread {thread} has a gap");
            assert!(seqs.len() as u64 >= last, "thread {thread} lost what was acknowledged");
        }
    };
    tokio::runtime::Runtime::new().expect("a runtime can be made").block_on(look);
}
