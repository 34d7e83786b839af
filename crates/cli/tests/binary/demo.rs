//! `demo`: the first thing that a new user sees.

use crate::project::{Project, signal};
use crate::terminal::draw;
use rustix::process::Signal;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

#[test]
fn the_demo_ends_well_and_leaves_nothing_behind() {
    let project = Project::new();
    let said = project.variable("TMPDIR", "/tmp").say(&["demo"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stdout.starts_with("Your agents may crash"), "{said:?}");
    for line in [
        "lead: calls researcher, researcher, writer",
        "researcher (promises): calls read_file",
        "reviewer: done (",
        "lead: done (",
    ] {
        assert!(said.stderr.contains(line), "`{line}` is not in {said:?}");
    }
}

#[test]
fn the_demo_as_a_document_has_its_children_in_the_order_of_their_calls() {
    let document = Project::new().json(&["demo"]);
    let children = document["children"].as_array().unwrap();
    let titles = children.iter().map(|child| (child["agent"].as_str().unwrap(), child["name"].as_str()));
    let expected =
        [("researcher", Some("promises")), ("researcher", Some("readers")), ("writer", None), ("reviewer", None)];
    assert_eq!(titles.collect::<Vec<_>>(), expected);
    assert!(children.iter().all(|child| child["status"] == "done"), "{document}");
    // Three of `lead`, two of each researcher, one of the writer and four of the reviewer.
    assert_eq!(document["usage"]["steps"], 12, "what a run costs is what its whole tree costs");
}

#[test]
fn a_kept_demo_is_a_project_like_any_other() {
    let project = Project::new();
    let folder = project.path().join("kept");
    std::fs::create_dir(&folder).unwrap();
    let project = project.variable("TMPDIR", folder.to_str().unwrap());
    assert_eq!(project.say(&["demo", "--keep"]).code, Some(0));
    let kept = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let kept = kept.to_str().unwrap();
    assert_eq!(project.json(&["check", "--project", kept])["reports"].as_array().unwrap().len(), 0);
    assert_eq!(project.json(&["threads", "--project", kept])["threads"].as_array().unwrap().len(), 5);
}

#[test]
fn a_terminal_is_shown_the_tree() {
    let (drawn, stdout) = draw(&Project::new(), &["demo"]);
    assert!(stdout.starts_with("Your agents may crash"), "{stdout}");
    // Tabs, colours and earlier pictures aside, the last one is the tree at rest.
    assert!(drawn.contains("\x1b[32m✓\x1b[0m lead"), "{drawn:?}");
    assert!(drawn.contains("├─ researcher (promises)") && drawn.contains("└─ reviewer"), "{drawn:?}");
}

#[test]
fn no_color_means_none() {
    let project = Project::new().variable("NO_COLOR", "1");
    let (drawn, _) = draw(&project, &["demo"]);
    assert!(drawn.contains("✓ lead"), "{drawn:?}");
    assert!(!drawn.contains("\x1b[3") && !drawn.contains("\x1b[2m"), "{drawn:?}");
    let (drawn, _) = draw(&project, &["run", "hello"]);
    assert!(drawn.starts_with("error[C009]:"), "{drawn:?}");
    let (drawn, _) = draw(&Project::new(), &["run", "hello"]);
    assert!(drawn.starts_with("\x1b["), "{drawn:?}");
}

#[test]
fn a_demo_can_be_looked_at_on_a_page() {
    let project = Project::new();
    let mut child = project.start(&["demo", "--serve"]);
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines().map(Result::unwrap);
    let link = lines.into_iter().find(|line| line.starts_with("http://127.0.0.1:")).unwrap();
    let address = link["http://".len()..].split('/').next().unwrap().to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(stream, "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("<title>entourage</title>"), "{answer}");
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
