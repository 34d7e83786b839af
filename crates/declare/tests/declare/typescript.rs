//! Faults in TypeScript: each with the file, the line and the column that the author wrote.

use super::{check, lines, load, names, project, tools};
use entourage_declare::{FILE_BYTES_MAX, MemoryFiles};

/// The module of tool `t`, and what is said about it.
fn check_module(module: &str, expected: &[&str]) {
    let loaded = project(&format!("-- agents/tools/t.ts\n{module}\n"));
    let told: Vec<_> = lines(&loaded).iter().map(|line| line.replace(" at agents/tools/t.ts", " at t.ts")).collect();
    assert_eq!(told, expected, "{module}");
}

/// The same for a fault whose words are the evaluation's own. The place may say less than the report does.
fn check_fault(module: &str, code: &str, place: &str, hint: &str) {
    let loaded = project(&format!(
        "-- agents/tools/t.ts\n{module}\n-- agents/agents/torn.json\n{{\"name\":\n-- agents/prompts/p.json\n{{\"name\": \"p\", \"prompt\": 1}}\n"
    ));
    let told = lines(&loaded);
    assert_eq!(told.len(), 3, "the others are looked at all the same: {told:?}");
    let fault = told.iter().find(|line| line.contains("agents/tools/")).expect("the module's file is named");
    assert!(fault.starts_with(&format!("error[{code}]: ")), "{fault}");
    assert!(fault.contains(&format!(" at agents/tools/t.ts{place}")), "{fault}");
    assert!(fault.contains(&format!("; {hint}")), "{fault}");
    assert!(loaded.team.tools.is_empty());
}

#[test]
fn a_syntax_error_lies_where_the_text_stops_being_typescript() {
    check_fault(
        "import { defineTool } from '@standardagents/builder';\n\ninterface A { a: string }\nconst x: number = 1;\nexport default defineTool({ description: 'x' args: null });",
        "D022",
        ":5:46;",
        "mend",
    );
}

#[test]
fn a_definition_that_throws_is_reported_where_it_throws() {
    check_fault(
        "interface Wide {\n  a: string;\n}\n\nfunction fail(): Wide {\n  throw new Error('no key');\n}\nexport default fail();",
        "D024",
        ":6:",
        "a definition is evaluated whenever it is read",
    );
}

#[test]
fn whoever_reaches_for_node_is_told_what_to_do_instead() {
    check_fault("module.exports = {};", "D024", ":1:1", "write `export default` before the definition");
    check_fault("export default { a: process.env.KEY };", "D024", ":1:21", "declare a variable, and read it by `env`");
    check_fault("export default defineTool({});", "D024", ":1:16", "import it from `@standardagents/spec`");
    check_fault("export default { args: z.object({}) };", "D024", ":1:24", "write `import { z } from 'zod'`");
}

#[test]
fn a_fault_in_an_imported_module_lies_there() {
    let loaded = project(
        "
-- agents/tools/t.ts
import { limit } from './shared/limit';
export default { description: `at most ${limit}`, args: null, execute() {} };
-- agents/tools/shared/limit.ts
type Count = number;

export const limit: Count = nothing.here;
-- agents/tools/u.ts
import { limit } from './shared/limit';
export default { description: `at least ${limit}`, args: null, execute() {} };
",
    );
    let told = lines(&loaded);
    assert_eq!(told.len(), 1, "it is said once: {told:?}");
    assert!(told[0].starts_with("error[D024]") && told[0].contains(" at agents/tools/shared/limit.ts:3:"), "{told:?}");
}

#[test]
fn a_failing_import_in_an_imported_module_lies_there_too() {
    let told = lines(&project(
        "
-- agents/tools/t.ts
import { limit } from './shared/limit';
export default { description: `at most ${limit}`, args: null, execute() {} };
-- agents/tools/shared/limit.ts
import { max } from 'lodash';
export const limit = max([1]);
",
    ));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("error[D023]") && told[0].contains(" at agents/tools/shared/limit.ts:1:21"),
        "{told:?}"
    );
}

#[test]
fn what_no_declaration_can_hold_is_reported_at_its_property_and_hides_nothing() {
    let hint = "write a text, a number, `true`, `false`, `null`, an array or an object";
    let told = lines(&project(
        "
-- agents/prompts/p.ts
const seen = Symbol('seen');
export default {
  name: 'p',
  prompt: 7n,
  toolChoice: 'sometimes',
  recentImageThreshold: NaN,
  env: { A: seen },
  tools: [{ name: 'read_file', options: { far: -1 / 0, run() {} } }],
  unheard: new Map(),
};
-- agents/models/m.ts
export default { name: 'm', provider: 'openai', model: 'x', providerOptions: { on: () => true } };
",
    ));
    let at = |place: &str| format!(" at agents/prompts/p.ts:{place}; {hint}");
    assert_eq!(
        told,
        [
            "error[D006]: `providerOptions.on` must be a plain value, not a function at agents/models/m.ts:1:80; write a plain value".to_owned(),
            format!("error[D026]: `prompt` is a bigint, which no declaration can hold{}", at("4:3")),
            "error[D006]: `toolChoice` must be `auto`, `none`, `required` or `function`, not the string `sometimes` at agents/prompts/p.ts:5:3; did you mean `none`?".to_owned(),
            format!("error[D026]: `recentImageThreshold` is `NaN`, which no declaration can hold{}", at("6:3")),
            format!("error[D026]: `env.A` is a symbol, which no declaration can hold{}", at("7:10")),
            format!("error[D026]: `tools[0].options.far` is `Infinity`, which no declaration can hold{}", at("8:43")),
            "error[D006]: `tools[0].options.run` must be a plain value, not a function at agents/prompts/p.ts:8:56; write a plain value".to_owned(),
            "warning[D007]: the field `unheard` is unknown and has no effect at agents/prompts/p.ts:9:3; did you mean `name`?".to_owned(),
            format!("error[D026]: `unheard` is a `Map`, which no declaration can hold{}", at("9:3")),
        ]
    );
}

#[test]
fn data_that_is_no_json_is_told_as_that() {
    let told = lines(&project(
        "-- agents/tools/t.ts\nimport d from '../d.json';\nexport default d;\n-- agents/d.json\n{\"a\": nul}\n",
    ));
    let expected =
        "error[D004]: this is not valid JSON: expected ident at agents/d.json:1:10; mend the text at the place shown";
    assert_eq!(told, [expected]);
}

#[test]
fn only_the_project_s_own_modules_and_ours_are_imported() {
    for path in ["fs", "node:fs", "lodash", "../../../secret", "/etc/passwd", "./missing", "file:///etc/passwd"] {
        check_fault(
            &format!("\nimport x from '{path}';\nexport default x;"),
            "D023",
            ":2:15;",
            "import modules of the project by a relative path",
        );
    }
}

#[test]
fn limits_end_what_would_not_end() {
    check_fault("while (true) {}\nexport default 1;", "D025", "", "only say what is defined");
    check_fault(
        "const all = [];\nfor (;;) all.push(new Array(100000).fill(7));\nexport default all;",
        "D025",
        "",
        "only say what is defined",
    );
}

#[test]
fn a_project_of_definitions_without_end_is_given_up_as_a_whole() {
    let hog = "const all = [];\nfor (;;) all.push(new Array(100000).fill(7));\nexport default all;\n";
    let hogs: String = (10..34).map(|index| format!("-- agents/tools/t{index}.ts\n{hog}")).collect();
    let fine = r#"-- agents/agents/a.json
{"name": "a", "sideA": {"prompt": "p"}}
-- agents/prompts/p.ts
export default { name: 'p', prompt: '' };
"#;
    let loaded = project(&format!("{fine}{hogs}"));
    let told = lines(&loaded);
    assert!(told.len() == 24 && told.iter().all(|line| line.starts_with("error[D025]: ")), "{told:?}");
    // Seven may be given up, and eight be at work, before the eighth is.
    let unread = "the definition was not evaluated: 8 others reached their limits before it at agents/tools/t";
    assert!(told.iter().filter(|line| line.contains(unread)).count() >= 24 - 15, "{told:?}");
    assert_eq!(names(&loaded), ["a"], "what was read before is there");
}

#[test]
fn the_default_export_is_the_definition() {
    check_fault("export const tool = 1;", "D026", ":1:1", "write `export default`");
    check_module(
        "export default 1;",
        &["error[D006]: a declaration must be an object, not `1` at t.ts:1:16; write an object"],
    );
    check_module(
        "export default () => ({});",
        &[
            "error[D006]: a declaration must be an object, not a function at t.ts:1:16; export the definition itself, not a function that makes it",
        ],
    );
}

#[test]
fn a_file_has_a_limit_of_size() {
    let large = |bytes: usize| {
        let start = "export default { description: 'd', args: null, execute() {} };\n//";
        start.to_owned() + &"x".repeat(bytes - start.len())
    };
    let told = |bytes: usize| {
        let files = MemoryFiles::from_iter([("agents/tools/t.ts", large(bytes))]);
        lines(&load(&files, &tools()))
    };
    assert_eq!(told(FILE_BYTES_MAX), [""; 0]);
    let expected = [
        "error[D002]: the file is larger than 8 MiB at agents/tools/t.ts:1:1; split it, or move what is not a declaration",
    ];
    assert_eq!(told(FILE_BYTES_MAX + 1), expected);
    assert_eq!(told(50 << 20), expected);
}

#[test]
fn a_fault_in_a_value_lies_at_its_property_or_at_the_define_call() {
    check(
        "
-- agents/agents/a.ts
import { defineAgent } from '@standardagents/builder';
const shared = { prompt: 'p' };
export default defineAgent({
  name: 'a',
  maxSessionTurns: 'many',
  sideA: { ...shared, maxSteps: 0 },
  mood: 'good',
});
-- agents/agents/b.ts
import { defineAgent } from '@standardagents/builder';

export default defineAgent({ name: 'b' });
-- agents/prompts/p.ts
import { definePrompt } from '@standardagents/builder';
export default definePrompt({
  name: 'p',
  prompt: [
    { type: 'text', content: 'a' },
    { type: 'text', content: 1 },
  ],
  tools: [
    'red_file',
  ],
});
",
        &[
            "error[D006]: `maxSessionTurns` must be a positive integer, not the string `many` at agents/agents/a.ts:5:3; write a positive integer",
            "error[D006]: `sideA.maxSteps` must be a positive integer, not `0` at agents/agents/a.ts:6:23; write a positive integer",
            "warning[D007]: the field `mood` is unknown and has no effect at agents/agents/a.ts:7:3; did you mean `hooks`?",
            "error[D005]: `sideA` is missing at agents/agents/b.ts:3:16; add `sideA`",
            "error[D006]: `prompt[1].content` must be a string, not `1` at agents/prompts/p.ts:6:21; write a string",
            "error[D014]: prompt `p` may call tool `red_file`, which nobody provides at agents/prompts/p.ts:9:5; did you mean `read_file`?",
        ],
    );
}

#[test]
fn one_name_in_typescript_and_json_names_both_files() {
    check(
        "
-- agents/agents/same.json
{\"name\": \"same\", \"sideA\": {\"prompt\": \"p\"}}
-- agents/agents/same.ts
export default { name: 'same', sideA: { prompt: 'p' } };
-- agents/prompts/p.json
{\"name\": \"p\", \"prompt\": \"\"}
-- agents/tools/t.mjs
export default { description: 'd', execute() {} };
-- agents/tools/t.ts
export default { description: 'd', execute() {} };
",
        &[
            "error[D010]: agent `same` is declared twice: in `agents/agents/same.json` and in `agents/agents/same.ts` at agents/agents/same.ts:1:18; give one of them another name; until then `agents/agents/same.ts` counts",
            "error[D010]: tool `t` is declared twice: in `agents/tools/t.mjs` and in `agents/tools/t.ts` at agents/tools/t.ts:1:16; give one of them another name; until then `agents/tools/t.ts` counts",
        ],
    );
}

#[test]
fn javascript_declares_too_and_what_lies_beside_code_does_not() {
    let loaded = project(
        "
-- agents/agents/one.js
export default { name: 'one', sideA: { prompt: 'p' } };
-- agents/agents/two.mts
export default { name: 'two' as string, sideA: { prompt: 'p' } };
-- agents/agents/types.d.ts
declare const nothing: string;
-- agents/agents/one.test.ts
throw new Error('a test');
-- agents/agents/old.cjs
module.exports = {};
-- agents/agents/.hidden.ts
no
-- agents/agents/deeper/three.ts
throw new Error('not looked at');
-- agents/prompts/p.ts
import words from './texts/p.json' with { type: 'json' };
export default { name: 'p', prompt: words.prompt };
-- agents/prompts/texts/p.json
{\"prompt\": \"From a file.\"}
",
    );
    assert_eq!((lines(&loaded), names(&loaded)), (vec![], vec!["one", "two"]));
}
