//! Two servers over one PostgreSQL: whichever is asked, the answer is the same.

use crate::client::Event;
use crate::stage::Stage;
use entourage_model::Limits;
use entourage_store_postgres::{Options, PostgresStore};
use entourage_testkit::Reply;
use entourage_testkit::cast::solo;
use entourage_testkit::postgres::Database;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

async fn node(database: &Database, reply: Reply) -> Stage {
    let store = PostgresStore::open(database.url(), Options::default()).await.unwrap();
    Stage::on(Arc::new(store), vec![solo("boss", vec![])], reply, Limits::default()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_of_one_server_is_followed_written_to_and_stopped_through_another() {
    let database = Database::new();
    let here = node(&database, Reply::fail(400, "nobody works here")).await;
    let there = node(&database, Reply::text("heard").after(Duration::from_millis(300))).await;
    let thread = there.create("boss", Some("one")).await;
    let mut live = here.stream(&format!("/threads/{thread}/events"), None).await;
    let mut events: Vec<Event> = Vec::new();
    while !events.iter().any(|event| event.json()["message"]["content"] == "heard") {
        events.push(live.next_kept().await.unwrap());
    }
    assert_eq!(here.settle(&thread).await["status"], "idle");
    assert_eq!(
        here.get(&format!("/threads/{thread}")).await.json(),
        there.get(&format!("/threads/{thread}")).await.json()
    );

    let body = json!({ "agent": "boss", "message": "once" });
    let (first, again) =
        (here.post_once("/threads", "key", &body).await, there.post_once("/threads", "key", &body).await);
    assert_eq!((first.status, again.status), (201, 201));
    let (first, again) = (first.json(), again.json());
    assert_eq!(
        (&first["thread_id"], &first["run_id"]),
        (&again["thread_id"], &again["run_id"]),
        "a key is known to all"
    );

    there.say(&thread, "two").await;
    assert_eq!(here.post(&format!("/threads/{thread}/terminate"), &json!({})).await.status, 202);
    assert!(!there.get(&format!("/threads/{thread}")).await.json()["terminated"].is_null());
    assert_eq!(here.post(&format!("/threads/{thread}/messages"), &json!({ "content": "late" })).await.status, 409);
}
