//! The official Python SDK of the Model Context Protocol on the other side: nobody here wrote it. `cargo x setup` installs it.

use crate::project::{Project, ending, signal};
use entourage_testkit::{FakeModel, Reply, Request};
use rustix::process::Signal;
use serde_json::json;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SLOW: &str = r#"{ "rules": [
  { "contains": "slow", "reply": { "text": "heard {{last}}", "delay_ms": 2500 } },
  { "reply": { "text": "heard {{last}}" } }
] }"#;

fn python() -> PathBuf {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python/bin/python");
    assert!(python.exists(), "`cargo x setup` has not been run: there is no {}", python.display());
    python
}

fn script(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(name).display().to_string()
}

#[expect(clippy::disallowed_methods, reason = "the one place where these tests start Python")]
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(python());
    command.args(arguments).stdin(Stdio::null());
    command
}

fn project() -> Project {
    let helper = "---\ndescription: Helps\n---\nYou help.\n";
    Project::new().file("script.json", SLOW).file("subagents/helper.md", helper)
}

/// Has the client list tools, spawn, go away, come back and read the result.
fn check(project: &Project, order: &[&str]) {
    check_script(project, ("client.py", "read by the client: task_"), order);
}

/// A script ends well, and says so.
fn check_script(project: &Project, (name, sign): (&str, &str), order: &[&str]) {
    let script = script(name);
    let mut client = command(&[&[script.as_str()], order].concat());
    let output = client.env("HOME", project.path().join("home")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains(sign), "{order:?}: {said}");
}

#[test]
fn the_official_client_spawns_goes_away_and_reads_the_result_over_stdio() {
    for mode in ["auto", "legacy"] {
        let project = project();
        check(&project, &["stdio", mode, env!("CARGO_BIN_EXE_entourage"), &project.path().display().to_string()]);
    }
}

#[test]
fn the_official_client_spawns_goes_away_and_reads_the_result_over_http() {
    let project = project();
    with_server(&project, |url, token| {
        for mode in ["auto", "legacy", "2026-07-28"] {
            check(&project, &["http", mode, url, token]);
        }
    });
}

/// Does something with the address and token of a server, which then has to end as it should.
fn with_server(project: &Project, use_it: impl Fn(&str, &str)) {
    let mut server = project.start(&["--model", "script:script.json", "serve", "--listen", "127.0.0.1:0"]);
    let mut link = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut link).unwrap();
    let url = format!("{}mcp", link.split('?').next().unwrap());
    use_it(&url, project.read(".entourage/token").trim());
    signal(&server, Signal::TERM);
    assert_eq!(ending(server).code, Some(0));
}

/// Agents that cannot start before somebody says where they are: one of them by a secret.
fn asking() -> Project {
    let agent = |name: &str| {
        format!(
            r#"{{ "name": "{name}", "type": "dual_ai", "exposeAsTool": true, "toolDescription": "Knows", "maxSessionTurns": 4,
                "sideA": {{ "prompt": "{name}", "sessionStop": "finish" }}, "sideB": {{ "prompt": "{name}" }} }}"#
        )
    };
    let prompt = |name: &str, kind: &str| {
        format!(
            r#"{{ "name": "{name}", "toolDescription": "Knows", "prompt": "You know.", "tools": ["finish"], "variables": [
                {{ "name": "CITY", "type": "{kind}", "required": true, "scoped": true, "description": "Which city" }}] }}"#
        )
    };
    let finish = "import { defineTool } from '@standardagents/builder';\nexport default defineTool({ description: 'Ends', \
        execute: async (state) => `I was told ${state.env('CITY')}` });\n";
    Project::new()
        .file("script.json", r#"{ "rules": [ { "reply": { "calls": [{ "tool": "finish" }] } } ] }"#)
        .file("agents/agents/keen.json", &agent("keen"))
        .file("agents/agents/secretive.json", &agent("secretive"))
        .file("agents/prompts/keen.json", &prompt("keen", "text"))
        .file("agents/prompts/secretive.json", &prompt("secretive", "secret").replace("CITY", "KEY"))
        .file("agents/tools/finish.ts", finish)
}

fn check_asking(project: &Project, order: &[&str]) {
    check_script(project, ("asker.py", "the person was asked"), order);
}

#[test]
fn a_person_is_asked_for_what_an_agent_lacks_over_stdio() {
    for mode in ["auto", "legacy"] {
        let project = asking();
        let place = project.path().display().to_string();
        check_asking(&project, &["stdio", mode, env!("CARGO_BIN_EXE_entourage"), &place]);
    }
}

#[test]
fn a_person_is_asked_for_what_an_agent_lacks_over_http() {
    let project = asking();
    with_server(&project, |url, token| check_asking(&project, &["http", "2026-07-28", url, token]));
}

#[test]
fn a_person_is_asked_by_the_process_that_has_the_client_whoever_holds_the_folder() {
    for mode in ["auto", "legacy"] {
        let project = asking();
        let place = project.path().display().to_string();
        with_server(&project, |_, _| {
            check_asking(&project, &["stdio", mode, env!("CARGO_BIN_EXE_entourage"), &place]);
        });
    }
}

/// Asks for a price, orders, and says what came of it.
fn buyer(request: &Request) -> Reply {
    let results: Vec<_> = request.tool_results().iter().map(|result| result.text.clone()).collect();
    match results.len() {
        0 => Reply::call("mcp__shop__price", json!({"article": "tea", "amount": 3})),
        1 => Reply::call("mcp__shop__order", json!({"article": "tea"})),
        2 => Reply::call("mcp__shop__order", json!({"article": "unicorn"})),
        _ => Reply::text(results.join(" | ")),
    }
}

async fn buy(settings: String) -> String {
    let model = FakeModel::start(buyer).await;
    let project = Project::new().with_model(&model).file("entourage.toml", &settings);
    let run = move || project.say(&["run", "--trust", "buy"]);
    let said = tokio::task::spawn_blocking(run).await.unwrap();
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stdout.contains("3 tea: 21 | ") && said.stdout.contains("Error executing tool order"), "{said:?}");
    said.stdout
}

#[tokio::test]
async fn our_client_calls_the_tools_of_an_official_server_over_stdio() {
    let (python, script) = (python(), script("server.py"));
    let said = buy(format!("[mcp.shop]\ncommand = {python:?}\nargs = [{script:?}, \"stdio\"]\n")).await;
    assert!(said.contains("\"key\": \"none\""), "{said}");
}

#[tokio::test]
async fn our_client_calls_the_tools_of_an_official_server_over_http() {
    let mut server =
        command(&[&script("server.py"), "http"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut port = String::new();
    output.read_line(&mut port).unwrap();
    let url = format!("http://127.0.0.1:{}/mcp", port.trim());
    // The port is told before anybody listens there.
    while std::net::TcpStream::connect(("127.0.0.1", port.trim().parse::<u16>().unwrap())).is_err() {
        std::thread::yield_now();
    }
    buy(format!("[mcp.shop]\nurl = {url:?}\nheaders = {{ Authorization = \"Bearer ${{OPENAI_API_KEY}}\" }}\n")).await;
    server.kill().unwrap();
    server.wait().unwrap();
}
