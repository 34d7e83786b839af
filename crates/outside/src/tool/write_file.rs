//! `write_file`: a file with a given text.

use super::arguments::decode;
use super::file_tool::FileTool;
use super::{Call, Output};
use crate::workspace::{Stop, printable};
use entourage_model::{EffectClass, Fact};
use serde::Deserialize;
use serde_json::json;

const CONTENT_BYTES_MAX: usize = 8 << 20;

#[derive(Debug, Deserialize)]
struct Arguments {
    path: String,
    content: String,
}

/// The call says everything about the file, and nothing that the same thread called later has begun while it is open:
/// it is idempotent, so that a crash costs nobody a question.
pub(super) fn write_file() -> FileTool {
    let description = "Writes a text file: makes it, with the folders on the way, or replaces all of it. The content is \
        written exactly as given, at most 8 MiB. To change a part of a file, use `edit_file`.";
    let parameters = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1, "description": "The file, relative to the workspace" },
            "content": { "type": "string", "description": "The whole text of the file" },
        },
        "required": ["path", "content"],
        "additionalProperties": false,
    });
    FileTool::new(("write_file", EffectClass::Idempotent), description, parameters, write).telling(did)
}

fn did(call: &Call) -> Option<Fact> {
    let Arguments { path, .. } = Arguments::deserialize(&call.arguments).ok()?;
    Some(Fact::ChangedFile { path: call.workspace.project_path(&path) })
}

fn write(call: Call, _: &Stop) -> Result<String, Output> {
    let Arguments { path, content } = decode(call.arguments)?;
    let bytes = content.len();
    let shown = printable(&path);
    if bytes > CONTENT_BYTES_MAX {
        let text = format!(
            "`{shown}` was not written: it would have {bytes} bytes, and at most {CONTENT_BYTES_MAX} are written."
        );
        return Err(Output::error(text));
    }
    let existed = call.workspace.replace(&path, content.as_bytes())?;
    let did = if existed { "Replaced" } else { "Wrote" };
    Ok(format!("{did} `{shown}`: {bytes} bytes."))
}
