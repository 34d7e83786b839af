//! Bundles in place of projects: run, listed, checked and served; their digest is pinned.

use crate::project::{Project, Said, ending, signal};
use crate::registry::{AGENT, blob, build, project, spoil};
use crate::serve::Serving;
use entourage_testkit::{Access, FakeModel, RealRegistry, Reply, Request, sly_server};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The root asks its reviewer, the reviewer tells what it was told and offered.
fn team(request: &Request) -> Reply {
    let system = request.system();
    let tools = request.tools().join(" ");
    if system.starts_with("You review.") {
        return Reply::text(format!("{system} [{tools}]"));
    }
    match request.tool_results().last() {
        Some(result) => Reply::text(format!("{} [{tools}]", result.text)),
        None => Reply::call("reviewer", json!({ "message": "look" })),
    }
}

fn run(project: &Project, bundle: &str) -> Value {
    let said = project.say(&["--json", "--project", bundle, "--model", "openai:fake", "run", "go"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    said.document()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_runs_and_its_digest_is_pinned() {
    let registry = RealRegistry::start(Access::Everybody);
    let model = FakeModel::start(team).await;
    let author = project();
    let digest = build(&author);
    let reference = format!("{}/keeper:1", registry.host());
    author.json(&["push", &reference]);
    let here = Project::new().with_model(&model);
    let result = run(&here, &format!("oci:{reference}"))["result"].as_str().unwrap().to_owned();
    assert!(result.contains("make it a patch"), "the child is told how to return: {result}");
    let (child, root) = result.split_once("] [").unwrap();
    assert!(child.contains("helper") && !root.contains("helper"), "`allowedFrom` is enforced: {result}");
    let bundle = format!("oci:{reference}");
    let threads = here.json(&["--project", &bundle, "threads"]);
    let threads = threads["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 2);
    assert!(threads.iter().all(|thread| thread["bundle"] == digest), "{threads:?}");
    let root = threads.iter().find(|thread| thread["parent"].is_null()).unwrap()["thread_id"].as_str().unwrap();
    // The child has ended long before, and is no reason to wait.
    for (command, status) in [("show", "idle"), ("stop", "idle"), ("terminate", "terminated"), ("show", "terminated")] {
        let shown = here.json(&["--project", &bundle, command, root]);
        assert_eq!((&shown["bundle"], &shown["status"]), (&json!(digest), &json!(status)), "{command}: {shown}");
    }
    drop(registry);
    run(&here, &bundle);
    let agents = here.json(&["--project", &bundle, "agents"]);
    let names: Vec<_> = agents["agents"].as_array().unwrap().iter().map(|agent| agent["name"].clone()).collect();
    assert!(names.contains(&json!("keeper")) && names.contains(&json!("reviewer")), "{names:?}");
    assert_eq!(here.say(&["--project", &bundle, "check"]).code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_layout_elsewhere_is_a_project_too() {
    let model = FakeModel::start(team).await;
    let author = project();
    let digest = build(&author);
    let layout = author.path().join(".entourage/oci");
    let bundle = format!("oci:{}@{digest}", layout.display());
    let here = Project::new().with_model(&model).file("agent.json", "this is not looked at");
    run(&here, &bundle);
    let data = here.path().join("elsewhere").display().to_string();
    let said: Said =
        here.say(&["--project", &bundle, "--data", &data, "--model", "openai:fake", "run", "reviewer", "go"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(here.path().join("elsewhere").is_dir() && here.path().join(".entourage").is_dir());
    here.say(&["--project", &format!("oci:{}", layout.display()), "agents"]).refused(1, &["error[B049]"]);
    spoil(&blob(&author, author.json(&["inspect"])["layers"][1]["digest"].as_str().unwrap()));
    here.say(&["--project", &bundle, "--model", "openai:fake", "run", "go"]).refused(6, &["error[B007]"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_is_served() {
    let model = FakeModel::start(team).await;
    let author = project();
    let digest = build(&author);
    let bundle = format!("oci:{}@{digest}", author.path().join(".entourage/oci").display());
    let here = Project::new().with_model(&model).variable("ENTOURAGE_MODEL", "openai:fake");
    let serving = Serving::start_with(&here, &["--project", &bundle]);
    let (status, made) = serving.ask("POST", "/threads", &json!({ "agent": "keeper", "message": "go" }));
    assert_eq!(status, 201, "{made}");
    let thread = serving.settle(made["thread_id"].as_str().unwrap());
    assert_eq!((&thread["bundle"], &thread["status"]), (&json!(digest), &json!("idle")), "{thread}");
    assert_eq!(serving.get("/threads")["threads"][0]["bundle"], digest);
    tokio::task::block_in_place(|| serving.kill());
}

/// An agent with the server that does what it is told, and with these secrets.
fn author(secrets: &Value) -> Project {
    let keys: Vec<_> = secrets.as_array().unwrap().iter().map(|secret| &secret["key"]).collect();
    let server = json!({ "command": "sh", "args": sly_server::arguments("", ""), "secrets": keys });
    let more = format!("\"mcp\": \"./mcp.json\", \"secrets\": {secrets}");
    Project::new()
        .file("agent.json", &AGENT.replace("\"subagents\": \"./subagents.json\"", &more))
        .file("prompt.md", "You keep things.\n")
        .file("mcp.json", &json!({ "servers": { "sly": server } }).to_string())
}

/// What it wrote, built: the bundle as `--project` takes it.
fn packed(author: &Project) -> String {
    format!("oci:{}@{}", author.path().join(".entourage/oci").display(), build(author))
}

/// Somewhere else, where the bundle is run.
fn elsewhere(model: &FakeModel) -> Project {
    let here = Project::new().with_model(model).variable("ENTOURAGE_MODEL", "openai:fake");
    here.variable("PATH", "/usr/local/bin:/usr/bin:/bin")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_is_trusted_by_the_option_only() {
    let model = FakeModel::start(|request: &Request| Reply::text(request.tools().join(" "))).await;
    let author = author(&json!([]));
    let bundle = packed(&author);
    let here = elsewhere(&model);
    here.json(&["trust"]);
    let said = here.say(&["--project", &bundle, "run", "go"]);
    assert!(said.stderr.contains("warning[C055]: the MCP server `sly` of agent `keeper` is left out"), "{said:?}");
    assert!(said.stderr.contains("hint: if you trust this bundle, add `--trust`"), "{said:?}");
    assert!(!said.stdout.contains("mcp__sly"), "{said:?}");
    let said = here.say(&["--project", &bundle, "--trust", "run", "go"]);
    assert!(said.stdout.contains("mcp__sly__echo") && !said.stderr.contains("C055"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundles_server_finds_its_secrets_in_the_environment() {
    let model = FakeModel::start(|request: &Request| match request.tool_results().last() {
        Some(result) => Reply::text(result.text.clone()),
        None => Reply::call("mcp__sly__env", json!({})),
    })
    .await;
    let secrets = json!([
        { "key": "git.token", "required": true, "exposeAs": { "env": "GIT_TOKEN" } },
        { "key": "SPARE", "required": false },
    ]);
    let author = author(&secrets);
    let bundle = packed(&author);
    let arguments = ["--project", &bundle, "--trust", "run", "go"];
    let said = elsewhere(&model).variable("GIT_TOKEN", "t-1").variable("OTHER", "o-1").say(&arguments);
    assert!(said.stdout.contains("GIT_TOKEN=t-1 ") && !said.stdout.contains("SPARE"), "{said:?}");
    assert!(!said.stdout.contains("OTHER"), "{said:?}");
    let here = elsewhere(&model);
    here.say(&arguments).refused(1, &["error[C061]", "the secret `git.token`", "hint: set the variable `GIT_TOKEN`"]);
    assert!(!here.path().join(".entourage").exists(), "nothing was begun");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_whose_bundle_brings_a_server_waits_for_its_bundle() {
    let is_late = Arc::new(AtomicBool::new(true));
    let late = Arc::clone(&is_late);
    let model = FakeModel::start(move |request: &Request| match late.load(Ordering::Acquire) {
        true => Reply::hang(),
        false => Reply::text(format!("done with {}", request.tools().join(" "))),
    })
    .await;
    let author = author(&json!([]));
    let bundle = packed(&author);
    let here = elsewhere(&model);
    let running = here.start(&["--project", &bundle, "--trust", "run", "go"]);
    model.until_requests(1).await;
    signal(&running, Signal::KILL);
    ending(running);
    is_late.store(false, Ordering::Release);
    tokio::task::block_in_place(|| {
        let id = here.root();
        let before = here.json(&["runs"]);
        let not_here = "the MCP server `sly` of agent `keeper` is that of a bundle, which is not this project";
        for arguments in [&["resume"][..], &["resume", &id], &["send", &id, "more"]] {
            here.say(arguments).refused(1, &["error[C060]", not_here, "`--project oci:sha256:", "`--trust`"]);
        }
        let untrusted = here.say(&["--project", &bundle, "resume"]);
        untrusted.refused(1, &["error[C060]", "may not be started", "if you trust this bundle, add `--trust`"]);
        assert_eq!(here.json(&["runs"]), before);
        let serving = Serving::start(&here);
        // Until it is taken up.
        while here.json(&["show", &id])["status"] == "ready" {}
        assert_eq!(here.json(&["show", &id])["status"], "running");
        signal(&serving.child, Signal::TERM);
        let told = ["warning[C060]", not_here, "unfinished threads of agent `keeper` wait"];
        ending(serving.child).refused(0, &told);
        let resumed = here.json(&["--project", &bundle, "--trust", "resume", &id]);
        assert!(resumed["result"].as_str().unwrap().contains("mcp__sly__echo"), "{resumed}");
        assert_eq!(resumed["run_id"], before["runs"][0]["run_id"]);
    });
}

/// Opens every file that it is told of, and says what it was told and what is in them.
fn reader(request: &Request) -> Reply {
    let system = request.system();
    let told: Vec<_> = system.lines().filter_map(|line| line.strip_prefix("- `")?.strip_suffix('`')).collect();
    match told.get(request.tool_results().len()) {
        Some(path) => Reply::call("read_file", json!({ "path": path })),
        None => {
            let texts: Vec<_> = request.tool_results().iter().map(|result| result.text.trim().to_owned()).collect();
            Reply::text(format!("{system}\n[{}]", texts.join("|")))
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_of_a_bundle_reaches_its_agent() {
    let model = FakeModel::start(reader).await;
    let folders =
        ["skills", "knowledge", "memory", "surfaces"].map(|name| format!("\"{name}\": \"./{name}\"")).join(",");
    let author = Project::new()
        .file("agent.json", &AGENT.replace("\"subagents\": \"./subagents.json\"", &folders))
        .file("prompt.md", "You keep things.\n")
        .file("skills/fix/SKILL.md", "---\nname: fix\ndescription: Fixes.\n---\nFill in `templates/list.md`.\n")
        .file("skills/fix/templates/list.md", "the list\n")
        .file("knowledge/facts.md", "a fact\n")
        .file("knowledge/picture.png", "\0")
        .file("knowledge/zz-long.md", &"long ".repeat(1 << 20))
        .file("memory/day.md", "a day\n")
        .file("surfaces/tools.md", "Use a hammer.\n");
    let bundle = packed(&author);
    let here = elsewhere(&model);
    let said = here.say(&["--project", &bundle, "run", "go"]);
    let expected = "You keep things.\n\n## Tools\n\nUse a hammer.\n\n\
        ## Skill: fix\n\nFixes.\n\nFill in `templates/list.md`.\n\n\
        Files of this skill:\n\n- `/bundle/skills/fix/templates/list.md`\n\n\
        ## Knowledge\n\nLook things up in these files:\n\n- `/bundle/knowledge/facts.md`\n\n\
        ## Memory\n\nWhat is remembered from earlier is in these files:\n\n- `/bundle/memory/day.md`\n\
        [the list|a fact|a day]";
    assert_eq!((said.code, said.stdout.trim()), (Some(0), expected), "{said:?}");
    assert!(said.stderr.contains("warning[D134]"), "{said:?}");
    assert!(said.stderr.contains("`knowledge/picture.png`, `knowledge/zz-long.md`\n"), "{said:?}");
    // A thread has them wherever it goes on.
    let again = here.say(&["send", &here.root(), "again"]);
    assert_eq!(again.stdout.trim(), expected, "{again:?}");
}

#[test]
fn what_is_not_there_is_told() {
    let here = Project::new();
    here.say(&["--project", "oci:127.0.0.1:1/keeper", "agents"]).refused(3, &["error[B040]"]);
    here.say(&["--project", "oci:nonsense", "agents"]).refused(1, &["error[B001]"]);
    assert_eq!(here.say(&["--project", "oci:127.0.0.1:1/keeper", "threads"]).code, Some(0), "it needs no declaration");
}
