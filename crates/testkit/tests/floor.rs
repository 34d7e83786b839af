//! The floor against a fake model, in one process and as the two programs of a benchmark.

#![expect(clippy::unwrap_used, reason = "in a test, what is not there is a failure")]

use std::io::{BufRead, BufReader};
use std::num::NonZeroUsize;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use entourage_testkit::floor::{self, Mode, Settings};
use entourage_testkit::{FakeModel, Fanout, Reply};
use serde_json::{Value, json};

#[tokio::test]
async fn every_child_asks_twice_and_so_does_the_parent() {
    for mode in [Mode::Streamed, Mode::Plain] {
        let model = FakeModel::start(Fanout::new(Duration::ZERO)).await;
        let measured = floor::run(&settings(model.url(), mode)).await.unwrap();
        assert_eq!(measured.requests, 42);
        assert!(measured.cpu_ms > 0.0);
        assert!(measured.peak_kib > 0);

        let requests = model.requests();
        assert_eq!(requests.len(), 42);
        assert!(requests.iter().all(|request| request.streamed() == (mode == Mode::Streamed)));
        assert!(requests[0].system().contains("[[parent:20]]"));
        assert_eq!(requests[41].tool_results().len(), 20);
        let read = requests.iter().filter(|request| request.tool_results().len() == 1);
        assert_eq!(read.count(), 20);
    }
}

#[tokio::test]
async fn the_floor_does_not_accept_wrong_answers() {
    // Each lacks one thing only; these words and this end are all that the floor asks for.
    let words = "worker, read_file, all done";
    let wrong = [
        Reply::text("no"),
        Reply::cut(words),
        Reply::raw(words, "text/event-stream"),
        Reply::fail(500, format!("{words}[DONE]\n\n")),
    ];
    for reply in wrong {
        let model = FakeModel::start(reply.clone()).await;
        assert!(floor::run(&settings(model.url(), Mode::Streamed)).await.is_err(), "{reply:?}");
    }
}

#[test]
fn the_two_programs_meet() {
    let mut model = start_model(&["--fanout"]);
    let output = run(env!("CARGO_BIN_EXE_floor"), &["--url", &model.url, "--children", "5", "--in-flight", "2"]);
    let measured: Value = serde_json::from_str(&output).unwrap();
    assert_eq!((&measured["children"], &measured["requests"]), (&json!(5), &json!(12)));
    assert!(measured["wall_ms"].is_f64());

    drop(model.stdin.take());
    assert!(model.process.wait().unwrap().success(), "closing stdin ends it");
}

#[test]
fn the_program_answers_by_a_file_of_rules() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.json");
    write(&path, r#"[{ "reply": { "text": "worker, read_file, all done [DONE]" } }]"#);
    let mut model = start_model(&["--rules", path.to_str().unwrap()]);
    let arguments = ["--url", &model.url, "--children", "1", "--plain"];
    let measured: Value = serde_json::from_str(&run(env!("CARGO_BIN_EXE_floor"), &arguments)).unwrap();
    assert_eq!(measured["requests"], 4);
    drop(model.stdin.take());
    assert!(model.process.wait().unwrap().success());
}

fn settings(url: &str, mode: Mode) -> Settings {
    Settings { url: url.to_owned(), children: 20, in_flight: NonZeroUsize::new(4).unwrap(), mode }
}

struct Model {
    process: Child,
    /// The program ends when this is dropped.
    stdin: Option<ChildStdin>,
    url: String,
}

#[expect(clippy::disallowed_methods, reason = "the test's one door for processes that it leaves running")]
fn start_model(arguments: &[&str]) -> Model {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-model"));
    let mut process = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
    Model { stdin: process.stdin.take(), process, url: url.trim().to_owned() }
}

#[expect(clippy::disallowed_methods, reason = "the test's one door for processes that it waits for")]
fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "the test's one door for files")]
fn write(path: &std::path::Path, text: &str) {
    std::fs::write(path, text).unwrap();
}
