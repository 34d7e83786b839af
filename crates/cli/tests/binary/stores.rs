//! Stores that refuse: in use, too new, damaged, unknown.

use crate::project::{Project, ending, signal};
use crate::serve::Serving;
use entourage_testkit::{FakeModel, Reply};
use rustix::process::Signal;
use serde_json::{Value, json};

const RUN: [&str; 4] = ["--model", "script:script.json", "run", "hello"];

#[tokio::test(flavor = "multi_thread")]
async fn a_second_process_is_refused_and_the_first_is_unharmed() {
    let model = FakeModel::start(Reply::hang()).await;
    let project = Project::with_echo().with_model(&model);
    let first = project.start(&["run", "hello"]);
    model.until_requests(1).await;
    tokio::task::block_in_place(|| {
        for arguments in [&RUN[..], &["threads"]] {
            project.say(arguments).refused(9, &["error[C015]", "another process uses it", "--data DIR"]);
        }
        assert_eq!(project.say(&[&RUN[..], &["--data", "elsewhere"]].concat()).code, Some(0));
        signal(&first, Signal::INT);
        ending(first).refused(8, &["error[C026]"]);
        assert_eq!(project.say(&["threads"]).code, Some(0));
    });
}

#[test]
fn a_store_of_a_newer_version_is_refused() {
    let project = Project::with_echo();
    assert_eq!(project.say(&RUN).code, Some(0));
    let database = rusqlite::Connection::open(project.path().join(".entourage/entourage.db")).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    drop(database);
    project.say(&RUN).refused(9, &["error[C016]", "newer version (schema 99"]);
}

#[test]
fn a_damaged_store_is_refused() {
    let project = Project::with_echo().file(".entourage/entourage.db", &"no database ".repeat(1000));
    project.say(&RUN).refused(9, &["error[C017]"]);
}

/// What breaks a thread at work, and what `store check` and commands say of it.
const DAMAGES: [(&str, &str, &str); 3] = [
    ("DELETE FROM blobs", "error[S050]", "error[C017]"),
    ("UPDATE events SET body = CAST('{' AS BLOB) WHERE seq = 2", "error[S007]", "error[C017]"),
    ("UPDATE events SET v = 99 WHERE seq = 2", "error[S007]", "error[C016]"),
];

/// A project whose only thread was killed at work, and damaged.
async fn damaged(damage: &str) -> Project {
    let model = FakeModel::start(Reply::hang()).await;
    let project = Project::with_echo().in_folder().with_model(&model);
    let child = project.start(&["run", "hello"]);
    model.until_requests(1).await;
    tokio::task::block_in_place(|| {
        signal(&child, Signal::KILL);
        ending(child);
        let database = rusqlite::Connection::open(project.path().join(".entourage/entourage.db")).unwrap();
        database.execute_batch(damage).unwrap();
    });
    project
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_thread_is_told_of_by_whoever_needs_it_and_can_be_deleted() {
    for (damage, found, told) in DAMAGES {
        let project = damaged(damage).await;
        tokio::task::block_in_place(|| {
            let root = project.root();
            let checked = project.say(&["store", "check"]);
            assert_eq!(checked.code, Some(9), "{checked:?}");
            assert!(checked.stdout.contains(found), "{damage}: {checked:?}");
            project.say(&["--model", "script:script.json", "resume", &root]).refused(9, &[told]);
            project.say(&["terminate", &root]).refused(9, &[told]);
            let serving = Serving::start(&project);
            let (status, document) = serving.ask("POST", &format!("/threads/{root}/terminate"), &json!({}));
            assert_eq!((status, &document["error"]["code"]), (503, &json!("damaged")), "{damage}: {document}");
            project.say(&["terminate", &root]).refused(9, &["error[C017]"]);
            let (status, document) = serving.ask("DELETE", &format!("/threads/{root}"), &Value::Null);
            assert_eq!(status, 204, "{damage}: {document}");
            assert_eq!(serving.get("/threads")["threads"], json!([]));
            serving.kill();
            assert_eq!(project.say(&["store", "check"]).code, Some(0), "{damage}");
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_that_cannot_be_read_is_told_of_by_whoever_needs_it() {
    let project = damaged(
        "INSERT INTO lines SELECT id, last_line + 1, 0, 1, CAST('{' AS BLOB) FROM threads;
         UPDATE threads SET last_line = last_line + 1",
    )
    .await;
    tokio::task::block_in_place(|| {
        let root = project.root();
        project.say(&["--model", "script:script.json", "resume", &root]).refused(9, &["error[C017]"]);
        project.say(&["terminate", &root]).refused(9, &["error[C017]"]);
    });
}

#[test]
fn a_sound_store_says_so() {
    let project = Project::with_echo();
    assert_eq!(project.say(&RUN).code, Some(0));
    let said = project.say(&["store", "check"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stdout.ends_with("is sound\n"), "{said:?}");
    assert_eq!(project.json(&["store", "check"]), serde_json::json!({"reports": []}));
}

#[test]
fn another_kind_of_store_is_refused_without_repeating_a_password() {
    let said = Project::new().say(&["threads", "--store", "mysql://me:secret@host/db"]);
    said.refused(1, &["error[C014]: there is no store of the kind `mysql`"]);
    assert!(!said.stderr.contains("secret"));
}

#[test]
fn a_store_may_lie_elsewhere() {
    let project = Project::with_echo();
    let store = ["--store", "sqlite:other"];
    assert_eq!(project.say(&[&RUN[..], &store].concat()).code, Some(0));
    assert!(!project.path().join(".entourage").exists());
    assert_eq!(project.json(&[&["threads"], &store[..]].concat())["threads"].as_array().unwrap().len(), 1);
}

#[test]
fn the_data_folder_keeps_itself_out_of_version_control() {
    let project = Project::with_echo();
    assert_eq!(project.say(&RUN).code, Some(0));
    let ignored = project.path().join(".entourage/.gitignore");
    assert_eq!(std::fs::metadata(ignored).unwrap().len(), 2);
}

#[test]
fn a_store_is_a_folder_and_its_database_leads_to_it() {
    let project = Project::with_echo().file("notes.txt", "no store").in_folder();
    assert_eq!(project.say(&RUN).code, Some(0));
    for option in ["--store=sqlite:notes.txt", "--data=notes.txt"] {
        for arguments in [&RUN[..], &["threads"]] {
            let said = project.say(&[arguments, &[option]].concat());
            said.refused(
                1,
                &["error[C014]", "notes.txt` is a file, and a store is a folder", "hint: give a folder by"],
            );
        }
    }
    let there = project.json(&["threads", "--store", "sqlite:.entourage/entourage.db"]);
    assert_eq!(there["threads"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_else_reads_the_database_whatever_folder_it_lies_in() {
    use std::os::unix::fs::PermissionsExt as _;
    let model = FakeModel::start(Reply::hang()).await;
    let project = Project::with_echo().with_model(&model).file("open/notes.txt", "").in_folder();
    let folder = project.path().join("open");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let first = project.start(&["--data", "open", "run", "hello"]);
    model.until_requests(1).await;
    tokio::task::block_in_place(|| {
        for name in ["entourage.db", "entourage.db-wal", "entourage.db-shm", "lock"] {
            let mode = folder.join(name).metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
        signal(&first, Signal::INT);
        ending(first).refused(8, &["error[C026]"]);
    });
}
