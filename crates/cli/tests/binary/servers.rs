//! MCP servers whose tools our models call: from settings and declarations, trusted or not.

use crate::project::{Project, Said, ending, signal};
use crate::registry::{AGENT, build};
use entourage_testkit::{FakeModel, Reply, Request, sly_server};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::sync::{Arc, Mutex};

/// `[mcp.<name>]` with the server that does what it is told.
fn table(name: &str, mode: &str) -> String {
    let args = sly_server::arguments(mode, "");
    format!("[mcp.{name}]\ncommand = \"sh\"\nargs = {args:?}\n")
}

/// Calls the tool and then says what it was answered with.
fn caller(tool: &'static str) -> impl Fn(&Request) -> Reply + Send + Sync {
    move |request| match request.tool_results().last() {
        Some(result) => Reply::text(format!("result: {}", result.text)),
        None if request.tools().contains(&tool) => Reply::call(tool, json!({"text": "hi"})),
        None => Reply::text(format!("no tool: {}", request.tools().join(" "))),
    }
}

async fn run(project: Project, brain: impl Fn(&Request) -> Reply + Send + Sync + 'static, words: &[&str]) -> Said {
    let model = FakeModel::start(brain).await;
    let project = project.with_model(&model).variable("PATH", "/usr/local/bin:/usr/bin:/bin");
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    tokio::task::spawn_blocking(move || {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        project.say(&words)
    })
    .await
    .unwrap()
}

const ECHO: &str = "mcp__sly__echo";

#[tokio::test]
async fn lead_calls_a_servers_tool_once_the_project_is_trusted() {
    let project = || Project::new().file("entourage.toml", &table("sly", ""));
    let said = run(project(), caller(ECHO), &["run", "--trust", "go"]).await;
    assert_eq!((said.code, said.stdout.trim()), (Some(0), "result: heard hi"), "{said:?}");
    let said = run(project(), caller(ECHO), &["run", "go"]).await;
    assert!(said.stdout.starts_with("no tool: ") && !said.stdout.contains("mcp__"), "{said:?}");
    assert!(said.stderr.contains("warning[C055]: `mcp.sly` is left out"), "{said:?}");
    assert!(said.stderr.contains("entourage.toml:1:"), "{said:?}");
}

#[tokio::test]
async fn the_users_own_servers_need_no_trust_in_the_project() {
    let project = Project::new().file("home/.config/entourage/config.toml", &table("sly", ""));
    let said = run(project, caller(ECHO), &["run", "go"]).await;
    assert_eq!((said.code, said.stdout.trim()), (Some(0), "result: heard hi"), "{said:?}");
}

#[tokio::test]
async fn a_project_cannot_change_how_a_users_server_is_started() {
    let project = Project::new()
        .file("home/.config/entourage/config.toml", &table("sly", ""))
        .file("entourage.toml", "[mcp.sly]\nargs = [\"-c\", \"touch stolen\"]\n");
    let said = run(project, caller(ECHO), &["run", "go"]).await;
    assert_eq!(said.stdout.trim(), "result: heard hi", "{said:?}");
    assert!(said.stderr.contains("C055"), "{said:?}");
}

#[tokio::test]
async fn a_server_of_leads_that_cannot_start_fails_the_run() {
    let project = Project::new().file("entourage.toml", "[mcp.gone]\ncommand = \"no-such-program\"\n");
    let said = run(project, caller(ECHO), &["run", "--trust", "go"]).await;
    assert_eq!(said.code, Some(7), "{said:?}");
    assert!(said.stderr.contains("the MCP server `gone` cannot be started"), "{said:?}");
}

/// Has the helper started, and says what that was answered with.
fn spawner(request: &Request) -> Reply {
    if request.system().contains("[[helper]]") {
        return caller(ECHO)(request);
    }
    match request.tool_results().last() {
        Some(result) => Reply::text(format!("spawned: {}", result.text)),
        None => Reply::call("agent_spawn", json!({"agent_id": "helper", "task": "go", "timeout_seconds": 20})),
    }
}

fn helper(front: &str) -> Project {
    let text = format!("---\nname: helper\ndescription: Helps\n{front}\n---\nYou help. [[helper]]\n");
    Project::new().file("entourage.toml", &table("sly", "")).file(".agents/agents/helper.md", &text)
}

#[tokio::test]
async fn children_inherit_the_servers_of_the_settings_unless_their_list_of_tools_leaves_them_out() {
    for (front, expected) in [
        ("", "result: heard hi"),
        ("tools: mcp__sly__echo", "result: heard hi"),
        ("tools: mcp__sly__once", "no tool: mcp__sly__once"),
        ("tools: read_file", "no tool: read_file"),
        ("disallowedTools: mcp__sly__echo", "mcp__sly__once"),
    ] {
        let said = run(helper(front), spawner, &["run", "--trust", "go"]).await;
        assert!(said.stdout.contains(expected), "{front}: {said:?}");
        assert_eq!(said.stdout.contains("heard hi"), expected.ends_with("heard hi"), "{front}: {said:?}");
    }
}

#[tokio::test]
async fn a_child_has_the_tools_of_the_server_that_it_brings_itself() {
    const OWN: &str = "mcp__own__echo";
    let brain = |request: &Request| match request.system().contains("[[helper]]") {
        true => caller(OWN)(request),
        false => spawner(request),
    };
    let args = serde_json::to_string(&sly_server::arguments("", "")).unwrap();
    let server = format!("mcpServers:\n  own: {{command: sh, args: {args}}}");
    for tools in ["", "\ntools: read_file, mcp__own__echo", "\ntools: mcp__own__*"] {
        let project = helper(&format!("{server}{tools}"));
        let said = run(project, brain, &["run", "--trust", "go"]).await;
        assert!(said.stdout.contains("result: heard hi"), "{tools:?}: {said:?}");
    }
    let said = run(helper(&server), caller(OWN), &["run", "--trust", "go"]).await;
    assert!(said.stdout.starts_with("no tool: ") && !said.stdout.contains(OWN), "only that agent has it: {said:?}");
}

#[tokio::test]
async fn an_agent_that_names_a_server_which_cannot_start_fails_at_spawn() {
    let front = "mcpServers:\n  gone: {command: no-such-program}";
    let said = run(helper(front), spawner, &["run", "--trust", "go"]).await;
    assert!(said.stdout.contains("the MCP server `gone` cannot be started: `no-such-program`"), "{said:?}");
    let listed = run(helper(front), spawner, &["run", "--trust", "--json", "go"]).await.document();
    assert_eq!(listed["children"], Value::Array(Vec::new()), "{listed}");
    let said = run(helper(front), spawner, &["run", "go"]).await;
    assert!(said.stderr.contains("warning[C055]: the MCP server `gone` of agent `helper` is left out"), "{said:?}");
}

#[tokio::test]
async fn whoever_names_a_server_that_is_not_trusted_does_without_it() {
    let agent = r#"{ "name": "boss", "sideA": { "prompt": "boss" } }"#;
    let prompt = r#"{ "name": "boss", "toolDescription": "x", "prompt": "You lead.", "tools": ["mcp:clock"] }"#;
    let project = || {
        Project::new()
            .file("entourage.toml", "[mcp.clock]\ncommand = \"no-such-program\"\n")
            .file("agents/agents/boss.json", agent)
            .file("agents/prompts/boss.json", prompt)
            .file(".claude/agents/a.md", "---\nname: a\ndescription: d\nmcpServers: [clock]\n---\nB\n")
    };
    let said = project().say(&["check"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stdout.contains("warning[C055]") && !said.stdout.contains("C054"), "{said:?}");
    let said = run(project(), |_: &Request| Reply::text("at work"), &["run", "boss", "go"]).await;
    assert_eq!((said.code, said.stdout.trim()), (Some(0), "at work"), "{said:?}");
}

#[tokio::test]
async fn check_knows_servers_without_starting_them() {
    let project = helper("mcpServers: [sli]").file("home/.config/entourage/config.toml", &table("mine", "refuses"));
    let said = project.say(&["check"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(
        said.stdout.contains("warning[C054]: agent `helper` names the MCP server `sli`, which is not declared"),
        "{said:?}"
    );
    assert!(said.stdout.contains("hint: add `[mcp.sli]`") || said.stdout.contains("did you mean"), "{said:?}");
    let said = Project::new()
        .file("entourage.toml", "[mcp.a]\nurl = \"http://x\"\ncommand = \"y\"\n")
        .say(&["check", "--trust"]);
    assert!(said.stdout.contains("error[C056]: `mcp.a` must have either `command` or `url`"), "{said:?}");
}

/// The address of somebody who refuses whoever comes, and what was said there.
fn refusing() -> (String, Arc<Mutex<String>>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (url, heard) = (format!("http://{}/mcp", listener.local_addr().unwrap()), Arc::<Mutex<String>>::default());
    let kept = Arc::clone(&heard);
    // Ends with the test.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut head) = (stream.unwrap(), vec![0; 4096]);
            let length = stream.read(&mut head).unwrap();
            kept.lock().unwrap().push_str(&String::from_utf8_lossy(&head[..length]));
            stream.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        }
    });
    (url, heard)
}

const CANARY: &str = "canary-70229";

#[tokio::test]
async fn no_variable_goes_to_a_server_that_only_an_untrusted_project_names() {
    let (url, heard) = refusing();
    let settings = format!("[mcp.web]\nurl = {url:?}\nheaders = {{ X-Take = \"<${{CANARY_API_KEY}}>\" }}\n");
    let front = format!("mcpServers:\n  web: {{url: '{url}', headers: {{X-Take: '<${{CANARY}}>'}}}}");
    let agent = format!("---\nname: far\ndescription: d\n{front}\n---\nB\n");
    for (file, text, who) in [("entourage.toml", settings, "lead"), (".claude/agents/far.md", agent, "far")] {
        let variables = |project: Project| project.variable("CANARY", CANARY).variable("CANARY_API_KEY", CANARY);
        let project = || variables(Project::new().file(file, &text));
        let said = run(project(), |_: &Request| Reply::text("at work"), &["run", who, "go"]).await;
        assert_eq!((said.code, said.stdout.trim()), (Some(0), "at work"), "{said:?}");
        assert!(said.stderr.contains("warning[C055]") && said.stderr.contains("send your variables"), "{said:?}");
        assert_eq!(heard.lock().unwrap().as_str(), "", "{file}");
        run(project(), |_: &Request| Reply::text("at work"), &["run", "--trust", who, "go"]).await;
        let heard = std::mem::take(&mut *heard.lock().unwrap());
        assert!(heard.contains(&format!("<{CANARY}>")), "{file}: {heard}");
    }
}

#[tokio::test]
async fn what_a_bundle_says_to_a_server_is_what_its_author_wrote() {
    let (url, heard) = refusing();
    let mcp =
        json!({ "servers": { "web": { "url": url, "transport": "http", "headers": { "X-Take": "<${CANARY}>" } } } });
    let author = Project::new()
        .file("agent.json", &AGENT.replace("\"subagents\": \"./subagents.json\"", "\"mcp\": \"./mcp.json\""))
        .file("prompt.md", "You keep things.\n")
        .file("mcp.json", &mcp.to_string());
    let bundle = format!("oci:{}@{}", author.path().join(".entourage/oci").display(), build(&author));
    for options in [&["run", "go"][..], &["run", "--trust", "go"]] {
        let here = Project::new().variable("CANARY", CANARY);
        run(here, |_: &Request| Reply::text("x"), &[&["--project", &bundle][..], options].concat()).await;
        let heard = std::mem::take(&mut *heard.lock().unwrap());
        assert!(heard.contains("<${CANARY}>") && !heard.contains(CANARY), "{heard}");
    }
}

/// A server that notes what happens to it in a file of its own.
struct Logged(tempfile::NamedTempFile);

impl Logged {
    fn new() -> Self {
        Self(tempfile::NamedTempFile::new().unwrap())
    }

    fn project(&self) -> Project {
        let args = sly_server::arguments("", &self.0.path().display().to_string());
        Project::new().file("entourage.toml", &format!("[mcp.sly]\ncommand = \"sh\"\nargs = {args:?}\n"))
    }

    #[expect(clippy::disallowed_methods, reason = "a test reads what the server wrote")]
    fn notes(&self) -> Vec<String> {
        std::fs::read_to_string(self.0.path()).unwrap().lines().map(str::to_owned).collect()
    }
}

#[tokio::test]
async fn after_a_crash_a_call_with_effects_is_not_made_again() {
    let log = Logged::new();
    let model = FakeModel::start(caller("mcp__sly__hang")).await;
    let project = log.project().with_model(&model).variable("PATH", "/usr/local/bin:/usr/bin:/bin");
    let first = project.start(&["run", "--trust", "go"]);
    while !log.notes().contains(&"hang".to_owned()) {
        tokio::task::yield_now().await;
    }
    signal(&first, Signal::KILL);
    ending(first);
    let resume = move || {
        project.say(&["resume"]).refused(1, &["error[C060]", "may not be started", "`entourage trust`"]);
        project.say(&["resume", "--trust"])
    };
    let resumed = tokio::task::spawn_blocking(resume).await.unwrap();
    assert!(resumed.stdout.contains("The outcome of `mcp__sly__hang` is unknown"), "{resumed:?}");
    assert_eq!(log.notes().iter().filter(|line| *line == "hang").count(), 1);
}

#[tokio::test]
async fn no_process_is_left_when_the_work_is_done() {
    let log = Logged::new();
    let project = log.project();
    let said = run(project, caller("mcp__sly__once"), &["run", "--trust", "go"]).await;
    assert_eq!(said.stdout.trim(), "result: done", "{said:?}");
    let notes = log.notes();
    assert_eq!(notes[1..], ["once"]);
    assert!(!std::path::Path::new("/proc").join(&notes[0]).exists());
}
