//! What a definition must not reach, and what must not happen whatever it does.

use crate::files::{plain, run_text};
use serde_json::{Value, json};

fn check(text: &str, expected: Value) {
    match run_text(text) {
        Ok(evaluated) => assert_eq!(plain(&evaluated.value), expected, "{text}"),
        Err(fault) => panic!("{fault}\n{text}"),
    }
}

#[test]
fn there_is_nothing_of_the_machine() {
    let names = [
        "process",
        "require",
        "Deno",
        "Bun",
        "std",
        "os",
        "fs",
        "fetch",
        "XMLHttpRequest",
        "WebSocket",
        "Worker",
        "importScripts",
        "scriptArgs",
        "print",
        "load",
        "eval",
        "__entourage_load",
        "__entourage_log",
        "__entourage_random",
        "__loadScript",
        "gc",
        "module",
        "exports",
        "global",
        "window",
    ];
    let usable = format!(
        "const names = {}; export default names.filter(name => {{
            try {{ const it = (globalThis as any)[name]; return it !== undefined && it() !== undefined }} catch {{ return false }} }})",
        json!(names)
    );
    check(&usable, json!([]));
}

#[test]
fn no_code_is_made_of_text() {
    for text in [
        "eval(code)",
        "(0, globalThis.eval)(code)",
        "Function(code)()",
        "new Function(code)()",
        "(() => {}).constructor(code)()",
        "(async () => {}).constructor(code)()",
        "(function* () {}).constructor(code)().next()",
        "(async function* () {}).constructor(code)().next()",
        "Object.getPrototypeOf(Object.getPrototypeOf(() => {})).constructor(code)()",
        "Reflect.construct(Function, [code])()",
        "new (class extends Function {})(code)()",
        "setTimeout(code, 0)",
    ] {
        let text = format!(
            "const code = 'globalThis.ran = 1'; try {{ {text} }} catch {{}} export default 'ran' in globalThis"
        );
        check(&text, json!(false));
    }
    check("export default [() => {}, async () => {}].every(f => f instanceof Function)", json!(true));
}

#[test]
fn nothing_blocks_the_thread() {
    check(
        "let a; try { a = Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0) } catch { a = 'refused' } export default a",
        json!("refused"),
    );
}

#[test]
fn the_engine_survives_what_is_done_to_its_parts() {
    for text in [
        "Object.prototype.toJSON = () => 1; export default { a: 2 }",
        "Array.prototype[Symbol.iterator] = null; Promise.prototype.then = null; export default [1]",
        "globalThis.Symbol = null; globalThis.JSON = null; globalThis.Map = null; export default 1",
        "delete (globalThis as any).Promise; delete (globalThis as any).Error; export default 1",
        "Object.defineProperty(globalThis, 'Map', { get() { throw new Error('x') } }); export default {}",
        "Error.prepareStackTrace = () => { throw 1 }; throw new Error('x')",
        "Error.prepareStackTrace = () => ({}); throw new Error('x')",
        "Error.stackTraceLimit = -1; throw new Error('x')",
        "const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { throw e } }); throw e",
        "const e = new Error('x'); e.stack = 'at (agents/agent.ts:99999999999:1)\\nat (agents/agent.ts:0:0)'; throw e",
        "const e = new Error; Object.defineProperty(e, 'message', { get() { throw e } }); throw e",
        "const e = new Error; e.name = Symbol() as any; e.message = Symbol() as any; throw e",
        "throw { toString() { throw 1 } }",
        "throw { toString() { return {} } }",
        "throw new Proxy(new Error, { get() { throw 1 } })",
        "throw Symbol('x')",
        "throw null",
        "throw '\\ud800'",
        "throw new Error('\\ud800')",
        "throw new Error('x'.repeat(1e6))",
        "export default new Proxy({}, { ownKeys: () => ['a', 'a'] })",
        "export default new Proxy([], { get: () => NaN })",
        "export default new Proxy([], { get: (_, key) => key === 'length' ? -1 : undefined })",
        "export default Object.defineProperty([], 'x', { get() { throw 1 } })",
        "export default new Proxy(function () {}, { get() { throw new Error('x') } })",
        "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); export default proxy",
        "const { proxy, revoke } = Proxy.revocable([], {}); revoke(); export default [proxy]",
        "export default new (class extends Array { get length() { return 3 } })",
        "export default { then(f: any) { f(1) } }",
        "export default new (class extends Promise<any> { then() { throw 1 } } as any)(() => {})",
        "export default Object.create(null)",
        "export default { __proto__: null, a: 1 }",
        "export default import.meta",
        "export default globalThis",
        "export default new WeakRef({})",
        "export default new FinalizationRegistry(() => { for (;;); })",
        "export default (function* () { for (;;) yield 1 })()",
        "export default new Int8Array(3)",
        "export default new String('x')",
        "export default arguments",
        "with ({}) {}",
        "export default await new Promise(() => {})",
        "export default new Promise((_, no) => no(new Error('rejected')))",
        "Promise.reject(new Error('nobody cares')); export default 1",
        "import('./none' + 1); export default 1",
        "export { x as default }; let x = 1; x = 2",
        "label: { export default 1 }",
        "export default /(/",
        "const again = () => Promise.resolve().then(again); again(); await new Promise(() => {}); export default 1",
        "let a = 'x'; for (;;) a += a; export default a",
    ] {
        // Either a value or a fault with words in it; never a panic.
        if let Err(fault) = run_text(text) {
            assert!(!fault.what.is_empty() && fault.what.len() < 10_000, "{fault}\n{text}");
            assert!(!fault.what.contains("this is a bug"), "{fault}\n{text}");
        }
    }
}

#[test]
fn one_definition_leaves_nothing_behind_for_the_next() {
    run_text("(globalThis as any).left = 1; (Object.prototype as any).left = 1; export default 1").unwrap();
    check(
        "export default [typeof (globalThis as any).left, ({} as any).left === undefined]",
        json!(["undefined", true]),
    );
}
