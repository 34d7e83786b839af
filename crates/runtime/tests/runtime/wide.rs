//! Seven children with long results: what their parent is shown is bounded, and it can read every byte.

use crate::stage::{Stage, is, solo};
use entourage_model::{Agent, Dialect, Limits, Role};
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
async fn play(
    (dialect, result): (Dialect, fn(usize) -> String),
    brain: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> (usize, Vec<String>) {
    let brain = move |request: &Request| {
        if is(request, "boss") {
            return brain(request);
        }
        Reply::text(result(request.last_text().parse().unwrap()))
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
    let (grown, told) = play((Dialect::AgentScope, long), brain).await;
    assert!(grown < CHILDREN * SHOWN_BYTES_MAX, "{grown}");
    for child in 0..CHILDREN {
        let parts = told.iter().skip(child).step_by(CHILDREN).map(|text| {
            let text = text.split_once("reply:\n").or_else(|| text.split_once("Result:\n")).unwrap().1;
            text.rsplit_once("\n[cut: ").map_or(text, |(shown, _)| shown)
        });
        assert_eq!(parts.collect::<String>(), long(child), "child {child}");
    }
}

/// By how much the boss's context grew, and the results that it read to their ends.
async fn read_all(result: fn(usize) -> String) -> (usize, Vec<Value>) {
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
    let (grown, told) = play((Dialect::Dex, result), brain).await;
    let answers: Vec<Value> = told.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let whole = |child: usize| {
        let parts = answers.iter().skip(child).step_by(CHILDREN).skip(1);
        let whole: String = parts.map(|part| part["result"]["text"].as_str().unwrap()).collect();
        serde_json::from_str(&whole).unwrap()
    };
    (grown, (0..CHILDREN).map(whole).collect())
}

#[tokio::test]
async fn long_results_of_dex_runs_are_bounded_and_read_to_their_end() {
    let (grown, wholes) = read_all(long).await;
    assert!(grown < CHILDREN * SHOWN_BYTES_MAX, "{grown}");
    for (child, whole) in wholes.iter().enumerate() {
        assert_eq!(whole["decision"]["summary"], long(child), "child {child}");
    }
}

/// A report of which no text and no list is long, nor any object but one.
fn report(child: usize) -> String {
    let entry = |n: usize| format!("{child}:{n} {}", "x".repeat(500));
    let entries = || (0..40).map(entry).collect::<Vec<_>>();
    let finding: serde_json::Map<String, Value> = (0..300).map(|n| (format!("key {n}"), json!(child))).collect();
    let decision = json!({"outcome": "done", "summary": format!("of {child}"), "confidence": "high"});
    json!({"decision": decision, "findings": [finding], "decisions": entries(), "risks": entries(), "nextSteps": entries()})
        .to_string()
}

#[tokio::test]
async fn long_reports_of_dex_runs_are_bounded_and_read_to_their_end() {
    let (grown, wholes) = read_all(report).await;
    // A result and what happened on the way, each with its own bound.
    assert!(grown < CHILDREN * 2 * SHOWN_BYTES_MAX, "{grown}");
    for (child, whole) in wholes.iter().enumerate() {
        let report: Value = serde_json::from_str(&report(child)).unwrap();
        for part in ["decision", "findings", "decisions", "risks", "nextSteps"] {
            assert_eq!(whole[part], report[part], "child {child}, {part}");
        }
    }
}

#[tokio::test]
async fn more_runs_than_an_answer_holds_are_joined_by_several() {
    let texts: Vec<String> = (0..CHILDREN).map(|child| child.to_string()).collect();
    let brain = move |request: &Request| {
        if !is(request, "boss") {
            return Reply::text(long(request.last_text().parse().unwrap()));
        }
        let results = request.tool_results();
        let last = results.last().map(|last| serde_json::from_str::<Value>(&last.text).unwrap()).unwrap_or_default();
        match (results.len(), &last["resultsCut"]["readOn"]["arguments"]) {
            (0, _) => Reply::call("subagent_assign_task", json!({"profile": "worker", "start": true, "tasks": texts})),
            (1, _) => Reply::call("task_join", json!({})),
            (_, Value::Null) => Reply::text("over"),
            (_, rest) => Reply::call("task_join", rest.clone()),
        }
    };
    let limits = Limits { tool_output_bytes: 8_000, ..Limits::default() };
    let stage = Stage::with_limits(vec![boss(Dialect::Dex), worker()], brain, limits).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let told = stage.texts(thread, Role::Tool).await;
    let joined = told[1..].iter().map(|text| serde_json::from_str::<Value>(text).unwrap()["results"].clone());
    let joined: Vec<Value> = joined.flat_map(|results| results.as_array().unwrap().clone()).collect();
    let tasks: Vec<&str> = joined.iter().map(|result| result["taskId"].as_str().unwrap()).collect();
    assert_eq!(tasks, ["item-1", "item-2", "item-3", "item-4", "item-5", "item-6", "item-7"]);
    assert!(told[1..].iter().all(|text| text.len() < 8_500) && told.len() > 3, "{}", told.len());
}

#[tokio::test]
async fn a_long_event_of_a_dex_run_is_bounded() {
    let brain = |request: &Request| match (is(request, "worker"), request.assistant_turns()) {
        (true, 0) => {
            Reply::calls((0..100).map(|n| ("find_files", json!({"pattern": format!("{n}{}", "x".repeat(400))}))))
        }
        (true, _) => Reply::text("nothing is called so"),
        (false, 0) => Reply::call("subagent", json!({"action": "run", "profile": "worker", "task": "look"})),
        (false, 1) => {
            let told: Value = serde_json::from_str(&request.tool_results()[0].text).unwrap();
            Reply::call("subagent", json!({"action": "status", "runId": told["runId"], "after": 2}))
        }
        (false, _) => Reply::text("over"),
    };
    let stage = Stage::new(vec![boss(Dialect::Dex), worker()], brain).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let asked = stage.asked("boss");
    let told: Value = serde_json::from_str(&asked.last().unwrap().tool_results()[1].text).unwrap();
    let calls = told["events"].as_array().unwrap().iter().find(|event| event["type"] == "assistant").unwrap();
    assert_eq!(calls["toolCalls"].as_array().unwrap().last().unwrap(), "[cut: 25 of 100 entries shown]");
    assert!(told["events"].to_string().len() <= 13 << 10, "{}", told["events"].to_string().len());
    assert!(told["eventsCut"]["leftOut"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn a_long_result_of_a_standard_child_is_a_file_that_its_parent_reads() {
    use entourage_testkit::cast::{blocking, tool};
    let brain = |request: &Request| {
        if !is(request, "boss") {
            return Reply::text(long(0));
        }
        let results = request.tool_results();
        let Some(first) = results.first() else { return Reply::call("kid", json!({"message": "go"})) };
        // The first answer says in which file all of it is, the others at which line to read on.
        let path = first.text.rsplit('`').find(|part| part.starts_with("/outputs/")).unwrap();
        let next = results.last().and_then(|last| last.text.strip_suffix(']')?.rsplit_once("offset ")?.1.parse().ok());
        match next {
            Some::<u64>(offset) => Reply::call("read_file", json!({"path": path, "offset": offset})),
            None if results.len() == 1 => Reply::call("read_file", json!({"path": path})),
            None => Reply::text("read"),
        }
    };
    let limits = Limits { tool_output_bytes: 12_000, ..Limits::default() };
    let boss = solo("boss", vec![blocking("kid"), tool("read_file")]);
    let stage = Stage::with_limits(vec![boss, solo("kid", vec![])], brain, limits).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let told = stage.texts(thread, Role::Tool).await;
    let shown = |text: &String| text.rsplit_once("[cut: ").map_or(text.clone(), |(shown, _)| shown.to_owned());
    assert_eq!(told[1..].iter().map(shown).collect::<String>(), long(0));
    assert!(told.iter().all(|text| text.len() <= 12_200));
}
