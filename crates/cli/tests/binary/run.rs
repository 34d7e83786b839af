//! `run`: the text, the document, and everything that can be wrong before a model is asked.

use crate::project::Project;
use crate::terminal::read;
use entourage_testkit::{FakeModel, Reply};
use serde_json::json;

const SCRIPT: [&str; 2] = ["--model", "script:script.json"];

fn with_script(arguments: &[&'static str]) -> Vec<&'static str> {
    [&SCRIPT, arguments].concat()
}

#[test]
fn the_final_text_is_all_that_stdout_gets() {
    let said = Project::with_echo().say(&with_script(&["run", "hello"]));
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "I heard: hello\n"));
}

#[test]
fn global_options_stand_before_or_after_the_command() {
    let project = Project::with_echo();
    for arguments in [["--model", "script:script.json", "run", "hi"], ["run", "hi", "--model", "script:script.json"]] {
        assert_eq!(project.say(&arguments).stdout, "I heard: hi\n");
    }
    let twice =
        ["--project", "nowhere", "--model", "nobody:x", "--project", ".", "--model", "script:script.json", "run", "hi"];
    assert_eq!(project.say(&twice).stdout, "I heard: hi\n", "what was given last counts");
}

#[test]
fn the_document_has_the_shape_of_the_contract() {
    let document = Project::with_echo().json(&with_script(&["run", "lead", "hello"]));
    let keys: Vec<_> = document.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["thread_id", "run_id", "status", "result", "error", "usage", "children"]);
    assert_eq!(document["status"], "done");
    assert_eq!(document["result"], "I heard: hello");
    assert_eq!(document["error"], json!(null));
    assert_eq!(document["usage"]["steps"], 1);
    assert!(document["usage"]["input_tokens"].is_u64() && document["usage"]["output_tokens"].is_u64());
    assert_eq!(document["children"], json!([]));
}

#[test]
fn a_message_of_one_dash_is_read_from_standard_input() {
    use std::io::Write as _;
    let project = Project::with_echo();
    let mut command = project.command(&with_script(&["run", "-"]));
    let mut child = command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"from a pipe").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "I heard: from a pipe\n");
}

#[test]
fn an_unknown_agent_is_refused_with_what_was_probably_meant() {
    let project = Project::with_echo();
    let said = project.say(&with_script(&["run", "laed", "hello"]));
    said.refused(1, &["error[C010]: there is no agent `laed`", "hint: did you mean `lead`?"]);
    let said = project.say(&with_script(&["run", "summarise", "everything"]));
    said.refused(
        1,
        &[
            "known are `coding`, `general-purpose`, `goal`, `lead`, `research`",
            "if `summarise everything` is the message, put it in quotes",
        ],
    );
    let said = project.say(&with_script(&["run", "summarise", "it", "all"]));
    said.refused(1, &["error[C001]", "put the message in quotes: `entourage run 'summarise it all'`"]);
    assert!(!project.path().join(".entourage").exists(), "a refused run leaves nothing behind");
}

#[test]
fn a_missing_key_is_told_before_anything_is_made() {
    let project = Project::new();
    let said = project.say(&["run", "hello"]);
    said.refused(
        1,
        &["error[C009]: there is no key for `openai:gpt-5`", "OPENAI_API_KEY", "ollama:", "entourage demo"],
    );
    assert_eq!(said.stdout, "");
    assert!(!project.path().join(".entourage").exists());
}

#[test]
fn a_provider_without_an_address_is_told_before_anything_is_made() {
    for (model, variable, base_url) in [
        ("openai:gpt-5", "OPENAI_BASE_URL", "localhost:8080/v1"),
        ("anthropic:claude", "ANTHROPIC_BASE_URL", "ftp://127.0.0.1"),
        ("gemini:pro", "GEMINI_BASE_URL", "http://"),
    ] {
        let project = Project::new().variable(variable, base_url);
        let said = project.say(&["run", "hello", "--model", model]);
        said.refused(1, &["error[C058]", model, &format!("hint: give one as in `{variable}=http")]);
        assert!(!project.path().join(".entourage").exists());
    }
}

#[test]
fn a_model_that_cannot_be_is_refused() {
    let project = Project::new();
    project.say(&["run", "hi", "--model", "gpt-5"]).refused(1, &["error[C008]", "perhaps `openai:gpt-5`"]);
    project.say(&["run", "hi", "--model", "script:absent.json"]).refused(1, &["error[C011]", "absent.json"]);
}

#[test]
fn a_model_that_cannot_be_reached_is_a_failed_agent_with_advice() {
    let project = Project::new()
        .variable("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        .variable("ENTOURAGE_LIMITS_MODEL_ATTEMPTS", "1");
    let said = project.say(&["--json", "run", "hello"]);
    said.refused(7, &["error[C024]: agent `lead` failed", "could not be reached", "OPENAI_BASE_URL"]);
    let document = said.document();
    assert_eq!((&document["status"], &document["result"]), (&json!("failed"), &json!(null)));
    assert!(document["error"].as_str().unwrap().contains("could not be reached"), "{document}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_at_its_address_is_asked_with_its_key() {
    let model = FakeModel::start(Reply::text("from the fake")).await;
    let project = Project::new().with_model(&model);
    let said = tokio::task::block_in_place(|| project.say(&["run", "hello"]));
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "from the fake\n"), "{said:?}");
    assert_eq!(model.requests()[0].header("authorization"), Some("Bearer test-key"));
    assert_eq!(model.requests()[0].model(), "gpt-5");
}

#[test]
fn a_file_is_attached_under_its_name() {
    let project = Project::with_echo().file("notes.md", "# Notes").file("more/notes.md", "# More");
    let files = ["--file", "notes.md", "--file", "more/notes.md"];
    let said = project.say(&[&SCRIPT[..], &["run", "read this"], &files].concat());
    assert_eq!(said.code, Some(0), "{said:?}");
    let messages = project.json(&["tail", &project.root()]);
    assert_eq!(
        messages["messages"][0]["attachments"],
        json!([
            {"path": "/attachments/notes.md", "name": "notes.md", "mime_type": "text/markdown", "size": 7},
            {"path": "/attachments/2-notes.md", "name": "2-notes.md", "mime_type": "text/markdown", "size": 6},
        ])
    );
    let absent = project.say(&with_script(&["run", "read this", "--file", "absent.md"]));
    absent.refused(1, &["error[C011]: `absent.md` cannot be attached"]);
}

#[test]
fn a_script_that_the_person_chooses_may_lie_anywhere_and_one_that_a_project_chooses_may_not() {
    let elsewhere = Project::with_echo();
    let model = format!("script:{}", elsewhere.path().join("script.json").display());
    let said = Project::new().variable("ENTOURAGE_MODEL", &model).say(&["run", "hello"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "I heard: hello\n"), "{said:?}");
    let said = Project::new().file("entourage.toml", &format!("model = {model:?}\n")).say(&["run", "hello"]);
    said.refused(1, &["error[C011]"]);
}

#[test]
fn steps_are_told_line_by_line_where_no_picture_can_be_drawn() {
    let project = Project::with_echo();
    for more in [&[][..], &["--log", "info"], &["--json", "--log", "info"]] {
        let said = project.say(&with_script(&[&["run", "hello"], more].concat()));
        assert!(said.stderr.contains("lead: done ("), "{more:?}: {said:?}");
    }
    for more in ["--json", "--log=warn", "--log=off"] {
        let said = project.say(&with_script(&["run", "hello", more]));
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{more}");
    }
}

/// A project whose agent `guide` calls a tool of its own and ends with what that tool says.
fn with_tool(body: &str) -> Project {
    let agent = r#"{ "name": "guide", "sideA": { "prompt": "guide", "sessionStop": "tell" } }"#;
    let prompt = r#"{ "name": "guide", "toolDescription": "Guides.", "prompt": "You guide.", "tools": ["tell"] }"#;
    let tool = format!(
        "import {{ defineTool }} from '@standardagents/spec';
import {{ z }} from 'zod';
export default defineTool({{
  description: 'Tells.',
  args: z.object({{ who: z.string().optional() }}),
  async execute(state, args) {{ {body} }},
}});
"
    );
    Project::new()
        .file("agents/agents/guide.json", agent)
        .file("agents/prompts/guide.json", prompt)
        .file("agents/tools/tell.ts", &tool)
        .file(
            "script.json",
            r#"{ "rules": [ { "reply": { "calls": [{ "tool": "tell", "arguments": {"who": "me"} }] } } ] }"#,
        )
}

#[test]
fn a_tool_of_the_project_reads_variables_and_speaks_for_the_agent() {
    let project = with_tool("return `${args.who}: ${state.env('CITY')}, ${state.env('REGION')}`;").file(
        "entourage.toml",
        "[env]\nREGION = \"north\"\nCITY = \"nowhere\"\n[users.alice.env]\nREGION = \"south\"\n",
    );
    let run = |more: &[&str]| project.say(&[&SCRIPT[..], &["run", "guide", "go"], more].concat()).stdout;
    assert_eq!(run(&["--env", "CITY=Oslo"]), "me: Oslo, north\n");
    assert_eq!(run(&["--user", "alice"]), "me: nowhere, south\n");
}

#[test]
fn a_variable_without_a_value_is_refused_before_anything_is_started() {
    let project = Project::with_echo();
    let said = project.say(&with_script(&["run", "hi", "--env", "CITY"]));
    said.refused(1, &["error[C001]", "NAME=VALUE"]);
    assert!(!project.path().join(".entourage").exists());
}

#[test]
fn the_users_own_variables_are_kept_from_a_project_that_is_not_trusted() {
    let project = with_tool("return state.env('TOKEN');")
        .file("home/.config/entourage/config.toml", "[users.alice.env]\nTOKEN = \"mine\"\n");
    let arguments = with_script(&["run", "guide", "go", "--user", "alice"]);
    let trusted = project.say(&[&arguments[..], &["--trust"]].concat());
    assert_eq!(trusted.stdout, "mine\n");
    let script = r#"{ "rules": [ { "step": 0, "reply": { "calls": [{ "tool": "tell" }] } }, { "reply": { "text": "{{last}}" } } ] }"#;
    let said = project.file("script.json", script).say(&arguments);
    said.refused(0, &["warning[C007]: your variables of user `alice` are not given"]);
    assert!(said.stdout.contains("The variable `TOKEN` is not set"), "{said:?}");
}

/// Attack 29: on a terminal; whoever reads the data otherwise gets it as it is.
#[test]
fn what_a_model_says_moves_no_cursor() {
    let evil = r#"{ "rules": [ { "reply": { "text": "evil \u001b[2J\u001b]0;owned\u0007 text" } } ] }"#;
    let project = Project::new().file("script.json", evil).file("entourage.toml", "model = \"script:script.json\"\n");
    let said = project.say(&["run", "hello"]);
    assert_eq!(said.stdout, "evil \u{1b}[2J\u{1b}]0;owned\u{7} text\n");
    let root = project.root();
    for arguments in [vec!["run", "hello"], vec!["tail", &root], vec!["show", &root], vec!["runs"]] {
        let seen = read(&project, &arguments);
        assert!(seen.contains("evil") && seen.contains("\\u001b[2J"), "{arguments:?}: {seen:?}");
        assert!(!seen.contains("\u{1b}[2J") && !seen.contains("\u{1b}]0;") && !seen.contains('\u{7}'), "{seen:?}");
    }
}
