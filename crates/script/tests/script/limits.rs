//! What ends by a limit.

use crate::files::{fault_of, plain, refused_text, run_text};
use entourage_script::FaultKind::{Memory, Syntax, Threw, Time, Value as Unfit};
use std::time::{Duration, Instant};

#[test]
fn a_definition_gets_five_seconds() {
    let begun = Instant::now();
    refused_text("while (true) {}", Time, "did not end within 5 seconds", "");
    assert!(begun.elapsed() >= Duration::from_secs(5));
}

#[test]
fn memory_is_limited() {
    for text in [
        "const a = []; for (;;) a.push(new Array(1000).fill(1)); export default a",
        "export default 'x'.repeat(2 ** 28)",
        "let s = 'x'; for (;;) s += s; export default s",
        "export default new Array(1e8).fill(0)",
        "export default new Uint8Array(1e9)",
        "const m = new Map; for (let i = 0;; i++) m.set(i, {}); export default 1",
        "export default Array.from({ length: 1e8 }, (_, i) => ({ i }))",
        "export default JSON.stringify(new Array(1e6).fill('x'.repeat(1000)))",
        "const f = async () => { const a = []; for (;;) a.push('x'.repeat(1e6) + a.length) }; export default await f()",
    ] {
        refused_text(text, Memory, "needs more than 64 MiB", "");
    }
}

#[test]
fn a_script_may_notice_that_it_asked_for_too_much() {
    let evaluated = run_text("let a; try { a = 'x'.repeat(2 ** 28) } catch { a = 'less' } export default a").unwrap();
    assert_eq!(plain(&evaluated.value), "less");
}

#[test]
fn deep_recursion_is_a_fault() {
    for text in [
        "const f = (): number => f() + 1; export default f()",
        "const f = (): any => [1].map(f); export default f()",
        "let a: any = []; for (let i = 0; i < 1e5; i++) a = [a]; export default JSON.stringify(a)",
        "const f = (n: number): any => new Proxy({}, { get: () => f(n).x }); export default f(1).x",
        "class A { get a(): any { return this.a } } export default new A().a",
        "const o: any = {}; o.toString = () => `${o}`; export default `${o}`",
        "export default '['.repeat(1e5).replace(/\\[/g, function f(x: any): any { return x.replace(/\\[/g, f) })",
    ] {
        fault_of(&[("agents/agent.ts", text)], Threw, "Maximum call stack size exceeded");
    }
    fault_of(&[("agents/agent.ts", "export default JSON.parse('['.repeat(1e6))")], Threw, "");
}

#[test]
fn exported_values_are_limited() {
    let deep = |levels: usize| format!("let a: any = 1; for (let i = 0; i < {levels}; i++) a = [a]; export default a");
    run_text(&deep(64)).unwrap();
    refused_text(&deep(65), Unfit, "is more than 64 levels deep", "1:70");
    refused_text("export default new Array(2e6)", Unfit, "has more than 1000000 values", "1:16");
    refused_text(
        "let a: any = 1; for (let i = 0; i < 40; i++) a = [a, a]; export default a",
        Unfit,
        "has more than 1000000 values",
        "1:73",
    );
    refused_text(
        "const a = 'x'.repeat(1e6); export default new Array(1000).fill(a)",
        Unfit,
        "has too much text in it",
        "1:43",
    );
    refused_text(
        "export default new Proxy([], { get: (_, key) => key === 'length' ? 2 ** 40 : key === '0' ? 1 : undefined })",
        Unfit,
        "has more than",
        "1:16",
    );
}

#[test]
fn nesting_is_limited() {
    for unit in ["(", "[", "{a:", "!", "a=>", "-", "a<", "if(a)", "typeof ", "`${", "a?b:"] {
        for count in [20_000, (8 << 20) / unit.len() - 100] {
            let text = format!("const x = {}1", unit.repeat(count));
            let fault = fault_of(&[("agents/agent.ts", &text)], Syntax, "nested too deep");
            assert_eq!(fault.line, Some(1), "{unit}");
            assert!(fault.column.is_some_and(|column| column < 100_000), "{unit}: {fault}");
        }
    }
}

#[test]
fn what_is_nested_up_to_the_limit_is_a_fault_or_a_value() {
    for (unit, end) in
        [("(", ")"), ("[", "]"), ("{a:", "}"), ("!", ""), ("a=>", ""), ("()=>{return ", "}"), ("class{a=", "}")]
    {
        let count = 1900;
        let text = format!("const x = {}1{}; export default 1", unit.repeat(count), end.repeat(count));
        if let Err(fault) = run_text(&text) {
            assert!(matches!(fault.kind, Syntax | Threw), "{unit}: {fault}");
        }
    }
}

#[test]
fn a_wide_source_is_not_a_deep_one() {
    let rows: String =
        (0..20_000).map(|index| format!("  {{ id: {index}, name: 'row {index}', ok: !0 }},\n")).collect();
    let evaluated = run_text(&format!("const rows = [\n{rows}];\nexport default rows.length")).unwrap();
    assert_eq!(plain(&evaluated.value), 20_000);
}
