//! Hooks of a team, as threads at work hear them: what they change, what they do, and what is left of one that fails.

use crate::smithy::{PROBE, once, result, team, user_of};
use crate::stage::{LONG, Stage, by_turn};
use entourage_model::{
    Event, Hook, HookStage, Limits, Name, ParentHook, Role, RunStatus, Source, Team, ThreadId, ThreadStatus, ToolStatus,
};
use entourage_script::{NoMemory, Sources, evaluate};
use entourage_store::{MemoryStore, Store};
use entourage_testkit::breaking_store::{BreakingStore, Fault};
use entourage_testkit::fake_model::Brain;
use entourage_testkit::{Reply, Request, cast};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

struct Only(String);

impl Sources for Only {
    fn read(&self, _: &str) -> std::io::Result<Vec<u8>> {
        Ok(self.0.clone().into_bytes())
    }
}

/// `execute(state, given, more)` has this body.
pub(crate) fn hook(name: &str, event: &str, body: &str) -> (Name, Arc<Hook>) {
    let text = format!(
        "import {{ defineHook }} from '@standardagents/spec';
export default defineHook({{ hook: '{event}', id: '{name}', execute: async (state: any, given: any, more: any) => {{ {body} }} }});"
    );
    let program = evaluate(&format!("agents/hooks/{name}.ts"), &Only(text), &NoMemory).unwrap().program;
    let source = Source { format: "standard-agents".to_owned(), file: None };
    (name.into(), Arc::new(Hook { event: event.to_owned(), program: Arc::new(program), source }))
}

/// What a hook is called, what it waits for and what it does.
pub(crate) type Told<'a> = (&'a str, &'a str, &'a str);

/// A team whose `boss` names these hooks and may call the probe, which has this body.
pub(crate) fn hooked(hooks: &[Told<'_>], probe: &str) -> Arc<Team> {
    let mut boss = user_of("boss", &[PROBE]);
    boss.hooks = hooks.iter().map(|(name, ..)| Name::from(*name)).collect();
    with_hooks(&team(vec![boss], &[(PROBE, probe)]), hooks)
}

pub(crate) fn with_hooks(team: &Team, hooks: &[Told<'_>]) -> Arc<Team> {
    let hooks = hooks.iter().map(|(name, event, body)| hook(name, event, body)).collect();
    Arc::new(Team { hooks, ..team.clone() })
}

/// A thread of `boss` at rest, after it was told to go.
pub(crate) async fn play(team: Arc<Team>, brain: impl Brain + 'static) -> (Stage, ThreadId) {
    let mut stage = Stage::new(Vec::new(), brain).await;
    stage.team = team;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    (stage, thread)
}

pub(crate) async fn values(stage: &Stage, thread: ThreadId) -> Value {
    json!(stage.runtime.state(thread).await.unwrap().unwrap().values)
}

/// The hooks that the journal says to have failed, and why.
async fn failures(stage: &Stage, thread: ThreadId) -> Vec<(String, String)> {
    let journal = stage.store.journal(thread, 0, 1000).await.unwrap();
    let failed = journal.iter().filter_map(|stored| match &stored.event {
        Event::HookFailed { hook, why, .. } => Some((hook.to_string(), why.clone())),
        _ => None,
    });
    failed.collect()
}

fn says(text: &str) -> impl Brain + 'static {
    by_turn(vec![("boss", vec![Reply::text(text)])])
}

#[tokio::test]
async fn a_message_is_kept_as_the_hooks_left_it_and_they_can_put_something_aside() {
    let hooks = [
        ("one", "before_create_message", "return { ...given, content: given.content + '!', role: 'system', id: 'x' }"),
        ("two", "before_create_message", "return { ...given, content: given.content + '?', metadata: { by: 'two' } }"),
        (
            "seen",
            "after_create_message",
            "await state.setValue(given.role, [given.content, (await state.getMessages()).length])",
        ),
    ];
    let (stage, thread) = play(hooked(&hooks, ""), says("over")).await;
    assert_eq!(stage.texts(thread, Role::User).await, ["go!?"]);
    assert_eq!(stage.texts(thread, Role::Assistant).await, ["over!?"]);
    assert_eq!(stage.messages(thread).await[0].metadata["by"], "two");
    assert_eq!(stage.asked("boss")[0].texts("user"), ["go!?"]);
    assert_eq!(values(&stage, thread).await, json!({"user": ["go!?", 1], "assistant": ["over!?", 2]}));
    let run = stage.runtime.state(thread).await.unwrap().unwrap();
    assert_eq!(run.status(), ThreadStatus::Idle);
}

#[tokio::test]
async fn what_fails_has_not_been_there_and_the_journal_says_so() {
    let hooks = [
        ("one", "before_create_message", "await state.setValue('a', 1); throw new Error('no')"),
        ("two", "before_create_message", "return { ...given, content: 7 }"),
        (
            "three",
            "before_create_message",
            "await state.setValue('b', await state.getValue('a')); return { ...given, content: 'kept' }",
        ),
        ("four", "before_create_message", "state.queueTool('nope'); return { content: 'gone' }"),
    ];
    let (stage, thread) = play(hooked(&hooks, ""), says("over")).await;
    assert_eq!(stage.texts(thread, Role::User).await, ["kept"]);
    assert_eq!(values(&stage, thread).await, json!({}), "a null value unsets");
    let failed = failures(&stage, thread).await;
    let names: Vec<_> = failed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["one", "two", "four", "one", "two", "four"], "for each of two messages");
    assert!(failed[0].1.starts_with("agents/hooks/one.ts:2:") && failed[0].1.ends_with(": no"), "{failed:?}");
    assert_eq!(failed[1].1, "`content` must be a text");
    assert!(failed[2].1.contains("there is no tool `nope`"), "{failed:?}");
}

#[tokio::test]
async fn hooks_hear_of_a_thread_before_anything_is_said_on_it() {
    let hooks = [(
        "made",
        "after_thread_created",
        "await state.setValue('made', [state.agentId, (await state.getMessages()).length]);
            await state.injectMessage({ role: 'system', content: 'be kind' })",
    )];
    let (stage, thread) = play(hooked(&hooks, ""), says("over")).await;
    assert_eq!(values(&stage, thread).await, json!({"made": ["boss", 0]}));
    let said: Vec<_> = stage.messages(thread).await.into_iter().map(|message| message.content).collect();
    assert_eq!(said, ["be kind", "go", "over"]);
}

#[tokio::test]
async fn a_call_can_be_changed_and_blocked_before_it_is_made() {
    let probe = "await state.setValue('ran', args.count); return 'ran';";
    let hooks = [(
        "safe",
        "tool_call_done",
        "return { ...given, arguments: { count: JSON.parse(given.arguments).count + 1 } }",
    )];
    let (stage, thread) = play(hooked(&hooks, probe), once(json!({"count": 3}))).await;
    assert_eq!(values(&stage, thread).await, json!({"ran": 4}));
    assert_eq!(stage.messages(thread).await[1].tool_calls[0].arguments, r#"{"count":4}"#);

    let hooks = [
        ("seen", "tool_call_started", "await state.setValue('seen', given.name)"),
        ("no", "tool_call_done", "if (given.name === 'probe') return { block: true, reason: 'not on Sundays' }"),
    ];
    let (stage, thread) = play(hooked(&hooks, probe), once(json!({"count": 3}))).await;
    assert_eq!(values(&stage, thread).await, json!({"seen": "probe"}));
    let message = result(&stage, thread).await;
    assert_eq!(message.content, "`probe` was not called: not on Sundays");
    assert_eq!(message.tool_status, Some(ToolStatus::Error));
}

#[tokio::test]
async fn calls_can_be_changed_with_the_message_that_makes_them() {
    let hooks = [("calls", "before_create_message", "if (given.tool_calls.length === 0) return;
        const [call] = given.tool_calls;
        return { ...given, tool_calls: [{ ...call, arguments: { count: 8 } }, { id: 'more', name: 'probe', arguments: '{}' }] }")];
    let (stage, thread) = play(hooked(&hooks, "return `${args.count}`;"), once(json!({"count": 3}))).await;
    assert_eq!(stage.texts(thread, Role::Tool).await, ["8", "undefined"]);
}

#[tokio::test]
async fn a_result_can_be_changed_recovered_and_given_files() {
    let hooks = [
        ("good", "after_tool_call_success", "return { ...more, result: more.result + ' seen' }"),
        (
            "kept",
            "before_store_tool_result",
            "return { ...more, result: `${given.name}: ${more.result}`,
            attachments: [...more.attachments, { name: 'b.txt', mimeType: 'text/plain', data: 'Yg==' }] }",
        ),
    ];
    let probe = "return { status: 'success', result: 'done', attachments: [{ name: 'a.txt', data: 'YQ==' }] };";
    let (stage, thread) = play(hooked(&hooks, probe), once(json!({}))).await;
    let message = result(&stage, thread).await;
    assert!(message.content.starts_with("probe: done seen\n\n/attachments/a-"), "{}", message.content);
    let names: Vec<_> =
        message.attachments.iter().map(|file| file.name.split('-').next().unwrap().to_owned()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(stage.store.files(thread).await.unwrap().len(), 2);
    assert_eq!(stage.asked("boss")[1].tool_results()[0].text, message.content);

    let hooks = [("bad", "after_tool_call_failure", "return { status: 'success', result: `mended: ${more.error}` }")];
    let (stage, thread) = play(hooked(&hooks, "return { status: 'error', error: 'no' };"), once(json!({}))).await;
    let message = result(&stage, thread).await;
    assert_eq!((message.tool_status, message.content.as_str()), (Some(ToolStatus::Success), "mended: no"));
    assert_eq!(failures(&stage, thread).await, []);
}

#[tokio::test]
async fn a_call_that_a_hook_gives_null_for_is_forgotten() {
    let hooks = [("gone", "after_tool_call_success", "return null")];
    // The model cannot tell from what it is shown that it has called.
    let asked = AtomicUsize::new(0);
    let brain = move |_: &Request| match asked.fetch_add(1, Ordering::Relaxed) {
        0 => Reply::call(PROBE, json!({})),
        _ => Reply::text("over"),
    };
    let (stage, thread) = play(hooked(&hooks, "return 'forget it';"), brain).await;
    let state = stage.runtime.state(thread).await.unwrap().unwrap();
    let left: Vec<_> = state.transcript.iter().map(|said| (said.content.as_str(), said.tool_calls.len())).collect();
    assert_eq!(left, [("go", 0), ("", 0), ("over", 0)]);
    assert!(stage.asked("boss")[1].tool_results().is_empty());
}

#[tokio::test]
async fn the_result_of_a_child_and_a_refusal_are_heard_of_too() {
    let mut boss = user_of("boss", &[PROBE]);
    boss.side_a.prompt.tools.push(cast::blocking("kid"));
    boss.hooks = ["good", "bad", "born"].map(Name::from).to_vec();
    let hooks = [
        ("good", "after_tool_call_success", "return { ...more, result: more.result.toUpperCase() }"),
        ("bad", "after_tool_call_failure", "await state.setValue('failed', [given.name, more.error])"),
        (
            "born",
            "after_subagent_created",
            "const child = await state.getChildThread(given.reference);
            await state.setValue('born', [given.name, child.agentId, state.children.length])",
        ),
    ];
    let team = with_hooks(&team(vec![boss, user_of("kid", &[])], &[(PROBE, "")]), &hooks);
    let brain = by_turn(vec![
        ("boss", vec![Reply::calls([("kid", json!({"message": "help"})), ("nope", json!({}))]), Reply::text("over")]),
        ("kid", vec![Reply::text("helped")]),
    ]);
    let (stage, thread) = play(team, brain).await;
    assert_eq!(stage.asked("boss")[1].tool_results()[0].text, "HELPED");
    let values = values(&stage, thread).await;
    assert_eq!(values["failed"][0], "nope");
    assert_eq!(values["born"], json!(["kid", "kid", 0]), "the registry lists no child that is waited for");
}

#[tokio::test]
async fn a_child_has_hooks_of_its_own_and_brings_some_for_its_parent() {
    let mut boss = user_of("boss", &[]);
    boss.side_a.prompt.tools.push(cast::blocking("kid"));
    boss.hooks = vec!["own".into()];
    let mut kid = user_of("kid", &[]);
    kid.side_a.prompt.hooks = ["made", "first"].map(Name::from).to_vec();
    kid.parent_hooks = vec![
        ParentHook { hook: "late".into(), stage: HookStage::AfterParent },
        ParentHook { hook: "early".into(), stage: HookStage::BeforeParent },
    ];
    let order =
        |name: &str| format!("await state.setValue('order', [...((await state.getValue('order')) ?? []), '{name}'])");
    let (own, early, late) = (order("own"), order("early"), order("late"));
    let hooks = [
        ("own", "after_subagent_created", own.as_str()),
        ("early", "after_subagent_created", early.as_str()),
        ("late", "after_subagent_created", late.as_str()),
        ("made", "after_thread_created", "await state.setValue('made', true)"),
        (
            "first",
            "before_create_message",
            "if (given.role === 'user') return { ...given, content: `please ${given.content}` }",
        ),
    ];
    let team = with_hooks(&cast::team(vec![boss, kid]), &hooks);
    let brain = by_turn(vec![
        ("boss", vec![Reply::call("kid", json!({"message": "help"})), Reply::text("over")]),
        ("kid", vec![Reply::text("helped")]),
    ]);
    let (stage, thread) = play(team, brain).await;
    assert_eq!(values(&stage, thread).await, json!({"order": ["early", "own", "late"]}));
    let kid = stage.kids(thread).await[0].id;
    assert_eq!(values(&stage, kid).await, json!({"made": true}));
    assert_eq!(stage.asked("kid")[0].texts("user"), ["please help"]);
    assert_eq!(stage.texts(thread, Role::Tool).await, ["helped"]);
}

#[tokio::test]
async fn hooks_hear_of_what_a_tool_does_to_the_transcript() {
    let hooks = [
        (
            "coming",
            "before_create_message",
            "if (given.content === 'bad') throw new Error('not that');
            if (given.role === 'system') return { ...given, content: given.content + '!' }",
        ),
        ("came", "after_create_message", "if (given.role === 'system') await state.setValue('came', given.content)"),
        (
            "updating",
            "before_update_message",
            "await state.setValue('of', given); return { ...more, content: more.content + '?' }",
        ),
        ("updated", "after_update_message", "await state.setValue('updated', given.content)"),
    ];
    let probe = "const said = await state.injectMessage({ role: 'system', content: 'note' });
        let refused; try { await state.injectMessage({ role: 'system', content: 'bad' }) } catch (error) { refused = error.message }
        const changed = await state.updateMessage(said.id, { content: 'other' });
        return { said: said.content, changed: changed.content, refused, of: (await state.getValue('of')) === said.id };";
    let (stage, thread) = play(hooked(&hooks, probe), once(json!({}))).await;
    let given: Value = serde_json::from_str(&result(&stage, thread).await.content).unwrap();
    assert_eq!((&given["said"], &given["changed"], &given["of"]), (&json!("note!"), &json!("other?"), &json!(true)));
    assert!(given["refused"].as_str().unwrap().contains("the hook `coming` failed"), "{given}");
    let values = values(&stage, thread).await;
    assert_eq!((&values["came"], &values["updated"]), (&json!("note!"), &json!("other?")));
}

#[tokio::test]
async fn nobody_hears_of_what_a_hook_does() {
    let hooks = [(
        "echo",
        "after_create_message",
        "await state.injectMessage({ role: 'system', content: 'again' }); await state.invokeTool('probe', {})",
    )];
    let probe = "await state.injectMessage({ role: 'system', content: 'once more' });";
    let (stage, thread) = play(hooked(&hooks, probe), says("over")).await;
    let said: Vec<_> = stage.messages(thread).await.into_iter().map(|message| message.content).collect();
    assert_eq!(said, ["go", "again", "once more", "over", "again", "once more"]);
}

#[tokio::test]
async fn a_hook_without_an_end_is_ended_by_its_limit_and_it_goes_on() {
    let limits = Limits { script_seconds: 1, ..Limits::default() };
    let mut stage = Stage::with_limits(Vec::new(), says("over"), limits).await;
    stage.team = hooked(&[("stuck", "before_create_message", "if (given.role === 'user') while (true) {}")], "");
    let (thread, _) = stage.create("boss", "go").await;
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Idle);
    let why = "it was stopped: the limit `script_seconds` of 1 seconds is reached";
    assert_eq!(failures(&stage, thread).await, [("stuck".to_owned(), why.to_owned())]);
    assert_eq!(stage.texts(thread, Role::Assistant).await, ["over"]);
}

#[tokio::test]
async fn whoever_cancels_does_not_wait_for_a_hook() {
    let begun = Instant::now();
    for event in ["before_create_message", "filter_messages"] {
        let mut stage = Stage::new(Vec::new(), says("over")).await;
        let body = "if (given.role === 'user' || Array.isArray(given)) while (true) {}";
        stage.team = hooked(&[("stuck", event, body)], "");
        let (thread, run) = stage.create("boss", "go").await;
        stage.runtime.cancel(&run).await.unwrap();
        let row = stage.store.run(&run).await.unwrap().unwrap();
        assert_eq!(row.status, RunStatus::Cancelled, "{event}");
        stage.runtime.terminate(thread).await.unwrap();
    }
    assert!(begun.elapsed() < Duration::from_secs(15), "far less than the hooks' 30 seconds");
}

#[tokio::test]
async fn what_a_hook_did_is_lost_with_its_message_and_done_once_with_it() {
    for broken in 0..3 {
        let store = Arc::new(BreakingStore::new(Arc::new(MemoryStore::new())));
        store.break_commit(broken, Fault::Full);
        let count = "await state.setValue(given.role, ((await state.getValue(given.role)) ?? 0) + 1);
            await state.notifyParent('x'); await state.writeFile(`/${given.role}`, 'x')";
        let made = "await state.setValue('made', ((await state.getValue('made')) ?? 0) + 1)";
        let hooks = [("made", "after_thread_created", made), ("said", "after_create_message", count)];
        let store_dyn: Arc<dyn Store> = store.clone();
        let mut stage = Stage::on(store_dyn, Vec::new(), once(json!({})), Limits::default()).await;
        stage.team = hooked(&hooks, "return 'done';");
        let (thread, _) = stage.create("boss", "go").await;
        while stage.runtime.wait_for_tree(thread, LONG).await.is_err() {}
        assert!(store.is_through(), "{broken}");
        let expected = json!({"made": 1, "user": 1, "tool": 1, "assistant": 2});
        assert_eq!(values(&stage, thread).await, expected, "after the break of commit {broken}");
        assert_eq!(stage.messages(thread).await.len(), 4);
    }
}

#[tokio::test]
async fn a_thread_without_a_message_is_heard_of_at_once() {
    let mut stage = Stage::new(Vec::new(), says("over")).await;
    stage.team = hooked(&[("made", "after_thread_created", "await state.setValue('made', 1)")], "");
    let root = entourage_runtime::NewRoot {
        team: Arc::clone(&stage.team),
        agent: "boss".into(),
        message: None,
        user_id: None,
        tags: Vec::new(),
        files: Vec::new(),
        variables: std::collections::BTreeMap::new(),
    };
    let thread = stage.runtime.create(root).await.unwrap().thread;
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Idle);
    assert_eq!(values(&stage, thread).await, json!({"made": 1}));
    assert!(stage.asked("boss").is_empty());
}

#[tokio::test]
async fn a_hook_can_stop_the_session_and_terminate_the_thread() {
    let hooks = [("enough", "tool_call_done", "await state.stopSession({ result: 'enough' })")];
    let mut stage = Stage::new(Vec::new(), once(json!({}))).await;
    stage.team = hooked(&hooks, "await state.setValue('ran', 1);");
    let (thread, run) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let row = stage.store.run(&run).await.unwrap().unwrap();
    assert_eq!((row.status, row.result.as_deref()), (RunStatus::Done, Some("enough")));
    assert_eq!(values(&stage, thread).await, json!({}), "the call was never made");

    stage.team = hooked(&[("over", "after_create_message", "await state.terminate()")], "");
    let (thread, run) = stage.create("boss", "go").await;
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Terminated);
    assert_eq!(stage.store.run(&run).await.unwrap().unwrap().status, RunStatus::Cancelled);
}
