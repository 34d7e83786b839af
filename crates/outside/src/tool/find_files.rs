//! `find_files`: the files whose paths match a pattern.

use super::arguments::decode;
use super::file_tool::FileTool;
use super::{Call, Output};
use crate::workspace::{Found, Kind, Stop, Walk, printable};
use globset::{GlobBuilder, GlobSet};
use serde::Deserialize;
use serde_json::json;
use std::ops::ControlFlow;

const RESULTS_SHOWN: usize = 1000;

#[derive(Debug, Deserialize)]
struct Arguments {
    pattern: String,
    #[serde(default)]
    path: String,
}

pub(super) fn find_files() -> FileTool {
    let description = "Finds files by a glob pattern and returns their paths, relative to the workspace, one per \
        line, sorted. `*` stays within a name, `**` crosses folders, `{a,b}` is a choice; a pattern without `/` \
        matches the name of a file at any depth. Symlinks are not followed; `.git`, `node_modules`, `target` and \
        `.entourage` are passed over unless the pattern names them. At most 1000 paths.";
    let parameters = json!({
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string",
                "minLength": 1,
                "maxLength": 1000,
                "description": "Such as `*.rs` or `src/**/*.test.ts`, relative to `path`",
            },
            "path": {
                "type": "string",
                "description": "The folder to look in, relative to the workspace; all of it if left out",
            },
        },
        "required": ["pattern"],
        "additionalProperties": false,
    });
    FileTool::reading("find_files", description, parameters, find)
}

fn find(call: Call, stop: &Stop) -> Result<String, Output> {
    let arguments: Arguments = decode(call.arguments)?;
    let pattern = Pattern::compile(&arguments.pattern)?;
    let folder = call.workspace.folder(&arguments.path)?;
    let mut paths: Vec<String> = Vec::new();
    let mut more = false;
    let mut visit = |found: &Found<'_>| {
        if !pattern.matches(found) {
            return ControlFlow::Continue(());
        }
        if paths.len() == RESULTS_SHOWN {
            more = true;
            return ControlFlow::Break(());
        }
        paths.push(printable(found.path).into_owned());
        ControlFlow::Continue(())
    };
    let named: Vec<&str> = pattern.text.split(['/', '{', ',', '}']).collect();
    let left_out = Walk { named: &named, stop, visit: &mut visit }.below(&folder);
    if paths.is_empty() {
        let place = printable(folder.path().resolvable());
        paths.push(format!("No file matches `{}` in `{place}`.", printable(pattern.text)));
    }
    if more {
        paths.push(format!("[cut: only the first {RESULTS_SHOWN} paths are shown]"));
    }
    paths.extend(left_out.lines());
    Ok(paths.join("\n"))
}

struct Pattern<'a> {
    text: &'a str,
    globs: GlobSet,
    /// It has no slash, and so it is about names.
    names_only: bool,
}

impl<'a> Pattern<'a> {
    fn compile(text: &'a str) -> Result<Self, Output> {
        let text = text.strip_prefix("./").unwrap_or(text);
        if text.starts_with('/') || text.split('/').any(|segment| segment == "..") {
            let what = "a pattern is relative to `path` and cannot lead out of it";
            return Err(Output::error(format!("`{}` matches nothing: {what}.", printable(text))));
        }
        // A set of one: it gives an error where a single matcher panics, such as for a thousand nested choices.
        let compiled = GlobBuilder::new(text).literal_separator(true).build().and_then(|glob| GlobSet::new([glob]));
        match compiled {
            Ok(globs) => Ok(Self { text, globs, names_only: !text.contains('/') }),
            Err(error) => {
                let why = error.kind();
                Err(Output::error(format!("`{}` is not a glob pattern: {why}.", printable(text))))
            }
        }
    }

    fn matches(&self, found: &Found<'_>) -> bool {
        let wanted = matches!(found.kind, Kind::File | Kind::Symlink);
        wanted
            && if self.names_only { self.globs.is_match(found.name()) } else { self.globs.is_match(found.path_below) }
    }
}
