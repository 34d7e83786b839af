//! Functions of definitions, called.

use crate::files::{place_of, run};
use async_trait::async_trait;
use entourage_model::Program;
use entourage_script::FaultKind::{Import, Memory, Threw, Time, Value as Unfit};
use entourage_script::{Door, Fault, FaultKind, Given, Limits, call};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const LIMITS: Limits = Limits { bytes: 64 << 20, time: Duration::from_secs(20) };
const SHORT: Limits = Limits { bytes: 64 << 20, time: Duration::from_millis(200) };

/// Answers everything, and counts what is under way.
#[derive(Default)]
struct Echo {
    asked: AtomicUsize,
    answered: AtomicUsize,
    dropped: Arc<AtomicUsize>,
    heard: Mutex<Vec<String>>,
}

/// Counted when it is dropped.
struct UnderWay(Arc<AtomicUsize>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Door for Echo {
    fn facts(&self) -> Value {
        json!({"threadId": "t1", "agentId": "a1", "createdAt": 7, "env": {}, "context": {"x": [1]}})
    }

    async fn ask(&self, method: &str, arguments: Value) -> Result<Value, String> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let _under_way = UnderWay(Arc::clone(&self.dropped));
        let answer = match arguments["key"].as_str() {
            Some("never") => std::future::pending().await,
            Some("slow") => {
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok(json!("slow"))
            }
            Some("bad") => Err("the door says no".to_owned()),
            Some("deep") => Ok(json!({"a": [{"b": null}, "😀", 1.5]})),
            _ => Ok(json!({"method": method, "arguments": arguments})),
        };
        self.answered.fetch_add(1, Ordering::SeqCst);
        answer
    }

    fn hear(&self, level: &str, text: String) {
        self.heard.lock().unwrap().push(format!("{level} {text}"));
    }
}

fn program(text: &str) -> Program {
    programs(&[("tools/tool.ts", text)])
}

fn programs(files: &[(&str, &str)]) -> Program {
    match run(files) {
        Ok(evaluated) => evaluated.program,
        Err(fault) => panic!("{fault}\n{files:?}"),
    }
}

/// Calls `execute` of a tool whose body is given.
async fn perform(body: &str, arguments: Value) -> Result<Value, Fault> {
    let text = format!("export default {{ args: {{}}, async execute(state: any, args: any) {{ {body} }} }}");
    call(&program(&text), "execute", arguments, Arc::new(Echo::default()), LIMITS).await
}

async fn check(body: &str, expected: Value) {
    match perform(body, json!({"n": 2})).await {
        Ok(result) => assert_eq!(result, expected, "{body}"),
        Err(fault) => panic!("{fault}\n{body}"),
    }
}

async fn check_refused(text: &str, limits: Limits, kind: FaultKind, what: &str, place: &str) {
    let fault = call(&program(text), "execute", json!({}), Arc::new(Echo::default()), limits).await.unwrap_err();
    assert_eq!(fault.kind, kind, "{fault}\n{text}");
    assert!(fault.what.contains(what), "{fault}\n{text}");
    assert_eq!(place_of(&fault), place, "{fault}\n{text}");
}

#[tokio::test]
async fn a_function_gets_its_arguments_and_gives_json() {
    check("return args.n + 1", json!(3)).await;
    check(
        "return { a: [1, undefined, () => 1], b: undefined, f() {}, d: new Date(0) }",
        json!({"a": [1, null, null], "d": "1970-01-01T00:00:00.000Z"}),
    )
    .await;
    check("", Value::Null).await;
    check("return () => 1", Value::Null).await;
    check("return '😀'", json!("😀")).await;
    check("return [1.0, 1.5, -0]", json!([1, 1.5, 0])).await;
}

#[tokio::test]
async fn a_definition_without_arguments_is_called_with_its_state_alone() {
    for (args, expected) in [("args: null,", 1), ("args: {},", 2), ("", 2)] {
        let text = format!("export default {{ {args} execute() {{ return arguments.length }} }}");
        let result = call(&program(&text), "execute", json!({}), Arc::new(Echo::default()), LIMITS).await;
        assert_eq!(result, Ok(json!(expected)), "{args}");
    }
}

#[tokio::test]
async fn any_property_of_the_definition_can_be_called() {
    let program = program(
        "export default Promise.resolve({ name: 'x', args: {}, greet(state: any, { who }: any) { return `${this.name} ${who}` } })",
    );
    let door = || Arc::new(Echo::default());
    assert_eq!(call(&program, "greet", json!({"who": "you"}), door(), LIMITS).await, Ok(json!("x you")));
    for property in ["missing", "name", "toString\0"] {
        let fault = call(&program, property, json!({}), door(), LIMITS).await.unwrap_err();
        assert_eq!((fault.kind, fault.file.as_str()), (Unfit, "tools/tool.ts"));
        assert!(fault.what.contains("has no function"), "{fault}");
    }
}

#[tokio::test]
async fn the_door_hears_what_the_console_is_told() {
    let door = Arc::new(Echo::default());
    let program = program("export default { execute() { console.log('a', 1); console.error({ b: 2 }); return 1 } }");
    let listener: Arc<dyn Door> = Arc::<Echo>::clone(&door);
    assert_eq!(call(&program, "execute", json!({}), listener, LIMITS).await, Ok(json!(1)));
    let heard = door.heard.lock().unwrap();
    assert_eq!((heard.len(), heard[0].as_str()), (2, "debug a 1"), "{heard:?}");
    assert!(heard[1].starts_with("error ") && heard[1].contains('b'), "{heard:?}");
}

#[tokio::test]
async fn the_state_asks_through_the_door() {
    check("return state.threadId", json!("t1")).await;
    check("return await state.getValue('k')", json!({"method": "getValue", "arguments": {"key": "k"}})).await;
    check("return await state.getValue('deep')", json!({"a": [{"b": null}, "😀", 1.5]})).await;
    check(
        "try { await state.getValue('bad') } catch (e: any) { return [e instanceof Error, e.message] }",
        json!([true, "the door says no"]),
    )
    .await;
    check(
        "return (await Promise.all(['slow', 'a', 'slow'].map(key => state.getValue(key)))).map((x: any) => x.method ?? x)",
        json!(["slow", "getValue", "slow"]),
    )
    .await;
}

#[tokio::test]
async fn what_was_asked_for_is_done_before_the_call_ends() {
    let door = Arc::new(Echo::default());
    let tool =
        program("export default { execute(state: any) { state.getValue('slow'); state.getValue('a'); return 1 } }");
    assert_eq!(call(&tool, "execute", json!({}), door.clone(), LIMITS).await, Ok(json!(1)));
    assert_eq!(door.answered.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_failure_that_nobody_takes_note_of_fails_the_call() {
    for (body, what) in [
        ("state.getValue('bad'); return 1", "the door says no"),
        ("state.getValue('bad'); await state.getValue('slow'); return 1", "the door says no"),
        ("state.getValue('slow').then(() => { throw new Error('later') }); return 1", "later"),
        ("(async () => { throw 'apart' })(); return 1", "apart"),
        ("Promise.reject(new TypeError('mine')); return 1", "TypeError: mine"),
    ] {
        let fault = perform(body, json!({})).await.unwrap_err();
        assert_eq!((fault.kind, fault.what.as_str()), (Threw, what), "{body}");
    }
    check("state.getValue('bad').catch(() => {}); return 1", json!(1)).await;
    check("const p = state.getValue('bad'); await state.getValue('slow'); p.catch(() => {}); return 1", json!(1)).await;
    check("return (await Promise.allSettled([state.getValue('bad'), Promise.reject(1)])).length", json!(2)).await;
    check("try { await Promise.all([state.getValue('bad'), state.getValue('bad')]) } catch { return 1 }", json!(1))
        .await;
}

#[tokio::test]
async fn timers_run_while_a_function_does() {
    check("return await new Promise(done => setTimeout(done, 5, 'rung'))", json!("rung")).await;
    check(
        "const order: number[] = []; const after = (ms: any) => new Promise<void>(done => setTimeout(() => { order.push(ms); done() }, ms));
         await Promise.all([after(60), after(0), after(30)]); return order",
        json!([0, 30, 60]),
    )
    .await;
    check("const id = setTimeout(() => { throw 1 }, 1); clearTimeout(id); clearTimeout(99); await new Promise(done => setTimeout(done, 20)); return 1", json!(1)).await;
    check("let n = 0; await new Promise<void>(done => { const tick = () => ++n < 5 ? setTimeout(tick) : done(); tick() }); return n", json!(5)).await;
    // One that nobody waits for does not hold the call up.
    let begun = Instant::now();
    check("setTimeout(() => {}, 15_000); return 1", json!(1)).await;
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn faults_are_placed_in_the_typescript_they_came_from() {
    let text = "type A = 1;\ninterface B { a: A }\n\nexport default {\n  async execute(state: any, args: B) {\n    await null;\n    throw new Error('no luck');\n  },\n};";
    check_refused(text, LIMITS, Threw, "no luck", "tools/tool.ts:7:11").await;
    let files = [
        ("tools/tool.ts", "import { f } from '../lib/f';\nexport default { execute: () => f(1) }"),
        ("lib/f.ts", "export function f(a: number): never {\n  return (a as any).b.c;\n}"),
    ];
    let fault = call(&programs(&files), "execute", json!({}), Arc::new(Echo::default()), LIMITS).await.unwrap_err();
    assert_eq!((fault.kind, place_of(&fault)), (Threw, "lib/f.ts:2:11".to_owned()));
    check_refused("export default { execute: () => { setTimeout(() => { throw new Error('late') }, 0); return new Promise(() => {}) } }", LIMITS, Threw, "late", "tools/tool.ts:1:60").await;
}

#[tokio::test]
async fn a_program_lasts_longer_than_its_files() {
    let text = "export default { execute: async () => (await import('./later')).default }";
    let program = programs(&[
        ("tools/tool.ts", text),
        ("tools/later.ts", "import d from './d.json'; export default d.x as number"),
        ("tools/d.json", "{\"x\": 5}"),
    ]);
    let stored = serde_json::to_string(&program).unwrap();
    let program: Program = serde_json::from_str(&stored).unwrap();
    let door = Arc::new(Echo::default());
    assert_eq!(call(&program, "execute", json!({}), door, LIMITS).await, Ok(json!(5)));
}

#[tokio::test]
async fn only_what_was_read_can_be_imported() {
    for (name, what) in [
        ("'./none'", "was not part of the definition"),
        ("'../../x'", "leads out of the project"),
        ("'fs'", "there is no module `fs`"),
    ] {
        let text =
            format!("export default {{ execute: async () => {{ const name = {name} + ''; await import(name) }} }}");
        check_refused(&text, LIMITS, Import, what, &format!("tools/tool.ts:1:{}", 74 + name.len())).await;
    }
}

#[tokio::test]
async fn a_schema_that_parses_decides_alone_about_arguments() {
    let zod = "import { z } from 'zod';\n";
    let misfit = || Some("not an integer".to_owned());
    let attempt = async |args: &str, value: Value, misfit: Option<String>| {
        let tool = program(&format!("{zod}export default {{ args: {args}, execute: (_: any, args: any) => args }}"));
        call(&tool, "execute", Given::Arguments { value, misfit }, Arc::new(Echo::default()), LIMITS).await
    };
    let args = "z.object({ n: z.coerce.number().int() })";
    assert_eq!(attempt(args, json!({"n": "7"}), misfit()).await, Ok(json!({"n": 7})));
    let refused = attempt(args, json!({"n": "x"}), None).await.unwrap_err();
    assert_eq!((refused.kind, refused.line), (FaultKind::Arguments, None), "{refused}");
    assert!(refused.what.contains("[n]"), "{refused}");
    // A plain JSON Schema parses nothing, so whoever compared has the last word.
    let plain = "{ type: 'object' }";
    assert_eq!(attempt(plain, json!({"n": 1}), None).await, Ok(json!({"n": 1})));
    let refused = attempt(plain, json!({"n": "x"}), misfit()).await.unwrap_err();
    assert_eq!((refused.kind, refused.what.as_str()), (FaultKind::Arguments, "not an integer"));
    // A function of the schema that throws is at fault itself, where it stands.
    let broken = "z.object({ n: z.string().transform((n: any) => n.no.thing) })";
    let fault = attempt(broken, json!({"n": "x"}), None).await.unwrap_err();
    assert_eq!((fault.kind, fault.line), (Threw, Some(2)), "{fault}");
}

#[tokio::test]
async fn results_that_json_cannot_hold_are_refused() {
    for (body, what) in [
        ("return 1n", "JSON cannot hold"),
        ("const a: any = {}; a.a = a; return a", "JSON cannot hold"),
        ("return { toJSON() { throw new Error('mine') } }", "mine"),
        ("return '\\ud800'", "JSON cannot hold"),
        ("let a: any = 1; for (let i = 0; i < 500; i++) a = [a]; return a", "recursion limit"),
    ] {
        let fault = perform(body, json!({})).await.unwrap_err();
        assert_eq!(fault.kind, Unfit, "{fault}\n{body}");
        assert!(fault.what.contains(what), "{fault}\n{body}");
    }
}

#[tokio::test]
async fn a_call_ends_by_its_time() {
    for body in [
        "for (;;);",
        "await null; for (;;) { try { for (;;); } catch {} }",
        "await new Promise(done => setTimeout(done, 1e9))",
        "await state.getValue('never')",
        "state.getValue('never'); return 1",
        "const again = () => setTimeout(again, 0); again(); await state.getValue('never')",
        "return { toJSON() { for (;;); } }",
        "return { then(done: any) { for (;;); } }",
    ] {
        check_over(&format!("export default {{ async execute(state: any) {{ {body} }} }}")).await;
    }
    check_over("export default { execute: () => new Array(2 ** 29).indexOf(1) }").await;
}

/// Ends by its time. What spins has a place, what waits has none.
async fn check_over(text: &str) {
    let fault = call(&program(text), "execute", json!({}), Arc::new(Echo::default()), SHORT).await.unwrap_err();
    let told = (fault.kind, fault.what.as_str(), fault.file.as_str());
    assert_eq!(told, (Time, "did not end within 0.2 seconds", "tools/tool.ts"), "{text}");
}

#[tokio::test]
async fn a_call_ends_by_its_memory() {
    let small = Limits { bytes: 8 << 20, ..LIMITS };
    check_refused(
        "export default { execute: () => { const a = []; for (;;) a.push({}) } }",
        small,
        Memory,
        "needs more than 8 MiB",
        "tools/tool.ts",
    )
    .await;
    check_refused(
        "export default { execute: async (state: any) => { const k = 'x'.repeat(1e6); return await Promise.all(Array.from({ length: 100 }, () => state.getValue(k))) } }",
        small,
        Threw,
        "too much is asked for at once",
        "tools/tool.ts:1:152",
    )
    .await;
}

#[tokio::test]
async fn what_waits_for_nothing_is_told_so() {
    check_refused(
        "export default { execute: () => new Promise(() => {}) }",
        LIMITS,
        Threw,
        "never happens",
        "tools/tool.ts",
    )
    .await;
}

#[tokio::test]
async fn dropping_a_call_ends_it_and_what_it_asked_for() {
    for body in ["await state.getValue('never')", "state.getValue('never'); await null; for (;;);"] {
        let door = Arc::new(Echo::default());
        let tool = program(&format!("export default {{ async execute(state: any) {{ {body} }} }}"));
        let under_way = call(&tool, "execute", json!({}), door.clone(), LIMITS);
        let asked = async {
            while door.asked.load(Ordering::SeqCst) == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            result = under_way => panic!("{result:?}"),
            () = asked => {}
        }
        assert_eq!((door.dropped.load(Ordering::SeqCst), door.answered.load(Ordering::SeqCst)), (1, 0), "{body}");
        // The script's thread shares the program's text until it ends, long before its time is up.
        let begun = Instant::now();
        while Arc::strong_count(&tool.modules["tools/tool.ts"]) > 1 {
            assert!(begun.elapsed() < LIMITS.time / 2, "{body}");
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_run_beside_each_other() {
    let tool = program(
        "export default { args: {}, async execute(state: any, { n }: any) { await state.getValue('slow'); return n * 2 } }",
    );
    let calls = (0..50).map(|n| call(&tool, "execute", json!({"n": n}), Arc::new(Echo::default()), LIMITS));
    let results = futures::future::join_all(calls).await;
    for (n, result) in results.into_iter().enumerate() {
        assert_eq!(result, Ok(json!(n * 2)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_moved_by_hand_ends_no_call_early() {
    check("let n = 0; for (let i = 0; i < 300_000; i++) n += i; return n > 0", json!(true)).await;
}
