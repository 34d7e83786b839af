//! A child inside a command that ignores every signal and has grandchildren, stopped through every door: no process is
//! left, its place is free again, and its parent is told once.

use crate::project::Project;
use crate::serve::Serving;
use crate::toolkit::until_marked;
use entourage_testkit::{FakeModel, Reply, Request};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How the child is started, and by which dialect.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Start {
    Spawned,
    SpawnedBehind,
    Run,
    RunBehind,
}

/// Who stops it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Door {
    /// Its parent's model, by a tool.
    Tool,
    CancelRun,
    CancelRoot,
    StopRoot,
    StopChild,
    TerminateChild,
    TerminateRoot,
}

/// What the parent's conversation says of it, once and once only. Empty: there is nobody to be told.
const CASES: [(Start, Door, &str); 14] = [
    (Start::SpawnedBehind, Door::Tool, "status: cancelled"),
    (Start::SpawnedBehind, Door::CancelRun, "status: Cancelled"),
    (Start::Spawned, Door::CancelRun, "status: cancelled"),
    (Start::Spawned, Door::CancelRoot, "The run was cancelled."),
    (Start::Spawned, Door::StopRoot, "Execution stopped."),
    (Start::Spawned, Door::StopChild, "Execution stopped."),
    (Start::Spawned, Door::TerminateChild, "subagent_terminated"),
    (Start::Spawned, Door::TerminateRoot, ""),
    (Start::RunBehind, Door::Tool, r#""status":"interrupted""#),
    (Start::RunBehind, Door::CancelRun, "is failed"),
    (Start::Run, Door::CancelRun, r#""outcome":"failed""#),
    (Start::Run, Door::StopRoot, "Execution stopped."),
    (Start::Run, Door::TerminateChild, "The thread was terminated."),
    (Start::Run, Door::TerminateRoot, ""),
];

impl Start {
    fn is_dex(self) -> bool {
        matches!(self, Self::Run | Self::RunBehind)
    }

    fn call(self, task: &str) -> Reply {
        let behind = matches!(self, Self::SpawnedBehind | Self::RunBehind) && task == "work";
        if self.is_dex() {
            let run = json!({"action": "run", "profile": "worker", "task": task, "background": behind});
            return Reply::call("subagent", run);
        }
        let seconds = if behind { 0 } else { 30 };
        Reply::call("agent_spawn", json!({"agent_id": "kid", "task": task, "timeout_seconds": seconds}))
    }

    fn stop(self, request: &Request) -> Reply {
        let told = request.tool_results().remove(0).text;
        if self.is_dex() {
            let told: Value = serde_json::from_str(&told).unwrap();
            return Reply::call("subagent", json!({"action": "interrupt", "runId": told["runId"]}));
        }
        let task = told.lines().find_map(|line| line.strip_prefix("task_id: ")).unwrap().to_owned();
        Reply::call("task_cancel", json!({ "task_id": task }))
    }
}

/// A tree that ignores everything that can be ignored, in sessions of its own.
fn stubborn(mark: &str) -> String {
    format!(
        "trap '' TERM INT HUP; \
         (setsid sh -c 'trap \"\" TERM INT HUP; sleep {mark} & exec setsid sleep {mark}' &); \
         while :; do sleep {mark}; done"
    )
}

fn brain(start: Start, mark: String) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    move |request: &Request| {
        let is_child = request.system().contains("You are WORKER.");
        match (is_child, request.last_text().as_str()) {
            (true, "work") => Reply::call("shell", json!({ "command": stubborn(&mark) })),
            (true, _) => Reply::text("there is room"),
            (false, "go") => start.call("work"),
            (false, "stop it") => start.stop(request),
            (false, "again") => start.call("another"),
            (false, _) => Reply::text("noted"),
        }
    }
}

/// One child at a time, whichever dialect starts it.
fn project(model: &FakeModel, start: Start, sandbox: &str) -> Project {
    let dialect = if start.is_dex() { "dex" } else { "agentscope" };
    Project::new()
        .with_model(model)
        .file("subagents/kid.md", "---\ndescription: d\nworkspace:\n  mode: shared\n---\nYou are WORKER.\n")
        .file(".dex/agents/worker.md", "---\nid: worker\nname: Worker\ndescription: d\n---\nYou are WORKER.\n")
        .file("entourage.toml", &format!("dialects = [\"{dialect}\"]\n[limits]\nchildren_live = 1\n"))
        .variable("ENTOURAGE_SHELL_SANDBOX", sandbox)
}

fn post(serving: &Serving, path: &str, body: &Value) {
    let (status, answer) = serving.ask("POST", path, body);
    assert_eq!(status, 202, "{path}: {answer}");
}

fn stop(serving: &Serving, door: Door, root: &str) {
    let child = || {
        let children = serving.get(&format!("/threads?parent={root}"));
        children["threads"][0]["thread_id"].as_str().unwrap().to_owned()
    };
    let run_of = |thread: &str| {
        let runs = serving.get(&format!("/runs?thread={thread}"));
        runs["runs"][0]["run_id"].as_str().unwrap().to_owned()
    };
    let empty = json!({});
    match door {
        Door::Tool => post(serving, &format!("/threads/{root}/messages"), &json!({"content": "stop it"})),
        Door::CancelRun => post(serving, &format!("/runs/{}/cancel", run_of(&child())), &empty),
        Door::CancelRoot => post(serving, &format!("/runs/{}/cancel", run_of(root)), &empty),
        Door::StopRoot => post(serving, &format!("/threads/{root}/stop"), &empty),
        Door::StopChild => post(serving, &format!("/threads/{}/stop", child()), &empty),
        Door::TerminateChild => post(serving, &format!("/threads/{}/terminate", child()), &empty),
        Door::TerminateRoot => post(serving, &format!("/threads/{root}/terminate"), &empty),
    }
}

/// What the root's conversation holds, silent messages included.
fn conversation(serving: &Serving, root: &str) -> Vec<String> {
    let document = serving.get(&format!("/threads/{root}/messages?include_silent=true&limit=1000"));
    let messages = document["messages"].as_array().unwrap();
    messages.iter().map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
}

/// The root's messages once one of them says this.
fn until_said(serving: &Serving, root: &str, words: &str) -> Vec<String> {
    let start = Instant::now();
    loop {
        let said = conversation(serving, root);
        if said.iter().any(|text| text.contains(words)) {
            return said;
        }
        assert!(start.elapsed() < Duration::from_secs(15), "`{words}` is never said: {said:#?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn play(project: &Project, mark: &str, (start, door, told): (Start, Door, &str)) {
    let serving = Serving::start(project);
    let (status, created) = serving.ask("POST", "/threads", &json!({"agent": "lead", "message": "go"}));
    assert_eq!(status, 201, "{created}");
    let root = created["thread_id"].as_str().unwrap();
    until_marked(mark, |count| count >= 3);
    let since = Instant::now();
    stop(&serving, door, root);
    until_marked(mark, |count| count == 0);
    assert!(since.elapsed() < Duration::from_secs(5), "{start:?} {door:?}: {:?}", since.elapsed());
    if told.is_empty() {
        assert!(serving.settle(root)["terminated"].is_i64());
    } else {
        until_said(&serving, root, told);
        serving.settle(root);
        post(&serving, &format!("/threads/{root}/messages"), &json!({"content": "again"}));
        let said = until_said(&serving, root, "there is room");
        let times = said.iter().filter(|text| text.contains(told)).count();
        assert_eq!(times, 1, "{start:?} {door:?}: {said:#?}");
    }
    serving.kill();
}

async fn check(sandbox: &str) {
    for (place, case) in CASES.into_iter().enumerate() {
        let mark = format!("301.{:09}{place:02}", std::process::id());
        let model = FakeModel::start(brain(case.0, mark.clone())).await;
        let project = project(&model, case.0, sandbox);
        tokio::task::block_in_place(|| play(&project, &mark, case));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stubborn_command_in_a_sandbox_is_stopped_through_every_door() {
    check("auto").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stubborn_command_without_a_sandbox_is_stopped_through_every_door() {
    check("none").await;
}
