//! `entourage mcp`: a client on standard input and output, killed and coming back, alone and beside others.

use crate::project::{Project, ending, signal};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A client of the protocol, a line each way.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    fn start(project: &Project) -> Self {
        let mut command = project.command(&["mcp", "--model", "script:script.json"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Self { child, input, output, id: 0 };
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
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

#[test]
fn what_is_no_client_is_told_so() {
    let said = Project::with_echo().say(&["mcp"]);
    assert_eq!(said.code, Some(1));
    assert!(said.stdout.is_empty() && said.stderr.contains("C048"), "{}", said.stderr);
}
