//! Faults between files.

use super::{check, lines, names, project, text as rendered};

#[test]
fn a_broken_file_stops_only_those_that_need_it() {
    let text = r#"
-- agents/agents/alone.json
{"name": "alone", "sideA": {"prompt": "fine"}}
-- agents/agents/boss.json
{"name": "boss", "sideA": {"prompt": "boss"}}
-- agents/agents/torn.json
{"name": "torn", "type": "dual_ai",
-- agents/agents/reader.json
{"name": "reader", "sideA": {"prompt": "torn"}}
-- agents/prompts/boss.json
{"name": "boss", "prompt": "Lead.", "tools": [{"name": "torn"}]}
-- agents/prompts/fine.json
{"name": "fine", "prompt": "Work."}
-- agents/prompts/torn.json
{"name": "torn" "prompt": ""}
"#;
    check(
        text,
        &[
            "error[D004]: this is not valid JSON: EOF while parsing an object at agents/agents/torn.json:2:1; mend the text at the place shown",
            "error[D004]: this is not valid JSON: expected `,` or `}` at agents/prompts/torn.json:1:17; mend the text at the place shown",
        ],
    );
    assert_eq!(names(&project(text)), ["alone"]);
}

#[test]
fn a_circle_of_children_is_fine_and_is_broken_as_a_whole() {
    let text = |fault: &str| {
        format!(
            r#"
-- agents/agents/one.json
{{"name": "one", "type": "dual_ai", "sideA": {{"prompt": "one"}}, "sideB": {{"prompt": "one"}}}}
-- agents/agents/two.json
{{"name": "two", "type": "dual_ai", "sideA": {{"prompt": "two"}}, "sideB": {{"prompt": "two"}}{fault}}}
-- agents/prompts/one.json
{{"name": "one", "prompt": "", "tools": [{{"name": "two"}}]}}
-- agents/prompts/two.json
{{"name": "two", "prompt": "", "tools": [{{"name": "one"}}]}}
"#
        )
    };
    check(&text(""), &[]);
    assert_eq!(names(&project(&text(""))), ["one", "two"]);
    let broken = text(", \"title\": 1");
    check(&broken, &["error[D006]: `title` must be a string, not `1` at agents/agents/two.json:1:92; write a string"]);
    assert_eq!(names(&project(&broken)), [""; 0]);
}

#[test]
fn a_child_whose_type_cannot_be_read_is_not_called_a_person() {
    check(
        r#"
-- agents/agents/boss.json
{"name": "boss", "sideA": {"prompt": "boss"}}
-- agents/agents/child.json
{"name": "child", "type": "dual", "sideA": {"prompt": "boss"}}
-- agents/prompts/boss.json
{"name": "boss", "prompt": "", "tools": [{"name": "child"}]}
"#,
        &[
            "error[D006]: `type` must be `ai_human` or `dual_ai`, not the string `dual` at agents/agents/child.json:1:19; did you mean `dual_ai`?",
        ],
    );
}

#[test]
fn a_session_can_end_with_a_child_only_if_the_child_is_a_tool() {
    let text = |entry: &str| {
        format!(
            r#"
-- agents/agents/boss.json
{{"name": "boss", "sideA": {{"prompt": "boss", "sessionStop": "child"}}}}
-- agents/agents/child.json
{{"name": "child", "type": "dual_ai", "sideA": {{"prompt": "p"}}, "sideB": {{"prompt": "p"}}}}
-- agents/prompts/boss.json
{{"name": "boss", "prompt": "", "tools": [{{"name": "child"{entry}}}]}}
-- agents/prompts/p.json
{{"name": "p", "prompt": ""}}
"#
        )
    };
    check(&text(""), &[]);
    check(
        &text(r#", "resumable": {"receives_messages": "side_a"}"#),
        &[
            "error[D018]: `sideA.sessionStop` of agent `boss` is `child`, which prompt `boss` does not offer as a tool at agents/agents/boss.json:1:46; list it without `resumable`",
        ],
    );
}

#[test]
fn a_name_that_is_declared_twice_names_both_files_and_the_later_counts() {
    let text = r#"
-- agents/agents/a.json
{"name": "same", "description": "first", "sideA": {"prompt": "p"}}
-- agents/agents/b.json
{"description": "second", "name": "same", "sideA": {"prompt": "p"}}
-- agents/prompts/p.json
{"name": "p", "prompt": "first"}
-- agents/prompts/q.json
{"name": "p", "prompt": "second"}
"#;
    check(
        text,
        &[
            "error[D010]: agent `same` is declared twice: in `agents/agents/a.json` and in `agents/agents/b.json` at agents/agents/b.json:1:27; give one of them another name; until then `agents/agents/b.json` counts",
            "error[D010]: prompt `p` is declared twice: in `agents/prompts/p.json` and in `agents/prompts/q.json` at agents/prompts/q.json:1:2; give one of them another name; until then `agents/prompts/q.json` counts",
        ],
    );
    let agent = project(text).team.agents["same"].clone();
    assert_eq!(
        (agent.description.as_str(), rendered(&agent.side_a.prompt.instructions).as_str()),
        ("second", "second")
    );
}

#[test]
fn an_agent_and_a_prompt_may_share_a_name() {
    check(
        r#"
-- agents/agents/same.json
{"name": "same", "sideA": {"prompt": "same"}}
-- agents/prompts/same.json
{"name": "same", "prompt": "x"}
"#,
        &[],
    );
}

#[test]
fn prompts_that_include_one_another_are_a_circle() {
    check(
        r#"
-- agents/prompts/a.json
{"name": "a", "prompt": [{"type": "include", "prompt": "b"}]}
-- agents/prompts/b.json
{"name": "b", "prompt": [{"type": "include", "prompt": "c"}]}
-- agents/prompts/c.json
{"name": "c", "prompt": [
  {"type": "text", "content": "x"},
  {"type": "include", "prompt": "b"}
]}
-- agents/prompts/d.json
{"name": "d", "prompt": [{"type": "include", "prompt": "d"}]}
"#,
        &[
            "error[D013]: prompt `c` includes itself, by way of `b` → `c` at agents/prompts/c.json:3:23; remove one of these includes",
            "error[D013]: prompt `d` includes itself, by way of `d` at agents/prompts/d.json:1:46; remove one of these includes",
        ],
    );
}

/// Prompts `000` to `count`, each of which includes the next one `times` times; the last is `text`.
fn chain(count: usize, times: usize, text: &str) -> String {
    let include = |index: usize| format!(r#"{{"type": "include", "prompt": "{:03}"}}"#, index + 1);
    let link = |index| {
        let parts = vec![include(index); times].join(",");
        format!("-- agents/prompts/{index:03}.json\n{{\"name\": \"{index:03}\", \"prompt\": [{parts}]}}\n")
    };
    let links: String = (0..count).map(link).collect();
    format!("{links}-- agents/prompts/{count:03}.json\n{{\"name\": \"{count:03}\", \"prompt\": \"{text}\"}}\n")
}

fn too_deep(name: &str) -> String {
    format!(
        "error[D013]: prompt `{name}` includes prompts that lie more than 32 deep within one another \
         at agents/prompts/{name}.json:1:48; put the text of some of them into the prompt that includes them"
    )
}

#[test]
fn including_has_a_limit_of_depth_and_of_size() {
    assert_eq!(lines(&project(&chain(32, 1, "x"))), [""; 0]);
    assert_eq!(lines(&project(&chain(33, 1, "x"))), [too_deep("032")]);
    let large = "error[D013]: prompt `000` is larger than 8 MiB with what it includes at agents/prompts/000.json:1:85; include less";
    assert_eq!(lines(&project(&chain(20, 2, "012345678"))), [large]);
    assert_eq!(lines(&project(&chain(20, 2, "01234567"))), [""; 0]);
}

#[test]
fn a_deep_chain_is_refused_whichever_end_is_read_first() {
    let reversed: String = (0..34)
        .map(|index: usize| {
            let prompt = match index.checked_sub(1) {
                Some(before) => format!(r#"[{{"type": "include", "prompt": "{before:03}"}}]"#),
                None => "\"x\"".to_owned(),
            };
            format!("-- agents/prompts/{index:03}.json\n{{\"name\": \"{index:03}\", \"prompt\": {prompt}}}\n")
        })
        .collect();
    assert_eq!(lines(&project(&reversed)), [too_deep("033")]);
}

#[test]
fn only_json_files_that_are_not_hidden_declare_something() {
    check(
        r#"
-- agents/agents/.hidden.json
no
-- agents/agents/notes.md
no
-- agents/agents/deeper/a.json
no
-- agents/agents.json
no
"#,
        &[],
    );
}

#[test]
fn reports_are_in_the_order_of_files_and_lines() {
    check(
        r#"
-- agents/prompts/z.json
{"name": "z",
 "tools": ["nothing"],
 "prompt": 1}
-- agents/agents/a.json
{"zzz": 1, "name": "a",
 "aaa": 2,
 "sideA": {"prompt": "none"}}
"#,
        &[
            "warning[D007]: the field `zzz` is unknown and has no effect at agents/agents/a.json:1:2; did you mean `name`?",
            "warning[D007]: the field `aaa` is unknown and has no effect at agents/agents/a.json:2:2; did you mean `packageName`?",
            "error[D012]: agent `a` uses prompt `none`, which is not declared at agents/agents/a.json:3:12; add it to `agents/prompts`; the nearest name is `z`",
            "error[D014]: prompt `z` may call tool `nothing`, which nobody provides at agents/prompts/z.json:2:12; add it to `agents/tools`; the nearest name is `list_files`",
            "error[D006]: `prompt` must be a string or an array of parts, not `1` at agents/prompts/z.json:3:2; write a string or an array of parts",
        ],
    );
}

#[test]
fn a_file_that_ends_like_no_definition_is_told_of() {
    let text: String = ["x.tsx", "x.cts", "x.yaml", "x.test.tsx", "x.d.cts", ".x.yml", "README.md"]
        .map(|name| format!("-- agents/agents/{name}\n\n"))
        .concat();
    let told = |name: &str| {
        format!(
            "warning[D081]: this file declares nothing: no definition has a name that ends so at agents/agents/{name}:1:1; write it in TypeScript or JSON, and name it `.ts` or `.json`"
        )
    };
    check(&text, &[&told("x.cts"), &told("x.tsx"), &told("x.yaml")]);
}
