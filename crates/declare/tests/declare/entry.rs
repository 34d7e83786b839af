//! What an entry of a prompt's tools may name, and what becomes of it.

use super::{lines, names, project};
use entourage_declare::Loaded;
use entourage_model::{ChildEntry, HandoffEntry, Name, PromptEntry, ToolConfig, ToolEntry};
use serde_json::json;

/// A project whose prompt `p` lists `entries`, on line 1 of its file from column 41.
fn with_entries(entries: &str) -> Loaded {
    project(&format!(
        r#"
-- agents/agents/a.json
{{"name": "a", "sideA": {{"prompt": "p"}}}}
-- agents/agents/child.json
{{"name": "child", "type": "dual_ai", "sideA": {{"prompt": "other"}}, "sideB": {{"prompt": "other"}}}}
-- agents/agents/dotted.json
{{"name": "dotted.child", "type": "dual_ai", "sideA": {{"prompt": "other"}}, "sideB": {{"prompt": "other"}}}}
-- agents/agents/list_files.json
{{"name": "list_files", "sideA": {{"prompt": "other"}}}}
-- agents/agents/newer.json
{{"name": "newer", "sideA": {{"prompt": "other"}}, "sideB": {{"prompt": "other"}}}}
-- agents/agents/person.json
{{"name": "person", "sideA": {{"prompt": "person"}}}}
-- agents/agents/twin.json
{{"name": "twin", "sideA": {{"prompt": "other"}}}}
-- agents/prompts/other.json
{{"name": "other", "toolDescription": "Answers.", "prompt": "Work."}}
-- agents/prompts/person.json
{{"name": "person", "prompt": "Talk."}}
-- agents/prompts/twin.json
{{"name": "twin", "toolDescription": "Works.", "prompt": "Work."}}
-- agents/prompts/mute.json
{{"name": "mute", "toolDescription": " ", "prompt": "Work."}}
-- agents/prompts/p.json
{{"name": "p", "prompt": "x", "tools": [{entries}]}}
"#
    ))
}

fn check(entries: &str, expected: &[&str]) {
    let loaded = with_entries(entries);
    let told: Vec<_> = lines(&loaded).iter().map(|line| line.replace(" at agents/prompts/p.json:", " at ")).collect();
    assert_eq!(told, expected, "{entries}");
    let has_error = expected.iter().any(|line| line.starts_with("error"));
    assert_eq!(!names(&loaded).contains(&"a"), has_error, "an agent goes with its prompt: {entries}");
}

fn entries(text: &str) -> Vec<ToolEntry> {
    with_entries(text).team.agents["a"].side_a.prompt.tools.clone()
}

#[test]
fn a_bare_name_is_a_tool_a_prompt_or_an_agent() {
    assert_eq!(entries(r#""read_file""#), [ToolEntry::Tool(Name::from("read_file"))]);
    assert_eq!(entries(r#""other""#), [ToolEntry::Prompt(PromptEntry::new(Name::from("other"), "Answers."))]);
    // By its type an agent of 0.1.0 is started, or takes over; one of 0.2.0 always takes over.
    assert_eq!(entries(r#""child""#), [ToolEntry::Child(ChildEntry::blocking(Name::from("child")))]);
    assert_eq!(entries(r#""person""#), [ToolEntry::Handoff(HandoffEntry::new(Name::from("person")))]);
    assert_eq!(entries(r#""newer""#), [ToolEntry::Handoff(HandoffEntry::new(Name::from("newer")))]);
}

#[test]
fn an_object_says_how_to_use_what_it_names() {
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        entries(
            r#"{"name": "other", "initUserMessageProperty": "m", "initAttachmentsProperty": "f", "optional": "FLAG",
            "includeTextResponse": false, "includeToolCalls": false, "includeErrors": false}"#
        ),
        [ToolEntry::Prompt(PromptEntry {
            optional: text("FLAG"),
            message_property: text("m"),
            attachments_property: text("f"),
            include_text_response: false,
            include_tool_calls: false,
            include_errors: false,
            ..PromptEntry::new(Name::from("other"), "Answers.")
        })]
    );
    assert_eq!(
        entries(
            r#"{"name": "newer", "initUserMessageProperty": "m", "initAttachmentsProperty": "f", "optional": "O"}"#
        ),
        [ToolEntry::Handoff(HandoffEntry {
            optional: text("O"),
            message_property: text("m"),
            attachments_property: text("f"),
            ..HandoffEntry::new(Name::from("newer"))
        })]
    );
    // A field that only a child has leaves no doubt.
    assert_eq!(
        entries(r#"{"name": "newer", "blocking": true}"#),
        [ToolEntry::Child(ChildEntry::blocking(Name::from("newer")))]
    );
    let loaded = with_entries(r#"{"name": "read_file", "env": {"K": "v"}, "options": {"deep": [1]}}"#);
    assert_eq!(lines(&loaded), [""; 0]);
    let prompt = &loaded.team.agents["a"].side_a.prompt;
    assert_eq!(prompt.tools, [ToolEntry::Tool(Name::from("read_file"))]);
    let config = ToolConfig {
        env: [("K".to_owned(), "v".to_owned())].into(),
        options: json!({"deep": [1]}).as_object().unwrap().clone(),
    };
    assert_eq!(prompt.tool_configs, [(Name::from("read_file"), config)].into());
}

#[test]
fn a_prompt_that_another_calls_is_in_the_team() {
    let called = |entries: &str| {
        let loaded = with_entries(entries);
        loaded.team.prompts.keys().map(Name::to_string).collect::<Vec<_>>()
    };
    assert_eq!(called(r#""other""#), ["other"]);
    assert_eq!(called(r#""child""#), [""; 0]);
}

#[test]
fn what_is_not_supported_yet_is_a_warning() {
    check(
        r#""other", "person", "provider:web_search""#,
        &[
            "warning[D009]: the tool `provider:web_search` is not supported yet and has no effect at 1:59; leave it for other runtimes if the agent can do without it here, or remove it",
        ],
    );
    check(r#"{"name": "child", "immediate": {"scopedEnv": ["K"]}, "optional": "FLAG"}"#, &[]);
}

#[test]
fn what_a_prompt_lists_beside_tools_has_no_effect_where_it_is_called_itself() {
    let told = |name: &str, place: &str| {
        format!(
            "warning[D009]: `{name}` has no effect where prompt `p` is called as a tool: it may call only tools there at agents/prompts/p.json:{place}; list it in the prompt of a side"
        )
    };
    let listed = |caller: &str| {
        let loaded = project(&format!(
            r#"
-- agents/agents/a.json
{{"name": "a", "sideA": {{"prompt": "caller"}}}}
-- agents/agents/child.json
{{"name": "child", "type": "dual_ai", "sideA": {{"prompt": "other"}}, "sideB": {{"prompt": "other"}}}}
-- agents/agents/person.json
{{"name": "person", "sideA": {{"prompt": "other"}}}}
-- agents/prompts/caller.json
{{"name": "caller", "prompt": "x", "tools": [{caller}]}}
-- agents/prompts/other.json
{{"name": "other", "toolDescription": "Answers.", "prompt": "Work."}}
-- agents/prompts/p.json
{{"name": "p", "toolDescription": "Plans.", "prompt": "x", "tools": ["read_file",
 "other",
 {{"name": "child"}},
 "person"]}}
"#
        ));
        lines(&loaded)
    };
    assert_eq!(listed(r#""p""#), [told("other", "2:2"), told("child", "3:3"), told("person", "4:2")]);
    assert_eq!(listed(r#""read_file""#), [""; 0]);
}

#[test]
fn a_name_that_may_mean_two_things_is_an_error_unless_the_fields_decide() {
    check(
        r#""twin""#,
        &[
            "error[D027]: prompt `p` lists `twin`, which can be the agent of `agents/agents/twin.json` or the prompt of `agents/prompts/twin.json` at 1:40; give one of them another name",
        ],
    );
    check(
        r#""list_files""#,
        &[
            "error[D027]: prompt `p` lists `list_files`, which can be the built-in tool or the agent of `agents/agents/list_files.json` at 1:40; give one of them another name",
        ],
    );
    check(r#"{"name": "list_files", "options": {}}"#, &[]);
    check(r#"{"name": "twin", "includeErrors": false}"#, &[]);
    // The prompt on an agent's own side may have its name.
    check(r#""person""#, &[]);
}

#[test]
fn a_field_that_is_for_something_else_has_no_effect() {
    check(
        r#"{"name": "read_file", "blocking": true, "optional": "FLAG", "env": {}}"#,
        &[
            "warning[D028]: `tools[0].blocking` has no effect: `read_file` is a tool at 1:62; remove it",
            "warning[D028]: `tools[0].optional` has no effect: `read_file` is a tool at 1:80; remove it",
        ],
    );
    check(
        r#"{"name": "child", "includeErrors": true, "env": {}}"#,
        &[
            "warning[D028]: `tools[0].includeErrors` has no effect: `child` is an agent at 1:58; remove it",
            "warning[D028]: `tools[0].env` has no effect: `child` is an agent at 1:81; remove it",
        ],
    );
}

#[test]
fn what_nobody_provides_is_an_error_with_the_nearest_name() {
    check(
        r#""red_file""#,
        &["error[D014]: prompt `p` may call tool `red_file`, which nobody provides at 1:40; did you mean `read_file`?"],
    );
    check(
        r#""persn""#,
        &["error[D014]: prompt `p` may call tool `persn`, which nobody provides at 1:40; did you mean `person`?"],
    );
    check(
        r#"{"name": "chid"}"#,
        &["error[D015]: prompt `p` starts agent `chid`, which is not declared at 1:41; did you mean `child`?"],
    );
    check(
        r#"{"name": "red_file", "options": {}}"#,
        &["error[D014]: prompt `p` may call tool `red_file`, which nobody provides at 1:41; did you mean `read_file`?"],
    );
}

#[test]
fn only_an_agent_with_two_sides_can_be_a_child() {
    check(
        r#"{"name": "person"}"#,
        &[
            "error[D016]: prompt `p` starts agent `person`, which is of type `ai_human` at 1:41; only an agent of type `dual_ai` can be a child; change `agents/agents/person.json`",
        ],
    );
}

#[test]
fn what_is_offered_as_a_tool_needs_a_name_that_a_tool_can_have() {
    check(
        r#"{"name": "dotted.child"}"#,
        &[
            "error[D011]: agent `dotted.child` cannot be offered as a tool under this name at 1:41; use at most 64 letters of a to z, digits, `_` and `-`",
        ],
    );
    check(r#"{"name": "dotted.child", "resumable": {"receives_messages": "side_a"}}"#, &[]);
    check(r#"{"name": "dotted.child", "as": "child"}"#, &[]);
}

#[test]
fn two_entries_with_one_name_cannot_be_told_apart() {
    check(
        r#""read_file", {"name": "read_file"}"#,
        &["warning[D019]: prompt `p` lists tool `read_file` twice at 1:54; remove one of them"],
    );
    check(
        r#"{"name": "child"}, {"name": "child", "blocking": false}"#,
        &["error[D019]: prompt `p` lists two things that its model would call `child` at 1:60; remove one of them"],
    );
    check(r#"{"name": "child"}, {"name": "child", "as": "second"}"#, &[]);
}

#[test]
fn the_only_tool_is_called_only_if_there_is_one() {
    let text = |tools: &str| {
        project(&format!(
            "-- agents/prompts/p.json\n{{\"name\": \"p\", \"prompt\": \"\", \"toolChoice\": \"function\", \"tools\": [{tools}]}}\n"
        ))
    };
    assert_eq!(lines(&text("\"read_file\"")), [""; 0]);
    assert_eq!(
        lines(&text("\"read_file\", \"update_asset_status\"")),
        [
            "error[D037]: `toolChoice` of prompt `p` is `function`, which needs one tool, and lists 2 at agents/prompts/p.json:1:29; list the one tool that is to be called, or use `required`",
        ]
    );
}

#[test]
fn a_prompt_that_is_called_as_a_tool_says_what_it_is_for() {
    let missing = "error[D005]: `toolDescription` is missing, and prompt `mute` is called as a tool at agents/prompts/mute.json:1:2; say by `toolDescription` what the prompt does and when to call it";
    check(r#""mute""#, &[missing]);
    check(r#"{"name": "mute", "includeErrors": false}"#, &[missing]);
    // On the side of an agent nobody reads it.
    assert!(names(&with_entries("")).contains(&"a"));
}
