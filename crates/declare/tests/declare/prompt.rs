//! Faults in a prompt definition, each shown by the fields that make it.

use super::{lines, names, project};

/// A prompt on line 1 of its file, with `fields`, used by agent `a`; `child` could be a child of it, `person` not.
fn check(fields: &str, expected: &[&str]) {
    let loaded = project(&format!(
        r#"
-- agents/agents/a.json
{{"name": "a", "sideA": {{"prompt": "p"}}}}
-- agents/agents/child.json
{{"name": "child", "type": "dual_ai", "sideA": {{"prompt": "other"}}, "sideB": {{"prompt": "other"}}}}
-- agents/agents/dotted.json
{{"name": "dotted.child", "type": "dual_ai", "sideA": {{"prompt": "other"}}, "sideB": {{"prompt": "other"}}}}
-- agents/agents/person.json
{{"name": "person", "sideA": {{"prompt": "other"}}}}
-- agents/prompts/other.json
{{"name": "other", "prompt": "Work."}}
-- agents/prompts/p.json
{{"name": "p", {fields}}}
"#
    ));
    let told: Vec<_> = lines(&loaded).iter().map(|line| line.replace(" at agents/prompts/p.json:", " at ")).collect();
    assert_eq!(told, expected, "{fields}");
    let has_error = expected.iter().any(|line| line.starts_with("error"));
    assert_eq!(!names(&loaded).contains(&"a"), has_error, "an agent goes with its prompt: {fields}");
}

fn check_tools(entry: &str, expected: &[&str]) {
    check(&format!(r#""prompt": "x", "tools": [{entry}]"#), expected);
}

#[test]
fn a_whole_prompt_is_clean() {
    check(r#""prompt": """#, &[]);
    check(
        r#""toolDescription": "t", "model": "openai:gpt-5:turbo", "includeChat": true, "includePastTools": true,
        "parallelToolCalls": false, "toolChoice": "required", "requiredSchema": {"type": "object"},
        "reasoning": {"effort": "high", "exclude": true, "include": false},
        "variables": [], "env": {}, "hooks": [], "exposeAsTool": false,
        "prompt": [{"type": "text", "content": "a"}, {"type": "env", "property": "X"}, {"type": "include", "prompt": "other"}],
        "tools": ["read_file", {"name": "list_files", "options": {"a": 1}}, {"name": "child", "blocking": false,
            "initUserMessageProperty": "m", "initAttachmentsProperty": "f", "initAgentNameProperty": "n",
            "immediate": false, "resumable": {"receives_messages": "side_b", "maxInstances": 2,
            "parentCommunication": "explicit"}}]"#,
        &[],
    );
    check_tools(r#"{"name": "child", "resumable": false}"#, &[]);
}

#[test]
fn what_has_no_effect_is_told() {
    check(
        r#""prompt": "", "recentImageThreshold": 3"#,
        &[
            "warning[D009]: `recentImageThreshold` is not supported yet and has no effect at 1:29; leave it for other runtimes if the agent can do without it here, or remove it",
        ],
    );
    check(
        r#""prompt": "", "reasoning": {"include": true}"#,
        &[
            "warning[D009]: `reasoning.include` is not supported yet and has no effect at 1:43; leave it for other runtimes if the agent can do without it here, or remove it",
        ],
    );
    let budget = |model: &str| format!(r#""prompt": "", "model": "{model}", "reasoning": {{"maxTokens": 100}}"#);
    let deaf = "warning[D009]: `reasoning.maxTokens` has no effect on a model of `openai` at 1:64; say by `reasoning.effort` how hard it is to think";
    check(&budget("openai:m"), &[deaf]);
    check(&budget("anthropic:m"), &[]);
}

#[test]
fn what_must_be_there_is_missed() {
    for (fields, expected) in [
        (r#""model": "openai:b""#, "error[D005]: `prompt` is missing at 1:1; add `prompt`"),
        (r#""prompt": [{"content": "a"}]"#, "error[D005]: `prompt[0].type` is missing at 1:26; add `type`"),
        (r#""prompt": [{"type": "text"}]"#, "error[D005]: `prompt[0].content` is missing at 1:26; add `content`"),
        (r#""prompt": [{"type": "include"}]"#, "error[D005]: `prompt[0].prompt` is missing at 1:26; add `prompt`"),
        (
            r#""prompt": "x", "tools": [{"blocking": true}]"#,
            "error[D005]: `tools[0].name` is missing at 1:40; add `name`",
        ),
        (
            r#""prompt": "x", "tools": [{"name": "child", "resumable": {}}]"#,
            "error[D005]: `tools[0].resumable.receives_messages` is missing at 1:58; add `receives_messages`",
        ),
    ] {
        check(fields, &[expected]);
    }
}

#[test]
fn a_wrong_type_says_what_is_expected() {
    for (fields, expected) in [
        (
            r#""prompt": 1"#,
            "error[D006]: `prompt` must be a string or an array of parts, not `1` at 1:15; write a string or an array of parts",
        ),
        (
            r#""prompt": ["a"]"#,
            "error[D006]: `prompt[0]` must be an object such as `{ type: 'text', content: … }`, not the string `a` at 1:26; write an object such as `{ type: 'text', content: … }`",
        ),
        (
            r#""prompt": [{"type": "texts", "content": "a"}]"#,
            "error[D006]: `prompt[0].type` must be `text`, `include`, `env`, `string`, `prompt` or `variable`, not the string `texts` at 1:27; did you mean `text`?",
        ),
        (
            r#""prompt": [{"type": "text", "content": 1}]"#,
            "error[D006]: `prompt[0].content` must be a string, not `1` at 1:43; write a string",
        ),
        (
            r#""prompt": "x", "model": 5"#,
            "error[D006]: `model` must be a string that is not blank, not `5` at 1:30; write a string that is not blank",
        ),
        (
            r#""prompt": "x", "includeChat": "yes""#,
            "error[D006]: `includeChat` must be `true` or `false`, not the string `yes` at 1:30; write `true` or `false`",
        ),
        (
            r#""prompt": "x", "toolChoice": "any""#,
            "error[D006]: `toolChoice` must be `auto`, `none`, `required` or `function`, not the string `any` at 1:30; did you mean `auto`?",
        ),
        (
            r#""prompt": "x", "requiredSchema": "object""#,
            "error[D006]: `requiredSchema` must be the JSON Schema of an object, such as `z.object({ … })`, not the string `object` at 1:30; write the JSON Schema of an object, such as `z.object({ … })`",
        ),
        (
            r#""prompt": "x", "reasoning": "high""#,
            "error[D006]: `reasoning` must be an object, not the string `high` at 1:30; write an object",
        ),
        (
            r#""prompt": "x", "reasoning": {"maxTokens": -5}"#,
            "error[D006]: `reasoning.maxTokens` must be a positive integer, not `-5` at 1:44; write a positive integer",
        ),
        (
            r#""prompt": "x", "tools": "read_file""#,
            "error[D006]: `tools` must be an array, not the string `read_file` at 1:30; write an array",
        ),
    ] {
        check(fields, &[expected]);
    }
}

#[test]
fn a_wrong_type_in_an_entry_says_what_is_expected() {
    for (entry, expected) in [
        (r#"1"#, "error[D006]: `tools[0]` must be a name or an object, not `1` at 1:40; write a name or an object"),
        (
            r#"{"name": "child", "blocking": "no"}"#,
            "error[D006]: `tools[0].blocking` must be `true` or `false`, not the string `no` at 1:58; write `true` or `false`",
        ),
        (
            r#"{"name": "child", "resumable": true}"#,
            "error[D006]: `tools[0].resumable` must be `false` or an object such as `{ receives_messages: 'side_a' }`, not `true` at 1:58; write `false` or an object such as `{ receives_messages: 'side_a' }`",
        ),
        (
            r#"{"name": "child", "resumable": {"receives_messages": "a"}}"#,
            "error[D006]: `tools[0].resumable.receives_messages` must be `side_a` or `side_b`, not the string `a` at 1:72; did you mean `side_a`?",
        ),
        (
            r#"{"name": "child", "resumable": {"receives_messages": "side_a", "maxInstances": 0}}"#,
            "error[D006]: `tools[0].resumable.maxInstances` must be a positive integer, not `0` at 1:103; write a positive integer",
        ),
        (
            r#"{"name": "child",
            "resumable": {"receives_messages": "side_a", "parentCommunication": "none"}}"#,
            "error[D006]: `tools[0].resumable.parentCommunication` must be `implicit` or `explicit`, not the string `none` at 2:58; did you mean `implicit`?",
        ),
        (
            r#"{"name": "child", "immediate": "now"}"#,
            "error[D006]: `tools[0].immediate` must be `true`, `false` or an object, not the string `now` at 1:58; write `true`, `false` or an object",
        ),
        (
            r#"{"name": "child", "optional": true}"#,
            "error[D006]: `tools[0].optional` must be a string that is not blank, not `true` at 1:58; write a string that is not blank",
        ),
    ] {
        check_tools(entry, &[expected]);
    }
}

#[test]
fn an_unknown_field_is_a_warning_with_the_nearest_known_one() {
    check(
        r#""prompt": [{"type": "text", "content": "a", "contents": "b"}], "include_chat": true"#,
        &[
            "warning[D007]: the field `prompt[0].contents` is unknown and has no effect at 1:59; did you mean `content`?",
            "warning[D007]: the field `include_chat` is unknown and has no effect at 1:78; did you mean `includeChat`?",
        ],
    );
    check_tools(
        r#"{"name": "child", "bloking": true, "resumable": false}"#,
        &["warning[D007]: the field `tools[0].bloking` is unknown and has no effect at 1:58; did you mean `blocking`?"],
    );
}

#[test]
fn an_included_prompt_must_be_declared() {
    check(
        r#""prompt": [{"type": "include", "prompt": "oter"}]"#,
        &["error[D012]: prompt `p` includes prompt `oter`, which is not declared at 1:46; did you mean `other`?"],
    );
}
