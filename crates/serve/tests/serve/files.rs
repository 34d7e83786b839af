//! A thread's files.

use crate::stage::Stage;
use entourage_testkit::Reply;
use serde_json::json;

#[tokio::test]
async fn files_are_written_listed_read_and_removed() {
    let stage = Stage::new(Reply::text("yes")).await;
    let thread = stage.create("boss", None).await;
    let files = format!("/threads/{thread}/files");
    let written = stage.put(&format!("{files}/notes/a%20b.txt"), "text/x-notes", b"one").await;
    let row = json!({ "path": "/notes/a b.txt", "size": 3, "mime_type": "text/x-notes" });
    assert_eq!((written.status, written.json()), (201, row.clone()));
    assert_eq!(stage.get(&files).await.json(), json!({ "files": [row] }));
    let read = stage.get(&format!("{files}/notes/a%20b.txt")).await;
    assert_eq!((&read.body[..], read.headers["content-type"].as_bytes()), (&b"one"[..], &b"text/x-notes"[..]));
    assert_eq!(read.headers["content-disposition"], "attachment");
    assert_eq!(read.headers["x-content-type-options"], "nosniff");
    assert_eq!(stage.put(&format!("{files}/notes/a%20b.txt"), "", b"three").await.json()["size"], 5);
    assert_eq!(&stage.get(&format!("{files}/notes/a%20b.txt")).await.body[..], b"three");
    assert_eq!(stage.delete(&format!("{files}/notes/a%20b.txt")).await.status, 204);
    stage.delete(&format!("{files}/notes/a%20b.txt")).await.refused(404);
    stage.get(&format!("{files}/notes/a%20b.txt")).await.refused(404);
    assert_eq!(stage.get(&files).await.json(), json!({ "files": [] }));
}

#[tokio::test]
async fn a_path_that_leads_elsewhere_is_refused() {
    let stage = Stage::new(Reply::text("yes")).await;
    let thread = stage.create("boss", None).await;
    let long = "a".repeat(1024);
    for path in ["", "..", ".", "a/../b", "..%2Fb", "%2e%2e/b", "a//b", "/a", "%2Fa", "a%00", "a/", &long] {
        let path = format!("/threads/{thread}/files/{path}");
        stage.get(&path).await.refused(400);
        stage.put(&path, "text/plain", b"x").await.refused(400);
        stage.delete(&path).await.refused(400);
    }
    let longest = "a".repeat(1023);
    assert_eq!(stage.put(&format!("/threads/{thread}/files/{longest}"), "text/plain", b"x").await.status, 201);
}

#[tokio::test]
async fn a_message_attaches_files_of_its_thread() {
    let stage = Stage::new(Reply::text("yes")).await;
    let thread = stage.create("boss", None).await;
    stage.put(&format!("/threads/{thread}/files/a.txt"), "text/plain", b"one").await;
    let path = format!("/threads/{thread}/messages");
    let body = json!({ "content": "look", "attachments": ["/a.txt"] });
    let first = stage.post_once(&path, "k", &body).await;
    assert_eq!(first.status, 202, "{first:?}");
    stage.put(&format!("/threads/{thread}/files/a.txt"), "text/plain", b"longer").await;
    assert_eq!(stage.post_once(&path, "k", &body).await.body, first.body, "the request is the same");
    stage.settle(&thread).await;
    let messages = stage.get(&path).await.json();
    let attached = json!([{ "path": "/a.txt", "name": "a.txt", "mime_type": "text/plain", "size": 3 }]);
    assert_eq!(messages["messages"][0]["attachments"], attached);
}
