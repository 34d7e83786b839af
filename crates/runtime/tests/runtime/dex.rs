//! The dex dialect as models and callers see it: foreground and background, interrupting and resuming, many at once.

use crate::stage::{LONG, Stage, is, solo};
use entourage_model::{Agent, Dialect, Limits, Role, RunId, RunStatus, ThreadId, ThreadStatus};
use entourage_store::{Page, RunFilter, RunRow};
use entourage_testkit::{Reply, Request};
use serde_json::{Value, json};
use std::time::Duration;

/// Speaks dex.
pub(crate) fn boss() -> Agent {
    Agent { dialects: vec![Dialect::Dex], ..solo("boss", vec![]) }
}

/// A profile.
pub(crate) fn worker() -> Agent {
    let mut worker = solo("worker", vec![]);
    "dex".clone_into(&mut worker.source.format);
    worker.title = Some("The Worker".to_owned());
    worker
}

pub(crate) fn run(task: &str, background: bool) -> Value {
    json!({"action": "run", "profile": "worker", "task": task, "background": background})
}

/// What the boss was answered last, as JSON.
pub(crate) fn answered(request: &Request) -> Value {
    let last = request.tool_results().pop().map(|result| result.text).unwrap_or_default();
    serde_json::from_str(&last).unwrap_or(Value::String(last))
}

pub(crate) async fn runs(stage: &Stage, parent: ThreadId) -> Vec<RunRow> {
    let filter = RunFilter { parent: Some(parent), ..RunFilter::default() };
    stage.store.runs(&filter, Page { after: None, limit: 1000 }).await.unwrap()
}

/// The run once it stands so.
pub(crate) async fn until(stage: &Stage, run: &RunId, status: RunStatus) -> RunRow {
    let reached = async {
        loop {
            let row = stage.store.run(run).await.unwrap().unwrap();
            if row.status == status {
                return row;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, reached).await.expect("the run never stood so")
}

#[tokio::test]
async fn a_run_in_the_foreground_answers_with_one_document() {
    let brain = |request: &Request| match (is(request, "worker"), request.assistant_turns()) {
        (true, 0) => Reply::call("read_file", json!({"path": "note.txt"})).saying("let me look"),
        (true, _) => Reply::text("the note is there"),
        (false, 0) => Reply::call("subagent", run("look at the note", false)),
        (false, _) => Reply::text("good"),
    };
    let stage = Stage::new(vec![boss(), worker()], brain).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let asked = stage.asked("boss");
    let told = answered(&asked[1]);
    let row = runs(&stage, thread).await.pop().unwrap();
    assert_eq!(
        (&told["runId"], &told["profile"], &told["status"]),
        (&json!(row.id), &json!("worker"), &json!("completed"))
    );
    let result = &told["result"];
    assert_eq!(result["schemaVersion"], 2);
    let own = json!({"runId": row.id, "profile": "worker", "displayName": "The Worker", "status": "completed"});
    assert_eq!(result["run"], own);
    assert_eq!(result["decision"]["summary"], "the note is there");
    assert_eq!(result["changes"]["toolsUsed"], json!(["read_file"]));
    let kinds: Vec<_> =
        told["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        ["created", "status", "message", "assistant", "tool_result", "assistant", "turn_ended", "status"]
    );
    assert_eq!(serde_json::from_str::<Value>(row.result.as_deref().unwrap()).unwrap(), *result);
    assert!(row.delivered_at.is_some());
    // The child's conversation lies under the call's result and nowhere else.
    let said =
        stage.texts(thread, Role::User).await.join("\n") + &stage.texts(thread, Role::Assistant).await.join("\n");
    assert!(!said.contains("let me look") && !said.contains("look at the note"), "{said}");
}

#[tokio::test]
async fn the_skill_is_told_at_every_step_and_never_to_a_child() {
    let brain = |request: &Request| match (is(request, "worker"), request.assistant_turns()) {
        (true, _) => Reply::text("done"),
        (false, 0) => Reply::call("subagent", run("work", false)),
        (false, 1) => Reply::call("subagent_worker", json!({})),
        (false, _) => Reply::text("good"),
    };
    let stage = Stage::new(vec![boss(), worker()], brain).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let asked = stage.asked("boss");
    assert_eq!(asked.len(), 3);
    for request in &asked {
        assert!(request.system().contains("# Skill: subagents"));
        assert!(request.system().contains("- `worker`: The worker does it."), "{}", request.system());
        assert!(request.tools().contains(&"subagent") && !request.tools().contains(&"subagent_worker"));
    }
    assert!(answered(&asked[2]).as_str().unwrap().starts_with("There is no tool `subagent_worker` here."));
    for request in stage.asked("worker") {
        assert!(!request.system().contains("Skill"));
        assert_eq!(request.tools(), ["read_file", "list_files"]);
    }
}

#[tokio::test]
async fn a_result_that_is_read_is_no_message_and_one_that_is_not_is() {
    for reads in [true, false] {
        let brain = move |request: &Request| match (is(request, "worker"), request.assistant_turns()) {
            (true, _) => Reply::text("painted").after(Duration::from_millis(100)),
            (false, 0) => Reply::call("subagent", run("paint", true)),
            (false, 1) if reads => {
                let run = answered(request)["runId"].clone();
                Reply::call("subagent", json!({"action": "resume", "runId": run}))
            }
            (false, 2) if reads => {
                let run = request.tool_results()[0].text.clone();
                let run: Value = serde_json::from_str(&run).unwrap();
                Reply::call("subagent", json!({"action": "result", "runId": run["runId"]}))
                    .after(Duration::from_millis(400))
            }
            (false, _) => Reply::text("over"),
        };
        let stage = Stage::new(vec![boss(), worker()], brain).await;
        let (thread, _) = stage.create("boss", "go").await;
        stage.settle(thread).await;
        let silent: Vec<_> = stage.messages(thread).await.into_iter().filter(|message| message.silent).collect();
        let row = runs(&stage, thread).await.pop().unwrap();
        assert!(row.delivered_at.is_some());
        if reads {
            // The model had the news before it asked, or not at all: here the answer was held back until the end.
            assert!(silent.len() <= 1, "{silent:?}");
            let told = answered(stage.asked("boss").last().unwrap());
            assert_eq!(told["result"]["decision"]["summary"], "painted");
        } else {
            let texts: Vec<_> = silent.iter().map(|message| message.content.as_str()).collect();
            assert_eq!(texts, [format!("Subagent run {} (profile worker) is completed:\n\npainted", row.id)]);
        }
    }
}

#[tokio::test]
async fn an_interrupted_run_survives_a_restart_and_is_resumed_with_its_conversation() {
    let brain = |request: &Request| {
        let turns = request.assistant_turns();
        if is(request, "worker") {
            let resumed = request.last_text().contains("go on");
            return if resumed { Reply::text("finished") } else { Reply::hang() };
        }
        let first = request.tool_results().first().map(|result| result.text.clone()).unwrap_or_default();
        let first: Value = serde_json::from_str(&first).unwrap_or_default();
        match turns {
            0 => Reply::call("subagent", run("a long job", true)),
            1 => Reply::call("subagent", json!({"action": "interrupt", "runId": first["runId"]})),
            2 => Reply::text("stopped it"),
            3 => Reply::call("subagent", json!({"action": "resume", "runId": first["runId"], "message": "go on"})),
            _ => Reply::text("all done"),
        }
    };
    let mut stage = Stage::new(vec![boss(), worker()], brain).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let row = runs(&stage, thread).await.pop().unwrap();
    assert_eq!((row.status, row.ended_at), (RunStatus::Interrupted, None));
    assert_eq!(answered(&stage.asked("boss")[2])["status"], "interrupted");
    assert_eq!(stage.kids(thread).await[0].status, ThreadStatus::Idle);
    stage.runtime.shutdown().await;
    stage.restart().await;
    stage.runtime.until_parked().await;
    assert_eq!(stage.store.run(&row.id).await.unwrap().unwrap().status, RunStatus::Interrupted, "nobody resumed it");
    stage.runtime.send(thread, entourage_runtime::Outgoing::user("resume it"), None).await.unwrap();
    until(&stage, &row.id, RunStatus::Done).await;
    stage.settle(thread).await;
    let told = answered(stage.asked("boss").last().unwrap());
    assert_eq!((&told["runId"], &told["status"]), (&json!(row.id), &json!("completed")));
    assert_eq!((runs(&stage, thread).await.len(), stage.kids(thread).await.len()), (1, 1));
    let kid = stage.kids(thread).await[0].id;
    assert_eq!(stage.texts(kid, Role::User).await, ["a long job", "go on"]);
}

#[tokio::test]
async fn an_interrupted_run_can_be_cancelled_from_outside() {
    let brain = |request: &Request| match (is(request, "worker"), request.assistant_turns()) {
        (true, _) => Reply::hang(),
        (false, 0) => Reply::call("subagent", run("a long job", true)),
        (false, 1) => Reply::call("subagent", json!({"action": "interrupt", "runId": answered(request)["runId"]})),
        (false, _) => Reply::text("good"),
    };
    let stage = Stage::new(vec![boss(), worker()], brain).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let row = runs(&stage, thread).await.pop().unwrap();
    stage.runtime.cancel(&row.id).await.unwrap();
    assert_eq!(stage.store.run(&row.id).await.unwrap().unwrap().status, RunStatus::Cancelled);
}

#[tokio::test]
async fn two_hundred_background_runs_end_and_are_told_once_while_the_list_answers_at_once() {
    const RUNS: usize = 200;
    let brain = |request: &Request| match (is(request, "worker"), request.assistant_turns()) {
        (true, _) => Reply::text("ok").after(Duration::from_millis(300)),
        (false, 0) => Reply::calls((0..RUNS).map(|job| ("subagent", run(&format!("job {job}"), true)))),
        (false, 1..=4) => Reply::call("subagent", json!({"action": "list"})),
        (false, _) => Reply::text("good"),
    };
    let limits = Limits { children_live: 200, children_total: 200, ..Limits::default() };
    let stage = Stage::with_limits(vec![boss(), worker()], brain, limits).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let messages = stage.messages(thread).await;
    let mut lists = 0;
    for answer in messages.iter().filter(|message| message.tool_calls.len() == 1) {
        let id = &answer.tool_calls[0].id;
        let result = messages.iter().find(|message| message.tool_call_id.as_ref() == Some(id)).unwrap();
        let listed: Value = serde_json::from_str(&result.content).unwrap();
        assert_eq!(listed["runs"].as_array().unwrap().len(), RUNS);
        assert!(result.created_at.since(answer.created_at) < Duration::from_millis(20));
        lists += 1;
    }
    assert_eq!(lists, 4);
    let rows = runs(&stage, thread).await;
    assert!(rows.len() == RUNS && rows.iter().all(|row| row.status == RunStatus::Done && row.delivered_at.is_some()));
    let news: Vec<_> =
        messages.iter().filter(|message| message.silent).map(|message| message.content.clone()).collect();
    for row in &rows {
        let of_run = news.iter().filter(|text| text.contains(row.id.as_str())).count();
        assert_eq!(of_run, 1, "{}", row.id);
    }
}

#[tokio::test]
async fn a_long_result_is_cut_and_can_be_read_to_its_end() {
    let long = "0123456789".repeat(7_000);
    let said = long.clone();
    let brain = move |request: &Request| {
        if is(request, "worker") {
            return Reply::text(said.clone());
        }
        let told = answered(request);
        match request.assistant_turns() {
            0 => Reply::call("subagent", run("write much", false)),
            1 => Reply::call(
                told["resultCut"]["readAll"]["tool"].as_str().unwrap(),
                told["resultCut"]["readAll"]["arguments"].clone(),
            ),
            _ => match told["result"]["nextOffset"].as_u64() {
                Some(next) => {
                    Reply::call("subagent", json!({"action": "result", "runId": told["runId"], "offset": next}))
                }
                None => Reply::text("read"),
            },
        }
    };
    let stage = Stage::new(vec![boss(), worker()], brain).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let answers = stage.texts(thread, Role::Tool).await;
    assert!(answers[0].len() < 20_000, "{}", answers[0].len());
    let parts = answers[1..].iter().map(|answer| serde_json::from_str::<Value>(answer).unwrap()["result"].clone());
    let whole: String = parts.map(|part| part["text"].as_str().unwrap().to_owned()).collect();
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(whole["decision"]["summary"], long.as_str());
}
