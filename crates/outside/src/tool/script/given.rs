//! What a scripted tool returned, read as Standard Agents defines it.

use crate::tool::Output;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE};
use serde_json::{Map, Value, json};

/// What a tool that has nothing to say is taken to have said: some providers refuse an empty result.
const NOTHING: &str = "Done.";

/// The result of a tool that came to an orderly end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub output: Output,
    pub enclosures: Vec<Enclosure>,
}

/// A file that goes with a result or a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Enclosure {
    /// One that the thread has, by its path.
    Kept {
        path: String,
    },
    New {
        name: String,
        mime_type: Option<String>,
        bytes: Vec<u8>,
    },
}

impl Given {
    /// A text as it is, `{status, …}` as a result of its own, anything else as JSON.
    pub fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::Object(members) if matches!(status(&members), Some("success" | "error")) => Self::declared(&members),
            value => Ok(Self { output: Output::success(said(text(&value))), enclosures: Vec::new() }),
        }
    }

    fn declared(members: &Map<String, Value>) -> Result<Self, String> {
        let mut enclosures = Enclosure::read_all(members.get("attachments"))?;
        let content = members.get("content").filter(|content| !content.is_null());
        let result = match content {
            Some(content) => parts(content, &mut enclosures)?,
            None => members.get("result").map(text).unwrap_or_default(),
        };
        let output = match status(members) {
            Some("error") => Output::error(complaint(members, result)),
            _ => Output::success(said(result)),
        };
        Ok(Self { output, enclosures })
    }
}

impl Enclosure {
    /// A list of paths, references and new files; none where there is no list.
    pub fn read_all(list: Option<&Value>) -> Result<Vec<Self>, String> {
        match list {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(list)) => list.iter().map(Self::read).collect(),
            Some(_) => Err("`attachments` must be a list".to_owned()),
        }
    }

    fn read(value: &Value) -> Result<Self, String> {
        let member = |name: &str| value.get(name).and_then(Value::as_str);
        if let Some(path) = value.as_str().or_else(|| member("path")) {
            return Ok(Self::Kept { path: path.to_owned() });
        }
        let (Some(name), Some(data)) = (member("name"), member("data")) else {
            return Err("an attachment must be a path, or have a `name` and `data`".to_owned());
        };
        let mime_type = member("mimeType").or_else(|| member("mime_type")).map(str::to_owned);
        Ok(Self::New { name: name.to_owned(), mime_type, bytes: decode(name, data)? })
    }
}

fn status(members: &Map<String, Value>) -> Option<&str> {
    members.get("status")?.as_str()
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => format!("{value:#}"),
    }
}

fn said(text: String) -> String {
    if text.is_empty() { NOTHING.to_owned() } else { text }
}

/// The text of `content`; its images become enclosures.
fn parts(content: &Value, enclosures: &mut Vec<Enclosure>) -> Result<String, String> {
    let Value::Array(parts) = content else { return Ok(text(content)) };
    let mut texts = Vec::new();
    for part in parts {
        let member = |name: &str| part.get(name).and_then(Value::as_str);
        match (member("type"), member("text"), member("data")) {
            (Some("text"), Some(text), _) => texts.push(text),
            (Some("image"), _, Some(data)) => {
                let mime_type = member("mimeType").or_else(|| member("mime_type")).unwrap_or("image/png");
                let name = format!("image.{}", mime_type.rsplit(['/', '+']).next().unwrap_or("png"));
                let bytes = decode(&name, data)?;
                enclosures.push(Enclosure::New { name, mime_type: Some(mime_type.to_owned()), bytes });
            }
            _ => return Err("a part of `content` must be a `text` or an `image` with `data`".to_owned()),
        }
    }
    Ok(texts.join("\n"))
}

/// What went wrong; with a code or data of its own, as JSON that a model can take apart.
fn complaint(members: &Map<String, Value>, result: String) -> String {
    let message = members.get("error").map(text).filter(|text| !text.is_empty()).unwrap_or(result);
    let message = if message.is_empty() { "The tool failed and does not say why.".to_owned() } else { message };
    let given = |name: &str| members.get(name).filter(|value| !value.is_null()).cloned();
    let (code, data) = (given("error_code"), given("error_data"));
    if code.is_none() && data.is_none() {
        return message;
    }
    let mut error = json!({ "message": message });
    for (name, value) in [("code", code), ("data", data)] {
        if let Some(value) = value {
            error[name] = value;
        }
    }
    json!({ "error": error }).to_string()
}

/// The bytes of base64 in any of its usual spellings, also as a `data:` URL.
fn decode(name: &str, data: &str) -> Result<Vec<u8>, String> {
    let data = match data.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        Some((_, data)) => data,
        None => data,
    };
    let decoded = STANDARD.decode(data).or_else(|_| STANDARD_NO_PAD.decode(data)).or_else(|_| URL_SAFE.decode(data));
    decoded.map_err(|_| format!("the data of the attachment `{name}` is not base64"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: Value, expected: &Output, files: &[&str]) {
        let given = Given::read(value).expect("it can be read");
        assert_eq!(given.output, *expected);
        let shown: Vec<_> = given.enclosures.iter().map(|enclosure| format!("{enclosure:?}")).collect();
        assert_eq!(shown, files);
    }

    #[test]
    fn results_are_read_in_all_their_forms() {
        let success = |text: &str| Output::success(text);
        check(json!("plain"), &success("plain"), &[]);
        check(json!(null), &success("Done."), &[]);
        check(json!(""), &success("Done."), &[]);
        check(json!({"a": [1]}), &success("{\n  \"a\": [\n    1\n  ]\n}"), &[]);
        check(json!([1]), &success("[\n  1\n]"), &[]);
        check(json!(7), &success("7"), &[]);
        check(json!({"status": "open"}), &success("{\n  \"status\": \"open\"\n}"), &[]);
        check(json!({"status": "success", "result": "done it"}), &success("done it"), &[]);
        check(json!({"status": "success", "result": {"a": 1}}), &success("{\n  \"a\": 1\n}"), &[]);
        check(json!({"status": "success"}), &success("Done."), &[]);
        let content = json!([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]);
        check(json!({"status": "success", "result": "no", "content": content}), &success("one\ntwo"), &[]);
        check(json!({"status": "success", "content": "text"}), &success("text"), &[]);
    }

    #[test]
    fn errors_say_why_and_with_a_code_as_json() {
        let error = |text: &str| Output::error(text);
        check(json!({"status": "error", "error": "no city"}), &error("no city"), &[]);
        check(json!({"status": "error", "result": "no city"}), &error("no city"), &[]);
        check(json!({"status": "error"}), &error("The tool failed and does not say why."), &[]);
        let coded = json!({"status": "error", "error": "no city", "error_code": "nowhere", "error_data": {"tried": 2}});
        check(coded, &error(r#"{"error":{"message":"no city","code":"nowhere","data":{"tried":2}}}"#), &[]);
    }

    #[test]
    fn attachments_are_paths_references_and_new_files() {
        let list = json!(["/a.txt", {"path": "/b.txt", "name": "b.txt"}, {"name": "c.txt", "mimeType": "text/x", "data": "aGk="}]);
        let files = [
            r#"Kept { path: "/a.txt" }"#,
            r#"Kept { path: "/b.txt" }"#,
            r#"New { name: "c.txt", mime_type: Some("text/x"), bytes: [104, 105] }"#,
        ];
        check(json!({"status": "success", "result": "x", "attachments": list}), &Output::success("x"), &files);
        let image = json!([{"type": "image", "data": "data:image/png;base64,aGk", "mimeType": "image/jpeg"}]);
        let file = r#"New { name: "image.jpeg", mime_type: Some("image/jpeg"), bytes: [104, 105] }"#;
        check(json!({"status": "success", "content": image}), &Output::success("Done."), &[file]);
    }

    #[test]
    fn a_bad_result_is_refused() {
        for bad in [
            json!({"status": "success", "attachments": "/a"}),
            json!({"status": "success", "attachments": [7]}),
            json!({"status": "success", "attachments": [{"name": "a"}]}),
            json!({"status": "success", "attachments": [{"name": "a", "data": "?"}]}),
            json!({"status": "success", "content": [{"type": "video"}]}),
        ] {
            assert!(Given::read(bad.clone()).is_err(), "{bad}");
        }
    }
}
