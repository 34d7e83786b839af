//! The `agentscope` dialect at work: many tasks, long results, cancelling, nesting, folders that define agents.

use crate::stage::{Stage, by_turn, is, solo};
use entourage_model::{Agent, Dialect, Event, Limits, Remote, Role, RunStatus, ThreadId, ThreadStatus, WorkspaceWish};
use entourage_runtime::{NewRoot, Outgoing};
use entourage_store::{Page, RunFilter, RunRow};
use entourage_testkit::{Reply, Request, cast};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// An agent that may start others.
fn lead(name: &str) -> Agent {
    Agent { dialects: vec![Dialect::AgentScope], ..solo(name, Vec::new()) }
}

fn spawn(agent: &str, task: &str, more: &Value) -> (&'static str, Value) {
    let mut arguments = json!({"agent_id": agent, "task": task});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    ("agent_spawn", arguments)
}

fn background() -> Value {
    json!({"timeout_seconds": 0})
}

/// What a line `name: …` of an answer says.
fn field(text: &str, name: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_else(|| panic_without(text, name)).to_owned()
}

#[expect(clippy::panic, reason = "a test that cannot go on should stop")]
fn panic_without<'a>(text: &str, name: &str) -> &'a str {
    panic!("there is no line `{name}:` in {text:?}")
}

fn last_result(request: &Request) -> String {
    request.tool_results().last().map(|result| result.text.clone()).unwrap_or_default()
}

async fn child_runs(stage: &Stage, parent: ThreadId) -> Vec<RunRow> {
    let filter = RunFilter { parent: Some(parent), ..RunFilter::default() };
    stage.store.runs(&filter, Page { after: None, limit: 1000 }).await.unwrap()
}

/// How often each run's result came as a message.
async fn news(stage: &Stage, thread: ThreadId) -> BTreeMap<String, usize> {
    let mut news = BTreeMap::new();
    for stored in stage.store.journal(thread, 0, 100_000).await.unwrap() {
        if let Event::Posted(posted) = &stored.event
            && let Some(run) = &posted.delivers
        {
            *news.entry(run.to_string()).or_default() += 1;
        }
    }
    news
}

#[tokio::test]
async fn two_hundred_background_runs_all_end_and_are_delivered_once() {
    const RUNS: usize = 200;
    let brain = |request: &Request| {
        if is(request, "kid") {
            let number: u64 = request.last_text().trim_start_matches("job ").parse().unwrap_or(0);
            return Reply::text(format!("did {number}")).after(Duration::from_millis(number % 40));
        }
        match request.assistant_turns() {
            turn if turn < 10 => {
                let jobs = (0..RUNS / 10).map(|job| format!("job {}", turn * RUNS / 10 + job));
                Reply::calls(jobs.map(|job| spawn("kid", &job, &background())).collect::<Vec<_>>())
            }
            10 => Reply::call("task_list", json!({})),
            _ => Reply::text("noted"),
        }
    };
    let limits = Limits { children_live: 200, children_total: 200, ..Limits::default() };
    let stage = Stage::with_limits(vec![lead("lead"), solo("kid", vec![])], brain, limits).await;
    let (thread, _) = stage.create("lead", "go").await;
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Idle);
    let runs = child_runs(&stage, thread).await;
    let done: BTreeSet<_> =
        runs.iter().filter(|run| run.status == RunStatus::Done && run.delivered_at.is_some()).collect_ids();
    let results: BTreeSet<_> = runs.iter().filter_map(|run| run.result.clone()).collect();
    assert_eq!((done.len(), results.len()), (RUNS, RUNS));
    let news = news(&stage, thread).await;
    assert!(news.len() == RUNS && news.values().all(|times| *times == 1), "{news:?}");
    let listed = stage.texts(thread, Role::Tool).await;
    assert!(listed.last().unwrap().starts_with("200 tracked task(s):\n- task_id: task_"), "{listed:?}");
    let last = stage.asked("lead").last().unwrap().system();
    assert_eq!(last.lines().filter(|line| line.starts_with("- task_id: task_")).count(), 10);
    assert!(last.contains("(190 older tasks are not shown;"), "{last}");
}

trait CollectIds {
    fn collect_ids(self) -> BTreeSet<String>;
}

impl<'r, I: Iterator<Item = &'r RunRow>> CollectIds for I {
    fn collect_ids(self) -> BTreeSet<String> {
        self.map(|run| run.id.to_string()).collect()
    }
}

/// The lead starts seven children at once and reads everything that was cut off.
#[tokio::test]
async fn long_results_are_cut_and_every_byte_of_them_can_be_read() {
    const LENGTH: usize = 30_000;
    let report = |number: usize| format!("{number}{}", "é".repeat((LENGTH - 1) / 2));
    let brain = move |request: &Request| {
        if is(request, "kid") {
            return Reply::text(report(request.last_text().parse().unwrap()));
        }
        match request.assistant_turns() {
            0 => Reply::calls((0..7).map(|job| spawn("kid", &job.to_string(), &json!({}))).collect::<Vec<_>>()),
            _ => match rest_of(&last_result(request)) {
                Some(arguments) => Reply::call("task_output", arguments),
                None => Reply::text("read"),
            },
        }
    };
    let stage = Stage::new(vec![lead("lead"), solo("kid", vec![])], brain).await;
    let (thread, _) = stage.create("lead", "go").await;
    stage.settle(thread).await;
    let first = &stage.asked("lead")[1];
    assert_eq!(first.tool_results().len(), 7);
    let shown: usize = first.tool_results().iter().map(|result| result.text.len()).sum();
    assert!((60_000..80_000).contains(&shown), "{shown}");
    // The last child's whole report, put together from its parts.
    let texts = stage.texts(thread, Role::Tool).await;
    let parts = texts[6..].iter().map(|text| {
        let text = text.split_once("reply:\n").or_else(|| text.split_once("Result:\n")).unwrap().1;
        text.split_once("\n[cut: ").map_or(text, |(part, _)| part)
    });
    assert_eq!(parts.collect::<String>(), format!("6{}", "é".repeat((LENGTH - 1) / 2)));
}

/// What reads on, as a cut result says it.
fn rest_of(text: &str) -> Option<Value> {
    let (_, rest) = text.rsplit_once("read on with task_output ")?;
    serde_json::from_str(rest.strip_suffix(']')?).ok()
}

#[tokio::test]
async fn a_cancelled_task_stops_inside_its_model_call_and_is_not_reported() {
    let brain = |request: &Request| {
        if is(request, "kid") {
            return Reply::hang();
        }
        match request.assistant_turns() {
            0 => Reply::calls([spawn("kid", "work", &background())]),
            1 => Reply::call("task_cancel", json!({"task_id": field(&last_result(request), "task_id")})),
            2 => Reply::call("task_output", json!({"task_id": field(&last_result(request), "task_id")})),
            _ => Reply::text("stopped"),
        }
    };
    let stage = Stage::new(vec![lead("lead"), solo("kid", vec![])], brain).await;
    let (thread, _) = stage.create("lead", "go").await;
    stage.settle(thread).await;
    stage.model.until_aborted(1).await;
    let run = child_runs(&stage, thread).await.remove(0);
    assert_eq!((run.status, run.cancel_requested, run.delivered_at.is_some()), (RunStatus::Cancelled, true, true));
    assert_eq!(stage.kids(thread).await[0].status, ThreadStatus::Idle);
    let answers = stage.texts(thread, Role::Tool).await;
    assert_eq!([field(&answers[1], "status"), field(&answers[2], "status")], ["cancelled", "Cancelled"]);
    assert!(news(&stage, thread).await.is_empty());
    assert_eq!(stage.asked("kid").len(), 1);
}

#[tokio::test]
async fn a_child_can_be_cancelled_from_outside_and_its_parent_is_told_once() {
    let brain = |request: &Request| match (is(request, "kid"), request.assistant_turns()) {
        (true, _) => Reply::hang(),
        (false, 0) => Reply::calls([spawn("kid", "work", &background())]),
        (false, _) => Reply::text("noted"),
    };
    let stage = Stage::new(vec![lead("lead"), solo("kid", vec![])], brain).await;
    let (thread, run) = stage.create("lead", "go").await;
    stage.runtime.wait_for_run(&run, crate::stage::LONG).await.unwrap();
    let task = child_runs(&stage, thread).await.remove(0).id;
    stage.runtime.cancel(&task).await.unwrap();
    stage.settle(thread).await;
    assert_eq!(news(&stage, thread).await, BTreeMap::from([(task.to_string(), 1)]));
    let told = stage.texts(thread, Role::User).await;
    assert_eq!(field(told.last().unwrap(), "status"), "Cancelled");
}

#[tokio::test]
async fn a_wait_that_is_over_lets_the_run_go_on_and_its_result_comes_later() {
    let brain = |request: &Request| {
        if is(request, "kid") {
            return Reply::text("late").after(Duration::from_millis(600));
        }
        match request.assistant_turns() {
            0 => Reply::calls([spawn("kid", "work", &background())]),
            1 => Reply::call("task_output", json!({"task_id": field(&last_result(request), "task_id"), "timeout": 20})),
            _ => Reply::text("noted"),
        }
    };
    let stage = Stage::new(vec![lead("lead"), solo("kid", vec![])], brain).await;
    let (thread, _) = stage.create("lead", "go").await;
    stage.settle(thread).await;
    let answers = stage.texts(thread, Role::Tool).await;
    assert_eq!(field(&answers[1], "status"), "running");
    assert_eq!(news(&stage, thread).await.values().sum::<usize>(), 1);
    assert!(stage.texts(thread, Role::User).await.last().unwrap().ends_with("Result:\nlate"));
}

#[tokio::test]
async fn another_threads_task_is_unknown() {
    let brain = |request: &Request| match (is(request, "kid"), request.last_text()) {
        (true, _) => Reply::text("secret"),
        (false, text) if text == "go" => Reply::calls([spawn("kid", "work", &json!({}))]),
        (false, text) if text.starts_with("task_") => Reply::call("task_output", json!({"task_id": text})),
        (false, _) => Reply::text("noted"),
    };
    let stage = Stage::new(vec![lead("lead"), solo("kid", vec![])], brain).await;
    let (thread, _) = stage.create("lead", "go").await;
    stage.settle(thread).await;
    let task = child_runs(&stage, thread).await.remove(0).id;
    let (own, _) = stage.create("lead", task.as_str()).await;
    stage.settle(own).await;
    let answer = stage.texts(own, Role::Tool).await.remove(0);
    assert_eq!(answer, format!("Error: unknown task_id `{task}`; task_list shows all of them"));
}

#[tokio::test]
async fn depth_holds_through_nesting() {
    for (depth, deepest) in [(0, 0), (1, 1), (2, 2), (3, 3)] {
        let brain = |request: &Request| {
            let may = request.tools().contains(&"agent_spawn");
            match (may, request.assistant_turns()) {
                (true, 0) => Reply::calls([spawn("digger", "deeper", &json!({}))]),
                (false, 0) => Reply::calls([spawn("digger", "too deep", &json!({}))]),
                _ => Reply::text("up again"),
            }
        };
        let limits = Limits { depth, ..Limits::default() };
        let stage = Stage::with_limits(vec![lead("lead"), lead("digger")], brain, limits).await;
        let (mut thread, _) = stage.create("lead", "go").await;
        stage.settle(thread).await;
        let mut level = 0;
        while let Some(kid) = stage.kids(thread).await.first().map(|kid| kid.id) {
            (thread, level) = (kid, level + 1);
        }
        assert_eq!(level, deepest);
        let refused = stage.texts(thread, Role::Tool).await.remove(0);
        let expected = format!("Error: the spawn depth is exceeded (max={depth}); do this work yourself");
        assert_eq!(refused, expected);
    }
}

#[tokio::test]
async fn a_child_without_dialects_is_a_leaf() {
    let brain = by_turn(vec![
        ("lead", vec![Reply::calls([spawn("kid", "work", &json!({}))]), Reply::text("done")]),
        ("kid", vec![Reply::calls([spawn("kid", "more", &json!({}))]), Reply::text("alone")]),
    ]);
    let stage = Stage::new(vec![lead("lead"), solo("kid", vec![])], brain).await;
    let (thread, _) = stage.create("lead", "go").await;
    stage.settle(thread).await;
    let kid = stage.kids(thread).await.remove(0);
    assert_eq!(stage.asked("kid")[0].tools(), ["read_file", "list_files"]);
    let refused = stage.texts(kid.id, Role::Tool).await;
    assert_eq!(refused, ["There is no tool `agent_spawn` here. Available: read_file, list_files."]);
    assert!(stage.kids(kid.id).await.is_empty());
}

#[tokio::test]
async fn a_definition_folder_is_read_at_each_spawn_and_pinned_by_the_child() {
    let brain = |request: &Request| match (request.tools().contains(&"agent_spawn"), request.last_text()) {
        (true, text) if text == "go" => Reply::calls([spawn("kid", "work", &json!({"label": "a"}))]),
        (true, text) if text == "again" => Reply::call("agent_send", json!({"label": "a", "message": "more"})),
        (true, text) if text == "anew" => Reply::calls([spawn("kid", "work", &json!({}))]),
        _ => Reply::text("done"),
    };
    let mut kid = solo("kid", Vec::new());
    kid.workspace = Some(WorkspaceWish { path: Some("defs/kid".to_owned()), ..WorkspaceWish::default() });
    let mut stage = Stage::new(vec![lead("lead"), kid], brain).await;
    let file = stage.path().join("defs/kid/AGENTS.md");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "You are the first.").unwrap();
    let (thread, _) = stage.create("lead", "go").await;
    stage.settle(thread).await;
    std::fs::write(&file, "You are the second.").unwrap();
    stage.runtime.shutdown().await;
    stage.restart().await;
    for message in ["again", "anew"] {
        stage.runtime.send(thread, Outgoing::user(message), None).await.unwrap();
        stage.settle(thread).await;
    }
    std::fs::remove_file(&file).unwrap();
    stage.runtime.send(thread, Outgoing::user("anew"), None).await.unwrap();
    stage.settle(thread).await;
    let kids = stage.model.requests();
    let prompts =
        kids.iter().filter(|request| !request.tools().contains(&"agent_spawn")).map(|request| request.system());
    let first_lines: Vec<String> = prompts.map(|text| text.lines().next().unwrap_or_default().to_owned()).collect();
    let expected = ["You are the first.", "You are the first.", "You are the second.", "## Subagent Context"];
    assert_eq!(first_lines, expected);
}

#[tokio::test]
async fn a_definition_folder_is_read_at_each_spawn_in_the_standard_dialect_too() {
    let brain = |request: &Request| match (request.tools().contains(&"kid"), request.assistant_turns()) {
        (true, turn) if turn % 2 == 0 => Reply::call("kid", json!({"message": "work"})),
        _ => Reply::text("done"),
    };
    let mut kid = solo("kid", Vec::new());
    kid.workspace = Some(WorkspaceWish { path: Some("defs/kid".to_owned()), ..WorkspaceWish::default() });
    let stage = Stage::new(vec![solo("lead", vec![cast::blocking("kid")]), kid], brain).await;
    let file = stage.path().join("defs/kid/AGENTS.md");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "You are the first.").unwrap();
    let (thread, _) = stage.create("lead", "go").await;
    stage.settle(thread).await;
    std::fs::write(&file, "You are the second.").unwrap();
    stage.runtime.send(thread, Outgoing::user("again"), None).await.unwrap();
    stage.settle(thread).await;
    let asked = stage.model.requests();
    let prompts = asked.iter().map(|request| request.system()).filter(|text| text.starts_with("You are the "));
    assert_eq!(prompts.collect::<Vec<_>>(), ["You are the first.", "You are the second."]);
}

#[tokio::test]
async fn the_closing_words_of_a_run_without_steps_are_its_partial_result() {
    let mut kid = solo("kid", Vec::new());
    kid.side_a.steps_max = Some(2);
    let brain = |request: &Request| match (is(request, "kid"), request.assistant_turns()) {
        (true, _) if request.tools().is_empty() => Reply::text("half of it"),
        (true, _) => Reply::call("list_files", json!({"path": "."})),
        (false, 0) => Reply::calls([spawn("kid", "work", &json!({}))]),
        (false, 1) => Reply::calls([spawn("kid", "work", &background())]),
        (false, _) => Reply::text("noted"),
    };
    let stage = Stage::new(vec![lead("lead"), kid], brain).await;
    let (thread, _) = stage.create("lead", "go").await;
    stage.settle(thread).await;
    for run in child_runs(&stage, thread).await {
        let error = "step_limit_reached: the limit of 2 steps is reached";
        assert_eq!(
            (run.status, run.result.as_deref(), run.error.as_deref()),
            (RunStatus::Failed, Some("half of it"), Some(error))
        );
    }
    assert_eq!(stage.asked("kid").len(), 6);
    let answer = stage.texts(thread, Role::Tool).await.remove(0);
    assert!(answer.contains("status: error\nerror: step_limit_reached") && answer.ends_with("half of it"), "{answer}");
    let told = stage.texts(thread, Role::User).await.pop().unwrap();
    assert!(told.contains("status: Failed: step_limit_reached") && told.ends_with("half of it"), "{told}");
}

/// Nobody listens at the port of a listener that is gone.
#[tokio::test]
async fn a_remote_agent_whose_server_takes_no_task_fails_soon() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let remote = Remote { url: format!("http://{gone}"), headers: BTreeMap::new() };
    let far = Agent { remote: Some(remote), ..solo("far", vec![]) };
    let brain = by_turn(vec![("lead", vec![Reply::calls([spawn("far", "work", &json!({}))]), Reply::text("done")])]);
    let stage = Stage::new(vec![lead("lead"), far], brain).await;
    let (thread, _) = stage.create("lead", "go").await;
    stage.settle(thread).await;
    let told = stage.texts(thread, Role::Tool).await.remove(0);
    assert!(told.contains("status: error\nerror: ") && told.contains(&gone.to_string()), "{told}");
    assert_eq!(child_runs(&stage, thread).await[0].status, RunStatus::Failed);
}

#[tokio::test]
async fn the_user_is_carried_down() {
    let brain = by_turn(vec![
        ("lead", vec![Reply::calls([spawn("kid", "work", &json!({}))]), Reply::text("done")]),
        ("kid", vec![Reply::text("done")]),
    ]);
    let stage = Stage::new(vec![lead("lead"), solo("kid", vec![])], brain).await;
    let root = NewRoot {
        team: Arc::clone(&stage.team),
        agent: "lead".into(),
        message: Some(Outgoing::user("go")),
        user_id: Some("alice".to_owned()),
        tags: Vec::new(),
        files: Vec::new(),
        variables: BTreeMap::new(),
    };
    let thread = stage.runtime.create(root).await.unwrap().thread;
    stage.settle(thread).await;
    assert_eq!(stage.kids(thread).await[0].user_id.as_deref(), Some("alice"));
}

#[tokio::test]
async fn a_background_task_goes_on_after_a_restart_and_is_delivered_once() {
    let brain = |request: &Request| {
        if is(request, "kid") {
            return Reply::text("after all").after(Duration::from_millis(300));
        }
        match request.assistant_turns() {
            0 => Reply::calls([spawn("kid", "work", &background())]),
            _ => Reply::text("noted"),
        }
    };
    let mut stage = Stage::new(vec![lead("lead"), solo("kid", vec![])], brain).await;
    let (thread, run) = stage.create("lead", "go").await;
    stage.runtime.wait_for_run(&run, crate::stage::LONG).await.unwrap();
    // Its parent is at rest: that is settled, and only the tree is not.
    let row = stage.runtime.wait(thread, crate::stage::LONG).await.unwrap();
    assert_eq!(row.status, ThreadStatus::Idle);
    stage.runtime.shutdown().await;
    stage.restart().await;
    stage.settle(thread).await;
    assert_eq!(news(&stage, thread).await.values().sum::<usize>(), 1);
    assert!(child_runs(&stage, thread).await.iter().all(|run| run.status == RunStatus::Done));
}

#[tokio::test]
async fn the_tasks_of_a_thread_are_shown_in_a_file_and_made_good_at_the_next_start() {
    let brain = |request: &Request| match (is(request, "kid"), request.assistant_turns(), request.last_text()) {
        (true, _, text) if text == "fail" => Reply::fail(400, "no"),
        (true, ..) => Reply::text("done it"),
        (false, 0, _) => Reply::calls([spawn("kid", "a", &background()), spawn("kid", "fail", &background())]),
        (false, 1, _) => Reply::calls([spawn("kid", "waited for", &json!({}))]),
        (false, ..) => Reply::text("noted"),
    };
    let mut stage = Stage::new(vec![lead("lead"), solo("kid", vec![])], brain).await;
    let (thread, _) = stage.create("lead", "go").await;
    stage.settle(thread).await;
    let file = stage.path().join(format!("agents/lead/tasks/{thread}.json"));
    let read = || serde_json::from_slice::<Value>(&std::fs::read(&file).unwrap()).unwrap();
    // What a child in the background came to may wake the thread once more.
    let shown = loop {
        let shown = read();
        let tasks = shown.as_object().unwrap();
        if tasks.len() == 2 && tasks.values().all(|task| task["deliveredAt"].is_string()) {
            break shown;
        }
        tokio::task::yield_now().await;
    };
    let runs = child_runs(&stage, thread).await;
    // What a call waited for is no task.
    assert_eq!((shown.as_object().unwrap().len(), runs.len()), (2, 3));
    let kid = |task: &str| runs.iter().find(|run| run.request == task).unwrap();
    let (done, failed) = (&shown[kid("a").id.as_str()], &shown[kid("fail").id.as_str()]);
    assert_eq!(done["status"], "COMPLETED");
    assert_eq!(
        (&done["subAgentId"], &done["parentAgentId"], &done["result"]),
        (&json!("kid"), &json!("lead"), &json!("done it"))
    );
    assert_eq!(done["subSessionId"], format!("sub-{}", kid("a").thread));
    assert!(done.get("errorMessage").is_none());
    assert!(failed["status"] == "FAILED" && failed["errorMessage"].is_string());
    std::fs::remove_file(&file).unwrap();
    stage.runtime.shutdown().await;
    stage.restart().await;
    while !file.exists() {
        tokio::task::yield_now().await;
    }
    assert_eq!(read(), shown);
    stage.runtime.delete(thread).await.unwrap();
    assert!(!file.exists(), "what is deleted is shown nowhere");
}
