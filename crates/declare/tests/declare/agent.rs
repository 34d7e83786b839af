//! Faults in an agent definition, each shown by the fields that make it.

use super::{lines, names, project};

/// An agent on line 1 of its file, with `fields`; its prompt exists and lists `approve_asset` and `fail_asset`.
fn check(fields: &str, expected: &[&str]) {
    let loaded = project(&format!(
        "
-- agents/agents/a.json
{{{fields}}}
-- agents/prompts/p.json
{{\"name\": \"p\", \"prompt\": \"Work.\", \"tools\": [\"approve_asset\", \"fail_asset\"]}}
"
    ));
    let told: Vec<_> = lines(&loaded).iter().map(|line| line.replace(" at agents/agents/a.json:", " at ")).collect();
    assert_eq!(told, expected, "{fields}");
    let has_error = expected.iter().any(|line| line.starts_with("error"));
    assert_eq!(names(&loaded).is_empty(), has_error, "an agent is left out exactly if it has an error: {fields}");
}

fn check_side(field: &str, expected: &[&str]) {
    check(&format!(r#""name": "a", "sideA": {{"prompt": "p", {field}}}"#), expected);
}

#[test]
fn a_whole_agent_is_clean() {
    check(r#""name": "a", "sideA": {"prompt": "p"}"#, &[]);
    check(r#""name": "a", "maxSessionTurns": 4.0, "sideA": {"prompt": "p", "maxSteps": 1e1}"#, &[]);
    check(
        r#""name": "a", "type": "dual_ai", "title": "A", "description": "d", "icon": "i", "exposeAsTool": true,
        "toolDescription": "t", "env": {"K": "v"}, "hooks": [], "maxSessionTurns": 1, "packageName": "p",
        "version": "1.0.0", "author": "me", "license": "MIT",
        "sideA": {"prompt": "p", "label": "l", "stopOnResponse": false, "stopTool": "approve_asset",
            "stopToolResponseProperty": "r", "maxSteps": 4294967295, "sessionStop": "approve_asset"},
        "sideB": {"prompt": "p", "sessionFail": {"name": "fail_asset", "messageProperty": "m",
            "attachmentsProperty": "a"}, "sessionStatus": {"name": "approve_asset"}}"#,
        &[],
    );
}

#[test]
fn what_must_be_there_is_missed() {
    check(
        "",
        &["error[D005]: `name` is missing at 1:1; add `name`", "error[D005]: `sideA` is missing at 1:1; add `sideA`"],
    );
    check(r#""name": "a""#, &["error[D005]: `sideA` is missing at 1:1; add `sideA`"]);
    check(r#""name": "a", "sideA": {}"#, &["error[D005]: `sideA.prompt` is missing at 1:15; add `prompt`"]);
    check(
        r#""name": "a", "type": "dual_ai", "sideA": {"prompt": "p"}"#,
        &["error[D005]: `sideB` is missing, which an agent of type `dual_ai` must have at 1:15; add `sideB`"],
    );
    check(
        r#""name": "a", "sideA": {"prompt": "p", "sessionStop": {}}"#,
        &["error[D005]: `sideA.sessionStop.name` is missing at 1:40; add `name`"],
    );
}

#[test]
fn a_wrong_type_says_what_is_expected() {
    for (fields, expected) in [
        (
            r#""name": 1, "sideA": {"prompt": "p"}"#,
            "error[D006]: `name` must be a string that is not blank, not `1` at 1:2; write a string that is not blank",
        ),
        (
            r#""name": " ", "sideA": {"prompt": "p"}"#,
            "error[D006]: `name` must be a string that is not blank, not the string ` ` at 1:2; write a string that is not blank",
        ),
        (
            r#""name": "a", "sideA": "p""#,
            "error[D006]: `sideA` must be an object such as `{ prompt: … }`, not the string `p` at 1:15; write an object such as `{ prompt: … }`",
        ),
        (
            r#""name": "a", "sideA": {"prompt": ["p"]}"#,
            "error[D006]: `sideA.prompt` must be a string that is not blank, not an array at 1:25; write a string that is not blank",
        ),
        (
            r#""name": "a", "type": "dual", "sideA": {"prompt": "p"}"#,
            "error[D006]: `type` must be `ai_human` or `dual_ai`, not the string `dual` at 1:15; did you mean `dual_ai`?",
        ),
        (
            r#""name": "a", "type": null, "sideA": {"prompt": "p"}"#,
            "error[D006]: `type` must be `ai_human` or `dual_ai`, not null at 1:15; write `ai_human` or `dual_ai`",
        ),
        (
            r#""name": "a", "maxSessionTurns": 0, "sideA": {"prompt": "p"}"#,
            "error[D006]: `maxSessionTurns` must be a positive integer, not `0` at 1:15; write a positive integer",
        ),
        (
            r#""name": "a", "maxSessionTurns": 1.5, "sideA": {"prompt": "p"}"#,
            "error[D006]: `maxSessionTurns` must be a positive integer, not `1.5` at 1:15; write a positive integer",
        ),
        (
            r#""name": "a", "title": {}, "sideA": {"prompt": "p"}"#,
            "error[D006]: `title` must be a string, not an object at 1:15; write a string",
        ),
        (
            r#""name": "a", "exposeAsTool": "yes", "sideA": {"prompt": "p"}"#,
            "error[D006]: `exposeAsTool` must be `true` or `false`, not the string `yes` at 1:15; write `true` or `false`",
        ),
        (
            r#""name": "a", "env": {"K": 1}, "sideA": {"prompt": "p"}"#,
            "error[D006]: `env.K` must be a string, not `1` at 1:23; write a string",
        ),
        (
            r#""name": "a", "hooks": "h", "sideA": {"prompt": "p"}"#,
            "error[D006]: `hooks` must be an array, not the string `h` at 1:15; write an array",
        ),
        (
            r#""name": "a", "icon": 1, "sideA": {"prompt": "p"}"#,
            "error[D006]: `icon` must be a string, not `1` at 1:15; write a string",
        ),
    ] {
        check(fields, &[expected]);
    }
}

#[test]
fn a_wrong_type_in_a_side_says_what_is_expected() {
    for (field, expected) in [
        (
            r#""maxSteps": -1"#,
            "error[D006]: `sideA.maxSteps` must be a positive integer, not `-1` at 1:40; write a positive integer",
        ),
        (
            r#""maxSteps": 4294967296"#,
            "error[D006]: `sideA.maxSteps` must be at most 4294967295, not `4294967296` at 1:40; write at most 4294967295",
        ),
        (
            r#""stopOnResponse": 1"#,
            "error[D006]: `sideA.stopOnResponse` must be `true` or `false`, not `1` at 1:40; write `true` or `false`",
        ),
        (
            r#""stopTool": []"#,
            "error[D006]: `sideA.stopTool` must be a string that is not blank, not an array at 1:40; write a string that is not blank",
        ),
        (
            r#""sessionFail": true"#,
            "error[D006]: `sideA.sessionFail` must be a tool's name or an object, not `true` at 1:40; write a tool's name or an object",
        ),
        (
            r#""sessionFail": {"name": "fail_asset", "messageProperty": 1}"#,
            "error[D006]: `sideA.sessionFail.messageProperty` must be a string, not `1` at 1:78; write a string",
        ),
    ] {
        check_side(field, &[expected]);
    }
}

#[test]
fn an_unknown_field_is_a_warning_with_the_nearest_known_one() {
    check(
        r#""name": "a", "maxTurns": 3,
  "sideA": {"prompt": "p", "maxstep": 3, "sessionStop": {"name": "approve_asset", "message": "m"}}"#,
        &[
            "warning[D007]: the field `maxTurns` is unknown and has no effect at 1:15; did you mean `maxSessionTurns`?",
            "warning[D007]: the field `sideA.maxstep` is unknown and has no effect at 2:28; did you mean `maxSteps`?",
            "warning[D007]: the field `sideA.sessionStop.message` is unknown and has no effect at 2:83; did you mean `messageProperty`?",
        ],
    );
}

#[test]
fn side_b_of_a_person_has_no_effect() {
    check(
        r#""name": "a", "type": "ai_human", "sideA": {"prompt": "p"}, "sideB": {"prompt": "nobody"}"#,
        &[
            "warning[D008]: `sideB` has no effect: side B of an agent of type `ai_human` is a person at 1:61; remove it, or set `type` to `dual_ai`",
        ],
    );
}

#[test]
fn a_prompt_that_is_not_declared_is_an_error_at_its_side() {
    check(
        r#""name": "a", "sideA": {"prompt": "q"}"#,
        &[
            "error[D012]: agent `a` uses prompt `q`, which is not declared at 1:25; add it to `agents/prompts`; the nearest name is `p`",
        ],
    );
}

#[test]
fn a_binding_whose_tool_the_prompt_does_not_list_is_an_error_there() {
    for (field, expected) in [
        (
            r#""sessionStop": "aprove_asset""#,
            "error[D018]: `sideA.sessionStop` of agent `a` is `aprove_asset`, which prompt `p` does not list at 1:40; did you mean `approve_asset`?",
        ),
        (
            r#""sessionFail": "read_file""#,
            "error[D018]: `sideA.sessionFail` of agent `a` is `read_file`, which prompt `p` does not list at 1:40; add it to `tools` in `agents/prompts/p.json`",
        ),
        (
            r#""sessionStatus": {"messageProperty": "m", "name": "update_asset_status"}"#,
            "error[D018]: `sideA.sessionStatus` of agent `a` is `update_asset_status`, which prompt `p` does not list at 1:82; add it to `tools` in `agents/prompts/p.json`",
        ),
        (
            r#""stopTool": "read_file""#,
            "warning[D018]: `sideA.stopTool` of agent `a` is `read_file`, which prompt `p` does not list at 1:40; add it to `tools` in `agents/prompts/p.json`",
        ),
        (
            r#""stopTool": "aprove_asset""#,
            "error[D018]: `sideA.stopTool` of agent `a` is `aprove_asset`, which prompt `p` does not list at 1:40; did you mean `approve_asset`?",
        ),
        (
            r#""stopTool": "subagent_create""#,
            "warning[D018]: `sideA.stopTool` of agent `a` is `subagent_create`, which prompt `p` does not list at 1:40; add it to `tools` in `agents/prompts/p.json`; the nearest name is `fail_asset`",
        ),
    ] {
        check_side(field, &[expected]);
    }
}

#[test]
fn an_exposed_agent_needs_a_name_that_a_tool_can_have() {
    let sides = r#""type": "dual_ai", "sideA": {"prompt": "p"}, "sideB": {"prompt": "p"}"#;
    check(&format!(r#""name": "my agent", {sides}"#), &[]);
    check(
        &format!(r#""name": "my agent", "exposeAsTool": true, {sides}"#),
        &[
            "error[D011]: agent `my agent` cannot be offered as a tool under this name at 1:2; use at most 64 letters of a to z, digits, `_` and `-`",
        ],
    );
    check(
        &format!(r#""name": "read_file", "exposeAsTool": true, {sides}"#),
        &[
            "error[D011]: agent `read_file` is exposed as a tool and has the name of a tool at 1:2; give it another name",
        ],
    );
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    check(
        r#"
  "name": "a",
  "type": "dual_ai",
  "maxSessionTurns": "many",
  "sideA": {
    "prompt": "q",
    "maxSteps": 0
  },
  "colour": "red"
"#,
        &[
            "error[D005]: `sideB` is missing, which an agent of type `dual_ai` must have at 3:3; add `sideB`",
            "error[D006]: `maxSessionTurns` must be a positive integer, not the string `many` at 4:3; write a positive integer",
            "error[D012]: agent `a` uses prompt `q`, which is not declared at 6:5; add it to `agents/prompts`; the nearest name is `p`",
            "error[D006]: `sideA.maxSteps` must be a positive integer, not `0` at 7:5; write a positive integer",
            "warning[D007]: the field `colour` is unknown and has no effect at 9:3; did you mean `hooks`?",
        ],
    );
}

#[test]
fn an_agent_that_only_says_what_callers_are_told_says_that_to_people_too() {
    let description = |fields: &str| {
        let agent = format!(r#"{{"name": "a", "sideA": {{"prompt": "p"}}, {fields}}}"#);
        let files = entourage_declare::MemoryFiles::from_iter([
            ("agents/agents/a.json", agent.as_str()),
            ("agents/prompts/p.json", r#"{"name": "p", "toolDescription": "t", "prompt": "Work."}"#),
        ]);
        let loaded = super::load(&files, &super::tools());
        let agent = &loaded.team.agents["a"];
        (agent.description.clone(), agent.pitch().to_owned())
    };
    let both = |description: &str, pitch: &str| (description.to_owned(), pitch.to_owned());
    assert_eq!(description(r#""toolDescription": "Told.""#), both("Told.", "Told."));
    assert_eq!(description(r#""description": "", "toolDescription": "Told.""#), both("Told.", "Told."));
    assert_eq!(description(r#""description": "Said.", "toolDescription": "Told.""#), both("Said.", "Told."));
    assert_eq!(description(r#""description": "Said.""#), both("Said.", "Said."));
}
