//! `/mcp`: clients of several users, calls that are taken back, and tasks.

use crate::stage::{ALICE, BOB, Stage, TOKEN};
use entourage_model::{Agent, Limits, Source};
use entourage_testkit::cast::{pair, solo};
use entourage_testkit::{Reply, Request};
use http_body_util::Full;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities, ClientConfig, GetTaskParams,
    Implementation, ProtocolVersion, TaskPayload, TaskStatus,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Value, json};
use std::time::Duration;

fn helper() -> Agent {
    let source = Source { format: "agentscope".to_owned(), file: None };
    Agent { source, ..solo("helper", vec![]) }
}

/// Takes longer than anybody waits when it is asked for `slow`.
fn brain(request: &Request) -> Reply {
    match request.last_text().as_str() {
        "slow" => Reply::text("late").after(Duration::from_secs(60)),
        "longer" => Reply::text("done").after(Duration::from_millis(1500)),
        other => Reply::text(format!("heard {other}")),
    }
}

async fn stage() -> Stage {
    Stage::with(vec![helper(), Agent { expose_as_tool: true, ..pair("pair") }], brain, Limits::default()).await
}

fn transport(stage: &Stage, token: &str) -> impl rmcp::transport::Transport<RoleClient> + use<> {
    let config = StreamableHttpClientTransportConfig::with_uri(format!("http://{}/mcp", stage.address));
    StreamableHttpClientTransport::from_config(config.auth_header(token))
}

fn order(tool: &'static str, arguments: &Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(arguments.as_object().cloned().unwrap())
}

async fn call(client: &RunningService<RoleClient, ()>, tool: &'static str, arguments: Value) -> (String, bool) {
    let result = client.call_tool(order(tool, &arguments)).await.unwrap();
    let said = serde_json::to_value(&result.content).unwrap();
    (said[0]["text"].as_str().unwrap().to_owned(), result.is_error == Some(true))
}

fn task_id(text: &str) -> String {
    text.lines().find_map(|line| line.strip_prefix("task_id: ")).unwrap().to_owned()
}

/// The only run there is, once it is in this state.
async fn until_run(stage: &Stage, status: &str) -> Value {
    loop {
        let runs = stage.get("/runs").await.json();
        if let Some(run) = runs["runs"].as_array().unwrap().iter().find(|run| run["status"] == status) {
            return run.clone();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn clients_share_a_root_with_those_of_their_user_and_nobody_else() {
    let stage = stage().await;
    let (alice, again, bob) = tokio::join!(
        ().serve(transport(&stage, ALICE)),
        ().serve(transport(&stage, ALICE)),
        ().serve(transport(&stage, BOB)),
    );
    let (alice, again, bob) = (alice.unwrap(), again.unwrap(), bob.unwrap());
    let (spawned, _) =
        call(&alice, "agent_spawn", json!({"agent_id": "helper", "task": "x", "timeout_seconds": 0})).await;
    let task = json!({"task_id": task_id(&spawned), "timeout": 20_000});
    let (read, is_error) = call(&again, "task_output", task.clone()).await;
    assert!(!is_error && read.contains("heard x"), "{read}");
    let (read, is_error) = call(&bob, "task_output", task).await;
    assert!(is_error && read.contains("unknown task_id"), "{read}");
    let (listed, _) = call(&bob, "agent_list", json!({})).await;
    assert!(!listed.contains("agent_key"), "{listed}");
    let threads = stage.get("/threads?tag=mcp").await.json();
    let mut users: Vec<_> = threads["threads"].as_array().unwrap().iter().map(|row| row["user_id"].clone()).collect();
    users.sort_by_key(ToString::to_string);
    assert_eq!(users, [json!("alice"), json!("bob")]);
}

#[tokio::test]
async fn a_call_that_is_taken_back_ends_the_run_that_it_began() {
    let stage = stage().await;
    let client = ().serve(transport(&stage, TOKEN)).await.unwrap();
    let peer = client.peer().clone();
    let slow = json!({"agent_id": "helper", "task": "slow", "timeout_seconds": 60});
    let waiting = tokio::spawn(async move { peer.call_tool_once(order("agent_spawn", &slow)).await });
    until_run(&stage, "running").await;
    waiting.abort();
    let run = until_run(&stage, "cancelled").await;
    assert_eq!(run["agent"], "helper");
}

/// A message of a client that says nothing of itself.
async fn post(stage: &Stage, message: &Value) -> u16 {
    let request = stage.request("POST", "/mcp").header("content-type", "application/json");
    let request = request.header("accept", "application/json, text/event-stream");
    stage.send(request.body(Full::new(message.to_string().into())).unwrap()).await.status
}

#[tokio::test]
async fn taking_back_works_without_a_name_and_only_for_that_number() {
    let stage = stage().await;
    let arguments = json!({"agent_id": "helper", "task": "slow", "timeout_seconds": 60});
    let called = json!({
        "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "agent_spawn", "arguments": arguments},
    });
    let cancelled =
        |id: u64| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    let taken_back = async {
        until_run(&stage, "running").await;
        assert_eq!(post(&stage, &cancelled(8)).await, 202);
        assert_eq!(until_run(&stage, "running").await["status"], "running");
        assert_eq!(post(&stage, &cancelled(7)).await, 202);
        until_run(&stage, "cancelled").await;
    };
    tokio::join!(post(&stage, &called), taken_back);
}

/// A client that knows tasks.
async fn modern(stage: &Stage) -> RunningService<RoleClient, ClientConfig> {
    let capabilities = ClientCapabilities::builder().enable_tasks().build();
    let config = ClientConfig::new(capabilities, Implementation::new("test", "1"));
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    config.serve_with_lifecycle(transport(stage, TOKEN), lifecycle).await.unwrap()
}

#[tokio::test]
async fn a_long_call_is_a_task_for_whoever_knows_tasks() {
    let stage = stage().await;
    let client = modern(&stage).await;
    let longer = json!({"agent_id": "helper", "task": "longer"});
    let CallToolResponse::Task(created) = client.call_tool_once(order("agent_spawn", &longer)).await.unwrap() else {
        panic!("no task was made")
    };
    assert_eq!(created.task.status, TaskStatus::Working);
    client.cancel().await.unwrap();
    let again = modern(&stage).await;
    let id = created.task.task_id;
    let result = loop {
        match again.get_task(GetTaskParams::new(id.clone())).await.unwrap().task.payload {
            TaskPayload::Completed { result } => break result,
            TaskPayload::Working => tokio::task::yield_now().await,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((&result["content"][0]["text"], &result["isError"]), (&json!("done"), &json!(false)), "{result:?}");
    let quick = json!({"agent_id": "helper", "task": "quick"});
    let answer = again.call_tool_once(order("agent_spawn", &quick)).await.unwrap();
    assert!(matches!(answer, CallToolResponse::Complete(_)), "{answer:?}");
    assert!(again.get_task(GetTaskParams::new("task_none".to_owned())).await.is_err());
}

#[tokio::test]
async fn a_task_can_be_cancelled() {
    let stage = stage().await;
    let client = modern(&stage).await;
    let slow = json!({"agent_id": "helper", "task": "slow"});
    let CallToolResponse::Task(created) = client.call_tool_once(order("agent_spawn", &slow)).await.unwrap() else {
        panic!("no task was made")
    };
    let id = created.task.task_id;
    client.cancel_task(CancelTaskParams::new(id.clone())).await.unwrap();
    let state = client.get_task(GetTaskParams::new(id)).await.unwrap().task.payload;
    assert_eq!(state, TaskPayload::Cancelled);
}

#[tokio::test]
async fn the_route_is_in_the_document() {
    let document = stage().await.get("/openapi.json").await.json();
    assert!(document["paths"]["/mcp"]["post"]["requestBody"].is_object(), "{}", document["paths"]);
}
