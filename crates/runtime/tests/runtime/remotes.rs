//! Agents that another server runs, as the server sees it: what it is asked, and what becomes of its answers.

use crate::stage::{Stage, by_turn, solo};
use entourage_model::{Agent, Dialect, Remote, Role, RunStatus, ThreadId};
use entourage_store::{Page, RunFilter, RunRow};
use entourage_testkit::Reply;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

const RUNNING: &str = r#"{"status":"running"}"#;
const DONE: &str = r#"{"status":"success","result":"far away"}"#;

/// A server of the task protocol without streams, which says the same of every task until it is told otherwise.
struct Far {
    url: String,
    /// Method and path of each request.
    asked: Arc<Mutex<Vec<String>>>,
    state: Arc<Mutex<&'static str>>,
}

impl Far {
    async fn start(state: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (asked, state) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(state)));
        let (kept, says) = (Arc::clone(&asked), Arc::clone(&state));
        // It ends with the test's runtime.
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, Arc::clone(&kept), Arc::clone(&says)));
            }
        });
        Self { url, asked, state }
    }

    fn says(&self, state: &'static str) {
        *self.state.lock().unwrap() = state;
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn submissions(&self) -> usize {
        self.asked().iter().filter(|line| *line == "POST /tasks").count()
    }

    /// Waits until this many states were asked for.
    async fn until_looks(&self, looks: usize) {
        let looked =
            || self.asked().iter().filter(|line| line.starts_with("GET") && !line.ends_with("/events")).count();
        while looked() < looks {
            tokio::task::yield_now().await;
        }
    }

    fn agent(&self) -> Agent {
        let headers = BTreeMap::from([("X-Key".to_owned(), "hunter2".to_owned())]);
        let url = self.url.replace("http://", "http://user:hunter3@");
        Agent { remote: Some(Remote { url: format!("{url}/base/"), headers }), ..solo("far", vec![]) }
    }
}

/// One request for each connection.
async fn answer(stream: TcpStream, kept: Arc<Mutex<Vec<String>>>, says: Arc<Mutex<&'static str>>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    stream.read_line(&mut head).await.ok()?;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    stream.read_exact(&mut vec![0; length]).await.ok()?;
    let line = head.rsplit_once(' ')?.0.replace("/base/", "/");
    let body = if line == "POST /tasks" { r#"{"status":"pending"}"# } else { *says.lock().unwrap() };
    let status = if line.ends_with("/events") { "404 Not Found" } else { "200 OK" };
    kept.lock().unwrap().push(line);
    let answer = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(answer.as_bytes()).await.ok()
}

/// A thread whose model has the far agent work, in this way, and then says that it is done.
async fn stage(far: &Far, how: Value) -> (Stage, ThreadId) {
    let mut arguments = json!({"agent_id": "far", "task": "work"});
    arguments.as_object_mut().unwrap().extend(how.as_object().unwrap().clone());
    let replies = vec![Reply::calls([("agent_spawn", arguments)]), Reply::text("done")];
    let lead = Agent { dialects: vec![Dialect::AgentScope], ..solo("lead", Vec::new()) };
    let stage = Stage::new(vec![lead, far.agent()], by_turn(vec![("lead", replies)])).await;
    let (thread, _) = stage.create("lead", "go").await;
    (stage, thread)
}

async fn run(stage: &Stage, thread: ThreadId) -> RunRow {
    let filter = RunFilter { parent: Some(thread), ..RunFilter::default() };
    stage.store.runs(&filter, Page { after: None, limit: 10 }).await.unwrap().remove(0)
}

#[tokio::test]
async fn a_task_with_an_empty_result_is_done_and_submitted_once() {
    for state in [r#"{"status":"success","result":""}"#, r#"{"status":"success"}"#] {
        let far = Far::start(state).await;
        let (stage, thread) = stage(&far, json!({})).await;
        stage.settle(thread).await;
        let told = stage.texts(thread, Role::Tool).await.remove(0);
        assert!(told.ends_with("status: ok\nreply:\n"), "{told}");
        assert_eq!((run(&stage, thread).await.status, far.submissions()), (RunStatus::Done, 1), "{state}");
    }
}

#[tokio::test]
async fn a_task_that_its_server_has_cancelled_is_cancelled_here() {
    let far = Far::start(r#"{"status":"canceled"}"#).await;
    let (stage, thread) = stage(&far, json!({})).await;
    stage.settle(thread).await;
    let (told, run) = (stage.texts(thread, Role::Tool).await.remove(0), run(&stage, thread).await);
    assert!(told.ends_with(&format!("status: cancelled\ntask_id: {}", run.id)), "{told}");
    assert_eq!(run.status, RunStatus::Cancelled);
}

#[tokio::test]
async fn a_task_that_was_begun_is_looked_for_after_a_restart_and_not_submitted_again() {
    let far = Far::start(RUNNING).await;
    let (mut stage, thread) = stage(&far, json!({"timeout_seconds": 0})).await;
    far.until_looks(1).await;
    assert_eq!(far.asked()[0], "POST /tasks", "a new task is not looked for");
    stage.runtime.shutdown().await;
    let before = far.asked().len();
    stage.restart().await;
    far.until_looks(before + 2).await;
    far.says(DONE);
    stage.settle(thread).await;
    let run = run(&stage, thread).await;
    assert_eq!((run.status, run.result.as_deref()), (RunStatus::Done, Some("far away")));
    assert_eq!(far.submissions(), 1, "{:?}", far.asked());
}

#[tokio::test]
async fn the_file_of_a_remote_task_says_where_it_is_worked_on_and_nothing_secret() {
    let far = Far::start(DONE).await;
    let (stage, thread) = stage(&far, json!({"timeout_seconds": 0})).await;
    stage.settle(thread).await;
    let file = stage.path().join(format!("agents/lead/tasks/{thread}.json"));
    let text = std::fs::read_to_string(file).unwrap();
    let shown: Value = serde_json::from_str(&text).unwrap();
    let record = &shown[run(&stage, thread).await.id.as_str()];
    assert_eq!(
        (&record["transportType"], &record["remoteBaseUrl"]),
        (&json!("agent-protocol"), &json!(format!("{}/base/", far.url)))
    );
    assert!(!text.contains("hunter"), "{text}");
}
