//! What the dex dialect shows on disk, and that it is made good after a crash.

use crate::dex::{answered, boss, run, runs, until, worker};
use crate::stage::{LONG, Stage, is};
use entourage_model::{RunId, RunStatus};
use entourage_testkit::{Reply, Request};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn events(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "the last line is whole");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Waits for what is written behind a commit that this test did not make.
async fn eventually(what: impl Fn() -> bool) {
    let holds = async {
        while !what() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, holds).await.expect("it never came to be");
}

fn working(request: &Request) -> Reply {
    match (is(request, "worker"), request.assistant_turns()) {
        (true, 0) => Reply::call("read_file", json!({"path": "note.txt"})),
        (true, _) => Reply::text("the end").after(Duration::from_millis(50)),
        (false, 0) => Reply::call("subagent", run("the task", true)),
        (false, _) => Reply::text("good"),
    }
}

#[tokio::test]
async fn a_run_is_shown_from_its_beginning_to_its_end() {
    let stage = Stage::new(vec![boss(), worker()], working).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.model.until_requests(2).await;
    let id = loop {
        // The model is asked for its next step only once the run is shown.
        if let Some(row) = runs(&stage, thread).await.pop() {
            break row.id;
        }
    };
    let folder = stage.data().join(format!("runs/{id}"));
    let before = std::fs::read(folder.join("request.json")).unwrap();
    stage.settle(thread).await;
    let request = read(&folder.join("request.json"));
    assert_eq!(std::fs::read(folder.join("request.json")).unwrap(), before);
    assert_eq!(
        (&request["runId"], &request["profile"], &request["task"]),
        (&json!(id), &json!("worker"), &json!("the task"))
    );
    let status = read(&folder.join("status.json"));
    assert_eq!((&status["status"], &status["result"]["decision"]["summary"]), (&json!("completed"), &json!("the end")));
    let shown = events(&folder.join("events.jsonl"));
    let kinds: Vec<_> = shown.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        ["created", "status", "message", "assistant", "tool_result", "assistant", "turn_ended", "status"]
    );
    stage.runtime.delete(thread).await.unwrap();
    assert!(!folder.exists(), "nothing is known of a deleted run");
}

#[tokio::test]
async fn what_a_crash_left_half_written_is_made_good_at_the_next_start() {
    let mut stage = Stage::new(vec![boss(), worker()], working).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let id = runs(&stage, thread).await.pop().unwrap().id;
    let folder = stage.data().join(format!("runs/{id}"));
    let whole = ["request.json", "status.json", "events.jsonl"].map(|file| std::fs::read(folder.join(file)).unwrap());
    // As if the process had died over each of the three files in turn.
    let damages: [fn(&Path); 4] = [
        |folder| std::fs::remove_dir_all(folder).unwrap(),
        |folder| std::fs::remove_file(folder.join("status.json")).unwrap(),
        |folder| {
            let text = std::fs::read_to_string(folder.join("events.jsonl")).unwrap();
            std::fs::write(folder.join("events.jsonl"), &text[..text.len() - 30]).unwrap();
            std::fs::write(folder.join("status.json"), r#"{"status":"running"}"#).unwrap();
        },
        |folder| std::fs::write(folder.join("status.json"), "{\"stat").unwrap(),
    ];
    for damage in damages {
        stage.runtime.shutdown().await;
        damage(&folder);
        stage.restart().await;
        let is_whole = || {
            let files = ["request.json", "status.json", "events.jsonl"].map(|file| std::fs::read(folder.join(file)));
            files.iter().zip(&whole).all(|(found, whole)| found.as_ref().is_ok_and(|found| found == whole))
        };
        eventually(is_whole).await;
    }
}

#[tokio::test]
async fn a_run_that_was_at_work_when_the_process_ended_goes_on_in_the_same_files() {
    let brain = |request: &Request| match (is(request, "worker"), request.assistant_turns()) {
        (true, 0) => Reply::call("read_file", json!({"path": "note.txt"})),
        (true, _) => Reply::text("the end").after(Duration::from_millis(200)),
        (false, 0) => Reply::call("subagent", run("the task", true)),
        (false, _) => Reply::text("good"),
    };
    let mut stage = Stage::new(vec![boss(), worker()], brain).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.model.until_requests(4).await;
    stage.runtime.shutdown().await;
    let id = runs(&stage, thread).await.pop().unwrap().id;
    let folder = stage.data().join(format!("runs/{id}"));
    let before = events(&folder.join("events.jsonl")).len();
    stage.restart().await;
    until(&stage, &id, RunStatus::Done).await;
    stage.settle(thread).await;
    let shown = events(&folder.join("events.jsonl"));
    let numbers: Vec<_> = shown.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    let expected: Vec<_> = (1..).take(shown.len()).collect();
    assert!(before < shown.len() && numbers == expected, "{numbers:?}");
    assert_eq!(read(&folder.join("status.json"))["status"], "completed");
}

#[tokio::test]
async fn assignments_are_shown_as_they_stand() {
    let brain = |request: &Request| match (is(request, "worker"), request.assistant_turns()) {
        (true, _) => Reply::text(format!("did {}", request.last_text())),
        (false, 0) => Reply::call("subagent_assign_task", json!({"profile": "worker", "tasks": ["A", "B"]})),
        (false, 1) => Reply::call("task_start", json!({"taskId": "item-2"})),
        (false, 2) => Reply::call("task_join", json!({"taskIds": ["item-2"]})),
        (false, _) => Reply::text("good"),
    };
    let stage = Stage::new(vec![boss(), worker()], brain).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let joined = answered(&stage.asked("boss")[3]);
    assert_eq!(joined["results"][0]["result"]["decision"]["summary"], "did B");
    let file = |item: &str| stage.data().join(format!("assignments/{thread}-{item}.json"));
    let (first, second) = (read(&file("item-1")), read(&file("item-2")));
    assert_eq!((&first["task"], &first["runId"], &first["status"]), (&json!("A"), &Value::Null, &json!("pending")));
    let run = RunId::from(second["runId"].as_str().unwrap());
    assert_eq!(runs(&stage, thread).await.pop().unwrap().id, run);
    assert_eq!(
        (&second["profile"], &second["status"], &second["response"]),
        (&json!("worker"), &json!("completed"), &json!("did B"))
    );
    stage.runtime.delete(thread).await.unwrap();
    assert!(!file("item-1").exists());
}
