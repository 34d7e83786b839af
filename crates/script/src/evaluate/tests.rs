//! What ends by its time limit, with a limit that a test can wait for.

use super::*;
use crate::sources::{NoMemory, OneReading};
use std::time::Duration;

const LIMITS: Limits = Limits { bytes: 64 << 20, time: Duration::from_millis(200) };

struct One(&'static str);

impl Sources for One {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        if path == "a.ts" { Ok(self.0.into()) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

/// Ends by its time limit, and not much later than `later` allows.
fn check(text: &'static str, later: Duration) {
    let begun = Instant::now();
    let fault = run("a.ts", &One(text), &NoMemory, LIMITS).unwrap_err();
    let took = begun.elapsed();
    assert_eq!((fault.kind, fault.what.as_str()), (FaultKind::Time, "did not end within 0.2 seconds"), "{text}");
    // Generous, because other tests share the machine; without an end it would be hours.
    assert!(took >= LIMITS.time && took < LIMITS.time + later + Duration::from_secs(10), "{took:?}: {text}");
}

#[test]
fn every_kind_of_endless_work_ends() {
    for text in [
        "while (true) {}",
        "for (;;) { try { for (;;) {} } catch {} finally { continue } }",
        "const again = () => { queueMicrotask(again) }; again(); await new Promise(() => {}); export default 1",
        "export default (async () => { try { await 1; for (;;) {} } catch { return 1 } })()",
        "export default (async () => { try { await 1; for (;;) {} } finally { await 1 } })()",
        "export default { get a() { for (;;); } }",
        "export default new Proxy({}, { ownKeys() { for (;;); } })",
        "export default { a: { toJSON() { for (;;); } } }",
        "export default { then(done: any) { for (;;); }, get a() { for (;;); } }",
        "export default /^(a+)+$/.test('a'.repeat(100) + 'b')",
        "export default [1, 2, 3].sort(() => { for (;;); })",
        "class A { static { for (;;); } } export default 1",
        "throw { toString() { for (;;); } }",
        "throw Object.defineProperty(new Error, 'message', { get() { for (;;); } })",
        "Error.prepareStackTrace = () => { for (;;); }; throw new Error('x')",
        "export default new Set((function* () { for (;;) yield 1 })()).size",
    ] {
        check(text, Duration::ZERO);
    }
}

#[test]
fn what_never_ends_is_placed_at_what_its_module_was_about() {
    let text = "export default 1;\nfunction spin() {\n  for (;;) {}\n}\n  spin();\n";
    let fault = run("a.ts", &One(text), &NoMemory, LIMITS).unwrap_err();
    assert_eq!((fault.kind, fault.line, fault.column), (FaultKind::Time, Some(5), Some(3)), "{fault}");
}

/// Two definitions that import one module, which never ends.
struct Shared;

impl Sources for Shared {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match path {
            "a.ts" | "b.ts" => Ok("import { spun } from './shared.ts'; export default spun".into()),
            "calls.ts" => Ok("import { spin } from './harmless.ts'; export default spin()".into()),
            "idle.ts" => Ok("import { spin } from './harmless.ts'; export default typeof spin".into()),
            "shared.ts" => Ok("export let spun = 0;\nfor (;;) spun++;".into()),
            "harmless.ts" => Ok("export function spin() { for (;;) {} }".into()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

#[test]
fn a_shared_module_that_never_ends_is_waited_for_once() {
    let memory = OneReading::new(&NoMemory);
    let first = run("a.ts", &Shared, &memory, LIMITS).unwrap_err();
    assert_eq!(first.file, "shared.ts", "{first}");
    keep_shared("a.ts", &first, &Shared, &memory);
    // A limit that nobody could wait for: the answer comes from memory.
    let patient = Limits { time: Duration::from_secs(3600), ..LIMITS };
    assert_eq!(run("b.ts", &Shared, &memory, patient).unwrap_err(), first);
}

/// What a process knows of definitions that do not end.
#[derive(Default)]
struct Patience(std::sync::Mutex<std::collections::BTreeMap<Digest, Endless>>);

impl Memory for Patience {
    fn recall(&self, _: &Digest) -> Option<Vec<u8>> {
        None
    }

    fn keep(&self, _: &Digest, _: &[u8]) {}

    fn recall_endless(&self, key: &Digest) -> Option<Endless> {
        self.0.lock().unwrap().get(key).cloned()
    }

    fn keep_endless(&self, key: &Digest, endless: Endless) {
        self.0.lock().unwrap().insert(*key, endless);
    }
}

/// A definition that ends if its other file says so.
struct Asks(&'static str);

impl Sources for Asks {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match path {
            "a.ts" => Ok("import { ends } from './b.ts';\nwhile (!ends) {}\nexport default 1".into()),
            "b.ts" => Ok(self.0.into()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

#[test]
fn a_definition_that_never_ends_is_waited_for_once_until_one_of_its_files_changes() {
    let lasting = Patience::default();
    let never = Asks("export const ends = false");
    let first = evaluate_within(LIMITS, "a.ts", &never, &OneReading::new(&lasting)).unwrap_err();
    assert_eq!(first.kind, FaultKind::Time, "{first}");
    // A limit that nobody could wait for: the answer comes from memory.
    let patient = Limits { time: Duration::from_secs(3600), ..LIMITS };
    assert_eq!(evaluate_within(patient, "a.ts", &never, &OneReading::new(&lasting)).unwrap_err(), first);
    let mended = Asks("export const ends = true");
    evaluate_within(LIMITS, "a.ts", &mended, &OneReading::new(&lasting)).unwrap();
}

#[test]
fn a_function_that_never_ends_is_its_callers_fault() {
    let memory = OneReading::new(&NoMemory);
    let fault = run("calls.ts", &Shared, &memory, LIMITS).unwrap_err();
    assert_eq!(fault.file, "calls.ts", "{fault}");
    keep_shared("calls.ts", &fault, &Shared, &memory);
    run("idle.ts", &Shared, &memory, LIMITS).unwrap();
}

#[test]
fn a_built_in_function_that_never_looks_at_the_clock_is_left_behind() {
    // Some seconds of work in one step, so that its thread does not outlive the tests by much.
    check("export default new Array(2 ** 29).indexOf(1)", GRACE);
}

#[test]
fn no_amount_of_memory_is_too_little_for_a_fault() {
    let text = "import { z } from 'zod'; export default { a: z.object({ b: z.string() }), c: [new Map, 'x'.repeat(1e5)].length }";
    let mut given = Vec::new();
    // Every step of the way ends in the middle of something else.
    for bytes in (1 << 10..2 << 20).step_by(9001) {
        let limits = Limits { bytes, ..Limits::DEFINITION };
        match run("a.ts", &One(text), &NoMemory, limits) {
            Ok(_) => given.push(bytes),
            Err(fault) => {
                assert_eq!(fault.kind, FaultKind::Memory, "{bytes}: {fault}");
                assert!(given.is_empty(), "{bytes}: {fault}, but less was enough");
            }
        }
    }
    assert!(!given.is_empty());
}
