//! What a definition may import.

use crate::files::{Files, plain, refused, run};
use entourage_script::FaultKind::{Import, Read, Syntax};
use entourage_script::{NoMemory, evaluate};
use serde_json::{Value, json};

const ENTRY: &str = "agents/tools/a.ts";

fn check(entry: &str, others: &[(&str, &str)], expected: Value) {
    let files: Vec<_> = [(ENTRY, entry)].into_iter().chain(others.iter().copied()).collect();
    match run(&files) {
        Ok(evaluated) => assert_eq!(plain(&evaluated.value), expected, "{files:?}"),
        Err(fault) => panic!("{fault}\n{files:?}"),
    }
}

/// One import that is refused at its specifier.
fn check_refused(specifier: &str, what: &str) {
    let text = format!("import x from {};\nexport default x", json!(specifier));
    refused(&[(ENTRY, &text)], Import, what, "agents/tools/a.ts:1:15");
}

#[test]
fn files_are_found_by_the_names_that_typescript_gives_them() {
    for (specifier, path) in [
        ("./b", "agents/tools/b.ts"),
        ("./b", "agents/tools/b.mts"),
        ("./b", "agents/tools/b.js"),
        ("./b", "agents/tools/b.mjs"),
        ("./b", "agents/tools/b/index.ts"),
        ("./b", "agents/tools/b/index.js"),
        ("./b/", "agents/tools/b/index.mts"),
        ("./b.ts", "agents/tools/b.ts"),
        ("./b.js", "agents/tools/b.ts"),
        ("./b.js", "agents/tools/b.js"),
        ("./b.mjs", "agents/tools/b.mts"),
        ("./b.config", "agents/tools/b.config.ts"),
        ("../b", "agents/b.ts"),
        ("../../b", "b.ts"),
        ("../..", "index.ts"),
        (".", "agents/tools/index.ts"),
        ("./x/.././/b", "agents/tools/b.ts"),
        ("./100% b", "agents/tools/100% b.ts"),
    ] {
        let entry = format!("import b from {}; export default b", json!(specifier));
        check(&entry, &[(path, "export default 'found'")], json!("found"));
    }
}

#[test]
fn typescript_comes_before_javascript_and_files_before_folders() {
    let files = [
        ("agents/tools/b.ts", "export default 'ts'"),
        ("agents/tools/b.js", "export default 'js'"),
        ("agents/tools/b/index.ts", "export default 'index'"),
    ];
    check("import b from './b'; export default b", &files, json!("ts"));
    check("import b from './b.js'; export default b", &files, json!("ts"));
    check("import b from './b'; export default b", &files[1..], json!("js"));
    check("import b from './b'; export default b", &files[2..], json!("index"));
}

#[test]
fn json_is_imported_with_or_without_saying_so() {
    let data = ("agents/data.json", "{\"a\": [1, \"\u{2028}\"], \"__proto__\": 2}");
    let expected = json!({"a": [1, "\u{2028}"], "__proto__": 2});
    check("import d from '../data.json'; export default d", &[data], expected.clone());
    check("import d from '../data.json' with { type: 'json' }; export default d", &[data], expected.clone());
    check("export { default } from '../data.json' with { 'type': 'json' }", &[data], expected.clone());
    check(
        "const { default: d } = await import('../data.json', { with: { type: 'json' } }); export default d",
        &[data],
        expected,
    );
    let entry = (ENTRY, "import d from './d.json'; export default d");
    refused(
        &[entry, ("agents/tools/d.json", "{\n  \"a\": nul }")],
        Syntax,
        "not JSON: expected ident",
        "agents/tools/d.json:2:11",
    );
    let entry = (ENTRY, "import d from './d.json' with { type: 'text' }; export default d");
    refused(&[entry, ("agents/tools/d.json", "1")], Import, "cannot be imported as `text`", "agents/tools/a.ts:1:15");
    let entry = (ENTRY, "import d from './d' with { type: 'json' }; export default d");
    refused(
        &[entry, ("agents/tools/d.ts", "export default 1")],
        Import,
        "cannot be imported as `json`",
        "agents/tools/a.ts:1:15",
    );
}

#[test]
fn a_path_that_leaves_the_project_is_refused_and_never_read() {
    for (specifier, what) in [
        ("../../../secret", "leads out of the project"),
        ("../../../project/agents/tools/b", "leads out of the project"),
        ("./../../../b.ts", "leads out of the project"),
        ("/etc/passwd", "is not a relative path"),
        ("//host/x", "is not a relative path"),
        ("C:/x", "is not a relative path"),
        ("..\\..\\..\\b", "is not a relative path"),
        ("file:///etc/passwd", "there is no module `file:///etc/passwd`"),
        ("https://example.com/x.js", "there is no module"),
        ("data:text/javascript,export default 1", "there is no module"),
        ("./%2e%2e/%2e%2e/%2e%2e/b", "encoded path"),
        ("./..%2F..%2f..%2Fb", "encoded path"),
        ("./b%00", "encoded path"),
        ("./b\0.ts", "control character"),
        ("./b\n", "control character"),
        ("", "there is no module ``"),
        ("b.ts", "there is no module `b.ts`"),
        ("agents/tools/b", "there is no module"),
        ("#b", "there is no module"),
    ] {
        check_refused(specifier, what);
    }
    let files = Files::of(&[(ENTRY, "import x from '../../../../x'; export default x")]);
    evaluate(ENTRY, &files, &NoMemory).unwrap_err();
    assert!(files.asked.borrow().iter().all(|path| path == ENTRY), "{:?}", files.asked);
}

#[test]
fn a_module_of_the_project_is_missed_also_where_nobody_uses_it() {
    for text in ["import { a } from './none'; export default 1", "import a, * as b from './none'; export default 1"] {
        let place = format!("agents/tools/a.ts:1:{}", text.find("'./none'").unwrap() + 1);
        refused(&[(ENTRY, text)], Import, "`./none` does not exist", &place);
    }
    let outside = (ENTRY, "import { a } from '../../../secret'; export default 1");
    refused(&[outside], Import, "leads out of the project", "agents/tools/a.ts:1:19");
    for text in [
        "import { A } from './none'; const a: A = 1; export default a",
        "import type { A } from './none'; export default 1",
        "import { type A } from './none'; export default 1",
        "import a from 'lodash'; export default 1",
    ] {
        check(text, &[], json!(1));
    }
}

#[test]
fn modules_that_nobody_provides_are_refused_with_the_nearest_name() {
    check_refused("node:fs", "there is no module `node:fs`");
    check_refused("lodash", "`@standardagents/spec`");
    check_refused("zodd", "did you mean `zod`?");
    check_refused("fs", "code is evaluated without Node");
    check_refused("lodash", "packages are not installed; there are `zod`");
    check_refused("@stax/claudecode", "did you mean `@stax/claude-code`?");
    check_refused("@stax/adapter-codex", "did you mean `@stax/codex`?");
    check_refused("@standardagents/provider-openai", "did you mean `@standardagents/openai`?");
    check_refused("entourage:state", "there is no module `entourage:state`");
    check_refused("./missing", "tried `agents/tools/missing.ts`");
    check_refused("./missing.json", "tried `agents/tools/missing.json`");
}

#[test]
fn an_import_that_is_only_a_type_never_fails() {
    check(
        "import type A from '../../../../x';\nimport { type B } from 'fs';\nimport { C } from './missing';\nexport type { D } from 'nowhere';\nexport type * from 'nowhere';\nconst c: C | A | B = 1 as any;\nexport default c",
        &[],
        json!(1),
    );
    // JavaScript has no types, so every import counts.
    refused(&[("a.js", "import { C } from './missing';\nexport default 1")], Import, "./missing", "a.js:1:19");
}

#[test]
fn dynamic_imports_obey_the_same_rules() {
    let other = ("agents/tools/b.ts", "export const b: number = 2");
    check("const { b } = await import('./b'); export default b", &[other], json!(2));
    check("const name = './' + 'b'; const { b } = await import(name); export default b", &[other], json!(2));
    check(
        "const a = await import('../../' + '../x').catch((e: Error) => e.message); export default a",
        &[],
        json!("`../../../x` leads out of the project; only files inside it can be imported"),
    );
    let literal = "export default {\n run: () => import('fs') }";
    refused(&[(ENTRY, literal)], Import, "there is no module `fs`", "agents/tools/a.ts:2:20");
    let computed = "const name: string = 'f' + 's';\nexport default await import(name)";
    refused(&[(ENTRY, computed)], Import, "there is no module `fs`", "agents/tools/a.ts:2:29");
    let caught = "await import('./none').catch(() => {});\nexport default 1";
    refused(&[(ENTRY, caught)], Import, "`./none` does not exist", "agents/tools/a.ts:1:14");
}

#[test]
fn looking_for_modules_has_an_end() {
    let text = "let why = ''; for (let i = 0; !why.includes('paths'); i++) await import('./x' + i).catch(e => { why = e.message }); export default why";
    check(text, &[], json!("more than 4096 paths were looked at for one definition"));
}

#[test]
fn a_failing_import_is_placed_where_it_stands_however_deep() {
    let entry = (ENTRY, "import b from '../b';\nexport default b");
    for (text, what, place) in [
        (
            "const x = 1;\nimport y from 'lodash';\nexport default [x, y]",
            "there is no module `lodash`",
            "agents/b.ts:2:15",
        ),
        ("import y from './none';\nexport default y", "`./none` does not exist", "agents/b.ts:1:15"),
        ("\nimport y from '../../out';\nexport default y", "leads out of the project", "agents/b.ts:2:15"),
        ("export default await import('./no' + 'ne')", "`./none` does not exist", "agents/b.ts:1:29"),
    ] {
        refused(&[entry, ("agents/b.ts", text)], Import, what, place);
    }
    let through = ("agents/b.ts", "export * from './c';\nexport { default } from './c'");
    refused(
        &[entry, through, ("agents/c.ts", "export default 1;\nimport * as fs from 'fs';\nexport const a = fs")],
        Import,
        "there is no module `fs`",
        "agents/c.ts:2:21",
    );
}

#[test]
fn what_may_be_imported_later_belongs_to_the_program() {
    let evaluated = run(&[
        (ENTRY, "import { c } from '../c';\nexport default { c, run: () => import('./b') }"),
        ("agents/tools/b.ts", "import d from '../../d.json'; export default d"),
        ("agents/c.ts", "export const c = 1"),
        ("d.json", "[]"),
        ("unused.ts", "export default 1"),
    ]);
    let program = evaluated.unwrap().program;
    assert_eq!(program.entry, ENTRY);
    let paths: Vec<_> = program.modules.keys().map(String::as_str).collect();
    assert_eq!(paths, ["agents/c.ts", ENTRY, "agents/tools/b.ts", "d.json"]);
    assert!(!program.modules[ENTRY].contains("import type"));
}

#[test]
fn modules_may_import_each_other() {
    check(
        "import { even } from './b';\nexport function odd(n: number): boolean { return n > 0 && even(n - 1) }\nexport default odd(7)",
        &[(
            "agents/tools/b.ts",
            "import { odd } from './a';\nexport function even(n: number): boolean { return n === 0 || odd(n - 1) }",
        )],
        json!(true),
    );
    check(
        "import * as me from './a'; export const x = 1; export default Object.getOwnPropertyNames(me)",
        &[],
        json!(["default", "x"]),
    );
}

#[test]
fn a_module_runs_once_and_its_exports_live() {
    let counter = ("agents/tools/n.ts", "export let n = 0; export const add = () => { n++ }; add()");
    check(
        "import { n, add } from './n'; import * as again from './n.ts'; add(); export default [n, again.n]",
        &[counter],
        json!([2, 2]),
    );
}

#[test]
fn a_name_that_a_module_does_not_have_is_refused_where_it_is_imported() {
    let other = ("agents/tools/b.ts", "export interface B {}\nexport const b = 1");
    refused(
        &[(ENTRY, "import { b,\n  nope } from './b';\nexport default nope"), other],
        Import,
        "`agents/tools/b.ts` has no export `nope`",
        "agents/tools/a.ts:2:3",
    );
    refused(
        &[(ENTRY, "import b from './b';\nexport default b"), other],
        Import,
        "has no export `default`",
        "agents/tools/a.ts:1:8",
    );
    refused(
        &[(ENTRY, "export { B } from './b';\nexport default 1"), other],
        Import,
        "has no export `B`",
        "agents/tools/a.ts:1:10",
    );
    refused(
        &[(ENTRY, "import { nothing } from 'stax';\nexport default nothing")],
        Import,
        "`stax` has no export `nothing`",
        "agents/tools/a.ts:1:10",
    );
}

#[test]
fn files_that_cannot_be_read_are_named() {
    refused(&[("a.txt", "x")], Read, "a definition is a `.ts`", "a.txt");
    refused(&[("../a.ts", "x")], Read, "not a path inside the project", "../a.ts");
    let fault = evaluate("none.ts", &Files::default(), &NoMemory).unwrap_err();
    assert_eq!((fault.kind, fault.what.as_str(), fault.file.as_str()), (Read, "no such file", "none.ts"));
    let mut files = Files::of(&[("a.ts", "import './b'; export default 1")]);
    files.texts.insert("b.ts".to_owned(), vec![b'\'', 0xff, b'\'']);
    let fault = evaluate("a.ts", &files, &NoMemory).unwrap_err();
    assert_eq!((fault.kind, fault.what.as_str(), fault.file.as_str()), (Read, "is not UTF-8", "b.ts"));
    files.texts.insert("b.ts".to_owned(), vec![b' '; (8 << 20) + 1]);
    let fault = evaluate("a.ts", &files, &NoMemory).unwrap_err();
    assert_eq!((fault.kind, fault.what.as_str(), fault.file.as_str()), (Read, "has more than 8 MiB", "b.ts"));
    files.texts.insert("b.ts".to_owned(), vec![b' '; 8 << 20]);
    evaluate("a.ts", &files, &NoMemory).unwrap();
}

#[test]
fn a_project_of_too_many_modules_is_refused() {
    let chain = |count: usize| {
        let modules = (0..count).map(|index| {
            let next = if index + 1 < count { format!("import './m{}';", index + 1) } else { String::new() };
            (format!("m{index}.ts"), format!("{next} export default {index}"))
        });
        modules.collect::<Vec<_>>()
    };
    let run = |modules: &[(String, String)]| {
        let files: Vec<_> = modules.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        crate::files::run(&files)
    };
    run(&chain(256)).unwrap();
    let fault = run(&chain(257)).unwrap_err();
    assert_eq!((fault.kind, fault.file.as_str(), fault.line), (Import, "m255.ts", Some(1)));
    assert!(fault.what.contains("more than 256 modules"), "{fault}");
}
