//! Hooks: what each is told, and what may come of it.

use crate::files::run;
use async_trait::async_trait;
use entourage_script::{Door, Fault, FaultKind, Heard, Limits, Occasion, run_hook};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

struct Nobody;

#[async_trait]
impl Door for Nobody {
    fn facts(&self) -> Value {
        json!({"threadId": "t1"})
    }

    async fn ask(&self, method: &str, _: Value) -> Result<Value, String> {
        if method == "setValue" { Ok(Value::Null) } else { Err(format!("no {method}")) }
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

/// Every occasion, with what its hook is told behind its state.
fn occasions() -> Vec<(Occasion, Value)> {
    let message = || object(json!({"id": "m1", "content": "x"}));
    let (call, result) = (json!({"id": "c1", "name": "t"}), || object(json!({"status": "success", "result": "r"})));
    vec![
        (Occasion::ThreadCreated, json!([])),
        (Occasion::SubagentCreated { child: json!({"reference": "k"}) }, json!([{"reference": "k"}])),
        (Occasion::SystemMessage { text: "be kind".to_owned() }, json!(["be kind"])),
        (Occasion::FilterMessages { messages: vec![json!({"id": 1})] }, json!([[{"id": 1}]])),
        (Occasion::PrefilterHistory { messages: vec![json!({"role": "user"})] }, json!([[{"role": "user"}]])),
        (Occasion::ToolCallStarted { call: call.clone() }, json!([call])),
        (Occasion::ToolCallDone { call: call.clone() }, json!([call])),
        (Occasion::BeforeCreateMessage { message: message() }, json!([message()])),
        (Occasion::AfterCreateMessage { message: message() }, json!([message()])),
        (Occasion::BeforeUpdateMessage { id: "m1".to_owned(), updates: message() }, json!(["m1", message()])),
        (Occasion::AfterUpdateMessage { message: message() }, json!([message()])),
        (Occasion::BeforeStoreToolResult { call: call.clone(), result: result() }, json!([call, result()])),
        (Occasion::AfterToolCallSuccess { call: call.clone(), result: result() }, json!([call, result()])),
        (Occasion::AfterToolCallFailure { call: call.clone(), result: result() }, json!([call, result()])),
    ]
}

async fn hear(body: &str, occasion: Occasion) -> Result<Heard, Fault> {
    let text = format!(
        "import {{ defineHook }} from '@standardagents/spec';
export default defineHook({{ hook: '{}', id: 'h', execute: async (state: any, ...given: any[]) => {{ {body} }} }});",
        occasion.name()
    );
    let program = run(&[("agents/hooks/h.ts", &text)]).expect("it can be evaluated").program;
    run_hook(&program, occasion, Arc::new(Nobody), Limits { time: Duration::from_secs(20), ..Limits::DEFINITION }).await
}

#[tokio::test]
async fn each_is_told_what_happens_behind_its_state() {
    let mut names = Vec::new();
    for (occasion, told) in occasions() {
        names.push(occasion.name());
        // What it was told is thrown, because only some can give anything back.
        let thrown = hear("throw new Error(state.threadId + JSON.stringify(given))", occasion).await.unwrap_err();
        assert_eq!(thrown.what, format!("t1{told}"));
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 14);
}

#[tokio::test]
async fn what_it_gives_takes_the_place_of_what_it_was_given_last() {
    for (occasion, _) in occasions() {
        let name = occasion.name();
        let heard = hear("return given.at(-1)", occasion.clone()).await.unwrap();
        let changes = !matches!(
            name,
            "after_thread_created"
                | "after_subagent_created"
                | "tool_call_started"
                | "after_create_message"
                | "after_update_message"
        );
        assert_eq!(matches!(heard, Heard::Instead(_)), changes, "{name}: {heard:?}");
        if let Heard::Instead(value) = heard {
            assert_eq!(occasion.clone().with(value), occasion, "the next hook is told the same");
        }
        for nothing in ["", "return undefined"] {
            assert_eq!(hear(nothing, occasion.clone()).await.unwrap(), Heard::Same, "{name}: {nothing}");
        }
        let forgets = matches!(name, "after_tool_call_success" | "after_tool_call_failure");
        let expected = if forgets { Heard::Removed } else { Heard::Same };
        assert_eq!(hear("return null", occasion.clone()).await.unwrap(), expected, "{name}");
    }
    let filter = Occasion::FilterMessages { messages: vec![json!({"id": 1}), json!({"id": 2})] };
    let heard = hear("return given[0].filter((m: any) => m.id > 1)", filter).await.unwrap();
    assert_eq!(heard, Heard::Instead(json!([{"id": 2}])));
}

#[tokio::test]
async fn what_cannot_take_its_place_is_a_fault() {
    for (occasion, _) in occasions() {
        let name = occasion.name();
        let is_heard_out = matches!(occasion, Occasion::ThreadCreated | Occasion::SubagentCreated { .. })
            || matches!(occasion, Occasion::ToolCallStarted { .. })
            || matches!(occasion, Occasion::AfterCreateMessage { .. } | Occasion::AfterUpdateMessage { .. });
        match hear("return 7", occasion).await {
            Ok(heard) => assert!(is_heard_out && heard == Heard::Same, "{name}: {heard:?}"),
            Err(fault) => {
                assert!(!is_heard_out && fault.kind == FaultKind::Value, "{name}: {fault}");
                assert!(fault.what.contains(name), "{fault}");
            }
        }
    }
    let filter = Occasion::FilterMessages { messages: Vec::new() };
    assert!(hear("return ['a text']", filter).await.is_err());
}

#[tokio::test]
async fn only_a_request_and_a_call_can_be_blocked() {
    let prefilter = || Occasion::PrefilterHistory { messages: Vec::new() };
    let blocked = |reason: &str| Ok(Heard::Blocked(reason.to_owned()));
    assert_eq!(hear("return { block: true, reason: 'too dear' }", prefilter()).await, blocked("too dear"));
    assert_eq!(hear("return { block: true }", prefilter()).await, blocked("a hook blocked the request"));
    assert!(hear("return { block: false }", prefilter()).await.is_err());
    let call = || Occasion::ToolCallDone { call: json!({"name": "t"}) };
    assert_eq!(hear("return { block: true, reason: 'not now' }", call()).await, blocked("not now"));
    assert_eq!(hear("return { block: true }", call()).await, blocked("a hook blocked the call"));
    assert!(hear("return { block: true }", Occasion::FilterMessages { messages: Vec::new() }).await.is_err());
}

#[tokio::test]
async fn it_asks_through_the_door_like_a_tool() {
    assert_eq!(hear("await state.setValue('k', 1)", Occasion::ThreadCreated).await, Ok(Heard::Same));
    let fault = hear("state.emit('x')", Occasion::ThreadCreated).await.unwrap_err();
    assert_eq!((fault.kind, fault.what.as_str()), (FaultKind::Threw, "no emit"));
}
