//! What a command gives: to the model, to people who watch, and to a file.

use super::stage::{Stage, WAYS, Way};
use entourage_model::{Fact, ToolStatus};
use entourage_outside::tool::{ShellSettings, Stream};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_command_gives_its_exit_code_and_both_streams() {
    for way in WAYS {
        let stage = Stage::new(way);
        if !stage.works().await {
            continue;
        }
        for (command, code, expected) in [
            ("echo hello", 0, "Exit code: 0\n\nstdout:\nhello"),
            ("true", 0, "Exit code: 0\n\n(no output)"),
            ("echo out; echo oops >&2; exit 3", 3, "Exit code: 3\n\nstdout:\nout\n\nstderr:\noops"),
            ("cat src/lib.rs", 0, "Exit code: 0\n\nstdout:\ninside"),
            ("read line; echo \"<$line>\"", 0, "Exit code: 0\n\nstdout:\n<>"),
        ] {
            let output = stage.run(command).await;
            assert_eq!((output.status, output.text.as_str()), (ToolStatus::Success, expected), "{way:?} {command}");
            let fact = Fact::RanCommand { command: command.to_owned(), exit_code: Some(code) };
            assert_eq!(output.facts, [fact], "{way:?}");
        }
        let killed = stage.run("kill -9 $$").await;
        assert!(killed.text.starts_with("Exit code: 137"), "{way:?}: {}", killed.text);
    }
}

#[tokio::test]
async fn what_is_written_is_shown_at_once() {
    let stage = Stage::new(Way::Nothing);
    let waiting = stage.run("echo first; while [ ! -e go ]; do sleep 0.05; done; echo last >&2");
    let watching = async {
        while stage.seen.shown.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(*stage.seen.shown.lock().unwrap(), [(Stream::Stdout, "first\n".to_owned())]);
        std::fs::write(stage.path("go"), "").unwrap();
    };
    let (output, ()) = tokio::join!(waiting, watching);
    assert_eq!(output.text, "Exit code: 0\n\nstdout:\nfirst\n\nstderr:\nlast");
    assert_eq!(stage.seen.shown.lock().unwrap().last(), Some(&(Stream::Stderr, "last\n".to_owned())));
}

#[tokio::test]
async fn a_long_output_is_cut_in_the_middle_and_every_byte_can_be_read() {
    let mut stage = Stage::new(Way::Nothing);
    stage.caller.output_bytes_max = 4000;
    let output = stage.run("seq 1 10000").await;
    assert!(output.text.len() <= 4000, "{}", output.text.len());
    assert!(output.text.starts_with("Exit code: 0\n\nstdout:\n1\n2\n"), "{}", output.text);
    assert!(output.text.ends_with("\n9999\n10000"), "{}", output.text);
    let mark = "of 48915 bytes shown; all of it is in `/outputs/shell.txt`, which `read_file` reads]\n";
    assert!(output.text.contains(mark), "{}", output.text);
    let mut offset = 1;
    let mut read = String::new();
    loop {
        let part = stage.call("read_file", &json!({"path": "/outputs/shell.txt", "offset": offset})).await.text;
        let Some((lines, mark)) = part.rsplit_once("\n[cut: ") else {
            read.push_str(&part);
            break;
        };
        read.push_str(lines);
        read.push('\n');
        offset = mark.rsplit(' ').next().unwrap().trim_end_matches(']').parse().unwrap();
    }
    let whole: String = (1..=10000).map(|number| format!("{number}\n")).collect();
    assert_eq!(read, format!("Exit code: 0\n\nstdout:\n{}", whole.trim_end()));
}

#[tokio::test]
async fn a_command_that_cannot_be_run_says_why_and_did_nothing() {
    let stage = Stage::new(Way::Nothing);
    for (command, expected) in [
        ("x".repeat(100_001), "The command was not run: a command has at most 100000 bytes and no NUL;"),
        ("a\0b".to_owned(), "The command was not run: a command has at most 100000 bytes and no NUL;"),
        (String::new(), "The arguments of `shell` do not fit its schema:"),
    ] {
        let output = stage.run(&command).await;
        assert_eq!(output.status, ToolStatus::Error);
        assert!(output.text.starts_with(expected), "{}", output.text);
        assert_eq!(output.facts, []);
    }
    let missing = Stage::with(Way::Nothing, |settings| settings.keeper = "/nothing/here".into());
    let output = missing.run("true").await;
    assert!(output.text.starts_with("The command was not run: No such file"), "{}", output.text);
}

#[tokio::test]
async fn without_any_sandbox_no_command_runs() {
    let stage = Stage::with(Way::Bubblewrap, |settings| {
        let empty = ShellSettings::new(1 << 30, |_| Some("/nothing".to_owned()));
        *settings = ShellSettings { sandbox: settings.sandbox, keeper: settings.keeper.clone(), ..empty };
    });
    let output = stage.run("touch made").await;
    let expected =
        "No command can be run here, because there is no sandbox: `bwrap` is not installed. A person can change that.";
    assert_eq!((output.status, output.text.as_str()), (ToolStatus::Error, expected));
    assert!(!stage.path("made").exists());
}
