//! What schemas take and what they make of it.

use crate::{check, check_parsing};
use serde_json::json;

#[test]
fn numbers_are_judged_by_their_checks() {
    check_parsing(&[
        ("taken(z.number().int().min(1).max(5), 3)", json!(3)),
        ("faults(z.number().int(), 1.5)", json!([": Invalid input: expected int, received number"])),
        (
            "faults(z.number().min(2).multipleOf(5), 1)",
            json!([": Too small: expected number to be >=2", ": Invalid number: must be a multiple of 5"]),
        ),
        ("faults(z.number().lt(2), 2)", json!([": Too big: expected number to be <2"])),
        ("faults(z.number(), '1')", json!([": Invalid input: expected number, received string"])),
        ("faults(z.number(), NaN)", json!([": Invalid input: expected number, received NaN"])),
        ("faults(z.number(), Infinity)", json!([": Invalid input: expected number, received number"])),
        ("taken(z.number().multipleOf(0.01), 0.07)", json!(0.07)),
        ("z.number().multipleOf(0.01).safeParse(0.075).success", json!(false)),
        ("taken(z.coerce.number(), '42')", json!(42)),
        ("z.coerce.number().safeParse('x').success", json!(false)),
        ("z.number().safe().safeParse(2 ** 60).success", json!(false)),
        ("String(taken(z.bigint().positive(), 5n))", json!("5")),
        ("faults(z.bigint(), 5)", json!([": Invalid input: expected bigint, received number"])),
        ("String(taken(z.coerce.bigint(), '5'))", json!("5")),
        ("z.nan().safeParse(NaN).success", json!(true)),
    ]);
}

#[test]
fn plain_values_are_taken_as_they_are() {
    check_parsing(&[
        ("taken(z.boolean(), true)", json!(true)),
        ("faults(z.boolean(), 1)", json!([": Invalid input: expected boolean, received number"])),
        ("taken(z.coerce.boolean(), 'x')", json!(true)),
        ("taken(z.null(), null)", json!(null)),
        ("z.undefined().safeParse(undefined).success", json!(true)),
        ("z.void().safeParse(undefined).success", json!(true)),
        ("z.never().safeParse(undefined).success", json!(false)),
        ("taken(z.unknown(), { a: 1 })", json!({"a": 1})),
        ("faults(z.literal('x'), 'y')", json!([": Invalid input: expected \"x\""])),
        ("faults(z.enum(['a', 'b']), 'c')", json!([": Invalid option: expected one of \"a\"|\"b\""])),
        ("taken(z.date(), new Date(0)).toISOString()", json!("1970-01-01T00:00:00.000Z")),
        ("faults(z.date(), '1970-01-01')", json!([": Invalid input: expected date, received string"])),
        ("z.date().safeParse(new Date(NaN)).success", json!(false)),
        ("z.date().min(new Date(5)).safeParse(new Date(4)).success", json!(false)),
        ("taken(z.coerce.date(), '1970-01-01').getTime()", json!(0)),
        ("z.instanceof(Map).safeParse(new Map()).success", json!(true)),
        ("faults(z.instanceof(Map), {})", json!([": Input not instance of Map"])),
        ("z.custom<string>((value) => typeof value === 'string').safeParse(1).success", json!(false)),
        ("z.json().safeParse({ a: [1, null] }).success", json!(true)),
        ("z.json().safeParse({ a: () => 1 }).success", json!(false)),
        ("z.symbol().safeParse(Symbol.iterator).success", json!(true)),
    ]);
}

#[test]
fn collections_are_judged_item_by_item() {
    check_parsing(&[
        ("taken(z.array(z.coerce.number()), ['1', '2'])", json!([1, 2])),
        (
            "faults(z.array(z.number()).min(3), ['x'])",
            json!([
                "0: Invalid input: expected number, received string",
                ": Too small: expected array to have >=3 items"
            ]),
        ),
        ("faults(z.array(z.any()).length(1), [])", json!([": Too small: expected array to have 1 items"])),
        ("faults(z.array(z.any()), {})", json!([": Invalid input: expected array, received object"])),
        ("taken(z.tuple([z.string(), z.number()]), ['a', 1])", json!(["a", 1])),
        ("faults(z.tuple([z.string(), z.number()]), ['a'])", json!([": Too small: expected array to have >=2 items"])),
        ("faults(z.tuple([z.string()]), ['a', 'b'])", json!([": Too big: expected array to have <=1 items"])),
        ("taken(z.tuple([z.string()]).rest(z.number()), ['a', 1, 2])", json!(["a", 1, 2])),
        ("taken(z.tuple([z.string(), z.string().optional()]), ['a'])", json!(["a"])),
        ("taken(z.record(z.string(), z.number()), { a: 1 })", json!({"a": 1})),
        (
            "faults(z.record(z.string(), z.number()), { a: 'x' })",
            json!(["a: Invalid input: expected number, received string"]),
        ),
        ("faults(z.record(z.string().min(2), z.any()), { a: 1 })", json!(["a: Invalid key in record"])),
        ("taken(z.record(z.number(), z.any()), { 5: 'x' })", json!({"5": "x"})),
        (
            "faults(z.record(z.enum(['a', 'b']), z.number()), { a: 1 })",
            json!(["b: Invalid input: expected number, received undefined"]),
        ),
        ("faults(z.record(z.enum(['a']), z.number()), { a: 1, c: 2 })", json!([": Unrecognized key: \"c\""])),
        ("taken(z.partialRecord(z.enum(['a', 'b']), z.number()), { a: 1 })", json!({"a": 1})),
        ("[...taken(z.map(z.string(), z.number()), new Map([['a', 1]]))]", json!([["a", 1]])),
        ("[...taken(z.set(z.number()).max(2), new Set([1, 2]))]", json!([1, 2])),
        ("faults(z.set(z.number()).max(1), new Set([1, 2]))", json!([": Too big: expected set to have <=1 items"])),
        ("faults(z.set(z.number()), [1])", json!([": Invalid input: expected set, received array"])),
    ]);
}

#[test]
fn unions_take_the_first_option_that_fits() {
    check_parsing(&[
        ("taken(z.union([z.number(), z.coerce.number()]), '5')", json!(5)),
        ("faults(z.union([z.string(), z.number()]), true)", json!([": Invalid input"])),
        ("z.union([z.string(), z.number()]).safeParse(true).error.issues[0].errors.length", json!(2)),
        // Only one option is of the right type, so its fault is the one to read.
        (
            "faults(z.union([z.string().min(5), z.number()]), 'x')",
            json!([": Too small: expected string to have >=5 characters"]),
        ),
        ("taken(z.string().or(z.number()), 5)", json!(5)),
        (
            "taken(z.discriminatedUnion('k', [z.object({ k: z.literal('a'), x: z.string() }), z.object({ k: z.enum(['b', 'c']), y: z.number() })]), { k: 'c', y: 1 })",
            json!({"k": "c", "y": 1}),
        ),
        (
            "faults(z.discriminatedUnion('k', [z.object({ k: z.literal('a'), x: z.string() }), z.object({ k: z.literal('b') })]), { k: 'a' })",
            json!(["x: Invalid input: expected string, received undefined"]),
        ),
        (
            "faults(z.discriminatedUnion('k', [z.object({ k: z.literal('a') })]), { k: 'z' })",
            json!(["k: Invalid input"]),
        ),
        ("faults(z.string().and(z.number()), 'x')", json!([": Invalid input: expected number, received string"])),
    ]);
}

#[test]
fn wrappers_stand_in_for_what_is_absent_or_wrong() {
    check_parsing(&[
        ("[taken(z.string().optional()) ?? 'none']", json!(["none"])),
        ("taken(z.string().nullable(), null)", json!(null)),
        ("taken(z.string().nullish(), null)", json!(null)),
        ("taken(z.string().default('d'))", json!("d")),
        ("taken(z.string().default(() => 'made'))", json!("made")),
        ("taken(z.string().default('d').optional())", json!("d")),
        ("taken(z.string().transform((text) => text.length).default(7))", json!(7)),
        ("taken(z.string().transform((text) => text.length).prefault('four'))", json!(4)),
        ("taken(z.number().catch(3), 'x')", json!(3)),
        ("taken(z.number().catch(({ error }) => error.issues.length), 'x')", json!(1)),
        ("Object.isFrozen(taken(z.object({}).readonly(), {}))", json!(true)),
        (
            "(() => { const list = z.array(z.any()).default([]); taken(list).push(1); return taken(list); })()",
            json!([]),
        ),
        ("z.string().optional().isOptional()", json!(true)),
        ("z.string().isOptional()", json!(false)),
        ("z.string().nullable().isNullable()", json!(true)),
        ("z.string().optional().unwrap() instanceof z.ZodString", json!(true)),
    ]);
}

#[test]
fn transforms_come_after_everything_before_them_is_right() {
    check_parsing(&[
        ("taken(z.string().transform((text) => text.length), 'abc')", json!(3)),
        ("taken(z.string().transform(Number).pipe(z.number().min(3)), '5')", json!(5)),
        (
            "faults(z.string().transform(Number).pipe(z.number().min(3)), '1')",
            json!([": Too small: expected number to be >=3"]),
        ),
        (
            "faults(z.string().min(5).transform(() => { throw new Error('not asked'); }), 'x')",
            json!([": Too small: expected string to have >=5 characters"]),
        ),
        ("taken(z.preprocess((value) => String(value), z.string()), 5)", json!("5")),
        (
            "faults(z.string().transform((text, ctx) => { ctx.addIssue({ code: 'custom', message: 'no' }); return z.NEVER; }), 'x')",
            json!([": no"]),
        ),
        (
            "faults(z.string().transform((text, ctx) => { ctx.issues.push({ code: 'custom', message: 'no', input: text }); return z.NEVER; }), 'x')",
            json!([": no"]),
        ),
        ("taken(z.codec(z.string(), z.number(), { decode: (text) => Number(text), encode: String }), '5')", json!(5)),
    ]);
}

#[test]
fn asynchronous_functions_need_an_asynchronous_parse() {
    check(
        "import { z } from 'zod';
const slow = z.object({ a: z.string().refine(async (text) => text === 'x', 'not x'), b: z.number() });
const tried = (attempt: () => unknown) => { try { return attempt(); } catch (error: any) { return error.message; } };",
        &[
            ("await slow.parseAsync({ a: 'x', b: 1 })", json!({"a": "x", "b": 1})),
            (
                "(await slow.safeParseAsync({ a: 'y', b: 'z' })).error?.issues.map((issue) => issue.message)",
                json!(["not x", "Invalid input: expected number, received string"]),
            ),
            (
                "tried(() => slow.parse({ a: 'x', b: 1 }))",
                json!("A refinement or transform is asynchronous: use `parseAsync` or `safeParseAsync`"),
            ),
            ("await z.string().transform(async (text) => text.length).parseAsync('abc')", json!(3)),
            (
                "await z.array(z.string().transform(async (text) => text + '!')).parseAsync(['a', 'b'])",
                json!(["a!", "b!"]),
            ),
            ("await z.union([z.string().refine(async () => false), z.string()]).parseAsync('x')", json!("x")),
            ("[z.parse(z.number(), 5), z.safeParse(z.number(), 'x').success]", json!([5, false])),
            ("await z.promise(z.number()).parseAsync(Promise.resolve(5))", json!(5)),
        ],
    );
}

#[test]
fn classes_answer_instanceof() {
    check(
        "import { z } from 'zod';",
        &[
            ("z.string() instanceof z.ZodType", json!(true)),
            ("z.email() instanceof z.ZodString", json!(true)),
            ("z.number().int() instanceof z.ZodNumber", json!(true)),
            ("z.object({}) instanceof z.ZodObject", json!(true)),
            ("z.string().optional() instanceof z.ZodOptional", json!(true)),
            ("z.string().default('x') instanceof z.ZodDefault", json!(true)),
            ("z.array(z.any()) instanceof z.ZodArray", json!(true)),
            ("z.union([z.any()]) instanceof z.ZodUnion", json!(true)),
            ("z.enum(['a']) instanceof z.ZodEnum", json!(true)),
            ("z.string().transform(Number) instanceof z.ZodPipe", json!(true)),
            ("z.string() instanceof z.ZodNumber", json!(false)),
            ("z.object({}) instanceof z.ZodSchema", json!(true)),
        ],
    );
}
