//! Scripted tools that go wrong: what the model is told, and that nothing of what they did has happened.

use crate::smithy::{PROBE, defined, once, probe, result, stage, stage_on, user_of};
use crate::stage::{LONG, Stage};
use entourage_model::{Limits, Outcome, RunStatus, ThreadId, ThreadStatus, Timestamp, ToolStatus};
use entourage_store::{Clock, MemoryStore};
use entourage_testkit::any_store;
use entourage_testkit::breaking_store::{BreakingStore, Fault};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// Everything that a tool can leave behind.
const EVERYTHING: &str = "await state.setValue('a', 1); await state.setEnv('A', '1'); await state.writeFile('/a', 'a');
    await state.injectMessage({ role: 'system', content: 'a' }); await state.queueMessage({ role: 'user', content: 'a' });
    state.emit('a', 1); state.queueTool('probe', {});";

/// Nothing of the thread tells that the tool ever did anything.
async fn is_untouched(stage: &Stage, thread: ThreadId) {
    let state = stage.runtime.state(thread).await.unwrap().unwrap();
    assert_eq!((state.values.len(), state.variables.len()), (0, 0));
    assert_eq!(stage.store.files(thread).await.unwrap(), []);
    let journal = stage.store.journal(thread, 0, 1000).await.unwrap();
    let words = format!("{journal:?}");
    for word in ["ValueSet", "VariablesSet", "Injected", "Emitted", "FilePut", "CallQueued"] {
        assert!(!words.contains(word), "{word} in {words}");
    }
    assert_eq!(stage.texts(thread, entourage_model::Role::User).await, ["go"]);
}

#[tokio::test]
async fn a_tool_that_throws_is_an_error_and_has_done_nothing() {
    for (end, text) in [
        ("throw new Error('boom');", "`probe` failed: boom"),
        ("await state.unlinkFile('/nowhere');", "`probe` failed: there is no file `/nowhere`"),
        (
            "return { status: 'success', attachments: ['/nowhere'] };",
            "`probe` failed: there is no file `/nowhere` to attach",
        ),
        ("return { status: 'success', attachments: 7 };", "`probe` failed: `attachments` must be a list"),
        ("state.queueTool('nothing', {});", "`probe` failed: there is no tool `nothing` that could be called here"),
    ] {
        let stage = stage(&format!("{EVERYTHING} {end}")).await;
        let (thread, run) = stage.create("boss", "go").await;
        stage.settle(thread).await;
        let message = result(&stage, thread).await;
        assert_eq!(
            (message.tool_status, message.content.lines().next()),
            (Some(ToolStatus::Error), Some(text)),
            "{end}"
        );
        is_untouched(&stage, thread).await;
        let run = stage.store.run(&run).await.unwrap().unwrap();
        assert_eq!(run.result.as_deref(), Some("over"), "the model goes on");
    }
}

#[tokio::test]
async fn a_fault_is_placed_in_the_authors_file() {
    let message = probe("throw new Error('boom');").await;
    assert_eq!(message.content, "`probe` failed: boom\nat agents/tools/probe.ts:6:11");
}

#[tokio::test]
async fn a_tool_that_returns_an_error_has_done_what_it_did() {
    let stage = stage("await state.setValue('a', 1); return { status: 'error', error: 'no' };").await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(stage.runtime.state(thread).await.unwrap().unwrap().values["a"], json!(1));
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_in_the_words_of_every_tool() {
    let brain = once(json!({"count": "three"}));
    let stage = stage_on(any_store().await, EVERYTHING, brain, Limits::default()).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let text = result(&stage, thread).await.content;
    assert!(text.starts_with("The arguments of `probe` do not fit its schema:\narguments/count:"), "{text}");
    is_untouched(&stage, thread).await;
}

#[tokio::test]
async fn a_schema_that_coerces_takes_what_json_schema_would_not() {
    let text = "import { defineTool } from '@standardagents/spec';
import { z } from 'zod';
export default defineTool({
  description: 'Adds.',
  args: z.object({
    count: z.coerce.number().int(),
    tags: z.preprocess((given) => (typeof given === 'string' ? given.split(',') : given), z.array(z.string())),
    mood: z.enum(['dry', 'warm']).catch('dry'),
    at: z.string().transform((at) => at.length),
  }),
  execute: async (_state, args) => JSON.stringify(args),
});
";
    for (arguments, expected) in [
        (
            json!({"count": "3", "tags": "a,b", "mood": 7, "at": "noon"}),
            r#"{"count":3,"tags":["a","b"],"mood":"dry","at":4}"#,
        ),
        (
            json!({"count": "x", "tags": [], "at": 1}),
            "The arguments do not fit the tool's schema:\n[count] Invalid input: expected number, received NaN\n[at] Invalid input: expected string, received number",
        ),
    ] {
        let mut stage = stage_on(any_store().await, "", once(arguments), Limits::default()).await;
        stage.team = defined(vec![user_of("boss", &[PROBE])], text);
        let (thread, _) = stage.create("boss", "go").await;
        stage.settle(thread).await;
        assert_eq!(result(&stage, thread).await.content, expected);
    }
}

#[tokio::test]
async fn what_is_too_long_for_the_model_is_kept_whole() {
    let limits = Limits { tool_output_bytes: 1000, ..Limits::default() };
    let stage = stage_on(any_store().await, "return 'é'.repeat(5000);", once(json!({})), limits).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let message = result(&stage, thread).await;
    assert!(message.content.len() <= 1000, "{}", message.content.len());
    let files = stage.store.files(thread).await.unwrap();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    let mark = format!("of 10000 bytes shown; all of it is in `{}`, which `read_file` reads]", file.path);
    assert!(message.content.ends_with(&mark), "{}", message.content);
    assert_eq!(stage.store.blob(file.digest).await.unwrap().unwrap(), "é".repeat(5000).as_bytes());
}

#[tokio::test]
async fn a_long_error_is_cut_and_leaves_nothing() {
    let limits = Limits { tool_output_bytes: 1000, ..Limits::default() };
    let stage = stage_on(any_store().await, "throw new Error('x'.repeat(5000));", once(json!({})), limits).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let message = result(&stage, thread).await;
    assert!(message.content.len() <= 1000 && message.content.contains("[cut: "), "{}", message.content);
    is_untouched(&stage, thread).await;
}

#[tokio::test]
async fn a_tool_that_reaches_a_limit_is_stopped_and_has_done_nothing() {
    let limits = Limits { script_bytes: 16 << 20, message_bytes: 1000, ..Limits::default() };
    for (end, name) in [
        ("while (true) {}", "script_seconds"),
        ("const all = []; while (true) all.push('x'.repeat(100000) + all.length);", "script_bytes"),
        ("await state.setValue('big', 'x'.repeat(70000));", "at most 65536 are allowed"),
        ("await state.injectMessage({ role: 'user', content: 'x'.repeat(2000) });", "at most 1000 are allowed"),
        ("for (let i = 0; i < 1001; i++) await state.setValue('k', i);", "at most 1000 times"),
        ("for (let i = 0; i < 30; i++) await state.writeFile(`/${i}`, 'x'.repeat(1000000));", "script_bytes"),
        (
            "for (let i = 0; i < 300; i++) { state.queueTool('probe', {}); await state.getValue('a'); }",
            "at most 256 calls",
        ),
    ] {
        let body = format!("{EVERYTHING} {end}");
        // Time ends only what would go on for ever: a slow machine is no limit.
        let script_seconds = if name == "script_seconds" { 1 } else { limits.script_seconds };
        let limits = Limits { script_seconds, ..limits.clone() };
        let stage = stage_on(any_store().await, &body, once(json!({})), limits).await;
        let (thread, _) = stage.create("boss", "go").await;
        stage.settle(thread).await;
        let message = result(&stage, thread).await;
        assert_eq!(message.tool_status, Some(ToolStatus::Error), "{end}");
        assert!(message.content.contains(name), "{end}: {}", message.content);
        is_untouched(&stage, thread).await;
    }
}

#[tokio::test]
async fn cancelling_interrupts_a_tool_that_would_never_end() {
    let body = format!("{EVERYTHING} while (true) {{}}");
    let stage = stage(&body).await;
    let (thread, run) = stage.create("boss", "go").await;
    until_called(&stage, thread).await;
    let began = Instant::now();
    stage.runtime.cancel(&run).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(5), "it took {:?}", began.elapsed());
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Idle);
    assert_eq!(stage.store.run(&run).await.unwrap().unwrap().status, RunStatus::Cancelled);
    is_untouched(&stage, thread).await;
}

/// Waits until a call is recorded.
async fn until_called(stage: &Stage, thread: ThreadId) {
    let began = Instant::now();
    loop {
        let journal = stage.store.journal(thread, 0, 1000).await.unwrap();
        if journal.iter().any(|stored| matches!(stored.event, entourage_model::Event::CallStarted { .. })) {
            return;
        }
        assert!(began.elapsed() < LONG, "no call was recorded");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_commit_that_fails_takes_everything_back_that_the_tool_did() {
    let store = Arc::new(BreakingStore::new(Arc::new(MemoryStore::new())));
    // The first commit records the call, the second one ends it.
    store.break_commit(1, Fault::Full);
    let body = format!("{EVERYTHING} return 'done';");
    let stage = stage_on(store.clone(), &body, once(json!({})), Limits::default()).await;
    let (thread, _) = stage.create("boss", "go").await;
    while stage.runtime.wait_for_tree(thread, LONG).await.is_err() {}
    assert!(store.is_through());
    assert!(result(&stage, thread).await.content.contains("outcome of `probe` is unknown"));
    is_untouched(&stage, thread).await;
}

#[test]
fn a_process_that_dies_while_a_tool_runs_leaves_nothing_of_it_and_the_model_is_told() {
    let now = Arc::new(AtomicI64::new(1_000_000_000));
    let hand = Arc::clone(&now);
    let store = Arc::new(MemoryStore::with_clock(Clock::new(move || Timestamp(hand.fetch_add(1, Ordering::Relaxed)))));
    let life = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let body = format!("{EVERYTHING} while (true) {{}}");
    let first = life();
    let (thread, held) = first.block_on(async {
        let stage = stage_on(store.clone(), &body, once(json!({})), Limits::default()).await;
        let (thread, _) = stage.create("boss", "go").await;
        until_called(&stage, thread).await;
        (thread, stage)
    });
    first.shutdown_background();
    drop(held);
    now.fetch_add(60_000_000, Ordering::Relaxed);
    life().block_on(async {
        let stage = stage_on(store, &body, once(json!({})), Limits::default()).await;
        stage.runtime.resume(None);
        stage.settle(thread).await;
        let journal = stage.store.journal(thread, 0, 1000).await.unwrap();
        let unknown = |event: &entourage_model::Event| {
            matches!(event, entourage_model::Event::CallEnded { outcome: Outcome::Unknown, message, .. } if message.tool_name == Some(PROBE.into()))
        };
        assert_eq!(journal.iter().filter(|stored| unknown(&stored.event)).count(), 1);
        is_untouched(&stage, thread).await;
    });
}

#[tokio::test]
async fn the_end_of_a_call_that_is_never_repeated_does_not_wait_for_the_next_decision() {
    let store = Arc::new(BreakingStore::new(any_store().await));
    // The first commit records the call, the second one ends it; were both decisions about the end and about the answer
    // behind it one commit, there would be no third.
    store.break_commit(2, Fault::Late);
    let body = "await state.setValue('a', 1);";
    let stage = stage_on(store.clone(), body, once(json!({})), Limits::default()).await;
    let (thread, _) = stage.create("boss", "go").await;
    tokio::time::timeout(LONG, store.until_late()).await.expect("the answer has a commit of its own");
    let durable = stage.runtime.state(thread).await.unwrap().unwrap();
    assert_eq!((durable.values.get("a"), durable.transcript.len()), (Some(&json!(1)), 3));
    store.let_late_go_on();
    stage.settle(thread).await;
}
