//! Commands that want more than a command may have.

use super::stage::{Stage, WAYS, mark, until_marked};
use entourage_model::ToolStatus;
use serde_json::json;
use std::fs;
use std::time::{Duration, Instant};

#[tokio::test]
async fn many_sessions_and_a_spinning_shell_end_with_the_command() {
    for way in WAYS {
        let mut stage = Stage::new(way);
        if !stage.works().await {
            continue;
        }
        stage.time_max = Duration::from_secs(2);
        let mark = mark();
        let command = format!(
            "trap '' TERM; i=0; while [ $i -lt 60 ]; do i=$((i+1)); \
             (setsid sh -c 'trap \"\" TERM HUP; (setsid sleep {mark} &); exec sleep {mark}' &); done; while :; do :; done"
        );
        let start = Instant::now();
        let output = stage.run(&command).await;
        assert_eq!(output.status, ToolStatus::Error, "{way:?}: {}", output.text);
        assert_eq!(until_marked(&mark, |count| count == 0).await, [""; 0], "{way:?}");
        assert!(start.elapsed() < Duration::from_secs(2 + 5), "{way:?}");
    }
}

/// Whoever looks for such processes finds them gone: each lives just long enough to start the next one.
#[tokio::test]
async fn processes_that_multiply_and_flee_end_with_a_cancelled_command() {
    for way in WAYS {
        let stage = Stage::new(way);
        if !stage.works().await {
            continue;
        }
        let mark = mark();
        let command = format!(
            "flee='setsid sh -c \"$0\" \"$0\" \"$1\" & exit'; bomb='if [ $2 -gt 0 ]; then for i in 1 2; do \
             setsid sh -c \"$0\" \"$0\" $1 $(($2-1)) & done; fi; trap \"\" TERM HUP; sleep $1; sleep $1'; \
             for i in 1 2 3 4; do sh -c \"$flee\" \"$flee\" {mark}; done; sh -c \"$bomb\" \"$bomb\" {mark} 5"
        );
        let mut waiting = Box::pin(stage.run(&command));
        tokio::select! {
            output = &mut waiting => unreachable!("{way:?}: {output:?}"),
            found = until_marked(&mark, |count| count >= 120) => assert!(found.len() >= 120, "{way:?}: {}", found.len()),
        }
        let start = Instant::now();
        drop(waiting);
        assert_eq!(until_marked(&mark, |count| count == 0).await, [""; 0], "{way:?}");
        assert!(start.elapsed() < Duration::from_secs(5), "{way:?}");
    }
}

#[tokio::test]
async fn no_command_poisons_the_next_one() {
    for way in WAYS {
        let stage = Stage::new(way);
        if !stage.works().await {
            continue;
        }
        let poison = "export PATH=/nothing LD_PRELOAD=/x.so GIT_SSH_COMMAND=evil PAGER=evil BASH_ENV=evil ENV=evil; \
             alias ls=evil; cd /; umask 000; exit 0";
        stage.run(poison).await;
        let seen = stage.run("env; pwd; umask; command -v ls").await.text;
        for word in ["LD_PRELOAD", "GIT_SSH_COMMAND", "PAGER", "BASH_ENV", "evil", "/nothing"] {
            assert!(!seen.contains(word), "{way:?}: {word} in {seen}");
        }
        let here = fs::canonicalize(stage.path("")).unwrap();
        assert!(seen.contains(&format!("\n{}\n", here.display())), "{way:?}: {seen}");
    }
}

/// Only `shell` has a shell: what other tools are given is data.
#[tokio::test]
async fn no_argument_of_another_tool_is_run() {
    let stage = Stage::new(super::stage::Way::Nothing);
    for evil in
        ["$(touch made)", "`touch made`", "; touch made", "x\ntouch made", "--pre=touch made", "-exec touch made"]
    {
        for (tool, arguments) in [
            ("read_file", json!({"path": evil})),
            ("list_files", json!({"path": evil})),
            ("find_files", json!({"pattern": evil})),
            ("grep_files", json!({"pattern": evil, "path": "."})),
            ("edit_file", json!({"path": "src/lib.rs", "old": evil, "new": evil})),
            ("write_file", json!({"path": "src/lib.rs", "content": evil})),
        ] {
            stage.call(tool, &arguments).await;
            assert!(!stage.path("made").exists() && !stage.path("src/made").exists(), "{tool} {arguments}");
        }
    }
}
