//! Files that cannot be read, as bytes.

use super::{lines, load, names, tools};
use entourage_declare::{FILE_BYTES_MAX, Files, Kind, MemoryFiles};
use std::io;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

const AGENT: &str = r#"{"name": "a", "sideA": {"prompt": "p"}}"#;

/// Agent `a` of one file, whose prompt is `bytes`.
fn check(bytes: impl Into<Vec<u8>>, expected: &[&str]) {
    let files = [("agents/agents/a.json", AGENT.into()), ("agents/prompts/p.json", bytes.into())];
    let loaded = load(&MemoryFiles::from_iter(files), &tools());
    assert_eq!(lines(&loaded), expected);
    assert_eq!(names(&loaded).is_empty(), !expected.is_empty());
}

#[test]
fn a_mark_before_the_text_is_accepted_and_has_no_width() {
    check("\u{feff}{\"name\": \"p\", \"prompt\": \"x\"}", &[]);
    check(
        "\u{feff}{\"name\": \"p\", \"prompt\": 1}",
        &[
            "error[D006]: `prompt` must be a string or an array of parts, not `1` at agents/prompts/p.json:1:15; write a string or an array of parts",
        ],
    );
}

#[test]
fn only_strict_json_is_accepted() {
    check(
        "",
        &[
            "error[D004]: this is not valid JSON: EOF while parsing a value at agents/prompts/p.json:1:1; mend the text at the place shown",
        ],
    );
    check(
        "{\n  \"name\": \"p\", // the name\n  \"prompt\": \"x\"\n}",
        &[
            "error[D004]: this is not valid JSON: comments are not allowed at agents/prompts/p.json:2:16; mend the text at the place shown",
        ],
    );
    check(
        "{\n  \"name\": \"p\",\n  \"prompt\": \"x\",\n}",
        &[
            "error[D004]: this is not valid JSON: trailing commas are not allowed at agents/prompts/p.json:3:16; mend the text at the place shown",
        ],
    );
    check(
        "{\"name\": \"p\", \"prompt\": \"x\", \"prompt\": \"y\"}",
        &[
            "error[D004]: this is not valid JSON: the key `prompt` is in its object twice at agents/prompts/p.json:1:30; remove one of the two",
        ],
    );
    check(
        "[]",
        &["error[D006]: a declaration must be an object, not an array at agents/prompts/p.json:1:1; write an object"],
    );
}

#[test]
fn a_text_that_is_not_utf8_is_an_error_where_it_stops_being_it() {
    check(
        b"{\n\"\xc3\xa9\xff\": 1}",
        &["error[D003]: the file is not UTF-8 text at agents/prompts/p.json:2:3; save it as UTF-8"],
    );
}

#[test]
fn the_size_of_a_file_has_a_limit() {
    let text = |bytes: usize| {
        let start = r#"{"name": "p", "prompt": "x"}"#;
        start.to_owned() + &" ".repeat(bytes - start.len())
    };
    check(text(FILE_BYTES_MAX), &[]);
    check(
        text(FILE_BYTES_MAX + 1),
        &[
            "error[D002]: the file is larger than 8 MiB at agents/prompts/p.json:1:1; split it, or move what is not a declaration",
        ],
    );
}

#[test]
fn nesting_has_a_limit() {
    check(
        "[".repeat(100_000),
        &[
            "error[D004]: this is not valid JSON: EOF while parsing a list at agents/prompts/p.json:1:100000; mend the text at the place shown",
        ],
    );
    check(
        "[".repeat(100_000) + &"]".repeat(100_000),
        &[
            "error[D004]: this is not valid JSON: maximum nesting depth exceeded at agents/prompts/p.json:1:513; mend the text at the place shown",
        ],
    );
    let schema = "{\"not\":".repeat(100_000) + "1" + &"}".repeat(100_000);
    check(
        format!(r#"{{"name": "p", "prompt": "x", "requiredSchema": {schema}}}"#),
        &[
            "error[D004]: this is not valid JSON: maximum nesting depth exceeded at agents/prompts/p.json:1:1834; mend the text at the place shown",
        ],
    );
}

#[test]
fn a_name_from_a_file_is_shown_on_one_short_line() {
    check(
        format!(r#"{{"name": "p", "prompt": [{{"type": "include", "prompt": "\n{}"}}]}}"#, "x".repeat(5000)),
        &[&format!(
            "error[D012]: prompt `p` includes prompt `\\n{}…`, which is not declared at agents/prompts/p.json:1:46; add it to `agents/prompts`; the nearest name is `p`",
            "x".repeat(79)
        )],
    );
}

#[derive(Debug)]
struct Locked;

impl Files for Locked {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        if folder == "agents/agents" {
            Ok(vec!["a.json".to_owned()])
        } else {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }

    fn entries(&self, folder: &str) -> io::Result<Vec<(String, Kind)>> {
        Ok(self.list(folder)?.into_iter().map(|name| (name, Kind::File)).collect())
    }

    fn kind(&self, _: &str) -> io::Result<Kind> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn read(&self, _: &str) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

#[test]
fn what_cannot_be_opened_is_reported_and_stops_nothing() {
    let loaded = load(&Locked, &tools());
    let ours = |line: &String| line.contains("`agents/") || line.contains("AGENTS.md");
    assert_eq!(
        lines(&loaded).into_iter().filter(ours).collect::<Vec<_>>(),
        [
            "error[D001]: `AGENTS.md` cannot be read: permission denied at AGENTS.md:1:1; check that it is there and that you may read it",
            "error[D001]: `agents/agents/a.json` cannot be read: permission denied at agents/agents/a.json:1:1; check that it is there and that you may read it",
            "error[D001]: `agents/hooks` cannot be read: permission denied at agents/hooks:1:1; check that it is there and that you may read it",
            "error[D001]: `agents/models` cannot be read: permission denied at agents/models:1:1; check that it is there and that you may read it",
            "error[D001]: `agents/prompts` cannot be read: permission denied at agents/prompts:1:1; check that it is there and that you may read it",
            "error[D001]: `agents/tools` cannot be read: permission denied at agents/tools:1:1; check that it is there and that you may read it",
        ]
    );
    assert!(loaded.team.agents.contains_key("lead"));
}

/// Files of which each can be read only while another one is: whoever reads one after the other never gets the first.
struct Meeting {
    files: MemoryFiles,
    readers: Mutex<usize>,
    met: Condvar,
}

impl Files for Meeting {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.files.list(folder)
    }

    fn entries(&self, folder: &str) -> io::Result<Vec<(String, Kind)>> {
        self.files.entries(folder)
    }

    fn kind(&self, path: &str) -> io::Result<Kind> {
        self.files.kind(path)
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        if path.starts_with("agents/") {
            let mut readers = self.readers.lock().expect("no reader panics");
            *readers += 1;
            self.met.notify_all();
            let (_readers, waited) = self
                .met
                .wait_timeout_while(readers, Duration::from_secs(20), |readers| *readers < 2)
                .expect("no reader panics");
            if waited.timed_out() {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        self.files.read(path)
    }
}

#[test]
fn definitions_of_different_kinds_are_read_side_by_side() {
    let files = [("agents/agents/a.json", AGENT), ("agents/prompts/p.json", r#"{"name": "p", "prompt": "x"}"#)];
    let meeting = Meeting { files: MemoryFiles::from_iter(files), readers: Mutex::new(0), met: Condvar::new() };
    assert_eq!(lines(&load(&meeting, &tools())), [""; 0]);
}
