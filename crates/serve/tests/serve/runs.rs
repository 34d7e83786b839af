//! Runs: finding, reading and cancelling them.

use crate::stage::Stage;
use entourage_testkit::{Reply, Request};
use serde_json::json;

#[tokio::test]
async fn runs_are_listed_until_somebody_has_read_them() {
    let stage = Stage::new(Reply::text("yes")).await;
    let mut made = Vec::new();
    for _ in 0..3 {
        let created = stage.post("/threads", &json!({ "agent": "boss", "message": "hi" })).await.json();
        stage.settle(created["thread_id"].as_str().unwrap()).await;
        made.push((created["run_id"].clone(), created["thread_id"].clone()));
    }
    made.reverse();
    let ids = async |query: &str| {
        let page = stage.get(&format!("/runs?{query}")).await.json();
        let ids: Vec<_> = page["runs"].as_array().unwrap().iter().map(|row| row["run_id"].clone()).collect();
        (ids, page.get("next").map(|next| next.as_str().unwrap().to_owned()))
    };
    let all: Vec<_> = made.iter().map(|(run, _)| run.clone()).collect();
    assert_eq!(ids("unread=true&status=done").await, (all.clone(), None));
    assert_eq!(ids(&format!("thread={}", made[1].1.as_str().unwrap())).await, (all[1..2].to_vec(), None));
    let (first, next) = ids("limit=2").await;
    assert_eq!(first, all[..2]);
    assert_eq!(ids(&format!("limit=2&cursor={}", next.unwrap())).await, (all[2..].to_vec(), None));
    let run = stage.get(&format!("/runs/{}", all[0].as_str().unwrap())).await.json();
    assert_eq!((&run["status"], &run["result"], &run["error"]), (&json!("done"), &json!("yes"), &json!(null)));
    assert!(run["delivered_at"].is_i64(), "{run}");
    assert_eq!(ids("unread=true").await, (all[1..].to_vec(), None));
}

#[tokio::test]
async fn a_cancelled_run_stays_cancelled() {
    let stage = Stage::new(|_: &Request| Reply::hang()).await;
    let created = stage.post("/threads", &json!({ "agent": "boss", "message": "hi" })).await.json();
    stage.model.until_requests(1).await;
    let path = format!("/runs/{}/cancel", created["run_id"].as_str().unwrap());
    let cancelled = stage.post(&path, &json!({})).await;
    assert_eq!((cancelled.status, &cancelled.json()["status"]), (202, &json!("cancelled")), "{cancelled:?}");
    assert_eq!(stage.settle(created["thread_id"].as_str().unwrap()).await["status"], "idle");
    let again = stage.post(&path, &json!({})).await;
    assert_eq!((again.status, again.json()["ended_at"].clone()), (202, cancelled.json()["ended_at"].clone()));
}

#[tokio::test]
async fn a_run_whose_id_a_client_has_chosen_is_listed_read_and_cancelled() {
    let stage = Stage::new(|_: &Request| Reply::hang()).await;
    let ids = [("a b", "remote_a%20b"), ("\u{fc}-1", "remote_%C3%BC-1"), ("b?#%", "remote_b%3F%23%25")];
    for (id, _) in ids {
        let taken = stage.post("/tasks", &json!({ "task_id": id, "agent_id": "boss", "input": "dig" })).await;
        assert_eq!(taken.status, 200, "{taken:?}");
    }
    let (mut listed, mut path) = (Vec::new(), Some("/runs?limit=1".to_owned()));
    while let Some(page) = path {
        let page = stage.get(&page).await.json();
        listed.extend(page["runs"].as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap().to_owned()));
        let escaped = |next: &str| ids.iter().find(|(id, _)| format!("remote_{id}") == next).unwrap().1;
        path = page["next"].as_str().map(|next| format!("/runs?limit=1&cursor={}", escaped(next)));
    }
    listed.sort_unstable();
    assert_eq!(listed, ["remote_a b", "remote_b?#%", "remote_\u{fc}-1"]);
    for (id, escaped) in ids {
        let run = stage.get(&format!("/runs/{escaped}")).await;
        assert_eq!((run.status, &run.json()["run_id"]), (200, &json!(format!("remote_{id}"))), "{run:?}");
        let cancelled = stage.post(&format!("/runs/{escaped}/cancel"), &json!({})).await;
        assert_eq!((cancelled.status, &cancelled.json()["status"]), (202, &json!("cancelled")), "{cancelled:?}");
    }
}
