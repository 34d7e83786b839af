//! Hooks that hear of a request before a model is asked.

use crate::hooks::{hooked, play, values, with_hooks};
use crate::smithy::once;
use crate::stage::{Stage, by_turn};
use entourage_model::{Name, Role, RunStatus, Team, VariableValue};
use entourage_store::{Page, RunFilter};
use entourage_testkit::Reply;
use serde_json::{Value, json};
use std::sync::Arc;

#[tokio::test]
async fn the_system_message_and_the_history_are_what_the_hooks_make_of_them() {
    let hooks = [
        ("one", "after_system_message", "return given + ' one'"),
        ("two", "after_system_message", "return given + ' two'"),
        (
            "short",
            "filter_messages",
            "return given.filter((row: any) => row.content !== 'go').concat([{ role: 'user', content: 'come' }])",
        ),
        ("last", "prefilter_llm_history", "return [...given, { role: 'user', content: `of ${given.length}` }]"),
    ];
    let (stage, thread) = play(hooked(&hooks, ""), by_turn(vec![("boss", vec![Reply::text("over")])])).await;
    let asked = &stage.asked("boss")[0];
    assert!(asked.system().ends_with(" one two"), "{}", asked.system());
    assert_eq!(asked.texts("user"), ["come", "of 2"]);
    assert_eq!(stage.texts(thread, Role::User).await, ["go"], "what was said stays");
}

#[tokio::test]
async fn what_hooks_give_and_why_they_fail_holds_no_secret() {
    let hooks = [
        ("one", "after_system_message", "return `${given} ${state.env('TOKEN')}`"),
        ("two", "prefilter_llm_history", "return [...given, { role: 'user', content: state.env('TOKEN') }]"),
        ("three", "before_create_message", "return { ...given, content: `${given.content} ${state.env('TOKEN')}` }"),
        ("four", "after_create_message", "throw new Error(state.env('TOKEN'))"),
        ("five", "tool_call_done", "return { block: true, reason: state.env('TOKEN') }"),
    ];
    let mut stage = Stage::new(Vec::new(), once(json!({}))).await;
    stage.team = hooked(&hooks, "");
    stage.variables.insert("TOKEN".to_owned(), VariableValue::secret("hunter2"));
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let asked: Vec<_> = stage.asked("boss").iter().map(|request| request.body().to_string()).collect();
    let journal = stage.store.journal(thread, 0, 1000).await.unwrap();
    let journal = serde_json::to_string(&journal.iter().map(|stored| &stored.event).collect::<Vec<_>>()).unwrap();
    for told in asked.iter().chain([&journal]) {
        assert!(told.contains("[the secret TOKEN]") && !told.contains("hunter2"), "{told}");
    }
    assert!(asked[0].contains("boss") && asked[1].contains("was not called: [the secret TOKEN]"), "{asked:?}");
}

#[tokio::test]
async fn a_prompt_s_own_hooks_go_before_its_agent_s() {
    let hooks = [
        ("one", "after_system_message", "return given + ' one'"),
        ("two", "after_system_message", "return given + ' two'"),
    ];
    let mut team = Team::clone(&hooked(&hooks, ""));
    let boss = Arc::make_mut(team.agents.get_mut("boss").unwrap());
    boss.side_a.prompt.hooks = vec![Name::from("two")];
    let (stage, _) = play(Arc::new(team), by_turn(vec![("boss", vec![Reply::text("over")])])).await;
    let system = stage.asked("boss")[0].system();
    assert!(system.ends_with(" two") && !system.contains(" one"), "{system}");
}

#[tokio::test]
async fn a_call_whose_result_is_filtered_out_is_given_another() {
    let hooks = [("short", "filter_messages", "return given.filter((row: any) => row.role !== 'tool')")];
    let (stage, _) = play(hooked(&hooks, "return 'secret';"), once(json!({}))).await;
    let body: Value = stage.asked("boss")[1].body().clone();
    assert!(!body.to_string().contains("secret"), "{body}");
    assert_eq!(stage.asked("boss")[1].tool_results()[0].text, "The result of this call is not shown.");
}

#[tokio::test]
async fn a_request_that_is_blocked_is_not_sent_and_the_run_fails_for_that_reason() {
    let hooks = [
        ("count", "filter_messages", "await state.setValue('asked', ((await state.getValue('asked')) ?? 0) + 1)"),
        ("no", "prefilter_llm_history", "return { block: true, reason: 'too dear' }"),
        ("never", "prefilter_llm_history", "await state.setValue('never', 1)"),
    ];
    let (stage, thread) = play(hooked(&hooks, ""), by_turn(vec![("boss", vec![Reply::text("over")])])).await;
    assert!(stage.model.requests().is_empty());
    assert_eq!(values(&stage, thread).await, json!({"asked": 1}), "what they did counts");
    let runs = stage.store.runs(&RunFilter::default(), Page { after: None, limit: 10 }).await.unwrap();
    assert_eq!((runs[0].status, runs[0].error.as_deref()), (RunStatus::Failed, Some("too dear")));
}

#[tokio::test]
async fn what_a_hook_does_to_a_request_is_kept_with_the_answer() {
    let hooks = [
        (
            "count",
            "prefilter_llm_history",
            "await state.setValue('asked', ((await state.getValue('asked')) ?? 0) + 1);
        throw new Error(`${await state.getValue('asked')}`)",
        ),
        ("two", "filter_messages", "await state.setValue('two', given.length)"),
    ];
    let (stage, thread) = play(hooked(&hooks, "return 'done';"), once(json!({}))).await;
    assert_eq!(values(&stage, thread).await, json!({"two": 3}), "the last request had three; what threw did nothing");
    assert_eq!(stage.asked("boss").len(), 2);
}

#[tokio::test]
async fn each_side_s_requests_are_heard_of_by_its_own_hooks() {
    let mut pair = entourage_testkit::cast::pair("boss");
    pair.side_a.prompt.hooks = vec!["a".into()];
    pair.side_b.as_mut().unwrap().prompt.hooks = vec!["b".into()];
    let hooks = [
        ("a", "after_system_message", "return given + ' for a'"),
        ("b", "after_system_message", "return given + ' for b'"),
    ];
    let team = with_hooks(&entourage_testkit::cast::team(vec![pair]), &hooks);
    let brain = by_turn(vec![
        ("boss_a", vec![Reply::text("your turn"), Reply::call("read_file", json!({"path": "note.txt"}))]),
        ("boss_b", vec![Reply::text("yours")]),
    ]);
    let (stage, _) = play(team, brain).await;
    assert!(stage.asked("boss_a").iter().all(|request| request.system().ends_with(" for a")));
    assert!(stage.asked("boss_b").iter().all(|request| request.system().ends_with(" for b")));
    assert_eq!(stage.asked("boss_b").len(), 1);
}
