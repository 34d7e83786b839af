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
    // What agent `a` is told follows from the rest.
    let told: Vec<_> = lines(&loaded)
        .iter()
        .filter(|line| !line.contains("D020"))
        .map(|line| line.replace(" at agents/prompts/p.json:", " at "))
        .collect();
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
        "reasoning": {"effort": "high", "maxTokens": 100, "exclude": true, "include": false},
        "variables": [], "env": {}, "hooks": [], "recentImageThreshold": 3, "exposeAsTool": false,
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
fn what_must_be_there_is_missed() {
    for (fields, expected) in [
        (r#""model": "a:b""#, "error[D005]: `prompt` is missing at 1:1; add `prompt`"),
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
        (r#""prompt": 1"#, "error[D006]: `prompt` must be a string or an array of parts, not `1` at 1:15"),
        (r#""prompt": ["a"]"#, "error[D006]: `prompt[0]` must be an object, not the string `a` at 1:26"),
        (
            r#""prompt": [{"type": "string", "value": "a"}]"#,
            "error[D006]: `prompt[0].type` must be `text`, `include` or `env`, not the string `string` at 1:27; did you mean `text`?",
        ),
        (
            r#""prompt": [{"type": "text", "content": 1}]"#,
            "error[D006]: `prompt[0].content` must be a string, not `1` at 1:43",
        ),
        (
            r#""prompt": "x", "model": "gpt-5""#,
            "error[D006]: `model` must be `provider:model`, not the string `gpt-5` at 1:30",
        ),
        (r#""prompt": "x", "model": 5"#, "error[D006]: `model` must be `provider:model`, not `5` at 1:30"),
        (
            r#""prompt": "x", "includeChat": "yes""#,
            "error[D006]: `includeChat` must be `true` or `false`, not the string `yes` at 1:30",
        ),
        (
            r#""prompt": "x", "toolChoice": "function""#,
            "error[D006]: `toolChoice` must be `auto`, `none` or `required`, not the string `function` at 1:30; did you mean `auto`?",
        ),
        (
            r#""prompt": "x", "requiredSchema": "object""#,
            "error[D006]: `requiredSchema` must be an object that is a JSON Schema, not the string `object` at 1:30",
        ),
        (
            r#""prompt": "x", "reasoning": "high""#,
            "error[D006]: `reasoning` must be an object, not the string `high` at 1:30",
        ),
        (
            r#""prompt": "x", "reasoning": {"maxTokens": -5}"#,
            "error[D006]: `reasoning.maxTokens` must be a positive integer, not `-5` at 1:44",
        ),
        (
            r#""prompt": "x", "tools": "read_file""#,
            "error[D006]: `tools` must be an array, not the string `read_file` at 1:30",
        ),
    ] {
        check(fields, &[expected]);
    }
}

#[test]
fn a_wrong_type_in_an_entry_says_what_is_expected() {
    for (entry, expected) in [
        (r#"1"#, "error[D006]: `tools[0]` must be a name or an object, not `1` at 1:40"),
        (
            r#"{"name": "child", "blocking": "no"}"#,
            "error[D006]: `tools[0].blocking` must be `true` or `false`, not the string `no` at 1:58",
        ),
        (
            r#"{"name": "child", "resumable": true}"#,
            "error[D006]: `tools[0].resumable` must be `false` or an object, not `true` at 1:58",
        ),
        (
            r#"{"name": "child", "resumable": {"receives_messages": "a"}}"#,
            "error[D006]: `tools[0].resumable.receives_messages` must be `side_a` or `side_b`, not the string `a` at 1:72; did you mean `side_a`?",
        ),
        (
            r#"{"name": "child", "resumable": {"receives_messages": "side_a", "maxInstances": 0}}"#,
            "error[D006]: `tools[0].resumable.maxInstances` must be a positive integer, not `0` at 1:103",
        ),
        (
            r#"{"name": "child",
            "resumable": {"receives_messages": "side_a", "parentCommunication": "none"}}"#,
            "error[D006]: `tools[0].resumable.parentCommunication` must be `implicit` or `explicit`, not the string `none` at 2:58; did you mean `implicit`?",
        ),
        (
            r#"{"name": "child", "immediate": "now"}"#,
            "error[D006]: `tools[0].immediate` must be `true`, `false` or an object, not the string `now` at 1:58",
        ),
        (
            r#"{"name": "child", "optional": true}"#,
            "error[D006]: `tools[0].optional` must be a string, not `true` at 1:58",
        ),
    ] {
        check_tools(entry, &[expected]);
    }
}

#[test]
fn what_is_not_supported_yet_is_a_warning() {
    check_tools(
        r#"{"name": "child", "immediate": true}"#,
        &["warning[D009]: `immediate` is not supported yet and has no effect at 1:58"],
    );
    check_tools(
        r#"{"name": "child", "immediate": {"scopedEnv": ["K"]}, "optional": "FLAG"}"#,
        &[
            "warning[D009]: `immediate` is not supported yet and has no effect at 1:58",
            "warning[D009]: `optional` is not supported yet and has no effect at 1:93",
        ],
    );
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
fn what_nobody_provides_is_an_error_with_the_nearest_name() {
    check_tools(
        r#""red_file""#,
        &["error[D014]: prompt `p` may call tool `red_file`, which nobody provides at 1:40; did you mean `read_file`?"],
    );
    check_tools(
        r#"{"name": "chid"}"#,
        &["error[D015]: prompt `p` starts agent `chid`, which is not declared at 1:41; did you mean `child`?"],
    );
}

#[test]
fn an_agent_or_a_prompt_is_no_tool() {
    check_tools(
        r#""child""#,
        &[
            "error[D017]: prompt `p` lists agent `child` as if it were a tool at 1:40; to start it as a child, write { \"name\": \"child\" }",
        ],
    );
    check_tools(
        r#""person""#,
        &[
            "error[D017]: prompt `p` lists agent `person` as if it were a tool at 1:40; handing over to an agent of type `ai_human` is not supported yet",
        ],
    );
    check_tools(
        r#""other""#,
        &[
            "error[D017]: prompt `p` lists prompt `other` as if it were a tool at 1:40; prompts as tools are not supported yet; make it an agent of type `dual_ai`, and list that",
        ],
    );
    check_tools(
        r#"{"name": "other"}"#,
        &[
            "error[D017]: prompt `p` lists prompt `other` as if it were a tool at 1:41; prompts as tools are not supported yet; make it an agent of type `dual_ai`, and list that",
        ],
    );
}

#[test]
fn only_an_agent_with_two_sides_can_be_a_child() {
    check_tools(
        r#"{"name": "person"}"#,
        &[
            "error[D016]: prompt `p` starts agent `person`, which is of type `ai_human` at 1:41; only an agent of type `dual_ai` can be a child; change `agents/agents/person.json`",
        ],
    );
}

#[test]
fn a_child_that_is_a_tool_needs_a_name_that_a_tool_can_have() {
    check_tools(
        r#"{"name": "dotted.child"}"#,
        &[
            "error[D011]: agent `dotted.child` cannot be offered as a tool under this name at 1:41; use at most 64 letters of a to z, digits, `_` and `-`",
        ],
    );
    check_tools(r#"{"name": "dotted.child", "resumable": {"receives_messages": "side_a"}}"#, &[]);
}

#[test]
fn two_entries_with_one_name_cannot_be_told_apart() {
    check_tools(
        r#""read_file", {"name": "read_file"}"#,
        &["warning[D019]: prompt `p` lists tool `read_file` twice at 1:54; remove one of them"],
    );
    check_tools(
        r#"{"name": "child"}, {"name": "child", "blocking": false}"#,
        &["error[D019]: prompt `p` lists two things that its model would call `child` at 1:60; remove one of them"],
    );
}

#[test]
fn an_included_prompt_must_be_declared() {
    check(
        r#""prompt": [{"type": "include", "prompt": "oter"}]"#,
        &["error[D012]: prompt `p` includes prompt `oter`, which is not declared at 1:46; did you mean `other`?"],
    );
}
