//! What comes out of a definition.

use crate::files::{plain, refused_text, run, run_text};
use entourage_script::FaultKind::{Syntax, Value as Unfit};
use serde_json::{Value, json};

/// The value of one module.
fn check(text: &str, expected: Value) {
    match run_text(text) {
        Ok(evaluated) => assert_eq!(plain(&evaluated.value).to_string(), expected.to_string(), "{text}"),
        Err(fault) => panic!("{fault}\n{text}"),
    }
}

#[test]
fn plain_values_are_what_json_would_make_of_them() {
    check("export default null", json!(null));
    check("export default [true, false, null, 'x']", json!([true, false, null, "x"]));
    check("export default { b: 1, a: undefined, '': {}, 'ä😀': [] }", json!({"b": 1, "": {}, "ä😀": []}));
    check("export default { 2: 'b', 1: 'a', x: 'c' }", json!({"1": "a", "2": "b", "x": "c"}));
    check("export default { get made() { return 1 + 1 } }", json!({"made": 2}));
    check("export default Object.create({ inherited: 1 }, { hidden: { value: 2 } })", json!({}));
    check(
        "export default { list: new Proxy([1, 2], {}), object: new Proxy({ a: 1 }, {}) }",
        json!({"list": [1, 2], "object": {"a": 1}}),
    );
    check("export default JSON.parse('{\"__proto__\": 1}')", json!({"__proto__": 1}));
}

#[test]
fn whole_numbers_are_integers() {
    check("export default [1, 1.0, -0, 2 ** 53, -5, 1e3]", json!([1, 1, 0, 9_007_199_254_740_992_i64, -5, 1000]));
    check("export default [1.5, 1e300, 5e-324]", json!([1.5, 1e300, 5e-324]));
}

#[test]
fn functions_are_named_and_not_carried_out() {
    check(
        "export default { run() {}, arrow: () => 1, later: async () => {}, kind: class {} }",
        json!({"run": "<function>", "arrow": "<function>", "later": "<function>", "kind": "<function>"}),
    );
    check("export default function () {}", json!("<function>"));
}

#[test]
fn things_that_say_what_they_stand_for_are_taken_at_their_word() {
    check("export default new Date(0)", json!("1970-01-01T00:00:00.000Z"));
    check("export default { a: { toJSON: () => ({ b: [1] }) } }", json!({"a": {"b": [1]}}));
    check(
        "export default { args: { [Symbol.for('entourage.schema')]() { return { type: this.type } }, type: 'object' } }",
        json!({"args": {"type": "object"}}),
    );
    check(
        "const openai = Object.assign(() => 1, { [Symbol.for('entourage.value')]: 'openai' }); export default [openai]",
        json!(["openai"]),
    );
}

#[test]
fn promises_are_awaited() {
    check("export default Promise.resolve({ a: 1 })", json!({"a": 1}));
    check("const a = await new Promise(done => queueMicrotask(() => done(2))); export default a", json!(2));
    check("export default (async () => [await 1])()", json!([1]));
}

#[test]
fn types_of_every_kind_are_stripped() {
    check(
        "
import type { Nothing } from 'nowhere';
import { type Other } from './not-there';
import { Used } from 'only-as-a-type';
import Whole, * as Space from 'also-only-types';
interface Shape { a: number }
type Pair<T> = [T, T];
enum Level { Low = 1, High = Low << 2 }
const enum Word { Yes = 'yes' }
namespace Room { export const inside = 7; }
declare const never: string;
declare module 'x' { export const y: number }
function identity<const T extends object>(this: void, value: T): T { return value; }
function over(a: string): string;
function over(a: any) { return a; }
abstract class Base { constructor(protected readonly x: number) {} get(): number { return this.x } abstract no(): void }
class Thing extends Base implements Shape { declare y: string; a!: number; z?: Used; no(): asserts this is Thing {} }
const list = [1, 2] as const satisfies readonly number[];
const cast = <unknown>list;
export type { Shape };
export default identity({
  level: Level.High, name: Level[4], word: Word.Yes, inside: Room.inside, list: cast,
  got: new Thing(3).get()!, over: over<string>('x'), run: async (): Promise<void> => {},
} satisfies { level: number } & Record<string, unknown>);
export { type Pair };
",
        json!({"level": 4, "name": "High", "word": "yes", "inside": 7, "list": [1, 2], "got": 3, "over": "x", "run": "<function>"}),
    );
}

#[test]
fn javascript_is_taken_as_it_is() {
    for path in ["agents/a.js", "agents/a.mjs", "a.mts", "a.ts"] {
        let evaluated = run(&[(path, "#!/usr/bin/env node\nexport default { a: 1 }")]).unwrap();
        assert_eq!(plain(&evaluated.value), json!({"a": 1}));
        assert_eq!(evaluated.program.entry, path);
        assert_eq!(evaluated.program.modules.keys().collect::<Vec<_>>(), [path]);
    }
}

#[test]
fn a_byte_order_mark_and_carriage_returns_are_accepted() {
    check("\u{feff}// x\r\nexport default {\r\n  a: 1,\r\n}\r\n", json!({"a": 1}));
}

#[test]
fn what_is_not_supported_is_refused_where_it_stands() {
    for (text, what, place) in [
        ("export default {", "", "1:17"),
        ("let a = 1;\nlet a = 2;\nexport default a", "`a` has already been declared", "1:5"),
        ("const ä = 1; let = 3", "SyntaxError", "1:14"),
        ("export default 1;\n  @sealed class A {}", "decorators are not supported", "2:3"),
        ("export default class { @a b = 1 }", "decorators are not supported", "1:24"),
        ("const a = 1;\nexport = a", "`export default`", "2:1"),
        ("import a = require('a');\nexport default a", "`import … from`", "1:1"),
        ("export default <div/>", "", "1:20"),
        ("export default await", "", "1:21"),
        ("return 1", "", "1:1"),
        ("export default /(/", "", "1:17"),
    ] {
        refused_text(text, Syntax, what, place);
    }
}

#[test]
fn what_is_no_definition_at_all_is_refused() {
    for (text, what, place) in [
        ("export const a = 1", "there is no default export", ""),
        ("export default undefined", "the default export is undefined", "1:16"),
        ("export default NaN", "the default export is `NaN`", "1:16"),
        ("export default { '\\ud800': 1 }", "has a key with half a character", "1:16"),
    ] {
        refused_text(text, Unfit, what, place);
    }
}

#[test]
fn what_no_declaration_can_hold_is_told_apart_from_the_rest() {
    check(
        "const self: any = { list: [] };
self.list.push(self);
export default {
  big: [1, 2n], symbol: { b: Symbol('x') }, nan: NaN, far: 1 / 0, self, map: new Map, set: new Set([1]), pattern: /x/,
  promise: Promise.resolve(1), error: new Error('x'), half: '\\ud800', good: 'x', hole: [1, undefined, , 'x'],
  never: new Date(NaN), none: { toJSON: () => null },
}",
        json!({
            "big": [1, "<a bigint>"], "symbol": {"b": "<a symbol>"}, "nan": "<`NaN`>", "far": "<`Infinity`>",
            "self": {"list": ["<an object that contains itself>"]}, "map": "<a `Map`>", "set": "<a `Set`>",
            "pattern": "<a `RegExp`>", "promise": "<a `Promise`>", "error": "<a `Error`>",
            // Marked, for those who can give it on.
            "half": "\u{10ffff}\u{100000}", "good": "x", "hole": [1, "<`undefined`>", "<`undefined`>", "x"],
            "never": "<a date that is none>", "none": null,
        }),
    );
}
