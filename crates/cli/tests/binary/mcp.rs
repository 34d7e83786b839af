//! `entourage mcp`: a client on standard input and output, killed and coming back, alone and beside others.

use crate::project::{Project, ending, signal};
use crate::registry;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A client of the protocol, a line each way.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    fn start(project: &Project) -> Self {
        Self::start_with(project, &json!({}))
    }

    /// The client says of itself that it can do this.
    fn start_with(project: &Project, capabilities: &Value) -> Self {
        Self::of(project.command(&["mcp", "--model", "script:script.json"]), capabilities)
    }

    fn of(mut command: Command, capabilities: &Value) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Self { child, input, output, id: 0 };
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let greeted = client.ask("initialize", &hello);
        assert_eq!(greeted["serverInfo"]["name"], "entourage", "{greeted}");
        client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn write(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        let mut answer = self.answer(method, parameters);
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].take()
    }

    /// The whole answer, which may be an error.
    fn answer(&mut self, method: &str, parameters: &Value) -> Value {
        self.id += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": parameters }));
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the server ended before it answered");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == self.id {
                return message;
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        assert_eq!(result["isError"], false, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    fn spawn(&mut self, task: &str, seconds: u64) -> String {
        let arguments = json!({ "agent_id": "general-purpose", "task": task, "timeout_seconds": seconds });
        self.call("agent_spawn", &arguments)
    }

    /// It goes, and the process ends well by itself.
    fn leave(self) {
        drop(self.input);
        let said = ending(self.child);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
    }
}

fn field(text: &str, name: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    assert!(line.is_some(), "no line `{name}: ` in {text:?}");
    line.unwrap().to_owned()
}

#[test]
fn what_a_killed_client_began_is_read_by_the_next_one() {
    let project = Project::with_echo();
    let mut first = Client::start(&project);
    let spawned = first.spawn("count", 0);
    signal(&first.child, Signal::KILL);
    first.child.wait().unwrap();
    let mut second = Client::start(&project);
    let read = second.call("task_output", &json!({ "task_id": field(&spawned, "task_id") }));
    assert!(read.contains("I heard: ") && read.contains("count"), "{read}");
    second.leave();
}

#[test]
fn clients_of_one_folder_work_on_one_thread_whichever_process_holds_it() {
    let project = Project::with_echo();
    let mut holder = Client::start(&project);
    let spawned = holder.spawn("count", 30);
    let mut guest = Client::start(&project);
    let listed = guest.call("agent_list", &json!({}));
    assert!(listed.contains(&field(&spawned, "agent_key")), "{listed}");
    let sent = guest.call("agent_send", &json!({ "agent_key": field(&spawned, "agent_key"), "message": "again" }));
    assert!(sent.contains("status: ok") && sent.contains("again"), "{sent}");
    guest.leave();
    holder.leave();
    // The only root.
    project.root();
}

#[test]
fn whoever_is_left_takes_the_folder_over_when_its_holder_goes() {
    let project = Project::with_echo();
    let mut holder = Client::start(&project);
    let mut guest = Client::start(&project);
    let spawned = holder.spawn("count", 0);
    holder.leave();
    let task = json!({ "name": "task_output", "arguments": { "task_id": field(&spawned, "task_id") } });
    let lost = guest.answer("tools/call", &task);
    assert!(lost["error"]["message"].as_str().is_some_and(|text| text.contains("has gone")), "{lost}");
    let read = guest.call("task_output", &task["arguments"]);
    assert!(read.contains("I heard: "), "{read}");
    guest.leave();
}

const SLOW: &str = r#"{ "rules": [
  { "contains": "endless", "reply": { "text": "never", "delay_ms": 600000 } },
  { "reply": { "text": "heard {{last}}", "delay_ms": 2000 } }
] }"#;

/// A client that knows tasks, behind another one that holds the folder.
fn guest_with_tasks(project: &Project) -> (Client, Client) {
    let holder = Client::start(project);
    let guest = Client::start_with(project, &json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
    (holder, guest)
}

fn order(task: &str) -> Value {
    json!({ "name": "agent_spawn", "arguments": { "agent_id": "general-purpose", "task": task } })
}

#[test]
fn a_long_call_is_a_task_whoever_holds_the_folder() {
    let project = Project::new().file("script.json", SLOW);
    let (holder, mut guest) = guest_with_tasks(&project);
    let begun = guest.ask("tools/call", &order("count"));
    assert_eq!(begun["resultType"], "task", "{begun}");
    let id = json!({ "taskId": begun["taskId"] });
    let ended = loop {
        let seen = guest.ask("tasks/get", &id);
        if seen["status"] != "working" {
            break seen;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    assert_eq!(ended["status"], "completed", "{ended}");
    assert!(ended["result"]["content"][0]["text"].as_str().unwrap().contains("count"), "{ended}");
    let unknown = guest.answer("tasks/get", &json!({ "taskId": "task_none" }));
    assert!(unknown["error"]["message"].as_str().is_some_and(|text| text.contains("task_none")), "{unknown}");
    guest.leave();
    holder.leave();
}

#[test]
fn a_task_is_cancelled_and_a_call_taken_back_whoever_holds_the_folder() {
    let project = Project::new().file("script.json", SLOW);
    let (holder, mut guest) = guest_with_tasks(&project);
    let begun = guest.ask("tools/call", &order("endless"));
    let id = json!({ "taskId": begun["taskId"] });
    guest.ask("tasks/cancel", &id);
    assert_eq!(guest.ask("tasks/get", &id)["status"], "cancelled");
    // Whoever says how long it waits is given no task, and can take the call back.
    let mut waiting = order("endless");
    waiting["arguments"]["timeout_seconds"] = json!(600);
    guest.write(&json!({ "jsonrpc": "2.0", "id": 1000, "method": "tools/call", "params": waiting }));
    let is_running = || {
        let runs = project.json(&["runs"]);
        runs["runs"].as_array().unwrap().iter().any(|run| run["status"] == "running")
    };
    while !is_running() {
        std::thread::yield_now();
    }
    let taken_back = json!({ "requestId": 1000 });
    guest.write(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": taken_back }));
    while is_running() {
        std::thread::yield_now();
    }
    guest.leave();
    holder.leave();
}

#[test]
fn what_is_no_client_is_told_so() {
    let said = Project::with_echo().say(&["mcp"]);
    assert_eq!(said.code, Some(1));
    assert!(said.stdout.is_empty() && said.stderr.contains("C048"), "{}", said.stderr);
}

#[test]
fn the_agents_of_a_bundle_are_offered_too() {
    let author = registry::project();
    let bundle = format!("oci:{}@{}", author.path().join(".entourage/oci").display(), registry::build(&author));
    let here = Project::with_echo();
    let command = here.command(&["--project", &bundle, "--model", "script:script.json", "mcp"]);
    let mut client = Client::of(command, &json!({}));
    let tools = client.ask("tools/list", &json!({}));
    let spawn = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "agent_spawn").unwrap();
    assert!(spawn["description"].as_str().unwrap().contains("reviewer"), "{spawn}");
    client.leave();
}
