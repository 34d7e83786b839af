//! Hooks of a project in TypeScript: what they change of a conversation, and that a killed server does nothing twice.

use crate::project::Project;
use crate::serve::Serving;
use entourage_testkit::{FakeModel, Reply, Request};
use serde_json::{Value, json};

/// `agents/hooks/<id>.ts`.
fn hook(project: Project, id: &str, event: &str, body: &str) -> Project {
    let text = format!(
        "import {{ defineHook }} from '@standardagents/spec';
export default defineHook({{ hook: '{event}', id: '{id}', execute: async (state, given, more) => {{ {body} }} }});
"
    );
    project.file(&format!("agents/hooks/{id}.ts"), &text)
}

/// An agent `desk` with these hooks, a tool and a child, in the shape of 0.2.0.
fn desk(hooks: &[&str]) -> Project {
    let agent = json!({
        "name": "desk",
        "sideA": { "prompt": "desk", "subagents": [{ "agent": "clerk", "blocking": true }] },
        "sideB": { "human": true },
        "hooks": hooks,
    });
    Project::new()
        .file("agents/agents/desk.json", &agent.to_string())
        .file("agents/prompts/desk.json", r#"{"name": "desk", "prompt": "You are the desk.", "model": "openai:fake", "includeChat": true, "tools": ["lookup"]}"#)
        .file(
            "agents/tools/lookup.ts",
            "import { defineTool } from '@standardagents/spec';
import { z } from 'zod';
export default defineTool({ description: 'Looks it up.', args: z.object({ word: z.string() }),
  execute: async (state, { word }) => ({ status: 'success', result: `found ${word}` }) });
",
        )
}

fn said(serving: &Serving, thread: &str) -> Vec<(String, String)> {
    let document = serving.get(&format!("/threads/{thread}/messages?include_silent=true"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    document["messages"].as_array().unwrap().iter().map(|m| (text(&m["role"]), text(&m["content"]))).collect()
}

fn begin(serving: &Serving, message: &str) -> String {
    let body = json!({ "agent": "desk", "message": message });
    let (status, created) = serving.ask("POST", "/threads", &body);
    assert_eq!(status, 201, "{created}");
    created["thread_id"].as_str().unwrap().to_owned()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(role, text)| ((*role).to_owned(), (*text).to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_change_messages_calls_results_and_requests() {
    let model = FakeModel::start(|request: &Request| match request.assistant_turns() {
        0 => Reply::call("lookup", json!({"word": "bees"})),
        _ => Reply::text("it is found"),
    })
    .await;
    let ids = ["made", "coming", "came", "safe", "good", "kept", "system", "filter"];
    let mut project = desk(&ids).with_model(&model);
    for (id, event, body) in [
        (
            "made",
            "after_thread_created",
            "await state.setValue('city', 'Oslo'); await state.injectMessage({ role: 'user', content: 'a secret', silent: true })",
        ),
        (
            "coming",
            "before_create_message",
            "if (given.role === 'user') return { ...given, content: `${given.content}, please` }",
        ),
        ("came", "after_create_message", "if (given.role === 'user') await state.setValue('asked', given.content)"),
        ("safe", "tool_call_done", "return { ...given, arguments: { word: 'wasps' } }"),
        (
            "good",
            "after_tool_call_success",
            "return { ...more, result: `${more.result} in ${await state.getValue('city')}` }",
        ),
        (
            "kept",
            "before_store_tool_result",
            "return { ...more, result: `${more.result} (${await state.getValue('asked')})` }",
        ),
        ("system", "after_system_message", "return `${given} Be brief.`"),
        ("filter", "filter_messages", "return given.filter((row) => !row.content.includes('secret'))"),
    ] {
        project = hook(project, id, event, body);
    }
    project = project.file(
        "agents/agents/clerk.json",
        r#"{"name": "clerk", "sideA": {"prompt": "desk"}, "sideB": {"prompt": "desk"}}"#,
    );
    let said = tokio::task::block_in_place(|| {
        assert_eq!(project.say(&["check"]).code, Some(0), "{:?}", project.say(&["check"]));
        let serving = Serving::start(&project);
        let thread = begin(&serving, "look up bees");
        assert_eq!(serving.settle(&thread)["status"], "idle");
        let said = said(&serving, &thread);
        serving.kill();
        said
    });
    let expected = pairs(&[
        ("user", "a secret"),
        ("user", "look up bees, please"),
        ("assistant", ""),
        ("tool", "found wasps in Oslo (look up bees, please)"),
        ("assistant", "it is found"),
    ]);
    assert_eq!(said, expected);
    for request in model.requests() {
        assert!(request.system().contains("You are the desk. Be brief."), "{}", request.system());
        assert_eq!(request.texts("user"), ["look up bees, please"]);
    }
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_blocked_a_request_is_blocked_and_a_child_brings_hooks_for_its_parent() {
    let model = FakeModel::start(|request: &Request| match (request.assistant_turns(), request.last_text().as_str()) {
        (0, "delegate") => Reply::call(
            "subagent_create",
            json!({"agent": "clerk", "message": "file it", "name": "one", "attachments": []}),
        ),
        (0, "file it") => Reply::text("filed"),
        (0, "look") => Reply::call("lookup", json!({"word": "bees"})),
        _ => Reply::text("done"),
    })
    .await;
    let mut project = desk(&["no", "dear"]).with_model(&model);
    for (id, event, body) in [
        ("no", "tool_call_done", "if (given.name === 'lookup') return { block: true, reason: 'closed today' }"),
        (
            "dear",
            "prefilter_llm_history",
            "if (given.at(-1).content === 'spend') return { block: true, reason: 'too dear' }",
        ),
        (
            "born",
            "after_subagent_created",
            "await state.injectMessage({ role: 'system', content: `${given.name} is ${given.threadName}` })",
        ),
        (
            "tidy",
            "before_create_message",
            "if (given.role === 'user' && state.agentId === 'clerk') return { ...given, content: `${given.content}!` }",
        ),
    ] {
        project = hook(project, id, event, body);
    }
    let clerk = json!({
        "name": "clerk", "sideA": {"prompt": "desk"}, "sideB": {"prompt": "desk"}, "maxSessionTurns": 1,
        "parentHooks": [{ "hook": "born", "reason": "keeps track" }], "hooks": ["tidy"],
    });
    let project = project.file("agents/agents/clerk.json", &clerk.to_string());
    tokio::task::block_in_place(|| {
        let serving = Serving::start(&project);
        let thread = begin(&serving, "look");
        serving.settle(&thread);
        assert_eq!(said(&serving, &thread)[2].1, "`lookup` was not called: closed today");
        let thread = begin(&serving, "spend");
        assert_eq!(serving.settle(&thread)["status"], "failed");
        let runs = serving.get(&format!("/runs?thread={thread}"));
        assert_eq!(runs["runs"][0]["error"], "too dear", "{runs}");
        let thread = begin(&serving, "delegate");
        let row = serving.settle(&thread);
        let told = said(&serving, &thread);
        assert!(told.contains(&("system".to_owned(), "clerk is one".to_owned())), "{told:?}");
        let kid = row["children"][0]["reference"].as_str().unwrap().to_owned();
        assert_eq!(said(&serving, &kid)[0].1, "file it!", "the child has hooks of its own");
        serving.kill();
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_does_nothing_twice_that_a_hook_did() {
    let model = FakeModel::start(Reply::hang()).await;
    let count = "if (given.role === 'system') return;
        const n = ((await state.getValue('n')) ?? 0) + 1; await state.setValue('n', n);
        await state.injectMessage({ role: 'system', content: `heard ${n}: ${given.content}` })";
    let project = desk(&["made", "count", "asked"]).with_model(&model);
    let project =
        hook(project, "made", "after_thread_created", "await state.injectMessage({ role: 'system', content: 'made' })");
    let project = hook(project, "count", "after_create_message", count);
    let project = hook(
        project,
        "asked",
        "filter_messages",
        "await state.setValue('asks', ((await state.getValue('asks')) ?? 0) + 1);
        return [...given, { role: 'user', content: `ask ${await state.getValue('asks')}` }]",
    );
    let project = project.file(
        "agents/agents/clerk.json",
        r#"{"name": "clerk", "sideA": {"prompt": "desk"}, "sideB": {"prompt": "desk"}}"#,
    );
    let (thread, serving) = tokio::task::block_in_place(|| {
        let serving = Serving::start(&project);
        (begin(&serving, "hello"), serving)
    });
    model.until_requests(1).await;
    tokio::task::block_in_place(|| serving.kill());
    let model = FakeModel::start(|request: &Request| Reply::text(format!("heard {}", request.last_text()))).await;
    let project = project.with_model(&model);
    tokio::task::block_in_place(|| {
        let serving = Serving::start(&project);
        assert_eq!(serving.settle(&thread)["status"], "idle");
        let expected = pairs(&[
            ("system", "made"),
            ("user", "hello"),
            ("system", "heard 1: hello"),
            // The request that the kill cut off has left nothing.
            ("assistant", "heard ask 1"),
            ("system", "heard 2: heard ask 1"),
        ]);
        assert_eq!(said(&serving, &thread), expected);
        serving.kill();
    });
}

#[test]
fn a_hook_that_is_not_declared_is_named_by_check() {
    let project = desk(&["nothing"]).file(
        "agents/agents/clerk.json",
        r#"{"name": "clerk", "sideA": {"prompt": "desk"}, "sideB": {"prompt": "desk"}}"#,
    );
    let said = project.say(&["check"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let told = format!("{}{}", said.stdout, said.stderr);
    assert!(told.contains("error[D033]: agent `desk` names hook `nothing`, which is not declared"), "{told}");
}
