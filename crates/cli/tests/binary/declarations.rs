//! `agents` and `check`, and declarations at fault when something is run.

use crate::project::{ECHO, Project};
use serde_json::json;

const AGENT: &str = r#"{ "name": "helper", "description": "Helps.", "sideA": { "prompt": "helper" } }"#;
const PROMPT: &str = r#"{ "name": "helper", "prompt": "You help.", "tools": ["read_file"] }"#;
const BROKEN: &str = "{\n  \"name\": \"broken\",\n  oops\n}\n";

fn declared() -> Project {
    Project::new().file("agents/agents/helper.json", AGENT).file("agents/prompts/helper.json", PROMPT)
}

#[test]
fn agents_are_listed_with_their_format_and_file() {
    let document = declared().json(&["agents"]);
    let helper = document["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == "helper").unwrap();
    assert_eq!(helper["format"], "standard-agents");
    assert_eq!(helper["file"], "agents/agents/helper.json");
    let lead = document["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == "lead").unwrap();
    assert_eq!((&lead["format"], &lead["file"]), (&json!("built-in"), &json!(null)));
}

#[test]
fn a_sound_project_is_clean_and_says_so() {
    let said = declared().say(&["check"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "2 agents, 0 errors, 0 warnings\n"), "{said:?}");
    assert_eq!(declared().json(&["check"]), json!({"reports": []}));
}

#[test]
fn a_broken_declaration_is_shown_where_it_breaks() {
    let project = declared().file("agents/agents/broken.json", BROKEN).file("script.json", ECHO);
    let said = project.say(&["check"]);
    assert_eq!(said.code, Some(1));
    assert!(said.stdout.contains("error[D004]") && said.stdout.contains("agents/agents/broken.json:3:"), "{said:?}");
    assert!(said.stdout.contains("1 error, 0 warnings"), "{said:?}");
    let document = project.say(&["check", "--json"]).document();
    assert_eq!(document["reports"][0]["where"]["line"], 3, "{document}");
    let run = ["--model", "script:script.json", "run"];
    project.say(&[&run[..], &["broken", "hi"]].concat()).refused(1, &["agents/agents/broken.json:3:", "error[C010]"]);
    let other = project.say(&[&run[..], &["helper", "hi"]].concat());
    assert_eq!((other.code, other.stdout.as_str()), (Some(0), "I heard: hi\n"), "{other:?}");
    assert!(other.stderr.contains("agents/agents/broken.json:3:"), "{other:?}");
}

#[test]
fn agents_lists_the_others_beside_a_broken_file() {
    let said = declared().file("agents/agents/broken.json", BROKEN).say(&["agents"]);
    assert_eq!(said.code, Some(0));
    assert!(said.stdout.contains("helper") && said.stderr.contains("broken.json:3:"), "{said:?}");
}
