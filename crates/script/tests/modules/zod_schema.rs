//! The JSON Schema of everything but strings and objects.

use crate::{attempt, check, check_schemas};
use serde_json::json;

#[test]
fn numbers_say_their_type_and_limits() {
    check_schemas(&[
        ("z.number()", json!({"type": "number"})),
        ("z.number().int()", json!({"type": "integer"})),
        ("z.int()", json!({"type": "integer"})),
        ("z.int32()", json!({"type": "integer", "minimum": -2_147_483_648_i64, "maximum": 2_147_483_647})),
        ("z.number().min(1).max(5)", json!({"type": "number", "minimum": 1, "maximum": 5})),
        ("z.number().gte(1).lte(5)", json!({"type": "number", "minimum": 1, "maximum": 5})),
        ("z.number().gt(1).lt(5)", json!({"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 5})),
        ("z.number().min(1).min(3).max(9).max(7)", json!({"type": "number", "minimum": 3, "maximum": 7})),
        ("z.number().positive()", json!({"type": "number", "exclusiveMinimum": 0})),
        ("z.number().negative()", json!({"type": "number", "exclusiveMaximum": 0})),
        ("z.number().nonnegative()", json!({"type": "number", "minimum": 0})),
        ("z.number().nonpositive()", json!({"type": "number", "maximum": 0})),
        ("z.number().multipleOf(5)", json!({"type": "number", "multipleOf": 5})),
        ("z.number().step(0.5)", json!({"type": "number", "multipleOf": 0.5})),
        ("z.number().finite().safe()", json!({"type": "number"})),
        (
            "z.number().int().min(0).describe('how many')",
            json!({"type": "integer", "minimum": 0, "description": "how many"}),
        ),
        ("z.bigint()", json!({"type": "integer"})),
        ("z.bigint().min(5n).multipleOf(2n)", json!({"type": "integer", "minimum": 5, "multipleOf": 2})),
    ]);
}

#[test]
fn plain_values_have_plain_schemas() {
    check_schemas(&[
        ("z.boolean()", json!({"type": "boolean"})),
        ("z.null()", json!({"type": "null"})),
        ("z.date()", json!({"type": "string", "format": "date-time"})),
        ("z.any()", json!({})),
        ("z.unknown()", json!({})),
        ("z.never()", json!({"not": {}})),
        ("z.json()", json!({})),
        ("z.custom<string>()", json!({})),
        ("z.custom((value) => typeof value === 'string')", json!({})),
        ("z.instanceof(Date)", json!({})),
        ("z.any().describe('whatever')", json!({"description": "whatever"})),
    ]);
}

#[test]
fn literals_and_enumerations_say_their_values_and_type() {
    check_schemas(&[
        ("z.literal('on')", json!({"type": "string", "const": "on"})),
        ("z.literal(5)", json!({"type": "number", "const": 5})),
        ("z.literal(true)", json!({"type": "boolean", "const": true})),
        ("z.literal(null)", json!({"type": "null"})),
        ("z.literal(['a', 'b'])", json!({"type": "string", "enum": ["a", "b"]})),
        ("z.literal(['a', 1])", json!({"enum": ["a", 1]})),
        ("z.enum(['red', 'green'])", json!({"type": "string", "enum": ["red", "green"]})),
        ("z.enum(['red'])", json!({"type": "string", "enum": ["red"]})),
        ("z.enum(['red', 'green', 'blue']).extract(['red'])", json!({"type": "string", "enum": ["red"]})),
        ("z.enum(['red', 'green', 'blue']).exclude(['red'])", json!({"type": "string", "enum": ["green", "blue"]})),
        ("z.enum({ Red: 'r', Green: 'g' })", json!({"type": "string", "enum": ["r", "g"]})),
    ]);
}

#[test]
fn a_typescript_enum_is_its_values_and_not_its_reverse_names() {
    let enums = "
import { z } from 'zod';
enum Colour { Red = 'red', Green = 'green' }
enum Level { Low, High = 5 }
enum Mixed { A = 'a', One = 1 }
";
    check(
        enums,
        &[
            ("z.nativeEnum(Colour)", json!({"type": "string", "enum": ["red", "green"]})),
            ("z.enum(Colour)", json!({"type": "string", "enum": ["red", "green"]})),
            ("z.nativeEnum(Level)", json!({"type": "number", "enum": [0, 5]})),
            ("z.enum(Mixed)", json!({"enum": ["a", 1]})),
            ("z.nativeEnum(Level).enum.High", json!(5)),
            ("z.enum(['a', 'b']).options", json!(["a", "b"])),
            ("z.enum(['a', 'b']).enum.a", json!("a")),
        ],
    );
}

#[test]
fn lists_say_their_items_and_lengths() {
    check_schemas(&[
        ("z.array(z.string())", json!({"type": "array", "items": {"type": "string"}})),
        ("z.string().array()", json!({"type": "array", "items": {"type": "string"}})),
        ("z.array(z.any()).min(1).max(3)", json!({"type": "array", "items": {}, "minItems": 1, "maxItems": 3})),
        ("z.array(z.any()).length(2)", json!({"type": "array", "items": {}, "minItems": 2, "maxItems": 2})),
        ("z.array(z.any()).nonempty()", json!({"type": "array", "items": {}, "minItems": 1})),
        (
            "z.array(z.string().describe('a name'))",
            json!({"type": "array", "items": {"type": "string", "description": "a name"}}),
        ),
        ("z.array(z.number()).element", json!({"type": "number"})),
        (
            "z.set(z.string()).min(1)",
            json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true, "minItems": 1}),
        ),
        (
            "z.map(z.string(), z.number())",
            json!({"type": "array", "items": {
                "type": "array",
                "prefixItems": [{"type": "string"}, {"type": "number"}],
                "items": {"anyOf": [{"type": "string"}, {"type": "number"}]},
                "minItems": 2, "maxItems": 2,
            }}),
        ),
    ]);
}

#[test]
fn tuples_say_each_item_and_have_items_for_those_who_insist() {
    check_schemas(&[
        (
            "z.tuple([z.string(), z.number()])",
            json!({
                "type": "array",
                "prefixItems": [{"type": "string"}, {"type": "number"}],
                "items": {"anyOf": [{"type": "string"}, {"type": "number"}]},
                "minItems": 2, "maxItems": 2,
            }),
        ),
        (
            "z.tuple([z.number(), z.number()])",
            json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "items": {"type": "number"}, "minItems": 2, "maxItems": 2}),
        ),
        (
            "z.tuple([z.string()]).rest(z.boolean())",
            json!({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "boolean"}, "minItems": 1}),
        ),
        (
            "z.tuple([z.string()], z.boolean())",
            json!({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "boolean"}, "minItems": 1}),
        ),
        (
            "z.tuple([z.string(), z.string().optional()])",
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "string"}], "items": {"type": "string"}, "minItems": 1, "maxItems": 2}),
        ),
        ("z.tuple([])", json!({"type": "array", "items": {}, "maxItems": 0})),
    ]);
}

#[test]
fn records_are_objects_with_values_of_one_kind() {
    check_schemas(&[
        ("z.record(z.string(), z.number())", json!({"type": "object", "additionalProperties": {"type": "number"}})),
        ("z.record(z.number())", json!({"type": "object", "additionalProperties": {"type": "number"}})),
        (
            "z.record(z.string().regex(/^x/), z.any())",
            json!({"type": "object", "additionalProperties": {}, "propertyNames": {"type": "string", "pattern": "^x"}}),
        ),
        (
            "z.record(z.number(), z.any())",
            json!({"type": "object", "additionalProperties": {}, "propertyNames": {"pattern": "^-?[0-9]+(\\.[0-9]+)?$"}}),
        ),
        (
            "z.record(z.enum(['a', 'b']), z.number())",
            json!({
                "type": "object",
                "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
                "required": ["a", "b"],
                "additionalProperties": false,
            }),
        ),
        (
            "z.partialRecord(z.enum(['a', 'b']), z.number())",
            json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "additionalProperties": false}),
        ),
    ]);
}

#[test]
fn unions_are_any_of_their_options() {
    check_schemas(&[
        ("z.union([z.string(), z.number()])", json!({"anyOf": [{"type": "string"}, {"type": "number"}]})),
        ("z.string().or(z.number())", json!({"anyOf": [{"type": "string"}, {"type": "number"}]})),
        ("z.union([z.string(), z.string()])", json!({"type": "string"})),
        (
            "z.string().or(z.number()).or(z.boolean())",
            json!({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}),
        ),
        ("z.union([z.string(), z.undefined()])", json!({"type": "string"})),
        (
            "z.object({ x: z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b'), n: z.number() })]) })",
            json!({"type": "object", "required": ["x"], "properties": {"x": {"anyOf": [
                {"type": "object", "properties": {"kind": {"type": "string", "const": "a"}}, "required": ["kind"]},
                {"type": "object", "properties": {"kind": {"type": "string", "const": "b"}, "n": {"type": "number"}}, "required": ["kind", "n"]},
            ]}}}),
        ),
    ]);
}

#[test]
fn a_union_of_objects_at_the_top_is_said_to_be_an_object() {
    check_schemas(&[
        (
            "z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])",
            json!({"type": "object", "anyOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]},
            ]}),
        ),
        // `z.toJSONSchema` is the author's own, and says nothing that was not asked.
        (
            "z.toJSONSchema(z.union([z.object({}), z.null()]))",
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "anyOf": [{"type": "object", "properties": {}}, {"type": "null"}],
            }),
        ),
        (
            "z.string().toJSONSchema()",
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string"}),
        ),
        (
            "z.toJSONSchema(z.object({ a: z.string() }))",
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
            }),
        ),
    ]);
}

#[test]
fn null_is_another_option_and_a_description_stays_outside() {
    check_schemas(&[
        ("z.string().nullable()", json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
        ("z.nullable(z.string())", json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
        (
            "z.union([z.string(), z.number()]).nullable()",
            json!({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]}),
        ),
        ("z.string().nullable().nullable()", json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
        (
            "z.string().describe('a name').nullable()",
            json!({"anyOf": [{"type": "string"}, {"type": "null"}], "description": "a name"}),
        ),
        (
            "z.string().nullable().describe('a name')",
            json!({"anyOf": [{"type": "string"}, {"type": "null"}], "description": "a name"}),
        ),
        ("z.any().nullable()", json!({})),
    ]);
}

#[test]
fn what_wraps_a_schema_describes_what_goes_in() {
    check_schemas(&[
        ("z.string().optional()", json!({"type": "string"})),
        ("z.string().default('x')", json!({"type": "string", "default": "x"})),
        ("z.string().default(() => 'x')", json!({"type": "string"})),
        ("z.array(z.string()).default([])", json!({"type": "array", "items": {"type": "string"}, "default": []})),
        ("z.string().prefault('x')", json!({"type": "string", "default": "x"})),
        ("z.number().catch(3)", json!({"type": "number", "default": 3})),
        ("z.string().transform((text) => text.length)", json!({"type": "string"})),
        ("z.string().transform(Number).pipe(z.number().min(3))", json!({"type": "string"})),
        ("z.string().pipe(z.email())", json!({"type": "string"})),
        ("z.preprocess((value) => Number(value), z.number().min(3))", json!({"type": "number", "minimum": 3})),
        ("z.string().refine((text) => text !== 'x')", json!({"type": "string"})),
        ("z.string().superRefine(() => {})", json!({"type": "string"})),
        ("z.string().check(() => {})", json!({"type": "string"})),
        ("z.string().brand<'Id'>()", json!({"type": "string"})),
        ("z.string().readonly()", json!({"type": "string"})),
        ("z.promise(z.string())", json!({"type": "string"})),
        ("z.stringbool()", json!({"type": "string"})),
        ("z.coerce.number().min(1)", json!({"type": "number", "minimum": 1})),
        ("z.coerce.string()", json!({"type": "string"})),
        ("z.coerce.boolean()", json!({"type": "boolean"})),
        ("z.coerce.bigint()", json!({"type": "integer"})),
        ("z.coerce.date()", json!({"type": "string", "format": "date-time"})),
    ]);
}

#[test]
fn a_description_is_kept_through_every_method_and_the_outermost_wins() {
    check_schemas(&[
        ("z.string().describe('x').min(1).optional()", json!({"type": "string", "minLength": 1, "description": "x"})),
        ("z.string().describe('x').optional().describe('y')", json!({"type": "string", "description": "y"})),
        (
            "z.string().describe('x').default('d').transform(Number)",
            json!({"type": "string", "default": "d", "description": "x"}),
        ),
        ("z.string({ description: 'x' })", json!({"type": "string", "description": "x"})),
        (
            "z.string().meta({ title: 'T', description: 'x', examples: ['e'], id: 'Unused' })",
            json!({"type": "string", "title": "T", "description": "x", "examples": ["e"]}),
        ),
        ("z.string().register(z.globalRegistry, { title: 'T' })", json!({"type": "string", "title": "T"})),
        ("z.string().describe('x').optional().description", json!("x")),
        ("z.string().meta({ title: 'T' }).meta().title", json!("T")),
    ]);
}

#[test]
fn what_contains_itself_is_defined_once_and_the_top_keeps_its_type() {
    let recursive = "
import { z } from 'zod';
const Node = z.object({ name: z.string(), get children() { return z.array(Node); } });
type Tree = { left?: Tree };
const Tree: z.ZodType<Tree> = z.lazy(() => z.object({ left: Tree.optional() }).meta({ id: 'Tree' }));
const endless = (): any => z.object({ next: z.lazy(endless) });
";
    let node = json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/schema1"}}},
        "required": ["name", "children"],
    });
    let tree = json!({"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}});
    let endless = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/schema1"}}, "required": ["next"]});
    let with = |mut body: serde_json::Value, name: &str, definition: &serde_json::Value| {
        body["$defs"] = json!({ name: definition });
        body
    };
    check(
        recursive,
        &[
            ("Node", with(node.clone(), "schema1", &node)),
            ("Node.optional()", with(node.clone(), "schema1", &node)),
            (
                "z.object({ first: Node, second: Node.describe('x') }).pick({ first: true })",
                with(
                    json!({"type": "object", "properties": {"first": {"$ref": "#/$defs/schema1"}}, "required": ["first"]}),
                    "schema1",
                    &node,
                ),
            ),
            ("Tree", with(tree.clone(), "Tree", &tree)),
            ("z.lazy(endless)", with(endless.clone(), "schema1", &endless)),
            ("Node.parse({ name: 'a', children: [{ name: 'b', children: [] }] }).children[0].name", json!("b")),
        ],
    );
}

#[test]
fn a_schema_without_end_is_refused_and_says_why() {
    let fault = attempt(
        "import { z } from 'zod';
const make = (): any => z.object({ next: z.lazy(() => make()) });
export default make();",
    )
    .expect_err("it has no end");
    assert!(fault.what.contains("deeper than"), "{fault}");
}

#[test]
fn what_no_model_can_send_is_refused_and_says_why() {
    for (expression, why) in [
        ("z.file()", "a model cannot send a file"),
        ("z.function()", "a model cannot send a function"),
        ("z.object({ s: z.symbol() })", "no form in JSON"),
        ("z.object({ name: 'string' as any })", "`name` in `z.object` is not a schema"),
        ("z.array('string' as any)", "made of schemas"),
    ] {
        let fault =
            attempt(&format!("import {{ z }} from 'zod';\nexport default {expression};")).expect_err(expression);
        assert!(fault.what.contains(why), "{expression}: {fault}");
    }
}

#[test]
fn every_way_of_importing_gives_the_same() {
    for import in [
        "import { z } from 'zod';",
        "import z from 'zod';",
        "import * as z from 'zod';",
        "import { z } from 'zod/v4';",
        "import { z } from 'zod/v3';",
        "import { z } from 'entourage';",
        "import { string, object } from 'zod'; const z = { string, object };",
    ] {
        check(import, &[("z.object({ a: z.string() }).shape.a", json!({"type": "string"}))]);
    }
}
