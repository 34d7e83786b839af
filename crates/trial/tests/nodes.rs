//! Nodes that share a database lose nothing and do nothing twice, whatever happens to them; without the guard of
//! epochs they would.

use entourage_trial::nodes::{Disturbed, Fault, Settings, run};
use std::path::PathBuf;
use std::time::Duration;

fn settings(rounds: usize) -> Settings {
    Settings {
        node: PathBuf::from(env!("CARGO_BIN_EXE_node")),
        rounds,
        nodes: 3,
        roots: 12,
        life: Duration::from_millis(1500),
        zombies: 0,
        unguarded: false,
        rest: Duration::from_secs(150),
    }
}

async fn sound(settings: Settings) -> Disturbed {
    let disturbed = run(settings).await.expect("the trial can be held");
    assert_eq!(disturbed.violations, Vec::<String>::new(), "{disturbed:?}");
    assert!(disturbed.acknowledged > 50 && disturbed.effects > 10, "nothing happened: {disturbed:?}");
    disturbed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killing_stopping_and_cutting_off_nodes_loses_nothing_and_doubles_nothing() {
    let disturbed = sound(settings(10)).await;
    assert_eq!(disturbed.faults.len(), Fault::ALL.len(), "every fault happened: {disturbed:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killing_no_zombie_writes_nothing_under_a_lease_that_it_has_lost() {
    // Whether a zombie comes in time is chance, so it has a few.
    for _ in 0..4 {
        if sound(Settings { zombies: 1, ..settings(3) }).await.stale_refused > 0 {
            return;
        }
    }
    panic!("nobody tried");
}

/// The negative control of the one above.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killing_no_zombie_without_the_guard_is_found_out() {
    // Whether a zombie comes in time is chance, so it has a few.
    for _ in 0..4 {
        let rest = Duration::from_secs(10);
        let disturbed = run(Settings { zombies: 1, unguarded: true, rest, ..settings(3) }).await.unwrap();
        if disturbed.stale_written > 0 {
            assert!(!disturbed.violations.is_empty(), "{disturbed:?}");
            return;
        }
    }
    panic!("the checker would not notice that the guard is gone");
}
