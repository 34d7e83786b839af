//! Where values and faults lie.

use crate::files::{refused, refused_text, run_text};
use entourage_script::FaultKind::{Syntax, Threw};
use entourage_script::{Found, Located};

/// The places of some parts of a value, each as `path line:column`.
fn check(text: &str, expected: &[&str]) {
    let evaluated = run_text(text).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    let mut places = Vec::new();
    list("", &evaluated.value, &mut places);
    for expected in expected {
        assert!(places.iter().any(|place| place == expected), "{expected} is not among {places:#?}\n{text}");
    }
}

fn list(path: &str, value: &Located, places: &mut Vec<String>) {
    places.push(format!("{path} {}:{}", value.spot.line, value.spot.column));
    match &value.found {
        Found::List(items) => {
            items.iter().enumerate().for_each(|(index, item)| list(&format!("{path}[{index}]"), item, places));
        }
        Found::Object(members) => {
            members.iter().for_each(|(name, member)| list(&format!("{path}.{name}"), member, places));
        }
        Found::Null | Found::Flag(_) | Found::Number(_) | Found::Text(_) | Found::Function | Found::Alien(_) => {}
    }
}

#[test]
fn a_member_lies_at_its_key_and_an_item_where_it_begins() {
    check(
        "export default {\n  name: 'x',\n  'a b': [1,\n    { deep: true }],\n  run() {},\n  [`computed`]: 1,\n  7: 2,\n}",
        &[
            " 1:16",
            ".name 2:3",
            ".a b 3:3",
            ".a b[0] 3:11",
            ".a b[1] 4:5",
            ".a b[1].deep 4:7",
            ".run 5:3",
            ".computed 6:3",
            ".7 7:3",
        ],
    );
}

#[test]
fn a_definition_is_looked_for_through_calls_constants_and_casts() {
    check(
        "import { defineAgent } from 'stax';\nexport default defineAgent({\n  name: 'x',\n});",
        &[" 2:16", ".name 3:3"],
    );
    check(
        "const id = <T>(x: T) => x;\nconst a = (id({ b: 1 } as const)) satisfies object;\nexport default a!",
        &[" 2:11", ".b 2:17"],
    );
    check(
        "import { defineAgent } from 'stax';\nconst agent = defineAgent({\n  name: 'x',\n});\nexport default agent;",
        &[" 2:15", ".name 3:3"],
    );
    check(
        "function make(name: string) {\n  const id = 1;\n  return {\n    name, deep: inner(name) };\n}\nconst inner = (n: string) => ({ n });\nexport default make('x')",
        &[" 3:10", ".name 4:5", ".deep 4:11", ".deep.n 6:33"],
    );
    check("export async function f() { return { a: 1 } }\nexport default f()", &[" 1:36", ".a 1:38"]);
    check("const f = (n: number): any => n ? f(n - 1) : { a: 1 };\nexport default f(3)", &[" 1:31", ".a 1:31"]);
    check("const f = (): any => f;\nexport default { a: f() }", &[".a 2:18"]);
    check("const a = { b: 1 }, c = a;\nexport { c as default }", &[" 1:11", ".b 1:13"]);
    check(
        "const items = [\n 1,\n 2 ];\nexport default { items, more: items }",
        &[".items 4:18", ".items[1] 3:2", ".more 4:25", ".more[0] 2:2"],
    );
    check("export default await Promise.resolve({\n a: 1 })", &[" 1:16", ".a 2:2"]);
    check("export default new (class { a = 1 })", &[" 1:16", ".a 1:16"]);
    check(
        "const f = (name: string, rest: object) => ({ name, ...rest });\nexport default f('x', {\n y: 1 })",
        &[" 2:16", ".name 2:16", ".y 3:2"],
    );
}

#[test]
fn what_cannot_be_followed_lies_at_the_nearest_place_around_it() {
    check(
        "const more = { b: { c: 1 } };\nexport default {\n  a: 1,\n  ...more,\n  list: [0, ...[1, 2]],\n  made: Object.keys({ k: 1 }),\n}",
        &[".a 3:3", ".b 2:16", ".b.c 2:16", ".list 5:3", ".list[0] 5:10", ".list[1] 5:3", ".made[0] 6:3"],
    );
    check("let a = { b: 1 };\nexport default a", &[" 2:16", ".b 2:16"]);
    check("export default (() => ({ a: [1] }))()", &[" 1:16", ".a 1:16", ".a[0] 1:16"]);
    check("const a: any = [[]];\na[0] = a[0].concat([1]);\nexport default a", &["[0] 1:17", "[0][0] 1:17"]);
}

#[test]
fn a_key_that_is_written_twice_is_told() {
    let text = "const inner = { b: 1, 'b': 2 };\nexport default {\n  a: inner,\n  get g() { return 1 }, set g(x) {},\n  a: inner,\n}";
    let doubles = run_text(text).unwrap().doubles;
    let doubles: Vec<_> =
        doubles.iter().map(|double| (double.key.as_str(), double.spot.line, double.spot.column)).collect();
    assert_eq!(doubles, [("a", 5, 3), ("b", 1, 23)]);
}

#[test]
fn columns_count_characters() {
    check("export default { 'ä😀': 1, b: '😀', c: 2 }", &[".ä😀 1:18", ".b 1:27", ".c 1:35"]);
    check("\u{feff}/* 😀 */ export default { a: 1 }\u{2028}", &[".a 1:26"]);
}

#[test]
fn a_throw_is_placed_where_it_happens() {
    for (text, what, place) in [
        ("throw new Error('no luck')", "no luck", "1:7"),
        ("interface A {\n a: 1\n}\n\n  throw new TypeError('bad')", "TypeError: bad", "5:9"),
        (
            "type A = 1;\nfunction f(a: A): never {\n  throw new RangeError('far');\n}\nexport default f(1)",
            "RangeError: far",
            "3:9",
        ),
        ("const a: any = null;\nexport default { b: a.b }", "TypeError", "2:21"),
        ("export default missing", "ReferenceError: missing is not defined", "1:16"),
        (
            "const z: any = { a: {} };\nexport default { b: z.a.strin() }",
            "TypeError: `z.a.strin` is not a function",
            "2:25",
        ),
        ("const nope: any = 1;\nexport default nope('x')", "TypeError: `nope` is not a function", "2:16"),
        ("const a: any = [];\nexport default a[0]()", "TypeError: not a function", "2:16"),
        ("const x: string = 'ä😀'; export default (x as any).y.z", "TypeError", "1:41"),
        ("export default { get a() { throw new Error('got') } }", "got", "1:34"),
        ("export default {\n toJSON() {\n  throw new Error('json') } }", "json", "3:9"),
        ("export default {\n  a: JSON.parse('{') }", "SyntaxError", "2:11"),
        ("export default (async () => {\n await 1;\n throw new Error('late') })()", "late", "3:8"),
        (
            "enum A { B }\nclass C { constructor(private x = 1) { throw new Error('made') } }\nexport default new C",
            "made",
            "2:46",
        ),
    ] {
        refused_text(text, Threw, what, place);
    }
}

#[test]
fn what_the_engine_keeps_no_place_for_is_placed_at_its_statement() {
    let before = "const a = Math.max(1, 2);\ntype T = 1;\n\n";
    for (statement, column) in [
        ("const { b } = null as any;", 1),
        ("const [b] = undefined as any;", 1),
        ("  let b = 1, { c } = null as any;", 3),
        ("for (const b of 5 as any) {}", 1),
        ("class C extends (null as any).x {}", 1),
        ("const c = { d:\n (null as any).x };", 1),
        ("if ((null as any).x) {}", 1),
        ("while ((null as any).x) {}", 1),
        ("switch ((null as any).x) {}", 1),
        ("export const { b } = null as any;", 1),
        ("{ const { b } = null as any; }", 3),
    ] {
        let place = format!("4:{column}");
        refused_text(&format!("{before}{statement}\nexport default 1"), Threw, "TypeError", &place);
    }
    let inner = "const f = () => {\n  Math.max(1);\n  const { b } = null as any;\n};\nexport default f()";
    refused_text(inner, Threw, "TypeError", "3:3");
    refused_text(
        "const f = () => {\n  Math.max(1);\n  return (null as any).x;\n};\nexport default f()",
        Threw,
        "TypeError",
        "3:3",
    );
    refused_text("Math.max(1);\nexport default { a: (null as any).x }", Threw, "TypeError", "2:1");
    let config = "const config: { name: string } = undefined as any;\nconst { name } = config;\nexport default 1";
    refused_text(config, Threw, "TypeError", "2:1");
}

#[test]
fn what_is_no_error_is_placed_where_it_is_thrown_too() {
    for (text, what, place) in [
        ("throw 'a text'", "a text", "1:7"),
        ("type A = 1;\n  throw `a ${1} text`", "a 1 text", "2:9"),
        ("const a = { a: 1 };\nthrow a", "[object Object]", "2:7"),
        ("throw undefined", "undefined", "1:7"),
        ("throw 7", "7", "1:7"),
        ("throw new Error", "without a message", "1:7"),
        ("const f = (x: number) => {\n  throw x + 1;\n};\nexport default f(1)", "2", "2:9"),
        ("try { throw 'one' } catch {}\nthrow 'two'", "two", "2:7"),
        ("try {\n throw 'one' }\ncatch (e) {\n throw e }", "one", "4:8"),
        ("export default (async () => {\n await 1;\n throw 'late' })()", "late", "3:8"),
    ] {
        refused_text(text, Threw, what, place);
    }
    // What was rejected and not thrown is somewhere, but nobody knows where.
    refused_text("try { throw 'thrown' } catch {}\nexport default Promise.reject('rejected')", Threw, "rejected", "");
    let message = "const e = new Error('mine');\nexport default (() => {\n throw e })()";
    refused_text(message, Threw, "mine", "1:11");
}

#[test]
fn a_thrown_value_stays_what_it_is() {
    let text = "const o = {}; let same;\ntry { throw o } catch (e) { same = e === o }\nexport default { same, __entourage_mark__: 1 }";
    check(text, &[".same 3:18"]);
    let evaluated = run_text(text).unwrap();
    let Found::Object(members) = evaluated.value.found else { panic!("an object") };
    assert_eq!(members[0].1.found, Found::Flag(true));
}

#[test]
fn a_regular_expression_that_is_none_is_placed() {
    refused_text("export default {\n  a: /(/ }", Syntax, "", "2:7");
    refused_text("const a = 1;\nexport default { b: /[z-a]/g }", Syntax, "", "2:24");
    refused_text("export default {\n  a: new RegExp('(') }", Threw, "SyntaxError", "2:6");
    // One that is too deep for the parser is left to the engine, which has limits of its own.
    let deep = format!("export default {{ a: /{}/ }}", "(".repeat(100_000));
    assert_eq!(run_text(&deep).unwrap_err().kind, Syntax);
}

#[test]
fn a_fault_of_another_module_is_placed_there() {
    let entry = ("agents/a.ts", "import { f } from './b';\nexport default f()");
    refused(
        &[entry, ("agents/b.ts", "type X = 1;\n\nexport const f = () => { throw new Error('b') }")],
        Threw,
        "b",
        "agents/b.ts:3:32",
    );
    refused(&[entry, ("agents/b.ts", "export const f = {{")], Syntax, "", "agents/b.ts:1:19");
    let odd = "agents/odd (name):3:4 b.ts";
    refused(
        &[("a.ts", "import './agents/odd (name):3:4 b.ts'; export default 1"), (odd, "throw new Error('odd')")],
        Threw,
        "odd",
        &format!("{odd}:1:7"),
    );
}

#[test]
fn what_nobody_in_the_project_throws_is_placed_at_the_part_that_was_read() {
    let revoked =
        "const { proxy, revoke } = Proxy.revocable({}, {});\nrevoke();\nexport default {\n  a: 1,\n  b: proxy }";
    refused_text(revoked, Threw, "revoked", "5:3");
    refused_text("export default {\n  a: { get b() { throw 'text' } } }", Threw, "text", "2:24");
}

#[test]
fn an_error_from_a_module_of_ours_is_placed_at_the_call() {
    refused_text("export default {\n  a: setTimeout(() => {}, 1) }", Threw, "`setTimeout` does not exist here", "2:6");
}
