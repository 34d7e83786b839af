//! The server: started, used over its socket, killed, started again.

use crate::project::{Project, ending, signal};
use entourage_testkit::{FakeModel, Reply, Request};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;

const ADDRESS: &str = "127.0.0.1:0";

pub(crate) struct Serving {
    pub(crate) child: Child,
    /// With the port that it took.
    pub(crate) address: String,
    pub(crate) token: String,
    /// Of the printed link.
    code: String,
}

impl Serving {
    pub(crate) fn start(project: &Project) -> Self {
        Self::start_with(project, &[])
    }

    /// With these options beside.
    pub(crate) fn start_with(project: &Project, options: &[&str]) -> Self {
        let mut child = project.start(&[&["serve", "--listen", ADDRESS], options].concat());
        let mut link = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut link).unwrap();
        let parts = link.trim().strip_prefix("http://").and_then(|rest| rest.split_once("/?code="));
        let (address, code) = parts.unwrap_or_else(|| unreachable!("no link: {link:?}"));
        let (address, code) = (address.to_owned(), code.to_owned());
        let token = project.read(".entourage/token").trim().to_owned();
        assert!(!link.contains(&token));
        Self { child, address, token, code }
    }

    fn request(&self, method: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (address, token, length) = (&self.address, &self.token, body.len());
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        stream
    }

    /// The status and the document.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut answer = String::new();
        self.request(method, path, &body).read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), serde_json::from_str(body).unwrap_or(Value::Null))
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, document) = self.ask("GET", path, &Value::Null);
        assert_eq!(status, 200, "{document}");
        document
    }

    pub(crate) fn settle(&self, thread: &str) -> Value {
        self.get(&format!("/threads/{thread}/wait?timeout_seconds=40"))
    }

    fn texts(&self, thread: &str) -> Vec<String> {
        let document = self.get(&format!("/threads/{thread}/messages"));
        let messages = document["messages"].as_array().unwrap();
        messages.iter().map(|message| message["content"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn kill(self) {
        signal(&self.child, Signal::KILL);
        ending(self.child);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_goes_on_where_it_was() {
    let model = FakeModel::start(|request: &Request| match request.last_text().as_str() {
        "slow" => Reply::hang(),
        text => Reply::text(format!("heard {text}")),
    })
    .await;
    let project = Project::new().with_model(&model);
    let (thread, serving) = tokio::task::block_in_place(|| {
        let serving = Serving::start(&project);
        let body = json!({ "agent": "lead", "message": "hello" });
        let (status, created) = serving.ask("POST", "/threads", &body);
        assert_eq!(status, 201, "{created}");
        let thread = created["thread_id"].as_str().unwrap().to_owned();
        assert_eq!(serving.settle(&thread)["status"], "idle");
        let slow = json!({ "content": "slow" });
        let (status, queued) = serving.ask("POST", &format!("/threads/{thread}/messages"), &slow);
        assert_eq!(status, 202, "{queued}");
        (thread, serving)
    });
    model.until_requests(2).await;
    tokio::task::block_in_place(|| serving.kill());
    let model = FakeModel::start(|request: &Request| Reply::text(format!("now {}", request.last_text()))).await;
    let project = project.with_model(&model);
    tokio::task::block_in_place(|| {
        let serving = Serving::start(&project);
        assert_eq!(serving.settle(&thread)["status"], "idle");
        assert_eq!(serving.texts(&thread), ["hello", "heard hello", "slow", "now slow"]);
        let mut events = BufReader::new(serving.request("GET", &format!("/threads/{thread}/events"), ""));
        let mut line = String::new();
        while !line.contains("now slow") {
            line.clear();
            assert_ne!(events.read_line(&mut line).unwrap(), 0, "the stream ended early");
        }
        signal(&serving.child, Signal::TERM);
        let mut rest = String::new();
        events.read_to_string(&mut rest).unwrap();
        let said = ending(serving.child);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(!project.path().join(".entourage/server.json").exists());
        assert_eq!(project.json(&["show", &thread])["status"], "idle");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_for_a_broken_agent_is_told_what_is_wrong_with_it() {
    let model = FakeModel::start(Reply::text("ok")).await;
    let project = Project::new()
        .with_model(&model)
        .file("subagents/alpha.md", "---\ndescription: [\n---\nA")
        .file("agents/agents/beta.json", r#"{ "name": "beta", "sideA": { "prompt": "gone" } }"#);
    tokio::task::block_in_place(|| {
        let serving = Serving::start(&project);
        let refused = |agent: &str| {
            let (status, document) = serving.ask("POST", "/threads", &json!({ "agent": agent, "message": "x" }));
            assert_eq!((status, &document["error"]["code"]), (404, &json!("unknown_agent")), "{document}");
            document["error"]["message"].as_str().unwrap().to_owned()
        };
        let faulty = "its declaration has faults, of which the first is";
        let alpha = refused("alpha");
        let expected = format!("there is no agent `alpha`: {faulty} D114 at subagents/alpha.md:2:");
        assert!(alpha.starts_with(&expected), "{alpha}");
        let beta = refused("beta");
        assert!(
            beta.starts_with(&format!("there is no agent `beta`: {faulty} D012 at agents/agents/beta.json:1:")),
            "{beta}"
        );
        assert_eq!(refused("gamma"), "there is no agent `gamma`");
        serving.kill();
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_never_answers_does_not_keep_a_server() {
    let model = FakeModel::start(Reply::hang()).await;
    let project = Project::new().with_model(&model);
    let serving = tokio::task::block_in_place(|| {
        let serving = Serving::start(&project);
        assert_eq!(serving.ask("POST", "/threads", &json!({ "agent": "lead", "message": "hello" })).0, 201);
        serving
    });
    model.until_requests(1).await;
    tokio::task::block_in_place(|| {
        signal(&serving.child, Signal::TERM);
        let said = ending(serving.child);
        assert_eq!(said.code, Some(0), "{said:?}");
    });
}

#[test]
fn a_data_folder_has_one_server() {
    let project = Project::with_echo().in_folder();
    let serving = Serving::start(&project);
    let address: Value = serde_json::from_str(&project.read(".entourage/server.json")).unwrap();
    assert_eq!(address["address"], json!(serving.address));
    let hint = format!("hint: the server at http://{} works on it", serving.address);
    for command in [&["serve", "--listen", ADDRESS][..], &["run", "hello"], &["resume"]] {
        let arguments = [&["--model", "script:script.json"], command].concat();
        project.say(&arguments).refused(9, &["error[C015]", &hint, "`--data DIR`"]);
    }
    assert_eq!(serving.get("/threads"), json!({ "threads": [] }));
    serving.kill();
    let again = Serving::start(&project);
    assert_eq!(again.get("/healthz"), json!({ "status": "ok" }));
    again.kill();
}

#[test]
fn a_public_address_needs_a_token_that_was_there_before() {
    let project = Project::with_echo();
    for _ in 0..2 {
        project.say(&["serve", "--listen", "0.0.0.0:0"]).refused(1, &["error[C036]", "hint: "]);
    }
    let project = project.file(".entourage/token", "\n");
    project.say(&["serve", "--listen", "0.0.0.0:0"]).refused(2, &["error[C038]"]);
    let project = project.file(".entourage/token", "chosen\n");
    let mut child = project.start(&["serve", "--listen", "0.0.0.0:0"]);
    let mut link = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut link).unwrap();
    assert!(link.starts_with("http://0.0.0.0:"), "{link}");
    let (address, code) = link.trim().strip_prefix("http://").unwrap().split_once("/?code=").unwrap();
    let (address, code, token) = (address.to_owned(), code.to_owned(), "chosen".to_owned());
    let server = Serving { child, address, token, code };
    assert_eq!(server.ask("GET", "/threads", &Value::Null).0, 200, "{link} leads nowhere");
    signal(&server.child, Signal::TERM);
    let ended = ending(server.child);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.contains("warning[C059]"), "{}", ended.stderr);
}

#[test]
fn this_machine_may_be_called_by_its_name() {
    let project = Project::with_echo();
    let mut child = project.start(&["serve", "--listen", "localhost:0"]);
    let mut link = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut link).unwrap();
    assert!(link.starts_with("http://127.0.0.1:"), "{link}");
    signal(&child, Signal::TERM);
    assert_eq!(ending(child).code, Some(0));
    for wrong in ["localhost", "localhost:", "localhost:x", "elsewhere.example:7717", ":7717", "127.0.0.1"] {
        project.say(&["serve", "--listen", wrong]).refused(1, &["no address with a port", "`localhost:7717`"]);
    }
}

#[test]
fn the_token_is_the_owners_and_stays_the_same() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::with_echo();
    let first = Serving::start(&project);
    let mode = std::fs::metadata(project.path().join(".entourage/token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(first.token.len() >= 32);
    let token = first.token.clone();
    first.kill();
    let second = Serving::start(&project);
    assert_eq!(second.token, token);
    second.kill();
}

#[test]
fn an_address_that_is_taken_is_a_network_fault() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    Project::with_echo().say(&["serve", "--listen", &address]).refused(3, &["error[C037]", &address]);
}

/// What the boss and its child are, and which variable the child cannot start without. The child's tool says it aloud.
const KEEN: [(&str, &str); 5] = [
    (
        "agents/tools/peek.ts",
        "export default { description: 'd', args: null, execute(state: any) { console.log('peeked', state.env('TOKEN')); return state.env('TOKEN'); } };",
    ),
    ("agents/agents/boss.json", r#"{ "name": "boss", "sideA": { "prompt": "boss" } }"#),
    (
        "agents/agents/keen.json",
        r#"{ "name": "keen", "type": "dual_ai", "maxSessionTurns": 1, "sideA": { "prompt": "keen" }, "sideB": { "prompt": "keen" } }"#,
    ),
    (
        "agents/prompts/boss.json",
        r#"{ "name": "boss", "prompt": "[[boss]]", "model": "openai:fake", "tools": [{ "name": "keen" }] }"#,
    ),
    (
        "agents/prompts/keen.json",
        r#"{ "name": "keen", "prompt": "[[keen]]", "model": "openai:fake", "tools": ["peek"],
             "variables": [{ "name": "TOKEN", "required": true, "scoped": true }] }"#,
    ),
];

/// Nothing in the data folder (the store as it lies on the disk, what was packed), no line of the log, no answer and no
/// request to a model has the value in clear; the child has it after a kill.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_given_to_a_child_lies_nowhere_in_clear() {
    const CANARY: &str = "canary-90717";
    let model = FakeModel::start(|request: &Request| match request.system().contains("[[boss]]") {
        true if request.tool_results().is_empty() => Reply::call("keen", json!({ "message": "help" })),
        true => Reply::text("I see"),
        false if request.tool_results().is_empty() => Reply::call("peek", json!({})),
        false => Reply::text("helped"),
    })
    .await;
    let project = KEEN.into_iter().fold(Project::new().with_model(&model), |p, (path, text)| p.file(path, text));
    tokio::task::block_in_place(|| {
        let serving = Serving::start(&project);
        let (_, created) = serving.ask("POST", "/threads", &json!({ "agent": "boss", "message": "go" }));
        let thread = created["thread_id"].as_str().unwrap().to_owned();
        serving.settle(&thread);
        let refusal = serving.texts(&thread).into_iter().find(|text| text.contains("subagent_env_required")).unwrap();
        let refusal: Value = serde_json::from_str(&refusal).unwrap();
        let path = refusal["error"]["endpoint"].as_str().unwrap().to_owned();
        serving.kill();
        let serving = Serving::start_with(&project, &["--log", "trace"]);
        let (status, booted) = serving.ask("POST", &path, &json!({ "env": { "TOKEN": CANARY } }));
        assert_eq!((status, &booted["status"]), (200, &json!("success")), "{booted}");
        let child = booted["child_thread_id"].as_str().unwrap().to_owned();
        assert_eq!(serving.settle(&child)["status"], "done");
        for path in ["/threads", "/runs", "/agents", "/agents/keen", "/metrics", &path] {
            let (_, answer) = serving.ask("GET", path, &json!({}));
            assert!(!answer.to_string().contains(CANARY), "{path}: {answer}");
        }
        signal(&serving.child, Signal::TERM);
        let said = ending(serving.child);
        assert!(said.stderr.contains("peeked [the secret TOKEN]"), "{said:?}");
        assert!(!said.stderr.contains(CANARY) && !said.stdout.contains(CANARY), "{said:?}");
        project.json(&["build"]);
        let mut looked_at = 0;
        for (path, bytes) in project.kept(".entourage") {
            looked_at += 1;
            let found = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
            assert!(!found, "it is in {}", path.display());
        }
        assert!(looked_at > 4, "the store, the key, the token and the artifact are files");
    });
    let asked = model.requests();
    assert!(asked.iter().any(|request| request.system().contains("[[keen]]")));
    assert!(asked.iter().all(|request| !request.body().to_string().contains(CANARY)));
}

#[test]
fn the_printed_link_opens_the_page_once() {
    let project = Project::with_echo();
    let serving = Serving::start(&project);
    let given = json!({ "code": serving.code });
    assert_eq!(serving.ask("POST", "/session", &given), (200, json!({ "token": serving.token })));
    assert_eq!(serving.ask("POST", "/session", &given).0, 401);
    serving.kill();
}

#[test]
fn a_token_file_may_hold_tokens_of_users() {
    let project = Project::with_echo()
        .in_folder()
        .file("entourage.toml", "model = \"script:script.json\"\n")
        .file(".entourage/token", "alice-alice-alice user=alice\n0123456789abcdef\n");
    let mut serving = Serving::start(&project);
    serving.token = "alice-alice-alice".to_owned();
    let (status, created) = serving.ask("POST", "/threads", &json!({ "agent": "lead", "message": "hello" }));
    assert_eq!(status, 201, "{created}");
    let thread = created["thread_id"].as_str().unwrap();
    assert_eq!(serving.settle(thread)["user_id"], "alice");
    assert_eq!(project.json(&["show", thread])["user_id"], "alice");
    serving.kill();
    let project = project.file(".entourage/token", "alice-alice-alice user=alice\n");
    let mut child = project.start(&["serve", "--listen", ADDRESS]);
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    project.say(&["threads"]).refused(9, &["error[C015]", "has no token of the owner"]);
    signal(&child, Signal::TERM);
    ending(child);
    let project = project.file(".entourage/token", "0123456789abcdef scopes=everything\n");
    project.say(&["serve", "--listen", ADDRESS]).refused(2, &["error[C038]", "line 1"]);
}
