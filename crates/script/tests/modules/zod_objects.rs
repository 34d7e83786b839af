//! Objects: their schemas, what is derived from them, and what they take.

use crate::{check, check_parsing, check_schemas};
use serde_json::{Value, json};

#[test]
fn an_object_says_its_properties_and_what_is_required() {
    check_schemas(&[
        ("z.object({})", json!({"type": "object", "properties": {}})),
        (
            "z.object({ a: z.string(), b: z.number().optional(), c: z.boolean().default(true), d: z.string().nullish(), e: z.any() })",
            json!({
                "type": "object",
                "properties": {
                    "a": {"type": "string"},
                    "b": {"type": "number"},
                    "c": {"type": "boolean", "default": true},
                    "d": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    "e": {},
                },
                "required": ["a", "e"],
            }),
        ),
        (
            "z.object({ a: z.object({ b: z.string() }).describe('inner') })",
            json!({
                "type": "object",
                "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"], "description": "inner"}},
                "required": ["a"],
            }),
        ),
    ]);
}

#[test]
fn whatever_may_be_absent_is_not_required() {
    for schema in [
        "z.string().optional()",
        "z.optional(z.string())",
        "z.string().nullish()",
        "z.string().default('x')",
        "z.string().default('x').describe('y')",
        "z.string().prefault('x')",
        "z.string().catch('x')",
        "z.string().optional().nullable()",
        "z.string().optional().readonly()",
        "z.string().optional().transform((text) => text)",
        "z.preprocess((value) => value, z.string().optional())",
        "z.union([z.string(), z.undefined()])",
        "z.string().or(z.number().optional())",
        "z.lazy(() => z.string().optional())",
        "z.literal(['x', undefined])",
        "z.undefined()",
    ] {
        let required = format!("(z.toJSONSchema(z.object({{ x: {schema} }})) as any).required ?? []");
        check_schemas(&[(required.as_str(), json!([]))]);
    }
    for schema in ["z.string().nullable()", "z.any()", "z.unknown()", "z.string().optional().nonoptional()"] {
        let required = format!("(z.toJSONSchema(z.object({{ x: {schema} }})) as any).required ?? []");
        check_schemas(&[(required.as_str(), json!(["x"]))]);
    }
}

#[test]
fn only_a_strict_object_is_closed() {
    let with = |further: Value| {
        let mut body = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        if !further.is_null() {
            body["additionalProperties"] = further;
        }
        body
    };
    check_schemas(&[
        ("z.object({ a: z.string() })", with(Value::Null)),
        ("z.object({ a: z.string() }).strict()", with(json!(false))),
        ("z.strictObject({ a: z.string() })", with(json!(false))),
        ("z.object({ a: z.string() }).passthrough()", with(json!({}))),
        ("z.object({ a: z.string() }).loose()", with(json!({}))),
        ("z.looseObject({ a: z.string() })", with(json!({}))),
        ("z.object({ a: z.string() }).catchall(z.number())", with(json!({"type": "number"}))),
        ("z.object({ a: z.string() }).strict().strip()", with(Value::Null)),
    ]);
}

#[test]
fn derived_objects_keep_what_they_are_told_to() {
    let base = "
import { z } from 'zod';
const Base = z.object({ a: z.string(), b: z.number().optional() });
const names = (schema: any) => { const body: any = z.toJSONSchema(schema); return [Object.keys(body.properties), body.required ?? []]; };
";
    check(
        base,
        &[
            ("names(Base.extend({ c: z.boolean() }))", json!([["a", "b", "c"], ["a", "c"]])),
            ("names(Base.extend({ a: z.string().optional() }))", json!([["a", "b"], []])),
            ("names(Base.merge(z.object({ c: z.boolean() })))", json!([["a", "b", "c"], ["a", "c"]])),
            ("(z.toJSONSchema(Base.merge(z.object({}).strict())) as any).additionalProperties", json!(false)),
            ("names(Base.pick({ a: true }))", json!([["a"], ["a"]])),
            ("names(Base.omit({ a: true }))", json!([["b"], []])),
            ("names(Base.partial())", json!([["a", "b"], []])),
            ("names(z.object({ x: z.string(), y: z.string() }).partial({ x: true }))", json!([["x", "y"], ["y"]])),
            ("names(Base.required())", json!([["a", "b"], ["a", "b"]])),
            ("names(Base.partial().required({ b: true }))", json!([["a", "b"], ["b"]])),
            (
                "names(z.object({ in: z.object({ x: z.string() }) }).deepPartial().shape.in.unwrap())",
                json!([["x"], []]),
            ),
            (
                "names(z.object({ list: z.array(z.object({ x: z.string() })) }).deepPartial().shape.list.unwrap().element)",
                json!([["x"], []]),
            ),
            ("Base.keyof()", json!({"type": "string", "enum": ["a", "b"]})),
            ("names(z.object({ ...Base.shape, c: z.string() }))", json!([["a", "b", "c"], ["a", "c"]])),
            ("Base.shape.a", json!({"type": "string"})),
            ("Object.keys(Base.shape)", json!(["a", "b"])),
        ],
    );
}

#[test]
fn two_open_objects_in_an_intersection_are_one() {
    check_schemas(&[
        (
            "z.object({ a: z.string() }).and(z.object({ b: z.number().optional() }))",
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "number"}}, "required": ["a"]}),
        ),
        (
            "z.intersection(z.object({ a: z.string() }), z.object({ a: z.literal('x') }))",
            json!({"type": "object", "properties": {"a": {"allOf": [{"type": "string"}, {"type": "string", "const": "x"}]}}, "required": ["a"]}),
        ),
        (
            "z.object({}).strict().and(z.object({}))",
            json!({"type": "object", "allOf": [
                {"type": "object", "properties": {}, "additionalProperties": false},
                {"type": "object", "properties": {}},
            ]}),
        ),
        ("z.string().and(z.literal('x'))", json!({"allOf": [{"type": "string"}, {"type": "string", "const": "x"}]})),
    ]);
}

#[test]
fn objects_drop_keep_or_refuse_what_they_do_not_know() {
    check_parsing(&[
        ("taken(z.object({ a: z.string() }), { a: 'x', b: 1 })", json!({"a": "x"})),
        ("taken(z.object({ a: z.string() }).loose(), { a: 'x', b: 1 })", json!({"a": "x", "b": 1})),
        ("faults(z.object({ a: z.string() }).strict(), { a: 'x', b: 1 })", json!([": Unrecognized key: \"b\""])),
        ("faults(z.strictObject({}), { b: 1, c: 2 })", json!([": Unrecognized keys: \"b\", \"c\""])),
        ("taken(z.object({}).catchall(z.coerce.number()), { b: '1' })", json!({"b": 1})),
        (
            "faults(z.object({}).catchall(z.number()), { b: 'x' })",
            json!(["b: Invalid input: expected number, received string"]),
        ),
        ("Object.keys(taken(z.object({ a: z.string().optional() }), {}))", json!([])),
        ("Object.keys(taken(z.object({ a: z.string().optional() }), { a: undefined }))", json!(["a"])),
        ("taken(z.object({ a: z.string().default('d') }), {})", json!({"a": "d"})),
        ("faults(z.object({ a: z.string() }), {})", json!(["a: Invalid input: expected string, received undefined"])),
        ("faults(z.object({ a: z.string() }), [])", json!([": Invalid input: expected object, received array"])),
        ("faults(z.object({ a: z.string() }), null)", json!([": Invalid input: expected object, received null"])),
        (
            "faults(z.object({ a: z.object({ b: z.array(z.number()) }) }), { a: { b: [1, 'x'] } })",
            json!(["a.b.1: Invalid input: expected number, received string"]),
        ),
        (
            "faults(z.object({ constructor: z.string() }), {})",
            json!(["constructor: Invalid input: expected string, received undefined"]),
        ),
        ("Object.keys(taken(z.looseObject({}), JSON.parse('{\"__proto__\": 1}')))", json!(["__proto__"])),
        (
            "taken(z.object({ a: z.string() }).and(z.object({ b: z.number() })), { a: 'x', b: 1, c: 2 })",
            json!({"a": "x", "b": 1}),
        ),
        (
            "faults(z.object({ a: z.string() }).required(), {})",
            json!(["a: Invalid input: expected nonoptional, received undefined"]),
        ),
    ]);
}
