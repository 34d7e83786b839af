//! `/mcp`, as a client of the protocol sees it.

use crate::stage::{Stage, TOKEN};
use entourage_model::{Agent, Limits, Source};
use entourage_testkit::cast::{pair, solo};
use entourage_testkit::{Reply, Request};
use rmcp::model::{CallToolRequestParams, JsonObject};
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Value, json};
use std::time::Duration;

type Client = RunningService<RoleClient, ()>;

/// An agent that can be started by its id.
fn helper() -> Agent {
    let source = Source { format: "agentscope".to_owned(), file: None };
    Agent { source, ..solo("helper", vec![]) }
}

fn echo(request: &Request) -> Reply {
    Reply::text(format!("heard {}", request.last_text())).after(Duration::from_millis(50))
}

async fn connect(stage: &Stage) -> Client {
    let uri = format!("http://{}/mcp", stage.address);
    let config = StreamableHttpClientTransportConfig::with_uri(uri).auth_header(TOKEN);
    ().serve(StreamableHttpClientTransport::from_config(config)).await.unwrap()
}

/// What the call was answered with, and whether that is an error.
async fn call(client: &Client, tool: &'static str, arguments: Value) -> (String, bool) {
    let arguments: JsonObject = arguments.as_object().cloned().unwrap();
    let result = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap();
    let said = serde_json::to_value(&result.content).unwrap();
    (said[0]["text"].as_str().unwrap().to_owned(), result.is_error == Some(true))
}

fn field<'t>(text: &'t str, name: &str) -> &'t str {
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    assert!(line.is_some(), "no line `{name}: ` in {text:?}");
    line.unwrap()
}

#[tokio::test]
async fn a_client_that_comes_back_reads_the_result_of_what_another_connection_began() {
    let stage = Stage::with(vec![helper()], echo, Limits::default()).await;
    let first = connect(&stage).await;
    let task = json!({"agent_id": "helper", "task": "count", "timeout_seconds": 0});
    let (spawned, is_error) = call(&first, "agent_spawn", task).await;
    assert!(!is_error && field(&spawned, "status") == "accepted", "{spawned}");
    first.cancel().await.unwrap();
    let second = connect(&stage).await;
    let (read, is_error) = call(&second, "task_output", json!({"task_id": field(&spawned, "task_id")})).await;
    assert!(!is_error && read.ends_with("Result:\nheard count"), "{read}");
    let more = json!({"agent_key": field(&spawned, "agent_key"), "message": "again"});
    let (sent, _) = call(&second, "agent_send", more).await;
    assert!(sent.ends_with("status: ok\nreply:\nheard again"), "{sent}");
}

#[tokio::test]
async fn a_call_that_waited_in_vain_is_found_again() {
    let stage = Stage::with(vec![helper()], echo, Limits::default()).await;
    let first = connect(&stage).await;
    let waiting =
        tokio::spawn(async move { call(&first, "agent_spawn", json!({"agent_id": "helper", "task": "count"})).await });
    stage.model.until_requests(1).await;
    waiting.abort();
    let second = connect(&stage).await;
    let task = loop {
        let (listed, _) = call(&second, "task_list", json!({"status_filter": "completed"})).await;
        if let Some(line) = listed.lines().find_map(|line| line.strip_prefix("- task_id: ")) {
            break line.split(' ').next().unwrap().to_owned();
        }
    };
    let (read, is_error) = call(&second, "task_output", json!({"task_id": task})).await;
    assert!(!is_error && read.ends_with("Result:\nheard count"), "{read}");
}

#[tokio::test]
async fn whoever_waits_for_a_result_has_been_given_it_and_is_told_where_it_will_be_if_the_server_ends() {
    let brain = |request: &Request| match request.last_text().as_str() {
        "slow" => Reply::hang(),
        _ => Reply::text("soon"),
    };
    let stage = Stage::with(vec![helper()], brain, Limits::default()).await;
    let client = connect(&stage).await;
    call(&client, "agent_spawn", json!({"agent_id": "helper", "task": "fast"})).await;
    assert_eq!(stage.get("/runs?unread=true").await.json()["runs"], json!([]));
    let slow = json!({"agent_id": "helper", "task": "slow"});
    let waiting = tokio::spawn(async move { call(&client, "agent_spawn", slow).await });
    stage.model.until_requests(2).await;
    let runs = stage.get("/runs?status=running").await.json();
    stage.runtime.shutdown().await;
    let (told, is_error) = waiting.await.unwrap();
    assert!(!is_error && field(&told, "status") == "timeout_promoted", "{told}");
    assert_eq!(field(&told, "task_id"), runs["runs"][0]["run_id"]);
}

#[tokio::test]
async fn clients_share_a_thread_and_their_calls_do_not_wait_for_each_other() {
    let brain = |request: &Request| match request.last_text().as_str() {
        "slow" => Reply::text("late").after(Duration::from_secs(60)),
        _ => Reply::text("soon"),
    };
    let stage = Stage::with(vec![helper()], brain, Limits::default()).await;
    let (one, other) = tokio::join!(connect(&stage), connect(&stage));
    let slow = json!({"agent_id": "helper", "task": "slow", "label": "snail", "timeout_seconds": 60});
    let waiting = tokio::spawn(async move { call(&one, "agent_spawn", slow).await });
    let listed = async {
        loop {
            let (listed, _) = call(&other, "agent_list", json!({})).await;
            if listed.contains("label: snail") {
                break;
            }
        }
    };
    listed.await;
    let (quick, _) = call(&other, "agent_spawn", json!({"agent_id": "helper", "task": "quick"})).await;
    assert!(quick.ends_with("reply:\nsoon"), "{quick}");
    assert!(!waiting.is_finished());
    let threads = stage.get("/threads?tag=mcp").await.json();
    assert_eq!(threads["threads"].as_array().unwrap().len(), 1, "{threads}");
    waiting.abort();
}

#[tokio::test]
async fn a_thread_that_has_had_all_its_subagents_is_followed_by_another() {
    let brain = |request: &Request| match request.last_text().as_str() {
        "slow" => Reply::text("late").after(Duration::from_millis(500)),
        _ => echo(request),
    };
    let stage = Stage::with(vec![helper()], brain, Limits { children_total: 2, ..Limits::default() }).await;
    let client = connect(&stage).await;
    let spawn = async |task: &str, seconds: u32| {
        let task = json!({"agent_id": "helper", "task": task, "timeout_seconds": seconds});
        call(&client, "agent_spawn", task).await
    };
    let (first, _) = spawn("one", 20).await;
    let (slow, _) = spawn("slow", 0).await;
    let (full, is_error) = spawn("three", 20).await;
    assert!(is_error && full.contains("subagent_limit_reached"), "one is at work still: {full}");
    let (read, _) = call(&client, "task_output", json!({"task_id": field(&slow, "task_id")})).await;
    assert!(read.ends_with("late"), "{read}");
    let (listed, _) = call(&client, "agent_list", json!({})).await;
    assert!(listed.contains(field(&first, "agent_key")), "looking makes no new thread: {listed}");
    for task in ["three", "four", "five"] {
        let (spawned, is_error) = spawn(task, 20).await;
        assert!(!is_error && spawned.ends_with(&format!("heard {task}")), "{spawned}");
    }
    let more = json!({"agent_key": field(&first, "agent_key"), "message": "again"});
    let (sent, _) = call(&client, "agent_send", more).await;
    assert!(sent.ends_with("heard again"), "{sent}");
    let threads = stage.get("/threads?tag=mcp").await.json();
    assert_eq!(threads["threads"].as_array().unwrap().len(), 3, "{threads}");
}

#[tokio::test]
async fn the_tools_are_those_for_subagents_and_one_for_every_exposed_agent() {
    let exposed = Agent { expose_as_tool: true, ..pair("pair") };
    let stage = Stage::with(vec![helper(), exposed, pair("hidden")], echo, Limits::default()).await;
    let tools = connect(&stage).await.list_all_tools().await.unwrap();
    let mut names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    names.sort_unstable();
    let all = ["agent_list", "agent_send", "agent_spawn", "pair", "task_cancel", "task_list", "task_output"];
    assert_eq!(names, all);
    let spawn = tools.iter().find(|tool| tool.name == "agent_spawn").unwrap();
    assert!(spawn.description.as_ref().unwrap().contains("\n- helper: "), "{spawn:?}");
}

#[tokio::test]
async fn what_cannot_be_done_is_told_as_an_error_that_a_model_can_read() {
    let stage = Stage::with(vec![helper()], echo, Limits::default()).await;
    let client = connect(&stage).await;
    let cases = [
        ("agent_spawn", json!({"agent_id": "nobody", "task": "x"}), "unknown agent_id `nobody`"),
        ("agent_send", json!({"agent_key": "agent:helper:none", "message": "x"}), "unknown agent_key"),
        ("task_cancel", json!({"task_id": "none"}), "unknown task_id"),
    ];
    for (tool, arguments, says) in cases {
        let (text, is_error) = call(&client, tool, arguments).await;
        assert!(is_error && text.contains(says), "{tool}: {text}");
    }
    let refused = client.call_tool(CallToolRequestParams::new("read_file")).await;
    assert!(refused.is_err(), "a tool that is not offered was called: {refused:?}");
}

#[tokio::test]
async fn nobody_comes_in_without_the_token_or_from_another_page() {
    let stage = Stage::with(vec![helper()], echo, Limits::default()).await;
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let request = |builder: hyper::http::request::Builder| {
        let builder = builder.header("content-type", "application/json");
        let builder = builder.header("accept", "application/json, text/event-stream");
        builder.body(http_body_util::Full::new(hello.clone().into())).unwrap()
    };
    let bare = hyper::Request::builder().method("POST").uri("/mcp").header("host", stage.address.to_string());
    stage.send(request(bare)).await.refused(401);
    let foreign = stage.request("POST", "/mcp").header("origin", "http://evil.example");
    stage.send(request(foreign)).await.refused(403);
    assert_eq!(stage.send(request(stage.request("POST", "/mcp"))).await.status, 200);
}

#[tokio::test]
async fn what_is_no_message_of_the_protocol_is_refused_in_its_own_way() {
    let stage = Stage::with(vec![helper()], echo, Limits::default()).await;
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        ("7", -32600),
    ] {
        let request = stage.request("POST", "/mcp").header("content-type", "application/json");
        let request = request.header("accept", "application/json, text/event-stream");
        let answer = stage.send(request.body(http_body_util::Full::new(body.into())).unwrap()).await;
        let said = answer.json();
        assert_eq!((answer.status, &said["error"]["code"], &said["id"]), (400, &json!(code), &Value::Null), "{body}");
    }
}

#[tokio::test]
async fn a_client_that_wants_to_know_is_told_that_its_call_is_at_work() {
    let brain = |_: &Request| Reply::text("done").after(Duration::from_millis(1500));
    let stage = Stage::with(vec![helper()], brain, Limits::default()).await;
    let arguments = json!({"agent_id": "helper", "task": "count"});
    let said = async |meta: Value| {
        let parameters = json!({"name": "agent_spawn", "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters}).to_string();
        let request = stage.request("POST", "/mcp").header("content-type", "application/json");
        let request = request.header("accept", "application/json, text/event-stream");
        let answer = stage.send(request.body(http_body_util::Full::new(body.into())).unwrap()).await;
        String::from_utf8(answer.body.to_vec()).unwrap()
    };
    let (told, untold) = tokio::join!(said(json!({"progressToken": "t1"})), said(json!({})));
    let place = |text: &str| told.find(text);
    assert!(place("notifications/progress").is_some() && place("\"t1\"").is_some(), "{told}");
    assert!(place("notifications/progress") < place("reply:\\ndone"), "{told}");
    assert!(!untold.contains("notifications/progress") && untold.contains("reply:\\ndone"), "{untold}");
}
