//! Refinements, messages and errors.

use crate::{check, check_parsing};
use serde_json::json;

#[test]
fn refinements_are_asked_only_about_values_of_the_right_type() {
    check_parsing(&[
        ("faults(z.string().refine((text) => text === 'x'), 'y')", json!([": Invalid input"])),
        ("faults(z.string().refine((text) => text === 'x', 'say x'), 'y')", json!([": say x"])),
        ("faults(z.string().refine((text) => text === 'x', { message: 'say x' }), 'y')", json!([": say x"])),
        (
            "faults(z.string().refine((text) => text === 'x', (text) => ({ message: `not ${text}` })), 'y')",
            json!([": not y"]),
        ),
        (
            "faults(z.string().refine(() => { throw new Error('not asked'); }), 5)",
            json!([": Invalid input: expected string, received number"]),
        ),
        (
            "faults(z.object({ a: z.string(), b: z.string() }).refine((pair) => pair.a === pair.b, { message: 'differ', path: ['b'] }), { a: '1', b: '2' })",
            json!(["b: differ"]),
        ),
        (
            "faults(z.object({ a: z.string() }).refine(() => { throw new Error('not asked'); }), { a: 1 })",
            json!(["a: Invalid input: expected string, received number"]),
        ),
        // A check that fails leaves a value to refine.
        (
            "faults(z.string().min(5).refine(() => false, 'also'), 'x')",
            json!([": Too small: expected string to have >=5 characters", ": also"]),
        ),
        (
            "faults(z.string().refine(() => false, { message: 'first', abort: true }).refine(() => false, 'second'), 'x')",
            json!([": first"]),
        ),
        (
            "faults(z.array(z.number()).superRefine((list, ctx) => list.forEach((_, index) => ctx.addIssue({ code: z.ZodIssueCode.custom, message: 'no', path: [index] }))), [1, 2])",
            json!(["0: no", "1: no"]),
        ),
        (
            "faults(z.string().superRefine((_, ctx) => { ctx.addIssue({ code: 'custom', message: 'one', fatal: true }); }).refine(() => false, 'two'), 'x')",
            json!([": one"]),
        ),
        (
            "faults(z.string().check((ctx) => { ctx.issues.push({ code: 'custom', message: `bad ${ctx.value}`, input: ctx.value }); }), 'x')",
            json!([": bad x"]),
        ),
    ]);
}

#[test]
fn messages_of_the_author_win() {
    check_parsing(&[
        ("faults(z.string('a name'), 5)", json!([": a name"])),
        ("faults(z.string({ message: 'a name' }), 5)", json!([": a name"])),
        ("faults(z.string({ error: 'a name' }), 5)", json!([": a name"])),
        (
            "faults(z.string({ error: (issue) => issue.input === undefined ? 'missing' : 'wrong' }))",
            json!([": missing"]),
        ),
        ("faults(z.string({ required_error: 'missing', invalid_type_error: 'wrong' }))", json!([": missing"])),
        ("faults(z.string({ required_error: 'missing', invalid_type_error: 'wrong' }), 5)", json!([": wrong"])),
        ("faults(z.string().min(3, 'longer'), 'x')", json!([": longer"])),
        ("faults(z.string().min(3, { message: 'longer' }), 'x')", json!([": longer"])),
        ("faults(z.email('an address'), 'x')", json!([": an address"])),
        ("faults(z.email(), 'x')", json!([": Invalid email address"])),
        ("faults(z.url(), 'x')", json!([": Invalid URL"])),
        ("faults(z.string().startsWith('a'), 'x')", json!([": Invalid string: must start with \"a\""])),
        ("faults(z.string().regex(/a/), 'x')", json!([": Invalid string: must match pattern /a/"])),
        ("faults(z.enum(['a'], { message: 'pick a' }), 'x')", json!([": pick a"])),
        ("faults(z.array(z.any(), 'a list'), 5)", json!([": a list"])),
        ("faults(z.object({}, 'an object'), 5)", json!([": an object"])),
        ("faults(z.array(z.any()).nonempty('none'), [])", json!([": none"])),
    ]);
}

#[test]
fn an_issue_has_the_members_that_programs_read() {
    check(
        "import { z } from 'zod';
const issue = (schema: any, value: unknown) => schema.safeParse(value).error.issues[0];",
        &[
            (
                "issue(z.string(), 5)",
                json!({"code": "invalid_type", "expected": "string", "path": [], "message": "Invalid input: expected string, received number"}),
            ),
            (
                "issue(z.string().min(3), 'x')",
                json!({"code": "too_small", "origin": "string", "minimum": 3, "inclusive": true, "path": [], "message": "Too small: expected string to have >=3 characters"}),
            ),
            ("issue(z.email(), 'x').code", json!("invalid_format")),
            ("issue(z.strictObject({}), { a: 1 }).keys", json!(["a"])),
            (
                "issue(z.string().refine(() => false, { params: { why: 1 } }), 'x')",
                json!({"code": "custom", "path": [], "params": {"why": 1}, "message": "Invalid input"}),
            ),
        ],
    );
}

#[test]
fn an_error_is_thrown_and_can_be_read_in_every_form() {
    check(
        "import { z } from 'zod';
const schema = z.object({ a: z.string(), list: z.array(z.number()) }).refine(() => true);
const error = schema.safeParse({ a: 1, list: ['x'] }).error!;
let caught: any;
try { schema.parse(5); } catch (thrown) { caught = thrown; }",
        &[
            ("caught instanceof z.ZodError && caught instanceof Error", json!(true)),
            ("caught.name", json!("ZodError")),
            ("JSON.parse(caught.message)[0].message", json!("Invalid input: expected object, received number")),
            ("caught.errors.length", json!(1)),
            (
                "error.flatten()",
                json!({"formErrors": [], "fieldErrors": {"a": ["Invalid input: expected string, received number"], "list": ["Invalid input: expected number, received string"]}}),
            ),
            ("z.flattenError(error).fieldErrors.a.length", json!(1)),
            ("(error.format() as any).list[0]._errors", json!(["Invalid input: expected number, received string"])),
            (
                "(z.treeifyError(error) as any).properties.list.items[0].errors",
                json!(["Invalid input: expected number, received string"]),
            ),
            (
                "z.prettifyError(error)",
                json!(
                    "✖ Invalid input: expected string, received number\n  → at a\n✖ Invalid input: expected number, received string\n  → at list[0]"
                ),
            ),
            ("schema.safeParse({ a: 'x', list: [] }).error ?? 'none'", json!("none")),
            (
                "(await schema['~standard'].validate({ a: 'x', list: [1] }) as any).value",
                json!({"a": "x", "list": [1]}),
            ),
        ],
    );
}
