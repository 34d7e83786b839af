//! Variables: what a prompt shows of them, and what it must not.

use super::{check, lines, project, text};
use entourage_model::{Instructions, Part, Prompt};

#[test]
fn what_is_unknown_of_a_variable_or_an_immediate_child_is_told_and_kept() {
    let loaded = project(
        r#"
-- agents/agents/a.json
{"name": "a", "variables": [{"name": "V", "weird": 2}], "sideA": {"prompt": "p"}}
-- agents/agents/kid.json
{"name": "kid", "type": "dual_ai", "sideA": {"prompt": "q"}, "sideB": {"prompt": "q"}}
-- agents/prompts/p.json
{"name": "p", "prompt": "", "tools": [{"name": "kid", "immediate": {"nameEnv": "N", "foo": 1}}]}
-- agents/prompts/q.json
{"name": "q", "toolDescription": "t", "prompt": ""}
"#,
    );
    let told = lines(&loaded);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().all(|line| line.starts_with("warning[D007]")), "{told:?}");
    let extra = &loaded.team.agents["a"].extra;
    assert_eq!(extra["variables"]["V"]["weird"], 2);
    assert_eq!(extra["sideA"]["prompt"]["tools"]["kid"]["immediate"]["foo"], 1);
}

#[test]
fn a_prompt_s_text_is_whole_but_for_variables() {
    let loaded = project(
        r#"
-- agents/agents/a.json
{"name": "a", "env": {"CITY": "Bern"}, "sideA": {"prompt": "p"}}
-- agents/prompts/p.json
{"name": "p", "env": {"DAY": "Monday"}, "variables": [{"name": "CITY", "type": "text"}], "prompt": [
  {"type": "text", "content": "In "}, {"type": "include", "prompt": "q"}, {"type": "string", "value": " on "},
  {"type": "variable", "value": "DAY"}, {"type": "prompt", "id": "q"}, {"type": "text", "content": "."}]}
-- agents/prompts/q.json
{"name": "q", "prompt": [{"type": "text", "content": "<"}, {"type": "env", "property": "CITY"},
  {"type": "text", "content": ">"}]}
"#,
    );
    assert_eq!(lines(&loaded), [""; 0]);
    let prompt = &loaded.team.agents["a"].side_a.prompt;
    let part = |text: &str| Part::Text(text.into());
    let city = || Part::Env("CITY".to_owned());
    assert_eq!(
        prompt.instructions,
        Instructions(vec![
            part("In <"),
            city(),
            part("> on "),
            Part::Variable("DAY".to_owned()),
            part("<"),
            city(),
            part(">.")
        ])
    );
    assert_eq!(text(&prompt.instructions), "In <> on {{DAY}}<>.");
    assert_eq!(&*prompt.instructions.render(|name| Some(name.to_lowercase())), "In <city> on day<city>.");
    assert_eq!(prompt.env["DAY"], "Monday");
    assert_eq!((prompt.variables.len(), prompt.variables[0].name.as_str()), (1, "CITY"));
    assert_eq!(loaded.team.agents["a"].env["CITY"], "Bern");
}

#[test]
fn a_secret_or_scoped_variable_is_not_shown_to_a_model() {
    let shown = |name: &str, place: &str| {
        format!(
            "error[D036]: prompt `p` shows variable `{name}`, which is secret or scoped, to a model at agents/prompts/p.json:{place}; remove the part; a tool can read the variable instead"
        )
    };
    let text = r#"
-- agents/agents/a.json
{"name": "a", "variables": [{"name": "OF_AGENT", "scoped": true}], "sideA": {"prompt": "p"},
 "sideB": {"prompt": "q", "subagents": [{"agent": "a", "scopedEnv": ["GIVEN"]}]}}
-- agents/prompts/p.json
{"name": "p", "variables": [{"name": "OWN", "type": "secret"}, {"name": "OPEN"}], "prompt": [
  {"type": "env", "property": "OWN"},
  {"type": "env", "property": "OPEN"},
  {"type": "variable", "value": "OF_AGENT"},
  {"type": "env", "property": "OF_TOOL"},
  {"type": "env", "property": "GIVEN"},
  {"type": "env", "property": "TOLD"}]}
-- agents/prompts/q.json
{"name": "q", "prompt": "", "tools": [{"name": "a", "blocking": true, "immediate": {"nameEnv": "TOLD", "scopedEnv": ["TOLD"]}}]}
-- agents/tools/t.ts
export default { description: 'd', args: null, execute() {}, variables: [{ name: 'OF_TOOL', type: 'secret' }] };
"#;
    let told: Vec<_> = lines(&project(text)).into_iter().filter(|line| line.contains("D036")).collect();
    assert_eq!(
        told,
        [shown("OWN", "2:19"), shown("OF_AGENT", "4:24"), shown("OF_TOOL", "5:19"), shown("GIVEN", "6:19")]
    );
}

#[test]
fn a_secret_that_is_a_child_s_name_or_its_first_message_is_warned_of() {
    let hint = "remove it from `immediate` unless the model is to see it; `scopedEnv` hands it on unseen";
    let loaded = project(
        r#"
-- agents/agents/a.json
{"name": "a", "type": "dual_ai", "sideA": {"prompt": "p"}, "sideB": {"prompt": "q",
 "subagents": [{"agent": "a", "immediate": {"descriptionEnv": "K"}}]}}
-- agents/prompts/p.json
{"name": "p", "prompt": "", "variables": [{"name": "K", "type": "secret"}, {"name": "S", "scoped": true}],
 "tools": [{"name": "a", "immediate": {"nameEnv": "S"}}]}
-- agents/prompts/q.json
{"name": "q", "prompt": "", "tools": [{"name": "b", "immediate": {"nameEnv": "K", "scopedEnv": ["K"]}}]}
-- agents/agents/b.json
{"name": "b", "type": "dual_ai", "sideA": {"prompt": "p"}, "sideB": {"prompt": "p"}}
"#,
    );
    let shown = |who: &str, place: &str| {
        format!("warning[D036]: {who} shows variable `K`, which is secret, to a model at {place}; {hint}")
    };
    assert_eq!(
        lines(&loaded),
        [shown("agent `a`", "agents/agents/a.json:2:17"), shown("prompt `q`", "agents/prompts/q.json:1:40")]
    );
    let has_children = |prompt: &Prompt| prompt.children().next().is_some();
    assert!(loaded.team.agents["a"].prompts().all(has_children), "it is used all the same");
}

#[test]
fn a_variable_has_a_name_and_a_type() {
    check(
        r#"
-- agents/prompts/p.json
{"name": "p", "prompt": "", "variables": [{"type": "text"}, {"name": "A", "type": "number", "required": 1},
  "B", {"name": "C", "color": 1}]}
-- agents/prompts/q.json
{"name": "q", "prompt": [{"type": "env"}], "variables": {}}
"#,
        &[
            "error[D005]: `variables[0].name` is missing at agents/prompts/p.json:1:43; add `name`",
            "error[D006]: `variables[1].type` must be `text` or `secret`, not the string `number` at agents/prompts/p.json:1:75; did you mean `secret`?",
            "error[D006]: `variables[1].required` must be `true` or `false`, not `1` at agents/prompts/p.json:1:93; write `true` or `false`",
            "error[D006]: `variables[2]` must be an object, not the string `B` at agents/prompts/p.json:2:3; write an object",
            "warning[D007]: the field `variables[3].color` is unknown and has no effect at agents/prompts/p.json:2:22; did you mean `scoped`?",
            "error[D005]: `prompt[0].property` is missing at agents/prompts/q.json:1:26; add `property`",
            "error[D006]: `variables` must be an array, not an object at agents/prompts/q.json:1:44; write an array",
        ],
    );
}
