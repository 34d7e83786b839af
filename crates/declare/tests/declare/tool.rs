//! Tools that the project brings.

use super::{check, lines, names, project};
use entourage_declare::Loaded;
use entourage_model::{Name, ToolEntry, Variable};
use serde_json::{Value, json};

/// A project with tool `t`, defined by `fields` from line 3 of its file, which the only agent lists.
fn with_tool(fields: &str) -> Loaded {
    project(&format!(
        "
-- agents/tools/t.ts
import {{ defineTool }} from '@standardagents/builder';
import {{ z }} from 'zod';
export default defineTool({{
{fields}
}});
-- agents/agents/a.json
{{\"name\": \"a\", \"sideA\": {{\"prompt\": \"p\"}}}}
-- agents/prompts/p.json
{{\"name\": \"p\", \"prompt\": \"\", \"tools\": [\"t\"]}}
"
    ))
}

fn check_tool(fields: &str, expected: &[&str]) {
    let loaded = with_tool(fields);
    let told: Vec<_> = lines(&loaded).iter().map(|line| line.replace(" at agents/tools/t.ts:", " at ")).collect();
    assert_eq!(told, expected, "{fields}");
    let has_error = expected.iter().any(|line| line.starts_with("error"));
    assert_eq!(names(&loaded).is_empty(), has_error, "an agent goes with its tools: {fields}");
    assert!(!has_error || loaded.team.tools.is_empty());
}

#[test]
fn a_tool_has_the_schema_of_its_arguments() {
    let schema = |args: &str| -> Value {
        let loaded = with_tool(&format!("  description: 'd',\n  {args}execute: async () => 'done',"));
        assert_eq!(lines(&loaded), [""; 0]);
        assert_eq!(loaded.team.agents["a"].side_a.prompt.tools, [ToolEntry::Tool(Name::from("t"))]);
        Value::clone(&loaded.team.tools["t"].spec.parameters)
    };
    let nothing = json!({"type": "object", "properties": {}});
    assert_eq!(schema("args: null, "), nothing);
    assert_eq!(schema(""), nothing);
    let schema = schema("args: z.object({ city: z.string(), days: z.number().int().optional() }), ");
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["properties"]["city"]["type"], "string");
    assert_eq!(schema["required"], json!(["city"]));
}

#[test]
fn a_tool_says_what_it_reads_and_uses() {
    let loaded = with_tool(
        "  description: 'd', args: null, execute: () => 1, uses: ['read_file', 't', 'p', 'a'],
  variables: [{ name: 'K', type: 'secret', required: true }],
  tenvs: z.object({ OLD: z.string().describe('o'), MAYBE: z.string().optional() }),",
    );
    assert_eq!(lines(&loaded), [""; 0]);
    let tool = &loaded.team.tools["t"];
    assert_eq!(tool.uses, ["read_file", "t", "p", "a"].map(Name::from));
    let variable = |name: &str, secret, required, description: Option<&str>| Variable {
        name: name.to_owned(),
        secret,
        required,
        scoped: false,
        description: description.map(str::to_owned),
    };
    let mut read = tool.variables.clone();
    read.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(
        read,
        [
            variable("K", true, true, None),
            variable("MAYBE", false, false, None),
            variable("OLD", false, true, Some("o")),
        ]
    );
    assert!(loaded.team.prompts.contains_key("p"), "what a tool may call is there");
}

#[test]
fn a_tool_that_is_not_whole_is_reported_where_it_is_not() {
    check_tool(
        "  args: null,",
        &[
            "error[D005]: `description` is missing at 3:16; add `description`",
            "error[D005]: `execute` is missing at 3:16; add `execute`",
        ],
    );
    check_tool(
        "  description: 'd',\n  args: z.string(),\n  execute: 'later',",
        &[
            "error[D006]: `args` must be `null` or the schema of an object, not the schema of `string` at 5:3; write `z.object({ … })`, with a property for each argument",
            "error[D006]: `execute` must be a function, not the string `later` at 6:3; write a function",
        ],
    );
    check_tool(
        "  description: 'd',\n  args: { q: z.string() },\n  execute() {},",
        &[
            "error[D006]: `args` must be `null` or the schema of an object, not a plain object at 5:3; write `z.object({ … })` around it",
        ],
    );
    check_tool(
        "  description: 'd', execute() {},\n  uses: ['nobody'], tenvs: 1, executionMode: 'remote', variables: [{}],\n  color: 'red',",
        &[
            "error[D014]: tool `t` may call tool `nobody`, which nobody provides at 5:10; add it to `agents/tools`; the nearest name is `approve_asset`",
            "error[D006]: `tenvs` must be the schema of an object, such as `z.object({ … })`, not `1` at 5:21; write the schema of an object, such as `z.object({ … })`",
            "error[D006]: `executionMode` must be `local` or `provider`, not the string `remote` at 5:31; did you mean `provider`?",
            "error[D005]: `variables[0].name` is missing at 5:68; add `name`",
            "warning[D007]: the field `color` is unknown and has no effect at 6:3; did you mean `executionProvider`?",
        ],
    );
}

#[test]
fn a_tool_that_the_provider_runs_is_not_offered() {
    let loaded = with_tool("  description: 'd', executionMode: 'provider', executionProvider: 'openai',");
    assert_eq!(
        lines(&loaded),
        [
            "warning[D009]: a tool that the model's provider runs is not supported yet and has no effect at agents/tools/t.ts:4:21; leave it for other runtimes if the agent can do without it here, or remove it"
        ]
    );
    assert_eq!(loaded.team.agents["a"].side_a.prompt.tools, []);
    assert!(loaded.team.tools.is_empty());
}

#[test]
fn only_typescript_can_say_what_a_tool_does() {
    check(
        r#"
-- agents/tools/plain.json
{"description": "d", "args": {"type": "object", "properties": {}}}
-- agents/tools/provided.json
{"description": "d", "executionMode": "provider"}
-- agents/tools/said.json
{"description": "d", "execute": "return 1"}
"#,
        &[
            "error[D005]: `execute` is missing, which only TypeScript can say at agents/tools/plain.json:1:1; write the definition in a file that ends in `.ts`",
            "warning[D009]: a tool that the model's provider runs is not supported yet and has no effect at agents/tools/provided.json:1:22; leave it for other runtimes if the agent can do without it here, or remove it",
            "error[D005]: `execute` is missing, which only TypeScript can say at agents/tools/said.json:1:22; write the definition in a file that ends in `.ts`",
        ],
    );
}

#[test]
fn a_tool_cannot_have_a_name_that_is_taken() {
    let tool =
        |name: &str| format!("-- agents/tools/{name}.ts\nexport default {{ description: 'd', execute() {{}} }};\n");
    let text = ["a b", "agent_spawn", "child", "mcp__x", "read_file", "subagent_create", "free"].map(tool).concat()
        + r#"-- agents/agents/child.json
{"name": "child", "exposeAsTool": true, "sideA": {"prompt": "p"}}
-- agents/prompts/p.json
{"name": "p", "prompt": ""}
"#;
    check(
        &text,
        &[
            "error[D011]: tool `a b` cannot be offered as a tool under this name at agents/tools/a b.ts:1:16; give the file another name, of letters of a to z, digits, `_` and `-`",
            "error[D035]: tool `agent_spawn` has the name of a tool that entourage itself offers to models at agents/tools/agent_spawn.ts:1:16; give the file another name",
            "error[D035]: tool `child` has the name of a tool that is an agent, exposed by `agents/agents/child.json` at agents/tools/child.ts:1:16; give the file another name",
            "error[D035]: tool `mcp__x` has the name of a tool that entourage itself offers to models at agents/tools/mcp__x.ts:1:16; give the file another name",
            "error[D035]: tool `read_file` has the name of a tool that comes with entourage at agents/tools/read_file.ts:1:16; give the file another name",
            "error[D035]: tool `subagent_create` has the name of a tool that entourage itself offers to models at agents/tools/subagent_create.ts:1:16; give the file another name",
        ],
    );
    let loaded = project(&text);
    assert_eq!(loaded.team.tools.keys().map(Name::as_str).collect::<Vec<_>>(), ["free"]);
}

#[test]
fn lead_has_the_project_s_tools_too() {
    let loaded = with_tool("  description: 'd', args: null, execute: () => 1,");
    let tools = &loaded.team.agents["lead"].side_a.prompt.tools;
    assert!(tools.contains(&ToolEntry::Tool(Name::from("t"))), "{tools:?}");
}

#[test]
fn a_binding_may_name_a_tool_of_the_project() {
    check(
        r#"
-- agents/tools/finish.mjs
export default { description: 'Ends.', args: null, execute: () => 'ended' };
-- agents/agents/a.json
{"name": "a", "sideA": {"prompt": "p", "sessionStop": "finish", "stopTool": "finish"}}
-- agents/prompts/p.json
{"name": "p", "prompt": "", "tools": ["finish"]}
"#,
        &[],
    );
}
