//! Ctrl-C, kill, and what comes after.

use crate::project::{Project, ending, signal};
use entourage_testkit::{FakeModel, Reply};
use rustix::process::Signal;
use serde_json::json;
use std::time::Duration;

/// A project whose only thread was interrupted while its model was thinking.
async fn interrupted(with: Signal) -> Project {
    let model = FakeModel::start(Reply::hang()).await;
    let project = Project::with_echo().with_model(&model);
    let child = project.start(&["run", "hello"]);
    model.until_requests(1).await;
    tokio::task::block_in_place(|| {
        signal(&child, with);
        let said = ending(child);
        assert_eq!(said.stdout, "");
        if with != Signal::KILL {
            let resume = format!("hint: `entourage resume {}`", project.root());
            said.refused(8, &["error[C026]: interrupted", &resume]);
        }
    });
    project
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_interrupted_goes_on_as_if_nothing_had_happened() {
    for with in [Signal::INT, Signal::TERM, Signal::KILL] {
        let project = interrupted(with).await;
        tokio::task::block_in_place(|| {
            let id = project.root();
            let said = project.say(&["--model", "script:script.json", "resume", &id]);
            assert_eq!((said.code, said.stdout.as_str()), (Some(0), "I heard: hello\n"), "{said:?}");
            let messages = project.json(&["tail", &id]);
            assert_eq!(messages["messages"].as_array().unwrap().len(), 2, "{messages}");
        });
    }
}

#[test]
fn what_was_finished_while_it_was_interrupted_is_told_as_finished() {
    let wait = "touch begun; while [ ! -e over ]; do sleep 0.05; done";
    let call = json!({ "tool": "shell", "arguments": { "command": wait } });
    let script = json!({ "rules": [
        { "step": 0, "reply": { "calls": [call] } },
        { "reply": { "text": "the last words" } },
    ]});
    let project =
        Project::new().file("entourage.toml", "[shell]\nsandbox = \"none\"\n").file("script.json", &script.to_string());
    let child = project.start(&["--trust", "--model", "script:script.json", "run", "hello"]);
    while !project.path().join("begun").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    signal(&child, Signal::INT);
    let project = project.file("over", "");
    let said = ending(child);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "the last words\n"), "{said:?}");
    assert_eq!(project.json(&["runs", "--unread"]), json!({"runs": []}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_nobody_was_given_is_given_by_whoever_resumes_its_thread() {
    let project = interrupted(Signal::INT).await;
    tokio::task::block_in_place(|| {
        let runs = project.json(&["runs"]);
        let run = runs["runs"][0]["run_id"].as_str().unwrap();
        assert_eq!(project.json(&["cancel", run])["status"], "cancelled");
        let resume = ["--json", "--model", "script:script.json", "resume", &project.root()];
        assert_eq!(project.say(&resume).document()["run_id"], run);
        assert_eq!(project.json(&["runs", "--unread"]), json!({"runs": []}));
        assert_eq!(project.say(&resume).document()["run_id"], json!(null), "it was given before");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_without_a_result_is_not_printed_as_one() {
    let project = interrupted(Signal::INT).await;
    tokio::task::block_in_place(|| {
        let runs = project.json(&["runs"]);
        let run = runs["runs"][0]["run_id"].as_str().unwrap();
        project.say(&["result", run]).refused(1, &["error[C028]", "has no result yet", "entourage resume"]);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_run_is_cancelled_without_asking_a_model() {
    let project = interrupted(Signal::INT).await;
    tokio::task::block_in_place(|| {
        let runs = project.json(&["runs"]);
        let run = runs["runs"][0]["run_id"].as_str().unwrap();
        assert_eq!(project.json(&["cancel", run])["status"], "cancelled");
        assert_eq!(project.json(&["threads"])["threads"][0]["status"], "idle");
        assert_eq!(project.json(&["runs", "--unread"])["runs"][0]["run_id"], run);
        project.say(&["result", run]).refused(8, &["error[C025]"]);
        assert_eq!(project.json(&["runs", "--unread"]), json!({"runs": []}));
        assert_eq!(project.json(&["cancel", run])["status"], "cancelled");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_thread_is_stopped_or_terminated_without_asking_a_model() {
    let project = interrupted(Signal::INT).await;
    tokio::task::block_in_place(|| {
        let id = project.root();
        assert_eq!(project.json(&["stop", &id])["status"], "idle");
        assert_eq!(project.json(&["terminate", &id])["status"], "terminated");
        let said = project.say(&["--json", "--model", "script:script.json", "resume", &id]);
        assert_eq!((said.code, &said.document()["status"]), (Some(8), &json!("terminated")), "{said:?}");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_nothing_goes_on_and_with_one_everything_does() {
    let project = interrupted(Signal::INT).await;
    tokio::task::block_in_place(|| {
        let id = project.root();
        // A later variable takes the place of the one before it.
        let project = project.variable("OPENAI_BASE_URL", "").variable("OPENAI_API_KEY", "");
        let before = project.json(&["runs"]);
        for arguments in [&["resume"][..], &["resume", &id], &["send", &id, "more"]] {
            let said = project.say(arguments);
            said.refused(1, &["error[C009]: there is no key for `openai:", "`OPENAI_API_KEY`", "hint: "]);
            assert_eq!(project.json(&["show", &id])["status"], "ready", "{arguments:?}");
        }
        assert_eq!(project.json(&["runs"]), before);
        let resumed = project.json(&["--model", "script:script.json", "resume", &id]);
        assert_eq!((&resumed["result"], &resumed["run_id"]), (&json!("I heard: hello"), &before["runs"][0]["run_id"]));
        project.say(&["send", &id, "more"]).refused(1, &["error[C009]"]);
        assert_eq!(project.json(&["show", &id])["status"], "idle");
        assert_eq!(project.json(&["tail", &id])["messages"].as_array().unwrap().len(), 2);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_stopped_and_the_message_behind_it_stays() {
    let project = interrupted(Signal::INT).await;
    tokio::task::block_in_place(|| {
        let id = project.root();
        project.json(&["send", &id, "later", "--detach"]);
        let before = std::time::Instant::now();
        let stopped = project.json(&["stop", &id]);
        assert!(before.elapsed() < std::time::Duration::from_secs(8), "it waited for a session that nobody stopped");
        assert_eq!(stopped["status"], project.json(&["show", &id])["status"]);
        assert_eq!(project.json(&["runs"])["runs"][0]["status"], "cancelled");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_the_key_of_unfinished_threads_says_so_and_lets_them_wait() {
    let project = interrupted(Signal::INT).await;
    tokio::task::block_in_place(|| {
        let project = project.variable("OPENAI_BASE_URL", "").variable("OPENAI_API_KEY", "");
        let id = project.root();
        let words = "unfinished threads of agent `lead` wait";
        let serve = |work: &dyn Fn()| {
            let mut server = project.start(&["serve", "--listen", "127.0.0.1:0"]);
            let mut link = String::new();
            let stdout = server.stdout.as_mut().unwrap();
            std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut link).unwrap();
            // Until it is taken up.
            while project.json(&["show", &id])["status"] == "ready" {}
            work();
            signal(&server, Signal::TERM);
            let told = ["warning[C009]: there is no key for `openai:", words, "hint: set `OPENAI_API_KEY`"];
            ending(server).refused(0, &told);
        };
        serve(&|| assert_eq!(project.json(&["show", &id])["status"], "running"));
        assert_eq!(project.json(&["show", &id])["status"], "ready");
        serve(&|| {
            // Nobody waits for ever who does not want to.
            assert_eq!(project.json(&["stop", &id])["status"], "idle");
            // Through the server the run fails; whoever shares the store with it refuses by itself.
            let said = project.say(&["send", &id, "more"]);
            assert!(matches!(said.code, Some(1 | 7)) && said.stderr.contains("there is no key for"), "{said:?}");
        });
    });
}
