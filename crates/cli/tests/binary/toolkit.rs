//! The built-in tools through the binary: files and commands of an agent, their limits, and what is left of them.

use crate::project::{Project, ending, signal};
use entourage_testkit::{FakeModel, Reply, Request};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A model that makes these calls, one after the other, and then says `done`.
async fn calling(calls: Vec<(&'static str, Value)>) -> FakeModel {
    FakeModel::start(move |request: &Request| {
        let next = calls.get(request.assistant_turns());
        next.map_or_else(|| Reply::text("done"), |(tool, arguments)| Reply::call(*tool, arguments.clone()))
    })
    .await
}

/// What the tools answered in the course of a run that must end well.
fn results(project: &Project, model: &FakeModel) -> Vec<String> {
    let said = tokio::task::block_in_place(|| project.say(&["run", "work"]));
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "done\n"), "{said:?}");
    let last = model.requests().pop().unwrap();
    last.tool_results().into_iter().map(|result| result.text).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_writes_edits_runs_and_reads() {
    for sandbox in ["auto", "bubblewrap", "landlock"] {
        let model = calling(vec![
            ("write_file", json!({"path": "src/a.sh", "content": "echo one\n"})),
            ("edit_file", json!({"path": "src/a.sh", "old": "one", "new": "two"})),
            ("shell", json!({"command": "sh src/a.sh > out.txt; cat out.txt; env"})),
            ("read_file", json!({"path": "out.txt"})),
            ("shell", json!({"command": "dd if=/dev/zero of=/dev/null bs=100M count=1"})),
        ])
        .await;
        let project = Project::new().with_model(&model).variable("ENTOURAGE_SHELL_SANDBOX", sandbox);
        let project = project.variable("ENTOURAGE_LIMITS_SHELL_BYTES", "67108864");
        let results = results(&project, &model);
        assert_eq!(results[..2], ["Wrote `src/a.sh`: 9 bytes.", "Changed `src/a.sh` at line 1."]);
        if results[2].contains("there is no sandbox") {
            continue;
        }
        assert!(results[2].starts_with("Exit code: 0\n\nstdout:\ntwo\n"), "{sandbox}: {}", results[2]);
        assert!(!results[2].contains("OPENAI") && !results[2].contains("test-key"), "{sandbox}: {}", results[2]);
        assert_eq!(results[3], "two\n");
        assert!(results[4].contains("memory exhausted"), "{sandbox}: {}", results[4]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_tool_sees_the_data_folder_or_anything_outside() {
    for sandbox in ["bubblewrap", "landlock"] {
        let model = calling(vec![
            ("shell", json!({"command": "ls -a .entourage; cat .entourage/*; cat /proc/*/environ"})),
            ("read_file", json!({"path": ".entourage/.gitignore"})),
            ("write_file", json!({"path": ".entourage/token", "content": "mine"})),
            ("grep_files", json!({"pattern": ".", "path": ".entourage"})),
            ("read_file", json!({"path": "/etc/passwd"})),
            ("write_file", json!({"path": "/proc/self/root/tmp/made-by-a-test", "content": "x"})),
        ])
        .await;
        let project = Project::new().with_model(&model).variable("ENTOURAGE_SHELL_SANDBOX", sandbox);
        let results = results(&project, &model);
        for result in &results {
            assert!(
                !result.contains("SQLite") && !result.contains("test-key") && !result.contains("root:"),
                "{result}"
            );
        }
        for closed in &results[1..4] {
            assert!(closed.ends_with("belongs to the program itself, and no tool opens it"), "{closed}");
        }
        for outside in &results[4..] {
            assert!(outside.contains("is not a path inside the workspace"), "{outside}");
        }
        assert!(!project.path().join(".entourage/token").exists());
    }
}

/// An agent commits, and plants nothing that git runs when a person calls it.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_commits_and_changes_no_hook_and_no_configuration() {
    let evil = "#!/bin/sh\ntouch ../planted\n";
    for sandbox in ["bubblewrap", "landlock"] {
        let model = calling(vec![
            ("write_file", json!({"path": ".git/hooks/pre-commit", "content": evil})),
            (
                "edit_file",
                json!({"path": ".git/config", "old": "[core]", "new": "[core]\n\tfsmonitor = touch planted"}),
            ),
            ("shell", json!({"command": "git config core.fsmonitor 'touch planted'; mv .git x; cp -r x .git"})),
            ("write_file", json!({"path": "a.txt", "content": "a"})),
            ("shell", json!({"command": "git add a.txt && git commit -qm work && git branch topic"})),
        ])
        .await;
        let project = Project::new().with_model(&model).variable("ENTOURAGE_SHELL_SANDBOX", sandbox);
        for line in ["init -qb main", "config user.name n", "config user.email n@example.org"] {
            git(&project, line);
        }
        let config = project.read(".git/config");
        let results = results(&project, &model);
        for refused in &results[..2] {
            assert!(refused.contains("belongs to git, which may run what stands there"), "{sandbox}: {refused}");
        }
        assert_eq!(project.read(".git/config"), config, "{sandbox}: {}", results[2]);
        assert!(!project.path().join(".git/hooks/pre-commit").exists(), "{sandbox}");
        if results[4].starts_with("Exit code: 0") {
            assert_eq!(git(&project, "log --format=%s topic"), "work\n", "{sandbox}");
        } else {
            assert!(results[4].contains("there is no sandbox"), "{sandbox}: {}", results[4]);
        }
    }
}

/// Calls git as a person does.
#[expect(clippy::disallowed_methods, reason = "a test looks at what an agent has left behind")]
fn git(project: &Project, line: &str) -> String {
    let mut git = std::process::Command::new("git");
    let output = git.args(line.split(' ')).current_dir(project.path()).output().unwrap();
    assert!(output.status.success(), "git {line}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_output_that_is_too_long_can_be_read_to_its_end() {
    let model = calling(vec![
        ("shell", json!({"command": "seq 1 5000"})),
        ("shell", json!({"command": "seq 5001 10000"})),
        ("read_file", json!({"path": "/outputs/1-0/shell.txt", "offset": 2000, "limit": 2})),
        ("read_file", json!({"path": "/outputs/2-0/shell.txt", "offset": 2000, "limit": 2})),
        ("read_file", json!({"path": "/outputs/9-0/shell.txt"})),
    ])
    .await;
    let project = Project::new().with_model(&model).variable("ENTOURAGE_LIMITS_TOOL_OUTPUT_BYTES", "2000");
    let results = results(&project, &model);
    if results[0].contains("there is no sandbox") {
        return;
    }
    assert!(results[0].len() <= 2000 && results[0].ends_with("\n4999\n5000"), "{}", results[0]);
    assert!(
        results[0].contains("all of it is in `/outputs/1-0/shell.txt`, which `read_file` reads]"),
        "{}",
        results[0]
    );
    assert_eq!(results[2..4], ["1997\n1998\n", "6997\n6998\n"]);
    assert!(results[4].contains("is not a path inside the workspace"), "{}", results[4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allowlist_leaves_no_other_tool_and_a_call_of_one_is_refused() {
    let model = calling(vec![
        ("write_file", json!({"path": "made", "content": "x"})),
        ("shell", json!({"command": "touch made"})),
        ("bash", json!({"command": "touch made"})),
        ("Write", json!({"path": "made", "content": "x"})),
    ])
    .await;
    let reader = "---\ndescription: Reads\ntools: [Read, search]\nworkspace:\n  mode: shared\n---\nYou read.\n";
    let project = Project::new().file("subagents/reader.md", reader).with_model(&model);
    let said = tokio::task::block_in_place(|| project.say(&["run", "reader", "work"]));
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "done\n"), "{said:?}");
    let last = model.requests().pop().unwrap();
    assert_eq!(last.tools(), ["grep_files", "read_file"]);
    for result in last.tool_results() {
        assert!(result.text.ends_with("Available: grep_files, read_file."), "{}", result.text);
    }
    assert!(!project.path().join("made").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_isolated_agent_works_in_a_folder_of_its_own() {
    let model = calling(vec![
        ("write_file", json!({"path": "made", "content": "x"})),
        ("read_file", json!({"path": "../../../secret.txt"})),
        ("shell", json!({"command": "pwd; cat ../../../secret.txt made"})),
    ])
    .await;
    let digger = "---\ndescription: Digs\n---\nYou dig.\n";
    let project = Project::new().file("subagents/digger.md", digger).file("secret.txt", "SECRET").with_model(&model);
    let said = tokio::task::block_in_place(|| project.say(&["run", "digger", "work"]));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(project.read("agents/digger/workspace/made"), "x");
    let results = model.requests().pop().unwrap().tool_results();
    assert!(results.iter().all(|result| !result.text.contains("SECRET")), "{results:?}");
    assert!(results[2].text.contains("agents/digger/workspace\nx"), "{}", results[2].text);
}

/// Ctrl-C, and even `kill -9`, end what an agent's command has started, however it resists.
#[tokio::test(flavor = "multi_thread")]
async fn no_process_is_left_when_the_program_ends() {
    for with in [Signal::INT, Signal::KILL] {
        let mark = format!("300.{:09}", std::process::id());
        let command =
            format!("trap '' TERM INT HUP; (setsid sh -c 'trap \"\" TERM INT HUP; sleep {mark}' &); sleep {mark}");
        let model = calling(vec![("shell", json!({ "command": command }))]).await;
        let project = Project::new().with_model(&model);
        let child = project.start(&["run", "work"]);
        tokio::task::block_in_place(|| {
            until_marked(&mark, |count| count >= 3);
            let start = Instant::now();
            signal(&child, with);
            // A command gets some seconds to end by itself when the program is asked to end.
            if with == Signal::INT {
                std::thread::sleep(Duration::from_millis(200));
                signal(&child, with);
            }
            ending(child);
            until_marked(&mark, |count| count == 0);
            assert!(start.elapsed() < Duration::from_secs(5), "{with:?}");
        });
    }
}

/// Waits until so many processes have the word among their arguments.
#[expect(clippy::disallowed_methods, reason = "a test looks at what the binary has started")]
pub(crate) fn until_marked(mark: &str, is_right: impl Fn(usize) -> bool) {
    let start = Instant::now();
    loop {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        let count = lines.filter(|line| String::from_utf8_lossy(line).contains(mark)).count();
        if is_right(count) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{count} processes have `{mark}`");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_switches_the_sandbox_off_is_warned() {
    let model = calling(vec![("shell", json!({"command": "echo x > out.txt"}))]).await;
    let off = "[shell]\nsandbox = \"none\"\n";
    let project = Project::new().file("entourage.toml", off).with_model(&model);
    let (untrusted, trusted) =
        tokio::task::block_in_place(|| (project.say(&["run", "work"]), project.say(&["--trust", "run", "work"])));
    assert!(untrusted.stderr.contains("warning[T001]") && !untrusted.stderr.contains("T002"), "{untrusted:?}");
    assert!(trusted.stderr.contains("warning[T002]") && !trusted.stderr.contains("T001"), "{trusted:?}");
}
