//! The binary on a PostgreSQL: several nodes over one database, and stores that move there and back.

use crate::project::{Project, ending, signal};
use entourage_testkit::postgres::Database;
use entourage_testkit::{FakeModel, Reply};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::process::Child;

const RUN: [&str; 4] = ["--model", "script:script.json", "run", "hello"];

/// The binary's own words about every thread, without what tells stores apart.
fn told(project: &Project, store: &[&str]) -> (Value, Value) {
    let threads = project.json(&[&["threads"], store].concat());
    let runs = project.json(&[&["runs"], store].concat());
    (threads, runs)
}

#[test]
fn a_store_moves_to_postgres_and_back_and_stays_the_same() {
    let (database, project) = (Database::new(), Project::with_echo());
    for _ in 0..3 {
        assert_eq!(project.say(&RUN).code, Some(0));
    }
    assert_eq!(project.say(&[&RUN[..], &["--file", "script.json", "--env", "A=b"]].concat()).code, Some(0));
    let there = ["--store", database.url()];
    let copied = project.json(&["store", "copy", "--to", database.url()]);
    assert_eq!(copied["rows"]["threads"], 4, "{copied}");
    assert!(copied["rows"]["events"].as_u64().unwrap() > 8 && copied["rows"]["files"] == 1, "{copied}");
    assert_eq!(told(&project, &there), told(&project, &[]));
    assert_eq!(project.json(&[&["store", "check"], &there[..]].concat())["reports"], serde_json::json!([]));
    let root = project.json(&["threads"])["threads"][0]["thread_id"].as_str().unwrap().to_owned();
    let show = |store: &[&str]| project.json(&[&["show", root.as_str()], store].concat());
    assert_eq!(show(&there), show(&[]));

    let back = ["--store", "sqlite:back"];
    assert_eq!(project.say(&[&["store", "copy", "--to", "sqlite:back"], &there[..]].concat()).code, Some(0));
    assert_eq!(told(&project, &back), told(&project, &[]));
    assert_eq!(show(&back), show(&[]));

    let model = ["--model", "script:script.json"];
    for store in [&there, &back] {
        let went_on = project.say(&[&["send", root.as_str(), "and on"], &model[..], &store[..]].concat());
        assert_eq!(went_on.code, Some(0), "{went_on:?}");
        assert!(went_on.stdout.contains("I heard: and on"), "{went_on:?}");
    }
}

#[test]
fn nothing_is_copied_into_a_store_that_holds_something_or_out_of_none() {
    let (database, project) = (Database::new(), Project::with_echo());
    assert_eq!(project.say(&RUN).code, Some(0));
    let copy = ["store", "copy", "--to", database.url()];
    assert_eq!(project.say(&copy).code, Some(0));
    project.say(&copy).refused(9, &["error[S036]", "holds threads already"]);
    Project::new().say(&copy).refused(1, &["error[S039]", "there is no store here"]);
    project.say(&["store", "copy", "--to", "mysql://host/db"]).refused(1, &["error[C014]"]);
    assert_eq!(project.say(&["store", "migrate"]).code, Some(0));
    assert_eq!(project.say(&["store", "migrate", "--store", database.url()]).code, Some(0));
    Project::new().say(&["store", "migrate"]).refused(1, &["error[S039]"]);
}

#[test]
fn a_node_with_another_key_is_refused_until_it_has_the_first_ones() {
    let database = Database::new();
    let node = || Project::with_echo().variable("ENTOURAGE_STORE", database.url());
    let (first, second) = (node(), node());
    assert_eq!(first.say(&RUN).code, Some(0));
    second.say(&RUN).refused(9, &["error[S035]", "hint: copy the file `key`"]);
    assert!(!second.path().join(".entourage/key").exists(), "no key is left that fits nowhere");
    let second = second.file(".entourage/key", &first.read(".entourage/key"));
    assert_eq!(second.say(&RUN).code, Some(0));
}

/// A server that answers, on a free port.
fn serve(project: &Project) -> Child {
    let mut server = project.start(&["serve", "--listen", "127.0.0.1:0"]);
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("http://"), "{line}");
    server
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_asked_to_end_hands_its_work_to_a_server_at_once() {
    let model = FakeModel::start(Reply::hang()).await;
    let database = Database::new();
    let project = Project::new().with_model(&model).variable("ENTOURAGE_STORE", database.url());
    let project = project.variable("ENTOURAGE_MODEL", "openai:any");
    let (server, run) = tokio::task::block_in_place(|| {
        let server = serve(&project);
        (server, project.start(&["run", "hello"]))
    });
    model.until_requests(1).await;
    tokio::task::block_in_place(|| {
        signal(&run, Signal::INT);
        ending(run).refused(8, &["error[C026]"]);
    });
    model.until_requests(2).await;
    tokio::task::block_in_place(|| {
        let status = || project.json(&["threads"])["threads"][0]["status"].clone();
        assert_eq!(status(), "running");
        signal(&server, Signal::TERM);
        assert_eq!(ending(server).code, Some(0));
        assert_eq!(status(), "ready");
        assert!(!project.path().join(".entourage/server.json").exists());
    });
}
