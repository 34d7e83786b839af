//! The shape of 0.2.0, and what of either shape may stand beside the other.

use super::{check, lines, project};
use entourage_declare::Loaded;
use entourage_model::{ChildEntry, Communication, Immediate, Kind, Name, Resumable, Side, ToolEntry, Variable};
use serde_json::json;

/// Agent `a` on line 1 of its file, with `fields`; `helper` has two sides, `person` one.
fn with_agent(fields: &str) -> Loaded {
    project(&format!(
        r#"
-- agents/agents/a.json
{{"name": "a", {fields}}}
-- agents/agents/helper.json
{{"name": "helper", "sideA": {{"prompt": "p"}}, "sideB": {{"prompt": "p"}}}}
-- agents/agents/person.json
{{"name": "person", "sideA": {{"prompt": "p"}}, "sideB": {{"human": true, "label": "You"}}}}
-- agents/prompts/p.json
{{"name": "p", "prompt": "Work."}}
"#
    ))
}

fn check_agent(fields: &str, expected: &[&str]) {
    let loaded = with_agent(fields);
    let told: Vec<_> = lines(&loaded).iter().map(|line| line.replace(" at agents/agents/a.json:", " at ")).collect();
    assert_eq!(told, expected, "{fields}");
    let has_error = expected.iter().any(|line| line.starts_with("error"));
    assert_eq!(!loaded.team.agents.contains_key("a"), has_error, "an agent is left out exactly if it has an error");
}

fn check_subagents(entries: &str, expected: &[&str]) {
    let fields = format!(r#""sideA": {{"prompt": "p", "subagents": [{entries}]}}, "sideB": {{"human": true}}"#);
    check_agent(&fields, expected);
}

#[test]
fn the_type_is_what_the_sides_are() {
    for (fields, expected) in [
        (r#""sideA": {"prompt": "p"}"#, Kind::AiHuman),
        (r#""sideA": {"prompt": "p"}, "sideB": {"human": true}"#, Kind::AiHuman),
        (r#""type": "ai_human", "sideA": {"prompt": "p"}, "sideB": {"human": true}"#, Kind::AiHuman),
        (r#""sideA": {"prompt": "p"}, "sideB": {"prompt": "p"}"#, Kind::DualAi),
        (r#""type": "dual_ai", "sideA": {"prompt": "p"}, "sideB": {"prompt": "p"}"#, Kind::DualAi),
    ] {
        let loaded = with_agent(fields);
        assert_eq!(lines(&loaded), [""; 0], "{fields}");
        assert_eq!(loaded.team.agents["a"].kind, expected, "{fields}");
    }
}

#[test]
fn a_side_is_one_thing() {
    check_agent(
        r#""sideA": {"prompt": "p", "human": true}"#,
        &["error[D029]: `sideA` has `prompt` and `human`, of which a side has but one at 1:40; remove one of them"],
    );
    check_agent(
        r#""sideA": {"human": true}, "sideB": {"prompt": "p"}"#,
        &["error[D029]: `sideA` is a person's, but side A is always a model's at 1:15; let the person be `sideB`"],
    );
    check_agent(
        r#""type": "dual_ai", "sideA": {"prompt": "p"}, "sideB": {"human": true}"#,
        &[
            "error[D029]: `sideB` is a person's, but `type` is `dual_ai` at 1:60; remove `type`, or give `sideB` a `prompt`",
        ],
    );
    check_agent(
        r#""sideA": {"prompt": "p"}, "sideB": {"human": false}"#,
        &["error[D006]: `sideB.human` must be `true`, not `false` at 1:51; write `true`"],
    );
    check_agent(
        r#""sideA": {"prompt": "p"}, "sideB": {"human": true, "maxSteps": 3}"#,
        &[
            "warning[D008]: `sideB.maxSteps` has no effect: the side is a person's at 1:66; remove it, or give the side a `prompt`",
        ],
    );
}

#[test]
fn a_side_that_is_code_cannot_run() {
    check_agent(
        r#""sideA": {"prompt": "p"}, "sideB": {"handler": "h", "label": "Code", "stopTool": "t",
            "subagents": [{"agent": 1}]}"#,
        &[
            "error[D030]: `sideB.handler` makes the side code, which is not supported at 1:51; give the side a `prompt`",
            "error[D029]: `sideB.stopTool` is not for a side with `handler` at 1:84; remove it",
            "error[D006]: `sideB.subagents[0].agent` must be a string that is not blank, not `1` at 2:28; write a string that is not blank",
        ],
    );
}

#[test]
fn children_on_a_side_are_resumable_and_their_side_a_receives() {
    let loaded = with_agent(
        r#""primary": true, "variables": [{"name": "K", "type": "secret", "required": true, "scoped": true,
            "description": "d"}, {"name": "L"}], "tenvs": {"X": "y"},
        "sideB": {"human": true, "label": "Person"},
        "sideA": {"prompt": "p", "subagents": [
            {"agent": "helper"},
            {"agent": "helper", "as": "second", "description": "Helps once.", "blocking": true, "hidden": true,
             "maxInstances": 2, "parentCommunication": "explicit", "scopedEnv": ["K"], "optional": "FLAG",
             "immediate": {"nameEnv": "N", "descriptionEnv": "D", "scopedEnv": ["K", "M"]},
             "initUserMessageProperty": "m", "initAttachmentsProperty": "f", "initAgentNameProperty": "n"}]}"#,
    );
    assert_eq!(lines(&loaded), [""; 0]);
    let text = |text: &str| Some(text.to_owned());
    let resumable = Resumable { receives: Side::A, instances_max: None, communication: Communication::Implicit };
    let first = ChildEntry {
        blocking: false,
        resumable: Some(resumable.clone()),
        ..ChildEntry::blocking(Name::from("helper"))
    };
    let second = ChildEntry {
        agent: Name::from("helper"),
        alias: Some(Name::from("second")),
        description: text("Helps once."),
        hidden: true,
        optional: text("FLAG"),
        immediate: Some(Immediate { name_env: text("N"), description_env: text("D") }),
        scoped_env: vec!["K".to_owned(), "M".to_owned()],
        blocking: true,
        message_property: text("m"),
        attachments_property: text("f"),
        name_property: text("n"),
        resumable: Some(Resumable { instances_max: Some(2), communication: Communication::Explicit, ..resumable }),
    };
    let agent = &loaded.team.agents["a"];
    assert_eq!(agent.side_a.prompt.tools, [ToolEntry::Child(first), ToolEntry::Child(second)]);
    assert_eq!(agent.env, [("X".to_owned(), "y".to_owned())].into());
    let variable = |name: &str| Variable {
        name: name.to_owned(),
        secret: false,
        required: false,
        scoped: false,
        description: None,
    };
    let secret = Variable { secret: true, required: true, scoped: true, description: text("d"), ..variable("K") };
    assert_eq!(agent.variables, [secret, variable("L")]);
    // Nothing is unknown, and nothing but that tells where they were listed.
    let listed = json!({"subagents": {"helper": {}, "second": {}}});
    let person = json!({"human": true, "label": "Person"});
    assert_eq!(json!(agent.extra), json!({"primary": true, "sideA": listed, "sideB": person}));
}

#[test]
fn a_child_on_a_side_must_be_one() {
    check_subagents(
        r#"{"agent": "helpr"}"#,
        &["error[D015]: agent `a` starts agent `helpr`, which is not declared at 1:55; did you mean `helper`?"],
    );
    check_subagents(
        r#"{"agent": "person"}"#,
        &[
            "error[D016]: agent `a` starts agent `person`, which is of type `ai_human` at 1:55; only an agent of type `dual_ai` can be a child; change `agents/agents/person.json`",
        ],
    );
    check_subagents(
        r#"{"agent": "helper"}, {"agent": "helper", "as": "helper"}"#,
        &[
            "error[D019]: `sideA` of agent `a` has two children called `helper` at 1:76; give one of them another name by `as`",
        ],
    );
    check_subagents(
        r#""helper""#,
        &["error[D006]: `sideA.subagents[0]` must be an object, not the string `helper` at 1:54; write an object"],
    );
    check_subagents(r#"{"as": "x"}"#, &["error[D005]: `sideA.subagents[0].agent` is missing at 1:54; add `agent`"]);
}

#[test]
fn what_belongs_to_the_other_shape_is_not_taken_in_silence() {
    check_subagents(
        r#"{"name": "helper", "resumable": false, "receives_messages": "side_b"}"#,
        &[
            "error[D021]: `sideA.subagents[0].name` is not for here: in `subagents` the agent is called `agent` at 1:55; write `agent` instead",
            "error[D021]: `sideA.subagents[0].resumable` is not for here: every child in `subagents` is resumable, and its side A receives messages at 1:73; remove it, or list the agent in the prompt's `tools`",
            "error[D021]: `sideA.subagents[0].receives_messages` is not for here: every child in `subagents` is resumable, and its side A receives messages at 1:93; remove it, or list the agent in the prompt's `tools`",
        ],
    );
    check(
        r#"
-- agents/prompts/p.json
{"name": "p", "prompt": "", "tools": [{"agent": "x", "as": "y", "maxInstances": 1, "parentCommunication": "explicit"}]}
"#,
        &[
            "error[D021]: `tools[0].agent` is not for here: in an entry of `tools` an agent is called `name` at agents/prompts/p.json:1:40; write `name`, or move the entry to `subagents` of a side",
            "error[D021]: `tools[0].maxInstances` is not for here: in an entry of `tools` it lies within `resumable` at agents/prompts/p.json:1:65; write `resumable: { … }` around it",
            "error[D021]: `tools[0].parentCommunication` is not for here: in an entry of `tools` it lies within `resumable` at agents/prompts/p.json:1:84; write `resumable: { … }` around it",
        ],
    );
    check_agent(
        r#""env": {"A": "1"}, "tenvs": {"B": "2"}, "sideA": {"prompt": "p"}"#,
        &["error[D021]: `tenvs` is the older name of `env`, and both are there at 1:34; move what it says into `env`"],
    );
}

#[test]
fn both_shapes_may_meet_in_one_agent() {
    check(
        r#"
-- agents/agents/a.json
{"name": "a", "type": "ai_human",
 "sideA": {"prompt": "p", "sessionStop": "approve_asset", "subagents": [{"agent": "helper"}]}, "sideB": {"human": true}}
-- agents/agents/helper.json
{"name": "helper", "type": "dual_ai", "sideA": {"prompt": "p"}, "sideB": {"prompt": "p"}}
-- agents/prompts/p.json
{"name": "p", "prompt": "Work.", "tools": ["approve_asset"]}
"#,
        &[],
    );
}

#[test]
fn hooks_for_a_parent_are_looked_up() {
    let loaded = with_agent(
        r#""sideA": {"prompt": "p"}, "parentHooks": [{"hook": "h", "reason": "r", "stage": "after"},
  {"stage": "before_parent"}]"#,
    );
    let told: Vec<_> = lines(&loaded).iter().map(|line| line.replace(" at agents/agents/a.json:", " at ")).collect();
    assert_eq!(
        told,
        [
            "error[D033]: agent `a` names hook `h`, which is not declared at 1:58; add a hook with this `id` to `agents/hooks`",
            "error[D006]: `parentHooks[0].stage` must be `before_parent` or `after_parent`, not the string `after` at 1:86; did you mean `after_parent`?",
            "error[D005]: `parentHooks[1].hook` is missing at 2:3; add `hook`",
            "error[D005]: `parentHooks[1].reason` is missing at 2:3; add `reason`",
        ]
    );
}
