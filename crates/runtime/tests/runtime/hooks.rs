//! Hooks of a team: whose run, in which order, and what is left of them.

use crate::smithy::user_of;
use crate::stage::{Stage, by_turn};
use entourage_model::{Act, Hook, Name, Source, Team, ThreadId};
use entourage_runtime::{Aftermath, Occasion};
use entourage_script::{NoMemory, Sources, evaluate};
use entourage_testkit::{Reply, cast};
use serde_json::{Value, json};
use std::sync::Arc;

struct Only(String);

impl Sources for Only {
    fn read(&self, _: &str) -> std::io::Result<Vec<u8>> {
        Ok(self.0.clone().into_bytes())
    }
}

fn hook(name: &str, event: &str, body: &str) -> (Name, Arc<Hook>) {
    let text = format!(
        "import {{ defineHook }} from '@standardagents/spec';
export default defineHook({{ hook: '{event}', id: '{name}', execute: async (state: any, given: any, more: any) => {{ {body} }} }});"
    );
    let program = evaluate(&format!("agents/hooks/{name}.ts"), &Only(text), &NoMemory).unwrap().program;
    let source = Source { format: "standard-agents".to_owned(), file: None };
    (name.into(), Arc::new(Hook { event: event.to_owned(), program: Arc::new(program), source }))
}

/// A thread at rest whose agent names these hooks; the prompt names those of `by_prompt`.
async fn stage(hooks: &[(&str, &str, &str)], by_prompt: &[&str]) -> (Stage, ThreadId) {
    let mut stage = Stage::new(Vec::new(), by_turn(vec![("boss", vec![Reply::text("over")])])).await;
    let mut boss = user_of("boss", &[]);
    boss.hooks = hooks.iter().map(|(name, ..)| Name::from(*name)).collect();
    boss.side_a.prompt.hooks = by_prompt.iter().map(|name| Name::from(*name)).collect();
    let hooks = hooks.iter().map(|(name, event, body)| hook(name, event, body)).collect();
    stage.team = Arc::new(Team { hooks, ..Team::clone(&cast::team(vec![boss])) });
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    (stage, thread)
}

async fn hear(hooks: &[(&str, &str, &str)], by_prompt: &[&str], occasion: Occasion) -> Aftermath {
    let (stage, thread) = stage(hooks, by_prompt).await;
    stage.runtime.hear(thread, occasion).await.unwrap()
}

fn filter(messages: &Value) -> Occasion {
    Occasion::FilterMessages { messages: messages.as_array().cloned().unwrap() }
}

#[tokio::test]
async fn each_hears_what_the_one_before_it_left() {
    let add = "return [...given, { by: given.length }]";
    let hooks = [
        ("one", "filter_messages", add),
        ("other", "after_create_message", "throw new Error('nobody asked')"),
        ("two", "filter_messages", add),
    ];
    let after = hear(&hooks, &[], filter(&json!([{"by": "nobody"}]))).await;
    assert_eq!(after.occasion, filter(&json!([{"by": "nobody"}, {"by": 1}, {"by": 2}])));
    assert_eq!((after.acts, after.blocked), (vec![], None));
}

#[tokio::test]
async fn the_prompt_s_hooks_go_before_the_agent_s() {
    let hooks =
        [("one", "after_system_message", "return given + '1'"), ("two", "after_system_message", "return given + '2'")];
    let text = |text: &str| Occasion::SystemMessage { text: text.to_owned() };
    let after = hear(&hooks, &[], text("be kind")).await;
    assert_eq!(after.occasion, text("be kind12"));
    let after = hear(&hooks, &["two"], text("be kind")).await;
    assert_eq!(after.occasion, text("be kind2"), "the agent's are not asked");
}

#[tokio::test]
async fn what_fails_has_not_been_there() {
    let hooks = [
        ("one", "before_create_message", "await state.setValue('a', 1); throw new Error('no')"),
        ("two", "before_create_message", "return 'not a message'"),
        (
            "three",
            "before_create_message",
            "await state.setValue('b', await state.getValue('a')); return { ...given, seen: true }",
        ),
        ("four", "before_create_message", "state.queueTool('nope'); return { gone: true }"),
    ];
    let message = |value: &Value| Occasion::BeforeCreateMessage { message: value.as_object().cloned().unwrap() };
    let after = hear(&hooks, &[], message(&json!({"content": "x"}))).await;
    assert_eq!(after.occasion, message(&json!({"content": "x", "seen": true})));
    assert_eq!(after.acts, [Act::SetValue { key: "b".to_owned(), value: Value::Null }]);
}

#[tokio::test]
async fn a_hook_reads_its_thread_and_what_those_before_it_did() {
    let hooks = [
        ("one", "after_thread_created", "await state.setValue('agent', state.agentId)"),
        (
            "two",
            "after_thread_created",
            "await state.setValue('said', [await state.getValue('agent'), (await state.getMessages())[0].content])",
        ),
    ];
    let after = hear(&hooks, &[], Occasion::ThreadCreated).await;
    let set = |key: &str, value: Value| Act::SetValue { key: key.to_owned(), value };
    assert_eq!(after.acts, [set("agent", json!("boss")), set("said", json!(["boss", "go"]))]);
}

#[tokio::test]
async fn a_request_that_is_blocked_is_heard_of_by_nobody_else() {
    let hooks = [
        ("one", "prefilter_llm_history", "return { block: true, reason: 'too dear' }"),
        ("two", "prefilter_llm_history", "await state.setValue('a', 1)"),
    ];
    let after = hear(&hooks, &[], Occasion::PrefilterHistory { messages: Vec::new() }).await;
    assert_eq!((after.blocked.as_deref(), after.acts), (Some("too dear"), vec![]));
}
