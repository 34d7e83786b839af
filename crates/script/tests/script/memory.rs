//! What is remembered is what would be found anew.

use crate::files::{Files, plain};
use entourage_model::Digest;
use entourage_script::{Memory, NoMemory, OneReading, evaluate};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Default)]
struct Remembering {
    kept: Mutex<BTreeMap<Digest, Vec<u8>>>,
    found: AtomicUsize,
}

impl Memory for Remembering {
    fn recall(&self, key: &Digest) -> Option<Vec<u8>> {
        let found = self.kept.lock().unwrap().get(key).cloned();
        self.found.fetch_add(usize::from(found.is_some()), Ordering::Relaxed);
        found
    }

    fn keep(&self, key: &Digest, bytes: &[u8]) {
        self.kept.lock().unwrap().insert(*key, bytes.to_vec());
    }
}

impl Remembering {
    fn found(&self) -> usize {
        self.found.load(Ordering::Relaxed)
    }

    /// What was kept, if it is one thing.
    fn bytes(&self) -> Vec<u8> {
        let kept = self.kept.lock().unwrap();
        assert_eq!(kept.len(), 1);
        kept.values().next().unwrap().clone()
    }
}

/// A memory whose every answer is the same.
struct Fixed(Vec<u8>);

impl Memory for Fixed {
    fn recall(&self, _key: &Digest) -> Option<Vec<u8>> {
        Some(self.0.clone())
    }

    fn keep(&self, _key: &Digest, _bytes: &[u8]) {}
}

fn project() -> Files {
    Files::of(&[
        (
            "a.ts",
            "import { b } from './b';\nexport default { b, list: [1, 'x', null, 1.5, true], run() {}, deep: { x: {} } }",
        ),
        ("b.ts", "import c from './c.json';\nexport const b: unknown = c"),
        ("c.json", "[1]"),
    ])
}

#[test]
fn a_definition_is_evaluated_once() {
    let (files, memory) = (project(), Remembering::default());
    let first = evaluate("a.ts", &files, &memory).unwrap();
    assert_eq!((memory.found(), memory.kept.lock().unwrap().len()), (0, 1));
    let second = evaluate("a.ts", &files, &memory).unwrap();
    assert_eq!(memory.found(), 1);
    assert_eq!(first, second);
    assert_eq!(first, evaluate("a.ts", &files, &NoMemory).unwrap());
}

#[test]
fn what_failed_is_not_tried_again_in_the_same_reading() {
    let write = |files: &mut Files, path: &str, text: &str| _ = files.texts.insert(path.to_owned(), text.into());
    let (mut files, memory) = (project(), Remembering::default());
    write(&mut files, "b.ts", "export default await new Promise(() => {})");
    let reading = OneReading::new(&memory);
    let fault = evaluate("b.ts", &files, &reading).unwrap_err();
    write(&mut files, "never.ts", "import './none'; export default 1");
    assert!(evaluate("never.ts", &files, &reading).is_err());
    write(&mut files, "none.ts", "");
    assert!(evaluate("never.ts", &files, &reading).is_err(), "the files are taken to be the same while they are read");
    assert!(evaluate("never.ts", &files, &OneReading::new(&memory)).is_ok(), "and the next reading looks again");
    assert_eq!(evaluate("b.ts", &files, &reading), Err(fault));
    write(&mut files, "b.ts", "export default 1");
    assert!(evaluate("b.ts", &files, &reading).is_ok(), "another text is another definition");
}

#[test]
fn a_file_that_appears_where_one_was_looked_for_counts() {
    let mut files = project();
    files.texts.insert("b/index.ts".to_owned(), files.texts["b.ts"].clone());
    files.texts.remove("b.ts");
    files.texts.insert("b/c.json".to_owned(), b"2".to_vec());
    let memory = Remembering::default();
    assert_eq!(plain(&evaluate("a.ts", &files, &memory).unwrap().value)["b"], json!(2));
    files.texts.insert("b.ts".to_owned(), b"export const b = 3".to_vec());
    assert_eq!(plain(&evaluate("a.ts", &files, &memory).unwrap().value)["b"], json!(3));
    files.texts.remove("b.ts");
    assert_eq!(plain(&evaluate("a.ts", &files, &memory).unwrap().value)["b"], json!(2));
}

#[test]
fn the_same_text_at_another_path_is_another_definition() {
    let files = Files::of(&[
        ("x/a.ts", "import b from './b'; export default b"),
        ("y/a.ts", "import b from './b'; export default b"),
        ("x/b.ts", "export default 'x'"),
        ("y/b.ts", "export default 'y'"),
    ]);
    let memory = Remembering::default();
    for folder in ["x", "y", "x"] {
        let evaluated = evaluate(&format!("{folder}/a.ts"), &files, &memory).unwrap();
        assert_eq!(plain(&evaluated.value), json!(folder));
    }
}

#[test]
fn faults_are_not_kept() {
    let memory = Remembering::default();
    evaluate("a.ts", &Files::of(&[("a.ts", "throw 1")]), &memory).unwrap_err();
    assert!(memory.kept.lock().unwrap().is_empty());
}

#[test]
fn the_deepest_value_is_kept_too() {
    let text = "let a: any = 1; for (let i = 0; i < 64; i++) a = i % 2 ? [a] : { a }; export default a";
    let (files, memory) = (Files::of(&[("a.ts", text)]), Remembering::default());
    let first = evaluate("a.ts", &files, &memory).unwrap();
    assert_eq!(evaluate("a.ts", &files, &memory).unwrap(), first);
    assert_eq!(memory.found(), 1);
    let bytes = memory.bytes();
    assert!(bytes.len() < 10_000);
    // What was kept is really what is used.
    assert_eq!(evaluate("a.ts", &files, &Fixed(bytes)).unwrap(), first);
}

#[test]
fn a_memory_that_was_tampered_with_is_as_good_as_none() {
    let (files, memory) = (project(), Remembering::default());
    let expected = evaluate("a.ts", &files, &memory).unwrap();
    let bytes = memory.bytes();
    for length in (0..bytes.len()).step_by(61) {
        let cut = Fixed(bytes[..length].to_vec());
        assert_eq!(evaluate("a.ts", &files, &cut).unwrap(), expected, "{length}");
    }
    let endless = r#"{"seen":{},"value":[[1,1,{"list":9999999999}]],"program":{"entry":"a.ts","modules":{}}}"#;
    assert_eq!(evaluate("a.ts", &files, &Fixed(endless.into())).unwrap(), expected);
    let short = r#"{"seen":{},"value":[[1,1,"null"],[1,1,"null"]],"program":{"entry":"a.ts","modules":{}}}"#;
    assert_eq!(evaluate("a.ts", &files, &Fixed(short.into())).unwrap(), expected);
    let deep = format!(
        r#"{{"seen":{{}},"value":[{}[1,1,"null"]],"program":{{"entry":"a.ts","modules":{{}}}}}}"#,
        r#"[1,1,{"list":1}],"#.repeat(100_000)
    );
    assert_eq!(evaluate("a.ts", &files, &Fixed(deep.into())).unwrap(), expected);
}

const PATHS: [&str; 6] = ["a.ts", "b.ts", "b.js", "b/index.ts", "c.ts", "d.json"];

/// Whether each is what JSON, TypeScript or nothing makes of it depends on where it lands.
const TEXTS: [&str; 12] = [
    "export default 1",
    "export default { a: [1], b: 'x' }",
    "import b from './b'; export default { b }",
    "import b from './b'; import c from './c'; export default [b, c]",
    "import b from './b.js'; export default [b]",
    "import d from './d.json'; export default { d }",
    "import type b from './b'; export default 'type'",
    "export default { run: () => import('./c') }",
    "const c = await import('./' + 'c').catch(() => 'none'); export default Object.keys(c)",
    "throw new Error('x')",
    "[1, 2]",
    "3",
];

/// A file and its new text. Nothing removes it.
type Edit = (&'static str, Option<&'static str>);

fn edit() -> impl Strategy<Value = Edit> {
    let text = proptest::sample::select(&TEXTS[..]);
    (proptest::sample::select(&PATHS[..]), proptest::option::weighted(0.7, text))
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    // Imports that can be satisfied in more than one way are where a memory goes wrong.
    let begun =
        [("a.ts", Some(TEXTS[2])), ("b/index.ts", Some(TEXTS[0])), ("c.ts", Some(TEXTS[8])), ("d.json", Some("3"))];
    proptest::collection::vec(edit(), 1..8).prop_map(move |edits| begun.into_iter().chain(edits).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn after_any_edit_the_answer_is_that_of_a_fresh_evaluation(edits in edits()) {
        let (mut files, memory) = (Files::default(), Remembering::default());
        for (path, text) in edits {
            match text {
                Some(text) => files.texts.insert(path.to_owned(), text.into()),
                None => files.texts.remove(path),
            };
            for entry in ["a.ts", "c.ts"] {
                let remembered = evaluate(entry, &files, &memory);
                prop_assert_eq!(&remembered, &evaluate(entry, &files, &NoMemory));
            }
        }
    }
}
