//! Seven children with long results: what their parent is shown is bounded, and it can read every byte.

use crate::stage::{Stage, is, solo};
use entourage_model::{Agent, Dialect};
use entourage_testkit::{Reply, Request};
use serde_json::{Value, json};

const CHILDREN: usize = 7;
/// The parent's context may grow by so much for each child: less than half of a result.
const SHOWN_BYTES_MAX: usize = 14_000;

/// A text in which every place is different.
fn long(child: usize) -> String {
    (0..3_750).map(|line| format!("{child}:{line:05}")).collect::<Vec<_>>().join("\n")
}

fn boss(dialect: Dialect) -> Agent {
    Agent { dialects: vec![dialect], ..solo("boss", vec![]) }
}

fn worker() -> Agent {
    let mut worker = solo("worker", vec![]);
    "dex".clone_into(&mut worker.source.format);
    worker
}

/// By how much the boss's context grew with the children's answers, and all that its tools told it, in the order of its
/// calls: the journal has them as they came.
async fn play(dialect: Dialect, brain: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> (usize, Vec<String>) {
    let brain = move |request: &Request| {
        if is(request, "boss") {
            return brain(request);
        }
        Reply::text(long(request.last_text().parse().unwrap()))
    };
    let stage = Stage::new(vec![boss(dialect), worker(), solo("kid", vec![])], brain).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let asked = stage.asked("boss");
    let told = asked.last().unwrap().tool_results().into_iter().map(|result| result.text).collect();
    (asked[1].bytes().len() - asked[0].bytes().len(), told)
}

#[tokio::test]
async fn long_results_of_agentscope_tasks_are_bounded_and_read_to_their_end() {
    let cut = |text: &str| {
        let (_, mark) = text.rsplit_once("read on with task_output ")?;
        serde_json::from_str::<Value>(mark.strip_suffix(']')?).ok()
    };
    let brain = move |request: &Request| match request.assistant_turns() {
        0 => Reply::calls(
            (0..CHILDREN).map(|child| ("agent_spawn", json!({"agent_id": "kid", "task": child.to_string()}))),
        ),
        turn => {
            // Each answer that says how to read on is read on.
            let results = request.tool_results();
            let next: Vec<_> =
                results.iter().rev().take(CHILDREN).rev().filter_map(|result| cut(&result.text)).collect();
            match next.len() {
                0 => Reply::text(format!("read in {turn} turns")),
                _ => Reply::calls(next.into_iter().map(|arguments| ("task_output", arguments))),
            }
        }
    };
    let (grown, told) = play(Dialect::AgentScope, brain).await;
    assert!(grown < CHILDREN * SHOWN_BYTES_MAX, "{grown}");
    for child in 0..CHILDREN {
        let parts = told.iter().skip(child).step_by(CHILDREN).map(|text| {
            let text = text.split_once("reply:\n").or_else(|| text.split_once("Result:\n")).unwrap().1;
            text.rsplit_once("\n[cut: ").map_or(text, |(shown, _)| shown)
        });
        assert_eq!(parts.collect::<String>(), long(child), "child {child}");
    }
}

#[tokio::test]
async fn long_results_of_dex_runs_are_bounded_and_read_to_their_end() {
    let brain = |request: &Request| match request.assistant_turns() {
        0 => Reply::calls(
            (0..CHILDREN)
                .map(|child| ("subagent", json!({"action": "run", "profile": "worker", "task": child.to_string()}))),
        ),
        _ => {
            let results = request.tool_results();
            let next = results.iter().rev().take(CHILDREN).rev().filter_map(|result| {
                let told: Value = serde_json::from_str(&result.text).ok()?;
                match &told["resultCut"]["readAll"]["arguments"] {
                    Value::Null => {
                        let offset = told["result"]["nextOffset"].as_u64()?;
                        Some(json!({"action": "result", "runId": told["runId"], "offset": offset}))
                    }
                    arguments => Some(arguments.clone()),
                }
            });
            let next: Vec<_> = next.map(|arguments| ("subagent", arguments)).collect();
            if next.is_empty() { Reply::text("read") } else { Reply::calls(next) }
        }
    };
    let (grown, told) = play(Dialect::Dex, brain).await;
    assert!(grown < CHILDREN * SHOWN_BYTES_MAX, "{grown}");
    let answers: Vec<Value> = told.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    for child in 0..CHILDREN {
        let parts = answers.iter().skip(child).step_by(CHILDREN).skip(1);
        let whole: String = parts.map(|part| part["result"]["text"].as_str().unwrap()).collect();
        let whole: Value = serde_json::from_str(&whole).unwrap();
        assert_eq!(whole["decision"]["summary"], long(child), "child {child}");
    }
}
