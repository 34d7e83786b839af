//! Commands while a server has the store: they say the same as without it.

use crate::project::{ECHO, Project, Said, ending, signal};
use crate::serve::Serving;
use entourage_testkit::{FakeModel, Reply, Request};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;

const SETTINGS: &str = "model = \"script:script.json\"\n";
/// A parent that gives two pieces of work away at once.
const TEAM: &str = r#"{ "rules": [
    { "agent": "lead", "step": 0, "reply": { "calls": [
        { "tool": "agent_spawn", "arguments": { "agent_id": "digger", "task": "dig here", "label": "first" } },
        { "tool": "agent_spawn", "arguments": { "agent_id": "digger", "task": "dig there", "label": "second" } } ] } },
    { "reply": { "text": "I heard: {{last}}" } } ] }"#;

fn project() -> Project {
    Project::new().file("script.json", ECHO).file("entourage.toml", SETTINGS)
}

fn team() -> Project {
    project().file("script.json", TEAM).file("subagents/digger.md", "---\nname: digger\ndescription: Digs\n---\nDig.\n")
}

/// What a command says, without the words about how long ago something was.
fn timeless(said: &Said) -> (Option<i32>, String) {
    let is_moment = |word: &&str| !(word.contains('.') && word.parse::<f64>().is_ok());
    let line = |line: &str| line.split(' ').filter(is_moment).collect::<Vec<_>>().join(" ");
    (said.code, said.stdout.lines().map(line).collect::<Vec<_>>().join("\n"))
}

#[test]
fn what_is_read_through_a_server_is_what_the_store_says() {
    let project = team();
    assert_eq!(project.say(&["run", "hello"]).code, Some(0));
    let root = project.root();
    let run = project.json(&["runs", "--thread", &root])["runs"][0]["run_id"].as_str().unwrap().to_owned();
    let commands: [&[&str]; 16] = [
        &["threads"],
        &["threads", "--json"],
        &["threads", "--json", "--roots"],
        &["threads", "--json", "--parent", &root],
        &["threads", "--json", "--limit", "1"],
        &["threads", "--json", "--agent", "no such & agent"],
        &["show", &root],
        &["show", &root[..20], "--json"],
        &["tail", &root],
        &["tail", &root, "--all", "--json"],
        &["tail", &root, "--last", "1"],
        &["runs"],
        &["runs", "--json", "--unread"],
        &["runs", "--json", "--limit", "1"],
        &["result", &run],
        &["result", "zzzz"],
    ];
    let alone: Vec<_> = commands.iter().map(|command| timeless(&project.say(command))).collect();
    assert!(alone[6].1.contains("digger"), "{alone:?}");
    let shown: serde_json::Value = serde_json::from_str(&alone[7].1).unwrap();
    assert_eq!(
        (&shown["tree"][0]["agent"], &shown["tree"][1]["name"]),
        (&json!("digger"), &json!("second")),
        "{shown}"
    );
    let serving = Serving::start(&project);
    for (command, alone) in commands.iter().zip(alone) {
        let served = project.say(command);
        assert_eq!(timeless(&served), alone, "{command:?}: {served:?}");
    }
    serving.kill();
}

#[test]
fn a_run_is_unread_until_its_result_is_printed_through_the_server() {
    let project = project();
    let serving = Serving::start(&project);
    let (_, created) = serving.ask("POST", "/threads", &json!({ "agent": "lead", "message": "hello" }));
    serving.settle(created["thread_id"].as_str().unwrap());
    let run = created["run_id"].as_str().unwrap();
    assert_eq!(project.json(&["runs", "--unread"])["runs"][0]["run_id"], run);
    assert_eq!(project.json(&["cancel", run])["status"], "done");
    assert_eq!(project.json(&["runs", "--unread"])["runs"][0]["run_id"], run);
    assert_eq!(project.json(&["result", run])["delivered_at"], Value::Null);
    assert_eq!(project.json(&["runs", "--unread"]), json!({ "runs": [] }));
    serving.kill();
}

#[test]
fn whoever_writes_to_a_child_is_given_what_the_child_says() {
    let project = team();
    assert_eq!(project.say(&["run", "hello"]).code, Some(0));
    let child = project.json(&["threads", "--parent", &project.root()])["threads"][0]["thread_id"].clone();
    let id = child.as_str().unwrap();
    let check = |message: &str| {
        let sent = project.say(&["send", id, message]);
        assert_eq!((sent.code, sent.stdout), (Some(0), format!("I heard: {message}\n")), "{}", sent.stderr);
        let verdict = project.json(&["send", id, message]);
        assert_eq!((&verdict["thread_id"], &verdict["children"]), (&child, &json!([])));
    };
    check("and you?");
    let serving = Serving::start(&project);
    check("still there?");
    serving.kill();
}

#[test]
fn a_message_is_sent_and_a_thread_ended_through_the_server() {
    let project = project();
    assert_eq!(project.say(&["run", "hello"]).code, Some(0));
    let root = project.root();
    let serving = Serving::start(&project);
    let sent = project.say(&["send", &root, "and now?"]);
    assert_eq!((sent.code, sent.stdout.as_str()), (Some(0), "I heard: and now?\n"), "{sent:?}");
    let verdict = project.json(&["send", &root, "more"]);
    assert_eq!((&verdict["status"], &verdict["result"]), (&json!("done"), &json!("I heard: more")));
    let queued = project.json(&["send", &root, "later", "--detach"]);
    assert_eq!(queued["status"], "queued");
    serving.settle(&root);
    assert_eq!(project.say(&["tail", &root, "--last", "1"]).stdout, "assistant: I heard: later\n");
    assert_eq!(project.say(&["stop", &root]).stderr, format!("thread `{root}` is idle\n"));
    let ended = project.say(&["terminate", &root]);
    assert_eq!(ended.stderr, format!("thread `{root}` is terminated, with 0 below it\n"));
    let first = project.json(&["show", &root])["terminated"].clone();
    assert_eq!(project.json(&["terminate", &root])["terminated"], first);
    assert_eq!(project.json(&["stop", &root])["status"], "terminated");
    project.say(&["send", &root, "hello?"]).refused(1, &["error[C022]", "terminated"]);
    serving.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_wants_a_result_too_early_is_sent_to_the_server_that_works_on_it() {
    let model = FakeModel::start(Reply::hang()).await;
    let project = Project::new().with_model(&model).in_folder();
    let ask = || {
        let serving = Serving::start(&project);
        let (_, created) = serving.ask("POST", "/threads", &json!({ "agent": "lead", "message": "hello" }));
        project
            .say(&["result", created["run_id"].as_str().unwrap()])
            .refused(1, &["error[C028]", "hint: a server works"]);
        serving.kill();
    };
    tokio::task::block_in_place(ask);
}

#[tokio::test(flavor = "multi_thread")]
async fn work_is_ended_through_the_server() {
    let model = FakeModel::start(Reply::hang()).await;
    let project = Project::new().with_model(&model);
    let (serving, thread, run) = tokio::task::block_in_place(|| {
        let serving = Serving::start(&project);
        let (_, created) = serving.ask("POST", "/threads", &json!({ "agent": "lead", "message": "hello" }));
        let text = |key: &str| created[key].as_str().unwrap().to_owned();
        (serving, text("thread_id"), text("run_id"))
    });
    model.until_requests(1).await;
    tokio::task::block_in_place(|| {
        project.say(&["result", &run]).refused(1, &["error[C028]", "running"]);
        assert_eq!(project.json(&["cancel", &run])["status"], "cancelled");
        assert_eq!(project.json(&["show", &thread])["status"], "idle");
        let queued = project.json(&["send", &thread, "again", "--detach"]);
        assert_eq!(queued["status"], "queued");
    });
    model.until_requests(2).await;
    tokio::task::block_in_place(|| {
        assert_eq!(project.json(&["stop", &thread])["status"], "idle");
        serving.kill();
    });
}

#[test]
fn what_a_killed_server_left_is_ignored() {
    let project = project();
    assert_eq!(project.say(&["run", "hello"]).code, Some(0));
    let serving = Serving::start(&project);
    serving.kill();
    assert!(project.path().join(".entourage/server.json").exists());
    assert_eq!(project.say(&["tail", &project.root(), "--last", "1"]).stdout, "assistant: I heard: hello\n");
}

#[test]
fn a_server_of_somebody_else_is_not_taken_for_ours() {
    let (project, other) = (project().in_folder(), self::project());
    let others = Serving::start(&other);
    let serving = Serving::start(&project);
    // As if the port had gone to somebody else while the store is in use.
    let document = elsewhere(&project, &others.address);
    let project = project.file(".entourage/server.json", &document);
    project.say(&["threads"]).refused(9, &["error[C015]"]);
    serving.kill();
    others.kill();
}

/// What our server has written, with another address.
fn elsewhere(project: &Project, address: &str) -> String {
    let mut document: Value = serde_json::from_str(&project.read(".entourage/server.json")).unwrap();
    document["address"] = json!(address);
    document.to_string()
}

#[test]
fn whoever_took_the_port_of_a_killed_server_is_not_told_the_token() {
    let project = project().in_folder();
    let serving = Serving::start(&project);
    let thief = TcpListener::bind("127.0.0.1:0").unwrap();
    let document = elsewhere(&project, &thief.local_addr().unwrap().to_string());
    let project = project.file(".entourage/server.json", &document);
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = thief.accept().unwrap();
        let mut heard = [0; 4096];
        let length = stream.read(&mut heard).unwrap();
        let body = json!({ "status": "ok", "proof": "0".repeat(64) }).to_string();
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut rest = String::new();
        _ = stream.read_to_string(&mut rest);
        format!("{}{rest}", String::from_utf8_lossy(&heard[..length]))
    });
    project.say(&["threads"]).refused(9, &["error[C015]"]);
    let heard = heard.join().unwrap();
    assert!(heard.contains("/healthz?nonce="), "{heard}");
    assert!(!heard.contains(&serving.token) && !heard.to_lowercase().contains("authorization"), "{heard}");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(project.path().join(".entourage/server.json")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    serving.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_followed_through_a_server_until_the_thread_ends() {
    let model = FakeModel::start(|request: &Request| Reply::text(format!("heard {}", request.last_text()))).await;
    let project = Project::new().with_model(&model);
    tokio::task::block_in_place(|| {
        let serving = Serving::start(&project);
        let (_, created) = serving.ask("POST", "/threads", &json!({ "agent": "lead", "message": "hello" }));
        let thread = created["thread_id"].as_str().unwrap();
        serving.settle(thread);
        let mut follower = project.start(&["tail", thread, "--follow", "--last", "1"]);
        let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert_eq!(lines.next().unwrap(), "assistant: heard hello");
        project.json(&["send", thread, "more"]);
        assert_eq!(lines.next().unwrap(), "user: more");
        assert_eq!(lines.next().unwrap(), "assistant: heard more");
        project.json(&["terminate", thread]);
        assert_eq!(lines.next(), None);
        assert_eq!(follower.wait().unwrap().code(), Some(0));
        serving.kill();
    });
}

#[test]
fn messages_are_followed_without_a_server_and_over_its_coming_and_going() {
    let project = project();
    assert_eq!(project.say(&["run", "hello"]).code, Some(0));
    let root = project.root();
    let mut follower = project.start(&["tail", &root, "--follow", "--json"]);
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut next = move || {
        let message: Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
        message["content"].as_str().unwrap().to_owned()
    };
    assert_eq!([next(), next()], ["hello", "I heard: hello"]);
    // The follower may be looking at this moment; it lets go at once.
    while project.say(&["send", &root, "more"]).code == Some(9) {}
    assert_eq!([next(), next()], ["more", "I heard: more"]);
    let serving = started(&project);
    project.json(&["send", &root, "served"]);
    assert_eq!([next(), next()], ["served", "I heard: served"]);
    signal(&serving.child, Signal::TERM);
    assert_eq!(ending(serving.child).code, Some(0));
    while project.say(&["terminate", &root]).code == Some(9) {}
    assert_eq!(follower.wait().unwrap().code(), Some(0));
    let mut rest = String::new();
    follower.stderr.take().unwrap().read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

/// A server, started again as long as somebody else looks at the store.
fn started(project: &Project) -> Serving {
    loop {
        let said = project.say(&["threads"]);
        if said.code == Some(0) {
            return Serving::start(project);
        }
    }
}
