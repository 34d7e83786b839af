//! The bodies of the floor's requests, written by hand: nothing is serialized. They hold no character that JSON would
//! have to escape.

use std::fmt::Write;

use super::Mode;

const READ_FILE: &str = r#"{"type":"function","function":{"name":"read_file","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}"#;
const WORKER: &str = r#"{"type":"function","function":{"name":"worker","description":"Does a job.","parameters":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}}}"#;

pub(super) struct Child {
    pub(super) number: usize,
}

impl Child {
    pub(super) fn first(&self, mode: Mode) -> String {
        body(mode, &self.opening(), READ_FILE)
    }

    pub(super) fn last(&self, mode: Mode, note: &str) -> String {
        let opening = self.opening();
        let messages = format!(
            r#"{opening},{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_1","type":"function","function":{{"name":"read_file","arguments":"{{\"path\":\"note.txt\"}}"}}}}]}},{{"role":"tool","tool_call_id":"call_1","content":"{note}"}}"#
        );
        body(mode, &messages, READ_FILE)
    }

    fn opening(&self) -> String {
        let number = self.number;
        format!(
            r#"{{"role":"system","content":"You are a worker. Read the note, then say that you are done."}},{{"role":"user","content":"job {number}"}}"#
        )
    }
}

pub(super) struct Parent {
    pub(super) children: usize,
}

impl Parent {
    pub(super) fn first(&self, mode: Mode) -> String {
        body(mode, &self.opening(), WORKER)
    }

    pub(super) fn last(&self, mode: Mode, result: &str) -> String {
        let mut messages = self.opening();
        messages.push_str(r#",{"role":"assistant","content":null,"tool_calls":["#);
        for job in 1..=self.children {
            let comma = if job == 1 { "" } else { "," };
            let call = write!(
                messages,
                r#"{comma}{{"id":"call_{job}","type":"function","function":{{"name":"worker","arguments":"{{\"message\":\"job {job}\"}}"}}}}"#
            );
            call.expect("a text takes all that is written");
        }
        messages.push_str("]}");
        for job in 1..=self.children {
            write!(messages, r#",{{"role":"tool","tool_call_id":"call_{job}","content":"{result}"}}"#)
                .expect("a text takes all that is written");
        }
        body(mode, &messages, WORKER)
    }

    fn opening(&self) -> String {
        let children = self.children;
        format!(
            r#"{{"role":"system","content":"You hand out jobs. [[parent:{children}]]"}},{{"role":"user","content":"go"}}"#
        )
    }
}

fn body(mode: Mode, messages: &str, tool: &str) -> String {
    let stream = match mode {
        Mode::Streamed => r#""stream":true,"stream_options":{"include_usage":true}"#,
        Mode::Plain => r#""stream":false"#,
    };
    format!(r#"{{"model":"fake",{stream},"messages":[{messages}],"tools":[{tool}]}}"#)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_body_is_json() {
        for mode in [Mode::Streamed, Mode::Plain] {
            let (child, parent) = (Child { number: 7 }, Parent { children: 3 });
            let bodies = [child.first(mode), child.last(mode, "note"), parent.first(mode), parent.last(mode, "note")];
            let parsed = bodies.map(|body| serde_json::from_str::<Value>(&body).expect("a body is JSON"));
            let lengths = parsed.map(|body| body["messages"].as_array().map(Vec::len));
            assert_eq!(lengths, [Some(2), Some(4), Some(2), Some(6)]);
        }
    }
}
