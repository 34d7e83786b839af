//! A process that is killed loses nothing and does nothing twice.

use entourage_trial::kill::{Settings, run};
use std::path::PathBuf;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killing_a_node_again_and_again_loses_nothing_and_doubles_nothing() {
    let node = PathBuf::from(env!("CARGO_BIN_EXE_node"));
    let killed = run(Settings { node, rounds: 25, roots: 16 }).await.unwrap();
    assert_eq!(killed.violations, Vec::<String>::new(), "{killed:?}");
    assert!(killed.acknowledged > 50 && killed.effects > 10, "nothing happened: {killed:?}");
    assert!(killed.ended > 5, "nothing was ended: {killed:?}");
}
