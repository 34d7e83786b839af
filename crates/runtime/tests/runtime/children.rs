//! Children: side by side, in call order, in the background, to be written to again.

use crate::stage::{Stage, by_turn, is, solo};
use entourage_model::{Limits, Role, RunStatus, ThreadStatus};
use entourage_store::{Page, RunFilter};
use entourage_testkit::cast::{background, blocking, resumable};
use entourage_testkit::{Reply, Request};
use serde_json::json;
use std::time::Duration;

fn jobs(count: usize) -> Reply {
    Reply::calls((0..count).map(|job| ("worker", json!({"message": format!("job {job}")}))))
}

/// The boss hands out jobs and ends; a worker answers with its job, the later the sooner.
fn delegating(count: usize) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    move |request: &Request| {
        if is(request, "worker") {
            let job = request.last_text();
            let number: u64 = job.trim_start_matches("job ").parse().unwrap_or(0);
            let wait = Duration::from_millis(100 - 20 * number.min(5));
            return Reply::text(format!("did {job}")).after(wait);
        }
        if request.assistant_turns() == 0 { jobs(count) } else { Reply::text("all done") }
    }
}

#[tokio::test]
async fn blocking_children_run_side_by_side_and_answer_in_call_order() {
    let stage = Stage::new(vec![solo("boss", vec![blocking("worker")]), solo("worker", vec![])], delegating(3)).await;
    let (thread, _) = stage.create("boss", "go").await;
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Idle);
    let results = stage.asked("boss")[1].tool_results();
    let texts: Vec<_> = results.iter().map(|result| result.text.as_str()).collect();
    assert_eq!(texts, ["did job 0", "did job 1", "did job 2"]);
    let kids = stage.kids(thread).await;
    assert!(kids.len() == 3 && kids.iter().all(|kid| kid.status == ThreadStatus::Done && kid.depth == 1));
    let runs = stage.store.runs(&RunFilter::default(), Page { after: None, limit: 10 }).await.unwrap();
    let delivered = runs.iter().filter(|run| run.parent == Some(thread) && run.delivered_at.is_some()).count();
    assert_eq!(delivered, 3);
}

#[tokio::test]
async fn a_background_child_answers_later_with_a_silent_message() {
    let brain = |request: &Request| {
        if is(request, "worker") {
            return Reply::text("painted").after(Duration::from_millis(50));
        }
        match request.assistant_turns() {
            0 => jobs(1),
            1 => Reply::text("meanwhile"),
            _ => Reply::text("got it"),
        }
    };
    let stage = Stage::new(vec![solo("boss", vec![background("worker")]), solo("worker", vec![])], brain).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(stage.texts(thread, Role::Assistant).await, ["", "meanwhile", "got it"]);
    let messages = stage.messages(thread).await;
    let news: Vec<_> = messages.iter().filter(|message| message.silent).collect();
    let kid = stage.kids(thread).await[0].id;
    assert_eq!(news.len(), 1);
    assert_eq!(news[0].content, format!("Subagent (reference: {kid}) has returned the following result:\n\npainted"));
}

#[tokio::test]
async fn a_resumable_child_keeps_its_conversation() {
    let brain = |request: &Request| {
        if is(request, "worker") {
            return Reply::text(format!("heard {}", request.texts("user").join("+")));
        }
        let reference = request
            .tool_results()
            .last()
            .and_then(|result| result.text.rsplit("Reference: ").next().map(|reference| reference.trim().to_owned()));
        match (request.assistant_turns(), reference) {
            (0, _) => Reply::call("subagent_create", json!({"agent": "worker", "message": "one", "name": "Ada"})),
            (1, Some(reference)) => {
                Reply::call("subagent_message", json!({"referenceId": reference, "message": "two"}))
            }
            _ => Reply::text("over"),
        }
    };
    let stage = Stage::new(vec![solo("boss", vec![resumable("worker")]), solo("worker", vec![])], brain).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let kids = stage.kids(thread).await;
    assert_eq!((kids.len(), kids[0].status), (1, ThreadStatus::Idle));
    assert_eq!(stage.texts(kids[0].id, Role::Assistant).await, ["heard one", "heard one+two"]);
    assert_eq!(kids[0].tags, ["name:Ada"]);
    let state = stage.runtime.state(thread).await.unwrap().unwrap();
    assert_eq!(state.registry().map(|entry| entry.status).collect::<Vec<_>>(), ["idle"]);
}

#[tokio::test]
async fn the_tree_takes_exactly_as_many_children_as_it_may() {
    let limits = Limits { children_total: 2, ..Limits::default() };
    let team = vec![solo("boss", vec![blocking("worker")]), solo("worker", vec![])];
    let stage = Stage::with_limits(team, delegating(4), limits).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(stage.kids(thread).await.len(), 2);
    let results = stage.asked("boss")[1].tool_results();
    let refused = results.iter().filter(|result| result.text.contains("subagent_limit_reached")).count();
    assert_eq!((results.len(), refused), (4, 2));
}

#[tokio::test]
async fn depth_counts_exactly() {
    for depth in 0..=2 {
        let limits = Limits { depth, ..Limits::default() };
        let brain = |request: &Request| {
            if request.assistant_turns() == 0 { jobs(1) } else { Reply::text("done") }
        };
        let team = vec![solo("worker", vec![blocking("worker")])];
        let stage = Stage::with_limits(team, brain, limits).await;
        let (thread, _) = stage.create("worker", "go").await;
        stage.settle(thread).await;
        let filter = entourage_store::ThreadFilter { root: Some(thread), ..Default::default() };
        let threads = stage.store.threads(&filter, Page { after: None, limit: 10 }).await.unwrap();
        assert_eq!(threads.iter().map(|row| row.depth).max(), Some(depth));
    }
}

#[tokio::test]
async fn a_child_that_fails_is_told_to_its_parent_as_an_error() {
    let brain =
        by_turn(vec![("boss", vec![jobs(1), Reply::text("too bad")]), ("worker", vec![Reply::fail(404, "no model")])]);
    let stage = Stage::new(vec![solo("boss", vec![blocking("worker")]), solo("worker", vec![])], brain).await;
    let (thread, run) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(stage.store.run(&run).await.unwrap().unwrap().status, RunStatus::Done);
    assert_eq!(stage.kids(thread).await[0].status, ThreadStatus::Failed);
    let result = stage.messages(thread).await.into_iter().find(|message| message.role == Role::Tool).unwrap();
    assert_eq!(result.tool_status, Some(entourage_model::ToolStatus::Error));
}

#[tokio::test]
async fn parked_threads_leave_memory_and_many_children_cost_one_task_each() {
    let limits = Limits { children_live: 500, children_total: 500, ..Limits::default() };
    let team = vec![solo("boss", vec![blocking("worker")]), solo("worker", vec![])];
    let stage = Stage::with_limits(team, delegating(300), limits).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(stage.asked("boss")[1].tool_results().len(), 300);
    stage.runtime.until_parked().await;
    assert_eq!(stage.runtime.threads_in_memory(), 0);
}
