//! However a command ends, nothing of it is left.

use super::stage::{Stage, WAYS, Way, mark, until_marked};
use entourage_model::{Fact, ToolStatus};
use std::time::{Duration, Instant};

/// A tree that ignores everything that can be ignored, in groups and sessions of its own.
fn stubborn(mark: &str) -> String {
    format!(
        "trap '' TERM INT HUP; echo started; \
         (setsid sh -c 'trap \"\" TERM INT HUP; sleep {mark} & exec setsid sleep {mark}' &); \
         (sh -c 'setsid sleep {mark} & sleep {mark}' &); \
         while :; do sleep {mark}; done"
    )
}

#[tokio::test]
async fn a_cancelled_command_leaves_no_process() {
    for way in WAYS {
        let stage = Stage::new(way);
        if !stage.works().await {
            continue;
        }
        let mark = mark();
        let command = stubborn(&mark);
        let mut waiting = Box::pin(stage.run(&command));
        let started = async {
            let found = until_marked(&mark, |count| count >= 6).await;
            assert!(found.len() >= 6, "{way:?}: {found:?}");
        };
        tokio::select! {
            output = &mut waiting => unreachable!("{way:?}: {output:?}"),
            () = started => {}
        }
        let start = Instant::now();
        drop(waiting);
        assert_eq!(until_marked(&mark, |count| count == 0).await, [""; 0], "{way:?}");
        assert!(start.elapsed() < Duration::from_secs(5), "{way:?}");
    }
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_stopped_whole_and_tells_what_it_wrote() {
    for way in WAYS {
        let mut stage = Stage::new(way);
        if !stage.works().await {
            continue;
        }
        stage.time_max = Duration::from_secs(1);
        let mark = mark();
        let command = stubborn(&mark);
        let output = stage.run(&command).await;
        let expected = "The command did not end within 1s, the limit `shell_seconds`, and was stopped, with everything \
            that it had started. Until then:\n\nstdout:\nstarted";
        assert_eq!((output.status, output.text.as_str()), (ToolStatus::Error, expected), "{way:?}");
        assert_eq!(output.facts, [Fact::RanCommand { command, exit_code: None }]);
        assert_eq!(until_marked(&mark, |count| count == 0).await, [""; 0], "{way:?}");
    }
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    for way in WAYS {
        let stage = Stage::new(way);
        if !stage.works().await {
            continue;
        }
        let mark = mark();
        let start = Instant::now();
        let output = stage.run(&format!("(setsid sleep {mark} &) ; sleep {mark} & echo done")).await;
        assert_eq!(output.text, "Exit code: 0\n\nstdout:\ndone", "{way:?}");
        assert_eq!(until_marked(&mark, |count| count == 0).await, [""; 0], "{way:?}");
        assert!(start.elapsed() < Duration::from_secs(10), "{way:?}");
    }
}

/// Whatever happens to us, the keeper hears that its line is closed.
#[tokio::test]
async fn the_end_of_the_caller_is_the_end_of_the_command() {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;
    use std::process::{Command, Stdio};
    let stage = Stage::new(Way::Nothing);
    let mark = mark();
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let mut keeper = Command::new(env!("CARGO_BIN_EXE_keeper"));
    keeper.args(["__sandbox", "keep"]).stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)));
    keeper.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = keeper.spawn().unwrap();
    drop(keeper);
    let plan = serde_json::json!({
        "confinement": "none", "workspace": stage.path(""), "closed": null, "readable": [], "home": null,
        "network": false, "bytes_max": 1u64 << 30,
    });
    let order = serde_json::json!({ "command": stubborn(&mark), "plan": plan });
    writeln!(ours, "{order}").unwrap();
    assert!(until_marked(&mark, |count| count >= 6).await.len() >= 6);
    drop(ours);
    assert_eq!(until_marked(&mark, |count| count == 0).await, [""; 0]);
    assert!(child.wait().unwrap().success());
}

#[tokio::test]
async fn a_process_gets_no_more_memory_than_it_may() {
    for way in WAYS {
        let stage = Stage::new(way);
        if !stage.works().await {
            continue;
        }
        let output = stage.run("dd if=/dev/zero of=/dev/null bs=400M count=1").await;
        assert!(output.text.contains("memory exhausted"), "{way:?}: {}", output.text);
        let output = stage.run("dd if=/dev/zero of=/dev/null bs=40M count=1").await;
        assert!(output.text.starts_with("Exit code: 0"), "{way:?}: {}", output.text);
    }
}
