//! Event streams: nothing is missing, nothing comes twice, and they end.

use crate::client::Event;
use crate::stage::Stage;
use entourage_model::Limits;
use entourage_testkit::cast::{background, solo};
use entourage_testkit::{Reply, Request};
use serde_json::{Value, json};

fn echo(request: &Request) -> Reply {
    Reply::text(format!("heard {}", request.last_text()))
}

/// The texts of the messages among events.
fn said(events: &[Event]) -> Vec<Value> {
    let documents = events.iter().map(Event::json);
    documents.filter(|event| event["type"] == "message").map(|event| event["message"]["content"].clone()).collect()
}

/// A thread that was written to four times, and how many events it has.
async fn talked(stage: &Stage) -> (String, usize) {
    let thread = stage.create("boss", None).await;
    for number in 0..4 {
        stage.say(&thread, &number.to_string()).await;
        stage.settle(&thread).await;
    }
    let id = thread.parse().unwrap();
    let count = stage.runtime.journal(id, 0, 1000).await.unwrap().len();
    (thread, count)
}

#[tokio::test]
async fn a_stream_goes_on_behind_any_event() {
    let stage = Stage::new(echo).await;
    let (thread, count) = talked(&stage).await;
    let path = format!("/threads/{thread}/events");
    for tree in ["tree=false", "tree=true"] {
        let whole = stage.stream(&format!("{path}?{tree}"), None).await.kept(count).await;
        assert_eq!(said(&whole), ["0", "heard 0", "1", "heard 1", "2", "heard 2", "3", "heard 3"]);
        assert!(whole.is_sorted_by(|a, b| a.id < b.id), "{whole:?}");
        for at in [0, count / 2, count - 2] {
            let (last, rest) = (whole[at].id, &whole[at + 1..]);
            assert_eq!(stage.stream(&format!("{path}?{tree}"), last).await.kept(rest.len()).await, rest);
            let after = format!("{path}?{tree}&after={}", last.unwrap());
            assert_eq!(stage.stream(&after, None).await.kept(rest.len()).await, rest);
            let both = format!("{path}?{tree}&after=0");
            assert_eq!(stage.stream(&both, last).await.kept(rest.len()).await, rest, "the header goes before");
        }
        let mut live = stage.stream(&format!("{path}?{tree}"), whole[count - 1].id).await;
        stage.say(&thread, "4").await;
        let mut new = Vec::new();
        while said(&new) != ["4", "heard 4"] {
            new.push(live.next_kept().await.unwrap());
        }
        assert!(new[0].id > whole[count - 1].id);
        stage.settle(&thread).await;
    }
}

#[tokio::test]
async fn a_message_is_the_same_in_a_stream_and_in_the_listing() {
    let stage = Stage::new(echo).await;
    let (thread, count) = talked(&stage).await;
    let events = stage.stream(&format!("/threads/{thread}/events"), None).await.kept(count).await;
    let streamed: Vec<_> = events.iter().map(Event::json).filter(|event| event["type"] == "message").collect();
    let listed = stage.get(&format!("/threads/{thread}/messages?include_silent=true")).await.json();
    let listed = listed["messages"].as_array().unwrap().clone();
    let expected: Vec<_> = listed
        .into_iter()
        .map(|message| json!({ "type": "message", "thread_id": thread, "message": message }))
        .collect();
    assert_eq!(streamed, expected);
}

#[tokio::test]
async fn pieces_of_an_answer_come_live_and_without_a_number() {
    let stage = Stage::new(Reply::text("a long answer in pieces")).await;
    let thread = stage.create("boss", None).await;
    let mut events = stage.stream(&format!("/threads/{thread}/events"), None).await;
    events.kept(1).await;
    stage.say(&thread, "go").await;
    let mut pieces = String::new();
    loop {
        let event = events.next().await.unwrap();
        let document = event.json();
        assert_eq!(document["thread_id"], json!(thread));
        if document["type"] == "delta" {
            assert_eq!(event.id, None);
            pieces.push_str(document["text"].as_str().unwrap());
        }
        if document["message"]["role"] == "assistant" {
            break;
        }
    }
    assert_eq!(pieces, "a long answer in pieces");
}

/// A root with two children in the background, the first of which has one of its own. No child ever ends.
async fn family() -> (Stage, String) {
    let brain = |request: &Request| {
        let tools = request.tools();
        let calls: Vec<_> = ["middle", "leaf"].into_iter().filter(|name| tools.contains(name)).collect();
        match (calls.is_empty(), request.tool_results().is_empty()) {
            (false, true) => Reply::calls(calls.into_iter().map(|name| (name, json!({ "message": "go" })))),
            (false, false) if calls.len() == 2 => Reply::text("started"),
            (true, _) | (false, false) => Reply::hang(),
        }
    };
    let agents = vec![
        solo("boss", vec![background("middle"), background("leaf")]),
        solo("middle", vec![background("leaf")]),
        solo("leaf", vec![]),
    ];
    let stage = Stage::with(agents, brain, Limits::default()).await;
    let thread = stage.create("boss", Some("go")).await;
    // Two steps of the boss, two of the middle one, and both leaves asked.
    stage.model.until_requests(6).await;
    (stage, thread)
}

#[tokio::test]
async fn a_tree_is_streamed_from_its_thread_downward_and_to_its_end() {
    let (stage, root) = family().await;
    let children = stage.get(&format!("/threads?parent={root}&agent=middle")).await.json();
    let middle = children["threads"][0]["thread_id"].as_str().unwrap().to_owned();
    let mut live = stage.stream(&format!("/threads/{root}/events?tree=true"), None).await;
    let mut below = stage.stream(&format!("/threads/{middle}/events?tree=true"), None).await;
    assert_eq!(stage.post(&format!("/threads/{root}/terminate"), &json!({})).await.status, 202);
    let (live, below) = tokio::join!(live.rest(), below.rest());
    let ended = |events: &[Event]| events.iter().filter(|event| event.json()["type"] == "terminated").count();
    assert_eq!((ended(&live), ended(&below)), (4, 2));
    let replayed = stage.stream(&format!("/threads/{root}/events?tree=true"), None).await.rest().await;
    assert_eq!(replayed, live, "a replay gives the same bytes");
    let threads: std::collections::BTreeSet<_> =
        below.iter().map(|event| event.json()["thread_id"].as_str().unwrap().to_owned()).collect();
    assert!(threads.contains(&middle) && threads.len() == 2 && !threads.contains(&root), "{threads:?}");
    let part: Vec<_> = live.into_iter().filter(|event| below.contains(event)).collect();
    assert_eq!(part, below, "numbers are those of the whole tree");
}

#[tokio::test]
async fn a_child_that_is_done_keeps_no_stream_open() {
    let brain = |request: &Request| match (request.tools().is_empty(), request.tool_results().is_empty()) {
        (false, true) => Reply::call("worker", json!({ "message": "go" })),
        (true, _) | (false, false) => Reply::text("done"),
    };
    let agents = vec![solo("boss", vec![background("worker")]), solo("worker", vec![])];
    let stage = Stage::with(agents, brain, Limits::default()).await;
    let root = stage.create("boss", Some("go")).await;
    assert!(stage.runtime.wait_for_tree(root.parse().unwrap(), std::time::Duration::from_secs(20)).await.unwrap());
    assert_eq!(stage.get("/threads?status=done").await.json()["threads"].as_array().unwrap().len(), 1);
    stage.post(&format!("/threads/{root}/terminate"), &json!({})).await;
    let events = stage.stream(&format!("/threads/{root}/events?tree=true"), None).await.rest().await;
    assert_eq!(events.last().unwrap().json()["type"], "terminated");
}

#[tokio::test]
async fn a_stream_of_an_ended_thread_ends() {
    let stage = Stage::new(echo).await;
    let (thread, _) = talked(&stage).await;
    let path = format!("/threads/{thread}/events");
    stage.post(&format!("/threads/{thread}/terminate"), &json!({})).await;
    let whole = stage.stream(&path, None).await.rest().await;
    assert_eq!(whole.last().unwrap().json()["type"], "terminated");
    assert_eq!(stage.stream(&path, whole.last().unwrap().id).await.rest().await, []);
}

#[tokio::test]
async fn a_stream_ends_when_its_thread_is_deleted_or_the_server_drains() {
    let stage = Stage::new(echo).await;
    let (thread, count) = talked(&stage).await;
    let path = format!("/threads/{thread}/events");
    let mut deleted = stage.stream(&path, None).await;
    deleted.kept(count).await;
    assert_eq!(stage.delete(&format!("/threads/{thread}")).await.status, 204);
    deleted.rest().await;
    let (thread, count) = talked(&stage).await;
    let mut drained = stage.stream(&format!("/threads/{thread}/events"), None).await;
    drained.kept(count).await;
    stage.drain.begin();
    stage.runtime.shutdown().await;
    assert_eq!(drained.rest().await, []);
    stage.server.await.unwrap();
}
