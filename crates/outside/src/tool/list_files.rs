//! `list_files`: what lies in one folder.

use super::arguments::decode;
use super::file_tool::FileTool;
use super::{Call, Output};
use crate::workspace::{Folder, Kind, Stop, printable};
use serde::Deserialize;
use serde_json::json;
use std::ffi::OsStr;

const ENTRIES_SHOWN: usize = 1000;
const ENTRIES_LOOKED_AT: usize = 200_000;

#[derive(Debug, Deserialize)]
struct Arguments {
    #[serde(default)]
    path: String,
}

pub(super) fn list_files() -> FileTool {
    let description = "Lists one folder, not what lies below it: one name per line, sorted. Folders end in `/`, \
        symlinks show where they lead. At most 1000 entries.";
    let parameters = json!({
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "description": "The folder, relative to the workspace; the workspace itself if left out",
            },
        },
        "additionalProperties": false,
    });
    FileTool::reading("list_files", description, parameters, list)
}

fn list(call: Call, stop: &Stop) -> Result<String, Output> {
    let arguments: Arguments = decode(call.arguments)?;
    let folder = call.workspace.folder(&arguments.path)?;
    let found = folder.entries(ENTRIES_LOOKED_AT, stop)?;
    if found.entries.is_empty() {
        return Ok(format!("`{}` is empty.", printable(folder.path().resolvable())));
    }
    let shown = found.entries.iter().take(ENTRIES_SHOWN);
    let mut lines: Vec<String> = shown.map(|entry| line(&folder, &entry.name, entry.kind)).collect();
    if found.more {
        lines.push(format!("[cut: {ENTRIES_SHOWN} of more than {ENTRIES_LOOKED_AT} entries shown]"));
    } else if found.entries.len() > ENTRIES_SHOWN {
        lines.push(format!("[cut: {ENTRIES_SHOWN} of {} entries shown]", found.entries.len()));
    }
    Ok(lines.join("\n"))
}

fn line(folder: &Folder, name: &OsStr, kind: Kind) -> String {
    let text = name.to_string_lossy();
    let text = printable(&text);
    match kind {
        Kind::Folder => format!("{text}/"),
        Kind::Symlink => {
            format!("{text} -> {}", folder.link_target(name).as_deref().map_or("?".into(), printable))
        }
        Kind::File | Kind::Other => text.into_owned(),
    }
}
