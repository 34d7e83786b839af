//! Looking at threads and runs, and writing to them.

use crate::project::{Project, Said, ending};
use serde_json::json;

fn after_a_run() -> Project {
    let project = Project::with_echo();
    assert_eq!(project.say(&["--model", "script:script.json", "run", "hello"]).code, Some(0));
    project
}

#[test]
fn a_thread_is_listed_and_shown() {
    let project = after_a_run();
    let id = project.root();
    let listed = project.say(&["threads"]);
    assert!(listed.stdout.contains(&id) && listed.stdout.contains("idle"), "{listed:?}");
    let shown = project.say(&["show", &id]);
    assert!(shown.stdout.contains("user: hello") && shown.stdout.contains("assistant: I heard: hello"), "{shown:?}");
    let document = project.json(&["show", &id]);
    let keys: Vec<_> = document.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = "thread_id agent bundle status parent root depth created_at terminated tags user_id usage children \
        error tree";
    assert_eq!(keys, expected.split(' ').collect::<Vec<_>>());
    assert_eq!((&document["terminated"], &document["children"]), (&json!(null), &json!([])));
}

#[test]
fn a_part_of_an_id_is_enough_if_only_one_has_it() {
    let project = after_a_run();
    let id = project.root();
    assert_eq!(project.json(&["show", &id[28..]])["thread_id"], id.as_str());
    assert_eq!(project.json(&["show", &id[..20]])["thread_id"], id.as_str());
    project.say(&["show", "zzzz"]).refused(1, &["error[C020]: there is no thread `zzzz`"]);
    project.say(&["show", &id[..2]]).refused(1, &["error[C020]", "too short"]);
    assert_eq!(project.say(&["--model", "script:script.json", "run", "again"]).code, Some(0));
    project.say(&["show", &id[..8]]).refused(1, &["error[C021]", &id]);
}

#[test]
fn messages_are_printed_in_order() {
    let project = after_a_run();
    let said = project.say(&["tail", &project.root()]);
    assert_eq!(said.stdout, "user: hello\nassistant: I heard: hello\n");
    assert_eq!(project.say(&["tail", &project.root(), "--last", "1"]).stdout, "assistant: I heard: hello\n");
}

#[test]
fn a_run_that_was_printed_is_read_and_its_result_stays() {
    let project = after_a_run();
    let runs = project.json(&["runs"]);
    let keys: Vec<_> = runs["runs"][0].as_object().unwrap().keys().map(String::as_str).collect();
    let expected = "run_id thread_id parent_thread_id agent status result error created_at started_at ended_at \
                    delivered_at cancel_requested";
    assert_eq!(keys, expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!(project.json(&["runs", "--unread"]), json!({"runs": []}));
    let run = runs["runs"][0]["run_id"].as_str().unwrap();
    assert_eq!(project.say(&["result", run]).stdout, "I heard: hello\n");
    project.say(&["result", "zzzz"]).refused(1, &["error[C020]: there is no run `zzzz`"]);
}

#[test]
fn a_message_is_worked_on_at_once_or_only_queued() {
    let project = after_a_run();
    let id = project.root();
    let script = ["--model", "script:script.json"];
    let sent = project.say(&[&script[..], &["send", &id, "and now?"]].concat());
    assert_eq!((sent.code, sent.stdout.as_str()), (Some(0), "I heard: and now?\n"), "{sent:?}");
    let queued = project.json(&["send", &id, "later", "--detach"]);
    assert_eq!(queued["status"], "queued");
    let resumed = project.say(&[&script[..], &["resume"]].concat());
    assert_eq!((resumed.code, resumed.stdout.as_str()), (Some(0), "I heard: later\n"), "{resumed:?}");
    let nothing = project.say(&[&script[..], &["resume"]].concat());
    assert_eq!((nothing.code, nothing.stderr.as_str()), (Some(0), "nothing is unfinished\n"));
}

#[test]
fn a_queued_message_is_worked_on_before_the_next() {
    let project = after_a_run();
    let id = project.root();
    project.json(&["send", &id, "first", "--detach"]);
    let sent = project.say(&["--model", "script:script.json", "send", &id, "second"]);
    assert_eq!((sent.code, sent.stdout.as_str()), (Some(0), "I heard: second\n"), "{sent:?}");
    let messages = project.json(&["tail", &id]);
    let said: Vec<_> = messages["messages"].as_array().unwrap().iter().map(|line| line["content"].clone()).collect();
    assert_eq!(said[2..], ["first", "second", "I heard: second"]);
}

#[test]
fn a_terminated_thread_takes_no_message() {
    let project = after_a_run();
    let id = project.root();
    assert_eq!(project.json(&["terminate", &id])["status"], "terminated");
    let first = project.json(&["show", &id])["terminated"].clone();
    assert_eq!(project.json(&["terminate", &id])["terminated"], first);
    for detach in [&[][..], &["--detach"]] {
        let said = project.say(&[&["--model", "script:script.json", "send", &id, "hello?"], detach].concat());
        said.refused(1, &["error[C022]", "terminated"]);
    }
}

#[test]
fn where_nothing_was_run_there_is_nothing_and_nothing_is_made() {
    let project = Project::new().in_folder();
    assert_eq!(project.json(&["threads"]), json!({"threads": []}));
    assert_eq!(project.json(&["runs"]), json!({"runs": []}));
    assert_eq!(project.json(&["resume"]), json!({"threads": []}));
    assert!(!project.path().join(".entourage").exists());
}

#[test]
fn a_thread_with_nothing_but_a_queued_message_is_not_stopped_and_the_message_stays() {
    let project = after_a_run();
    let id = project.root();
    project.json(&["send", &id, "later", "--detach"]);
    let before = std::time::Instant::now();
    assert_eq!(project.json(&["stop", &id])["status"], "ready");
    assert!(before.elapsed() < std::time::Duration::from_secs(5), "it waited for something");
    assert_eq!(project.json(&["show", &id])["status"], "ready");
    assert_eq!(project.say(&["--model", "script:script.json", "resume"]).stdout, "I heard: later\n");
}

#[test]
fn a_result_names_the_run_that_it_is_of_or_none() {
    let project = Project::with_echo();
    let script = ["--model", "script:script.json"];
    let first = project.json(&[&script[..], &["run", "hello"]].concat());
    let run = first["run_id"].as_str().unwrap();
    let id = project.root();
    let rested = project.json(&[&script[..], &["resume", &id]].concat());
    assert_eq!((&rested["run_id"], &rested["result"]), (&json!(null), &first["result"]));
    // The same words are another result.
    for message in ["more", "hello"] {
        let sent = project.json(&[&script[..], &["send", &id, message]].concat());
        assert_eq!((&sent["run_id"], &sent["result"]), (&json!(null), &json!(format!("I heard: {message}"))));
    }
    assert_eq!(project.say(&["result", run]).stdout, "I heard: hello\n");
}

/// Standard output that takes nothing.
#[cfg(target_os = "linux")]
fn full() -> std::process::Stdio {
    std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_could_not_be_written_is_an_error_and_stays_unread() {
    let project = Project::with_echo();
    for format in [&["--json"][..], &[]] {
        let mut command = project.command(&[format, &["--model", "script:script.json", "run", "hello"]].concat());
        let said: Said = command.stdout(full()).output().unwrap().into();
        said.refused(2, &["error[C057]", "cannot be written to standard output", "hint: "]);
    }
    let unread = project.json(&["runs", "--unread"])["runs"].clone();
    assert_eq!(unread.as_array().unwrap().len(), 2);
    let run = unread[0]["run_id"].as_str().unwrap();
    let said: Said = project.command(&["result", run]).stdout(full()).output().unwrap().into();
    said.refused(2, &["error[C057]"]);
    assert_eq!(project.json(&["runs", "--unread"])["runs"].as_array().unwrap().len(), 2);
    assert_eq!(project.say(&["result", run]).stdout, "I heard: hello\n");
    assert_eq!(project.json(&["runs", "--unread"])["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_reader_that_has_gone_ends_what_it_read_quietly() {
    let project = after_a_run();
    let id = project.root();
    let mut follower = project.start(&["tail", &id, "--follow"]);
    let mut heard = [0; 5];
    std::io::Read::read_exact(follower.stdout.as_mut().unwrap(), &mut heard).unwrap();
    assert_eq!(&heard, b"user:");
    // Nothing is said any more, and it ends all the same.
    drop(follower.stdout.take());
    let said = ending(follower);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
}
