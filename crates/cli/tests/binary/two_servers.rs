//! Two servers, one remote for the other, and neither of them is safe.

use entourage_trial::remote::{Settings, run};
use std::path::PathBuf;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killing_either_of_two_servers_in_the_middle_every_run_ends_once() {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_entourage"));
    let tried = run(Settings { program, rounds: 5 }).await.unwrap();
    assert_eq!(tried.violations, Vec::<String>::new(), "{tried:?}");
    assert!(tried.asked >= tried.jobs, "{tried:?}");
}
