//! Agents that another server runs: what is sent there, what is heard from it, and what a hostile one achieves.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod far;

use bytes::Bytes;
use entourage_model::{Ids, ModelAnswer, Name, Remote, RemoteTask, Secret, Timestamp};
use entourage_outside::model::Watch;
use entourage_outside::remote::Remotes;
use far::{Answer, Asked, Far, says, streamed, streams};
use futures::StreamExt as _;
use futures::stream;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

const SUBMIT: &str = "POST /base/tasks";
const LOOK: &str = "GET /base/tasks/task-1";
const EVENTS: &str = "GET /base/tasks/task-1/events";
const PENDING: &str = r#"{"task_id":"task-1","status":"pending"}"#;
const RUNNING: &str = r#"{"task_id":"task-1","status":"running"}"#;
const DONE: &str = r#"{"task_id":"task-1","status":"success","result":"the result"}"#;
const ENDED: &str = "id: 9\ndata: {\"type\":\"STATUS\",\"status\":\"success\"}\n\n";

/// Keeps what whoever looks on is told.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Watch for Notes {
    fn delta(&self, text: &str) {
        self.0.lock().unwrap().push(format!("said {text}"));
    }

    fn retrying(&self, attempt: u32, _: Duration, _: &str) {
        self.0.lock().unwrap().push(format!("attempt {attempt}"));
    }
}

fn task(url: &str) -> RemoteTask {
    let mut ids = Ids::new(Timestamp(1), 1);
    let headers = BTreeMap::from([("Authorization".to_owned(), "Bearer ${TOKEN}".to_owned())]);
    RemoteTask {
        agent: Name::from("far"),
        remote: Remote { url: url.to_owned(), headers },
        id: "task-1".to_owned(),
        session: ids.thread(),
        parent: None,
        user_id: Some("ann".to_owned()),
        denied: Vec::new(),
        input: "work".to_owned(),
        resumed: false,
    }
}

fn remotes() -> Remotes {
    let written = || BTreeMap::from([(Name::from("far"), BTreeMap::from([("X-Key".to_owned(), Secret::new("k1"))]))]);
    Remotes::new(written, |name| (name == "TOKEN").then(|| "secret-token".to_owned()))
}

/// Asks a server that answers like this; what came of it, what was told meanwhile, and the server.
async fn ask(
    script: impl Fn(&Asked, usize) -> Answer + Send + Sync + 'static,
) -> (Result<String, String>, Vec<String>, Far) {
    let (asked, told, far) = ask_for(|task| task, script).await;
    (asked.map(|answer| answer.text), told, far)
}

/// The same for a task that is like this.
async fn ask_for(
    change: impl Fn(RemoteTask) -> RemoteTask,
    script: impl Fn(&Asked, usize) -> Answer + Send + Sync + 'static,
) -> (Result<ModelAnswer, String>, Vec<String>, Far) {
    let far = Far::start(script).await;
    let notes = Notes::default();
    let task = change(task(&format!("http://{}/base/", far.address)));
    let asked = remotes().ask(&task, &notes).await;
    (asked, notes.0.into_inner().unwrap(), far)
}

fn done() -> Result<String, String> {
    Ok("the result".to_owned())
}

#[tokio::test]
async fn a_server_is_told_the_agents_own_id_whatever_the_team_calls_it() {
    let renamed = |task| RemoteTask { agent: Name::from("agentscope/far"), ..task };
    let (asked, _, far) = ask_for(renamed, |asked, _| match asked.line.as_str() {
        SUBMIT => says(200, PENDING),
        LOOK => says(200, DONE),
        _ => says(404, "{}"),
    })
    .await;
    assert_eq!(asked.map(|answer| answer.text), done());
    let submitted: serde_json::Value = serde_json::from_str(&far.asked()[0].body).unwrap();
    assert_eq!(submitted["agent_id"], "far");
}

#[tokio::test]
async fn a_stream_tells_what_is_said_and_when_to_look() {
    let said = "id: 1\ndata: {\"type\":\"TEXT_DELTA\",\"text\":\"hello\"}\n\n";
    let (asked, told, far) = ask(move |asked, before| match (asked.line.as_str(), before) {
        (SUBMIT, _) => says(200, PENDING),
        (LOOK, 0) => says(200, RUNNING),
        (LOOK, _) => says(200, DONE),
        // It stays open, so that nothing but the event makes anybody look.
        (EVENTS, _) => {
            let pieces = stream::iter([said, ENDED].map(Bytes::from)).chain(stream::pending());
            streamed("text/event-stream;charset=UTF-8", pieces)
        }
        _ => says(404, "{}"),
    })
    .await;
    assert_eq!((asked, told), (done(), vec!["said hello".to_owned()]));
    assert_eq!((far.times(LOOK), far.times(EVENTS)), (2, 1));
    for asked in far.asked() {
        assert_eq!((asked.header("authorization"), asked.header("x-key")), (Some("Bearer secret-token"), Some("k1")));
    }
    let submitted: serde_json::Value = serde_json::from_str(&far.asked()[0].body).unwrap();
    assert_eq!((&submitted["agent_id"], &submitted["context"]["user_id"]), (&"far".into(), &"ann".into()));
}

#[tokio::test]
async fn a_stream_that_breaks_is_opened_again_behind_the_last_event() {
    let said = |id: u32| format!("id: {id}\ndata: {{\"type\":\"TEXT_DELTA\",\"text\":\"{id}\"}}\n\n");
    let (asked, told, far) = ask(move |asked, before| match (asked.line.as_str(), before) {
        (SUBMIT, _) => says(200, PENDING),
        (LOOK, 0..2) => says(200, RUNNING),
        (LOOK, _) => says(200, DONE),
        (EVENTS, 0) => streams(&[&said(1), "id: 2\ndata: {\"type\":\"TEXT"]),
        (EVENTS, _) => streams(&[&said(1), &said(2), ENDED]),
        _ => says(404, "{}"),
    })
    .await;
    assert_eq!((asked, told), (done(), vec!["said 1".to_owned(), "said 2".to_owned()]));
    let streams: Vec<_> = far.asked().into_iter().filter(|asked| asked.line == EVENTS).collect();
    assert_eq!((streams.len(), streams[0].header("last-event-id")), (2, None));
    assert_eq!(streams[1].header("last-event-id"), Some("1"));
}

#[tokio::test]
async fn a_server_without_streams_is_looked_at_now_and_then() {
    for refusal in [404, 405, 501] {
        let (asked, _, far) = ask(move |asked, before| match (asked.line.as_str(), before) {
            (SUBMIT, _) => says(200, PENDING),
            (LOOK, 0..3) => says(200, RUNNING),
            (LOOK, _) => says(200, DONE),
            (EVENTS, _) => says(refusal, "{}"),
            _ => says(404, "{}"),
        })
        .await;
        assert_eq!(asked, done(), "{refusal}");
        assert_eq!(far.times(LOOK), 4);
        assert!(far.times(EVENTS) == if refusal < 500 { 1 } else { 3 }, "{refusal}: {}", far.times(EVENTS));
    }
}

#[tokio::test]
async fn a_fault_that_passes_is_tried_again_at_every_call() {
    const FETCH: &str = "GET /base/tasks/task-1/wait?timeout_seconds=120";
    let (asked, told, far) = ask(|asked, before| match (asked.line.as_str(), before) {
        (SUBMIT | LOOK | FETCH, 0) => says(503, "{}"),
        (SUBMIT, _) => says(200, PENDING),
        (LOOK, _) => says(200, r#"{"status":"SUCCESS"}"#),
        (FETCH, 1) => says(429, "{}"),
        (FETCH, _) => says(200, r#"{"status":"success","result":"the result"}"#),
        _ => says(404, "{}"),
    })
    .await;
    assert_eq!(asked, done());
    assert_eq!((far.times(SUBMIT), far.times(LOOK), far.times(FETCH)), (2, 2, 3));
    assert_eq!(told, ["attempt 2", "attempt 2", "attempt 2", "attempt 3"]);
}

#[tokio::test]
async fn an_older_server_is_asked_without_a_context_and_a_question_is_denied_once() {
    const RESUME: &str = "POST /base/tasks/task-1/resume";
    let script = |asked: &Asked, before: usize| match (asked.line.as_str(), before) {
        (SUBMIT, _) if asked.body.contains("context") => says(400, "{}"),
        (SUBMIT, _) => says(200, PENDING),
        (LOOK, 0..2) => says(200, r#"{"status":"awaiting_confirm","pending_confirms":[]}"#),
        (LOOK, _) => says(200, DONE),
        (RESUME, _) => says(200, RUNNING),
        _ => says(404, "{}"),
    };
    let (asked, _, far) = ask_for(|task| task, script).await;
    let answer = asked.unwrap();
    assert_eq!(answer.text, "the result");
    assert!(answer.note.unwrap().contains("denied"));
    assert_eq!((far.times(SUBMIT), far.times(RESUME)), (2, 1));
}

#[tokio::test]
async fn a_server_that_takes_no_rules_is_not_given_work_that_has_some() {
    let script = |asked: &Asked, _: usize| match asked.line.as_str() {
        SUBMIT => says(400, "{}"),
        _ => says(404, "{}"),
    };
    let (asked, _, far) = ask_for(|task| RemoteTask { denied: vec!["shell".into()], ..task }, script).await;
    assert!(format!("{asked:?}").contains("rules about denied tools"), "{asked:?}");
    assert_eq!(far.times(SUBMIT), 1);
}

#[tokio::test]
async fn every_call_that_a_task_asks_for_is_denied_by_its_id_and_each_pause_once() {
    const RESUME: &str = "POST /base/tasks/task-1/resume";
    let script = |asked: &Asked, before: usize| match (asked.line.as_str(), before) {
        (SUBMIT, _) => says(200, PENDING),
        // The second pause follows the first before anybody has looked.
        (LOOK, 0..2) => {
            says(200, r#"{"status":"awaiting_confirm","pending_confirms":[{"toolCallId":"c1"},{"tool_call_id":"c2"}]}"#)
        }
        (LOOK, 2..4) => says(200, r#"{"status":"awaiting_confirm","pending_confirms":[{"toolCallId":"c3"}]}"#),
        (LOOK, _) => says(200, DONE),
        (RESUME, _) => says(200, RUNNING),
        _ => says(404, "{}"),
    };
    let (asked, _, far) = ask_for(|task| task, script).await;
    assert!(asked.unwrap().note.unwrap().contains("more than once"));
    let no = |call: &str| json!({ "toolCallId": call, "approved": false });
    let sent = far.asked().into_iter().filter(|asked| asked.line == RESUME);
    let sent: Vec<Value> = sent.map(|asked| serde_json::from_str(&asked.body).unwrap()).collect();
    assert_eq!(sent, [json!({ "decisions": [no("c1"), no("c2")] }), json!({ "decisions": [no("c3")] })]);
}

#[tokio::test]
async fn a_task_without_a_result_has_an_empty_one() {
    const FETCH: &str = "GET /base/tasks/task-1/wait?timeout_seconds=120";
    for (state, fetches) in [
        (r#"{"status":"success","result":""}"#, 0),
        (r#"{"status":"success"}"#, 1),
        (r#"{"status":"completed","result":null}"#, 1),
    ] {
        let (asked, _, far) = ask(move |asked, _| match asked.line.as_str() {
            SUBMIT => says(200, PENDING),
            LOOK | FETCH => says(200, state),
            _ => says(404, "{}"),
        })
        .await;
        assert_eq!((asked, far.times(SUBMIT), far.times(FETCH)), (Ok(String::new()), 1, fetches), "{state}");
    }
}

#[tokio::test]
async fn a_task_that_its_server_has_cancelled_is_no_failure() {
    for word in ["cancelled", "canceled", "CANCELLED"] {
        let (asked, _, _) = ask_for(
            |task| task,
            move |asked, before| match (asked.line.as_str(), before) {
                (SUBMIT, _) => says(200, PENDING),
                (LOOK, 0) => says(200, RUNNING),
                (LOOK, _) => says(200, &format!(r#"{{"status":"{word}"}}"#)),
                _ => says(404, "{}"),
            },
        )
        .await;
        assert!(asked.unwrap().cancelled, "{word}");
    }
}

#[tokio::test]
async fn a_task_that_may_have_been_begun_is_submitted_only_where_nobody_knows_it() {
    let resumed = |task| RemoteTask { resumed: true, ..task };
    for (status, first, submitted) in [
        (200, RUNNING, 0),
        (200, DONE, 0),
        (200, PENDING, 0),
        (404, "{}", 1),
        (200, r#"{"task_id":"task-1","status":"error","error":"task not found"}"#, 1),
    ] {
        let (asked, _, far) = ask_for(resumed, move |asked, before| match (asked.line.as_str(), before) {
            (SUBMIT, _) => says(200, PENDING),
            // A server that is on its way up is waited for.
            (LOOK, 0) => says(503, "{}"),
            (LOOK, 1) => says(status, first),
            (LOOK, _) => says(200, DONE),
            _ => says(404, "{}"),
        })
        .await;
        assert_eq!(asked.map(|answer| answer.text), done(), "{first}");
        assert_eq!(far.times(SUBMIT), submitted, "{status} {first}");
        assert_eq!(far.asked()[0].line, LOOK);
    }
    // Whatever else it says is what came of the task.
    let (asked, _, far) = ask_for(resumed, |_, _| says(200, r#"{"status":"error","error":"it broke"}"#)).await;
    assert!(asked.unwrap_err().contains("it broke"));
    assert_eq!(far.times(SUBMIT), 0);
}

#[tokio::test]
async fn a_cancel_is_passed_on_also_when_the_server_is_not_well() {
    const CANCEL: &str = "POST /base/tasks/task-1/cancel";
    let far = Far::start(|_, before| says(if before < 3 { 503 } else { 200 }, "")).await;
    remotes().cancel(&task(&format!("http://{}/base", far.address))).await;
    assert_eq!(far.times(CANCEL), 4);
}

/// Attack 24.
#[tokio::test]
async fn a_redirect_takes_nothing_anywhere_else() {
    let thief = Far::start(|_, _| says(200, DONE)).await;
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = format!("http://{}/base/tasks", thief.address);
        let (asked, _, _) = ask(move |_, _| {
            let mut answer = says(status, "{}");
            answer.headers_mut().insert("location", elsewhere.parse().unwrap());
            answer
        })
        .await;
        assert!(asked.unwrap_err().contains(&status.to_string()), "{status}");
    }
    assert_eq!(thief.asked().len(), 0);
    let (asked, _, far) = ask(|_, _| {
        let mut answer = says(307, "{}");
        answer.headers_mut().insert("location", "/base/tasks".parse().unwrap());
        answer
    })
    .await;
    assert!(asked.is_err() && far.asked().len() <= 5, "a circle has an end: {}", far.asked().len());
}

/// Attacks 23 and 24: only addresses of the web are asked.
#[tokio::test]
async fn an_address_that_is_none_of_the_web_is_not_asked() {
    for url in ["file:///etc/passwd", "gopher://127.0.0.1:70", "ftp://127.0.0.1", "javascript:alert(1)", "//h", ""] {
        let asked = remotes().ask(&task(url), &()).await;
        assert!(asked.is_err(), "{url}: {asked:?}");
    }
}

/// Attack 25.
#[tokio::test]
async fn an_answer_without_an_end_is_cut_off() {
    let piece = || stream::repeat_with(|| Bytes::from(vec![b' '; 1 << 20]));
    let (asked, _, far) = ask(move |_, _| streamed("application/json", piece())).await;
    assert!(asked.unwrap_err().contains("longer than"));
    assert_eq!(far.asked().len(), 1);
    // A stream that never ends an event is left alone, and the task is looked at all the same.
    let (asked, told, _) = ask(move |asked, before| match (asked.line.as_str(), before) {
        (SUBMIT, _) => says(200, PENDING),
        (LOOK, 0..2) => says(200, RUNNING),
        (LOOK, _) => says(200, DONE),
        _ => streamed("text/event-stream", piece()),
    })
    .await;
    assert_eq!((asked, told), (done(), vec![]));
}

/// Attack 27: what is said of a fault holds neither the headers nor the whole address.
#[tokio::test]
async fn a_fault_tells_nothing_secret() {
    let far = Far::start(|_, _| says(403, "{\"error\":\"no\"}")).await;
    let url = format!("http://user:hunter2@{}/base?key=hunter3", far.address);
    let why = remotes().ask(&task(&url), &()).await.unwrap_err();
    for secret in ["hunter2", "hunter3", "secret-token", "k1"] {
        assert!(!why.contains(secret), "{why}");
    }
    assert!(why.contains("403"), "{why}");
}
