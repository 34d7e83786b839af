//! What the models say. It depends on the conversation alone, so that a repeated call says the same.

use entourage_testkit::cast::mark;
use entourage_testkit::{Reply, Request};
use serde_json::{Value, json};

pub(super) fn reply(request: &Request) -> Reply {
    let system = request.system();
    let is = |name: &str| system.contains(&mark(name));
    if is("boss") {
        boss(request, &is)
    } else if is("worker_a") {
        worker(request)
    } else if is("sleeper") {
        Reply::hang()
    } else if is("worker_b") {
        Reply::text("better")
    } else if is("noter") && request.tool_results().is_empty() {
        Reply::call("note", json!({ "text": "once" }))
    } else {
        Reply::text("done")
    }
}

fn boss(request: &Request, is: &dyn Fn(&str) -> bool) -> Reply {
    let results = request.tool_results();
    let news = request.texts("user").iter().filter(|text| text.starts_with("Subagent (")).count();
    let ready = news > 0 && news == results.len();
    let create = || Reply::call("subagent_create", json!({ "agent": "worker", "message": "one", "name": "Ann" }));
    match results.len() {
        0 if is("blocking") || is("background") => Reply::call("worker", json!({ "message": "job" })),
        0 if is("resumable") || is("resumable-background") || is("variables") => create(),
        0 if is("handoff") => Reply::call("clerk", json!({})),
        0 if is("attachments") => Reply::call("worker", json!({ "message": "job", "papers": ["/in/a.txt"] })),
        0 if is("cancelled") || is("terminated") => Reply::call("sleeper", json!({ "message": "job" })),
        0 if is("effects") => Reply::call("noter", json!({ "message": "job" })),
        1 if is("resumable") || (is("resumable-background") && ready) => {
            let reference = results[0].text.rsplit(' ').next().unwrap_or_default();
            Reply::call("subagent_message", json!({ "referenceId": reference, "message": "two" }))
        }
        _ => Reply::text("I see"),
    }
}

/// A draft, then what the other side said of it, then the result; anew for each message.
fn worker(request: &Request) -> Reply {
    if request.last_text() != "better" {
        return Reply::text("draft");
    }
    if offers(request.body(), "find_files") {
        let papers = request
            .texts("user")
            .iter()
            .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            .find(|line| line.starts_with('/'));
        let path = papers.unwrap_or_default();
        return Reply::call("find_files", json!({ "pattern": path.trim_start_matches('/') }));
    }
    Reply::call("read_file", json!({ "path": "note.txt" }))
}

fn offers(body: &Value, tool: &str) -> bool {
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().any(|offered| offered["function"]["name"] == tool)
}
