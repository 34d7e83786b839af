//! Whatever is written, the answer is a value or a fault: no panic, no hang, no path outside.

use crate::files::Files;
use entourage_script::{NoMemory, evaluate};
use proptest::prelude::*;
use std::time::{Duration, Instant};

const WORDS: &[&str] = &[
    "import",
    "export",
    "default",
    "from",
    "const",
    "let",
    "var",
    "function",
    "class",
    "extends",
    "interface",
    "type",
    "enum",
    "namespace",
    "declare",
    "abstract",
    "async",
    "await",
    "yield",
    "return",
    "throw",
    "new",
    "typeof",
    "keyof",
    "as",
    "satisfies",
    "is",
    "infer",
    "readonly",
    "if",
    "else",
    "for",
    "of",
    "in",
    "while",
    "do",
    "switch",
    "case",
    "try",
    "catch",
    "finally",
    "this",
    "super",
    "null",
    "undefined",
    "true",
    "a",
    "b",
    "x",
    "0",
    "1.5",
    "10n",
    "'s'",
    "\"d\"",
    "`t`",
    "`${",
    "}",
    "{",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "=>",
    "=",
    "==",
    "+",
    "++",
    "-",
    "*",
    "**",
    "/",
    "/x/",
    "!",
    "?",
    "?.",
    ":",
    ".",
    "...",
    ",",
    ";",
    "\n",
    "@",
    "#",
    "|",
    "&",
    "&&",
    "??",
    "//",
    "/*",
    "*/",
    "\\",
    "'./a'",
    "'./b'",
    "'zod'",
    "'fs'",
    "😀",
    "\u{2028}",
    "\u{feff}",
    "\0",
    "import('./b')",
    "export default",
    "{ a: 1 }",
    "Symbol.for('entourage.schema')",
    "toJSON",
    "Promise",
    "globalThis",
    "Proxy",
    "with",
    "eval",
    "arguments",
    "using",
    "accessor",
    "static",
    "get",
    "set",
];

fn script() -> impl Strategy<Value = String> {
    let words = proptest::collection::vec(proptest::sample::select(WORDS), 0..40).prop_map(|words| words.join(" "));
    let chars = proptest::collection::vec(any::<char>(), 0..60).prop_map(|chars| chars.into_iter().collect());
    let glued = proptest::collection::vec(proptest::sample::select(WORDS), 0..20).prop_map(|words| words.concat());
    prop_oneof![4 => words, 1 => chars, 2 => glued]
}

/// Pieces of specifiers, the more misleading the better.
const PIECES: &[&str] = &[
    ".",
    "..",
    "/",
    "./",
    "../",
    "//",
    "\\",
    "a",
    "b",
    "index",
    ".ts",
    ".js",
    ".json",
    ".mts",
    "%2e",
    "%2F",
    "%00",
    "%",
    "\0",
    "\n",
    "file:",
    "node:",
    "data:",
    "http://",
    "C:",
    "~",
    "@stax/",
    "zod",
    "entourage",
    "entourage:",
    "state",
    "\u{2024}",
    "\u{ff0f}",
    "..;",
    "?x",
    "#x",
    " ",
    "agents",
    "etc/passwd",
    "🙂",
    "*",
    "…",
    "con",
    "\u{202e}",
];

fn specifier() -> impl Strategy<Value = String> {
    let pieces = proptest::collection::vec(proptest::sample::select(PIECES), 0..10).prop_map(|pieces| pieces.concat());
    prop_oneof![3 => pieces, 1 => any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gives_a_value_or_a_fault(text in script(), other in script(), path in proptest::sample::select(&["agents/a.ts", "agents/a.js"][..])) {
        let files = Files::of(&[(path, &text), ("agents/b.ts", &other)]);
        let begun = Instant::now();
        if let Err(fault) = evaluate(path, &files, &NoMemory) {
            prop_assert!(!fault.what.contains("this is a bug"), "{}", fault);
            prop_assert!(fault.line != Some(0) && fault.column != Some(0), "{}", fault);
            prop_assert!(!fault.file.is_empty(), "{}", fault);
        }
        prop_assert!(begun.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn no_specifier_leads_outside(name in specifier(), at in 0usize..4) {
        let text = serde_json::to_string(&name).unwrap();
        let statement = match at {
            0 => format!("import x from {text}; export default x"),
            1 => format!("export {{ default }} from {text}"),
            2 => format!("export default await import({text})"),
            _ => format!("const name = {text}; export default await import(name).then(m => m.default)"),
        };
        let files = Files::of(&[("agents/tools/a.ts", &statement), ("agents/b.ts", "export default 1"), ("b.json", "1")]);
        let _ = evaluate("agents/tools/a.ts", &files, &NoMemory);
        for asked in files.asked.borrow().iter() {
            prop_assert!(!asked.is_empty() && !asked.starts_with('/') && !asked.contains(['\\', '\0']), "{:?}", asked);
            prop_assert!(asked.split('/').all(|part| !matches!(part, "" | "." | "..")), "{:?}", asked);
            prop_assert!(!asked.to_lowercase().contains("%2"), "{:?}", asked);
        }
    }
}
