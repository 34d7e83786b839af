//! Random operations over the memory store and another one: what can be seen of both is the same after each.

mod operation;
mod player;
mod view;

use super::{InMemory, Subject, runtime};
use operation::{Operation, operations};
use player::Player;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

const CASES: u32 = 64;

/// Plays random histories; `PROPTEST_CASES` says how many if 64 are not enough.
pub fn compare<S: Subject + 'static>(make: impl AsyncFn() -> S) {
    let runtime = runtime();
    let config = Config { cases: cases(), max_shrink_iters: 4096, failure_persistence: None, ..Config::default() };
    let played = TestRunner::new(config).run(&operations(), |history| {
        runtime.block_on(async { play(make().await, history).await.map_err(TestCaseError::fail) })
    });
    if let Err(fault) = played {
        // The shortest history that still shows it, with what differs.
        assert_eq!(fault.to_string(), "", "the stores differ");
    }
}

#[expect(clippy::disallowed_methods, reason = "the contract's one setting, in tests only")]
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES)
}

async fn play(subject: impl Subject, history: Vec<Operation>) -> Result<(), String> {
    let model = InMemory::new();
    let mut player = Player::new([&model, &subject]).await?;
    for operation in history {
        let told = format!("{operation:?}");
        player.play(operation).await.map_err(|difference| format!("after {told}:\n{difference}"))?;
    }
    player.finish().await
}
