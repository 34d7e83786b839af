//! `workspace`: the folder that an agent works in, and the one that it is defined in.

use super::keys::{Keys, said};
use crate::faults::{did_you_mean, quoted};
use crate::fields::Fields;
use crate::files::{self, Files};
use crate::solo::{Said, Solo};
use crate::tree::{Node, Tree};
use entourage_model::{Report, WorkspaceMode, WorkspaceWish};
use serde_json::Value;

const MODES: [(&str, WorkspaceMode); 2] = [("isolated", WorkspaceMode::Isolated), ("shared", WorkspaceMode::Shared)];

/// The file of a folder that is the prompt of the agents which the folder defines.
const PROMPT: &str = "AGENTS.md";

pub(super) fn read(keys: &mut Keys<'_>) -> Option<Said<WorkspaceWish>> {
    let node = keys.node("workspace")?;
    if !matches!(node.tree, Tree::Object(_)) {
        let named = keys.fields.named("workspace");
        let what = format!("{named} must be an object with `mode` and `path`, not {}: it is ignored", node.describe());
        let mode = node.scalar_text().and_then(|text| mode_of(&text)).map_or("isolated", |(word, _)| word);
        let report = Report::warning("D086", what).hint(format!("write `mode: {mode}` below it"));
        keys.fields.report(node, report);
        return None;
    }
    let mut fields = keys.fields.within(node, "workspace")?;
    let mode = mode(&mut fields);
    let path = path(&mut fields);
    _ = fields.finish();
    Some(said("workspace", node, WorkspaceWish { mode, path }))
}

fn mode(fields: &mut Fields<'_>) -> WorkspaceMode {
    let Some(node) = fields.node("mode").filter(|node| !matches!(node.tree, Tree::Null)) else {
        return WorkspaceMode::default();
    };
    let word = node.scalar_text().unwrap_or_default();
    if let Some((_, mode)) = mode_of(&word) {
        return mode;
    }
    let (named, found) = (fields.named("mode"), node.describe());
    let what = format!("{named} must be `isolated` or `shared`, not {found}: it is taken as `isolated`");
    let hint = did_you_mean(&word, MODES.iter().map(|(word, _)| *word));
    fields.report(node, Report { hint, ..Report::warning("D086", what) });
    WorkspaceMode::Isolated
}

fn mode_of(word: &str) -> Option<(&'static str, WorkspaceMode)> {
    MODES.into_iter().find(|(known, _)| word.trim().eq_ignore_ascii_case(known))
}

/// Takes in the prompt of a folder that lies in the project which `files` are, so that the folder is not needed where
/// the agent goes. An agent of its own folder works elsewhere then, and one whose folder is not there has no prompt: the
/// path is named as lost.
pub(super) fn take_in(solo: &mut Solo, files: Option<&dyn Files>) {
    let Some(said) = &mut solo.workspace else { return };
    let Some(folder) = said.value.path.clone().filter(|path| !path.starts_with('/')) else { return };
    let path = if folder == "." { PROMPT.to_owned() } else { format!("{folder}/{PROMPT}") };
    let text = files.and_then(|files| files::text(files, &path).ok()?);
    if text.is_none() || said.value.mode == WorkspaceMode::Isolated {
        solo.rest.push(Said { key: "workspace.path".to_owned(), spot: said.spot, value: folder.into() });
    }
    let Some(text) = text else { return };
    solo.body = text;
    said.value.path = None;
    if let Some(Value::Object(kept)) = solo.verbatim.get_mut("workspace") {
        kept.shift_remove("path");
    }
}

/// Relative to the project, without `.` and `..`; or absolute, as it is.
fn path(fields: &mut Fields<'_>) -> Option<String> {
    let node = fields.node("path").filter(|node| !matches!(node.tree, Tree::Null))?;
    let Some(text) = node.scalar_text() else { return fields.wrong("path", "a path", node) };
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let normal = normal(text);
    if normal.is_none() {
        refuse(fields, text, node);
    }
    normal
}

fn refuse(fields: &mut Fields<'_>, text: &str, node: &Node) {
    let what = format!("{} is {}, which leads out of the project", fields.named("path"), quoted(text));
    let hint = "give a folder beneath the project with `/` between its parts, or an absolute path";
    fields.report(node, Report::error("D090", what).hint(hint));
}

/// Absent: it leads out of the project, or nowhere.
fn normal(text: &str) -> Option<String> {
    if text.contains(|letter: char| letter.is_control() || letter == '\\') {
        return None;
    }
    if text.starts_with('/') {
        return Some(text.to_owned());
    }
    let mut parts = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}
