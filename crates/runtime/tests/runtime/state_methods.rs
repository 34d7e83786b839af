//! `ThreadState`, member by member: the same in a tool and in a hook.

use crate::hooks::{values, with_hooks};
use crate::smithy::{PROBE, team, user_of};
use crate::stage::{Stage, by_turn};
use entourage_model::{Limits, RunStatus, ThreadId, ThreadStatus};
use entourage_store::Store;
use entourage_testkit::{Reply, any_store, cast};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An expression in the place of `…`, and what it gives. The thread is a child of `boss` that was told `help` and has
/// called the probe.
fn cases() -> Vec<(&'static str, Value)> {
    vec![
        ("typeof state.threadId", json!("string")),
        ("state.agentId", json!("kid")),
        ("state.userId", json!(null)),
        ("state.createdAt > 0", json!(true)),
        ("state.children", json!([])),
        ("state.terminated", json!(null)),
        ("state.arguments", json!(null)),
        ("state.env('REGION')", json!("north")),
        ("(() => { try { state.env('NOTHING') } catch (error) { return 'threw' } })()", json!("threw")),
        ("(await state.setEnv('CITY', 'Oslo'), state.env('CITY'))", json!("Oslo")),
        ("(await state.getMessages()).map((m: any) => m.role)", json!(["user", "assistant"])),
        ("(await state.getMessage((await state.getMessages())[0].id)).content", json!("help")),
        ("(await state.queueMessage({ role: 'user', content: 'later' })) ?? 'queued'", json!("queued")),
        ("(await state.injectMessage({ role: 'system', content: 'note' })).content", json!("note")),
        ("(await state.updateMessage((await state.getMessages())[0].id, { content: 'held' })).content", json!("held")),
        ("await state.deleteMessage((await state.getMessages())[0].id)", json!(true)),
        ("(await state.notifyParent('half done')) ?? 'told'", json!("told")),
        ("(await state.setStatus('half done')) ?? 'told'", json!("told")),
        ("await state.getChildThread('01936a00-0000-7000-8000-000000000001')", json!(null)),
        ("(await state.getParentThread()).agentId", json!("boss")),
        ("(await state.getParentThread().then((p: any) => p.getMessages()))[0].content", json!("go")),
        ("(await state.setValue('k', [1]), await state.getValue('k'))", json!([1])),
        ("await state.getValue('unset')", json!(null)),
        ("(await state.writeFile('/a/b.txt', 'text', 'text/plain')).size", json!(4)),
        ("(await state.writeFile('/a/b.txt', 'text'), await state.readFile('/a/b.txt'))", json!("text")),
        (
            "(await state.writeFile('/a/b.txt', 'text'), (await state.readdirFile('/a')).map((f: any) => f.name))",
            json!(["b.txt"]),
        ),
        ("(await state.writeFile('/a/b.txt', 'text'), (await state.statFile('/a/b.txt')).path)", json!("/a/b.txt")),
        ("(await state.writeFile('/a', 'x'), await state.unlinkFile('/a'), await state.statFile('/a'))", json!(null)),
        ("(await state.writeFile('/a', 'x'), (await state.moveFile('/a', '/b')).path)", json!("/b")),
        ("(await state.writeFile('/a', 'x y'), (await state.grepFiles('y'))[0].path)", json!("/a")),
        ("(await state.writeFile('/a.md', 'x'), (await state.findFiles('*.md')).length)", json!(1)),
        ("(await state.writeFile('/a', 'x'), (await state.getFileStats()).files)", json!(1)),
        ("state.queueTool('other', {}) ?? 'queued'", json!("queued")),
        ("(await state.invokeTool('other', {})).result", json!("other")),
        ("(await state.emit('seen', { n: 1 })) ?? 'told'", json!("told")),
        ("state.getAgentNames()", json!(["boss", "kid"])),
        ("(await state.loadAgent('kid')).name", json!("kid")),
        ("state.execution", json!(null)),
    ]
}

/// The child's thread, once `expression` was asked for by its tool, or by a hook that hears of the tool's end.
async fn asked(store: &Arc<dyn Store>, expression: &str, by_hook: bool) -> (Stage, ThreadId) {
    let body = format!("await state.setValue('got', (await ({expression})) ?? 'nothing');");
    let (probe, heard) = if by_hook { ("", body.as_str()) } else { (body.as_str(), "") };
    let mut boss = user_of("boss", &[]);
    boss.side_a.prompt.tools.push(cast::blocking("kid"));
    let mut kid = user_of("kid", &[PROBE, "other"]);
    kid.hooks = vec!["heard".into()];
    let team = team(vec![boss, kid], &[(PROBE, probe), ("other", "return 'other';")]);
    // Only of the tool that is asked about: what it queues is heard of too.
    let heard = format!("if (given.name !== '{PROBE}') return; {heard}");
    let team = with_hooks(&team, &[("heard", "after_tool_call_success", heard.as_str())]);
    let brain = by_turn(vec![
        ("boss", vec![Reply::call("kid", json!({"message": "help"})), Reply::text("over")]),
        ("kid", vec![Reply::call(PROBE, json!({})), Reply::text("helped")]),
    ]);
    let mut stage = Stage::on(Arc::clone(store), Vec::new(), brain, Limits::default()).await;
    stage.team = team;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let kid = stage.kids(thread).await[0].id;
    (stage, kid)
}

#[tokio::test]
async fn every_member_is_the_same_in_a_tool_and_in_a_hook() {
    let (store, mut wrong) = (any_store().await, BTreeMap::new());
    for (expression, expected) in cases() {
        let expected = if expected.is_null() { json!("nothing") } else { expected };
        for by_hook in [false, true] {
            let (stage, kid) = asked(&store, expression, by_hook).await;
            let got = values(&stage, kid).await["got"].clone();
            if got != expected {
                let journal = stage.store.journal(kid, 0, 100).await.unwrap();
                wrong.insert((expression, by_hook), format!("{got}, not {expected}: {journal:?}"));
            }
            stage.runtime.shutdown().await;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn both_can_stop_the_session_and_terminate_the_thread() {
    let store = any_store().await;
    for by_hook in [false, true] {
        let (stage, kid) = asked(&store, "state.stopSession({ result: 'enough', status: 'resting' })", by_hook).await;
        let runs = entourage_store::RunFilter { thread: Some(kid), ..Default::default() };
        let runs = stage.store.runs(&runs, entourage_store::Page { after: None, limit: 2 }).await.unwrap();
        assert_eq!((runs[0].status, runs[0].result.as_deref()), (RunStatus::Done, Some("enough")), "{by_hook}");
        let (stage, kid) = asked(&store, "state.terminate()", by_hook).await;
        assert_eq!(stage.store.thread(kid).await.unwrap().unwrap().status, ThreadStatus::Terminated, "{by_hook}");
    }
}

#[tokio::test]
async fn arguments_are_what_the_child_was_called_with() {
    for by_hook in [false, true] {
        let mut boss = user_of("boss", &[]);
        boss.side_a.prompt.tools.push(cast::blocking("kid"));
        let mut kid = user_of("kid", &[PROBE]);
        kid.hooks = vec!["heard".into()];
        kid.side_a.prompt.required_schema = Some(json!({
            "type": "object", "properties": {"topic": {"type": "string"}, "message": {"type": "string"}}, "required": ["topic"],
        }));
        let body = "await state.setValue('got', state.arguments);";
        let (probe, heard) = if by_hook { ("", body) } else { (body, "") };
        let team = team(vec![boss, kid], &[(PROBE, probe)]);
        let brain = by_turn(vec![
            ("boss", vec![Reply::call("kid", json!({"topic": "bees", "message": "help"})), Reply::text("over")]),
            ("kid", vec![Reply::call(PROBE, json!({})), Reply::text("helped")]),
        ]);
        let mut stage = Stage::new(Vec::new(), brain).await;
        stage.team = with_hooks(&team, &[("heard", "after_tool_call_success", heard)]);
        let (thread, _) = stage.create("boss", "go").await;
        stage.settle(thread).await;
        let kid = stage.kids(thread).await[0].id;
        let got = values(&stage, kid).await["got"].clone();
        assert_eq!(got["topic"], "bees", "by hook: {by_hook}; {got}");
    }
}
