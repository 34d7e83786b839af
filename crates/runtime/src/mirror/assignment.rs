//! The file of one assignment.

use super::Folder;
use entourage_engine::dex_word;
use entourage_model::TaskItem;
use serde_json::json;
use std::io;

pub(super) fn file_of(id: &str) -> String {
    format!("assignments/{id}.json")
}

/// An entry that is nobody's has no file. One that is as it should be is left alone.
pub(super) fn write(folder: &Folder, item: &TaskItem) -> io::Result<()> {
    let Some(assignment) = &item.assignment else { return Ok(()) };
    let shown = json!({
        "id": assignment.id,
        "profile": assignment.agent,
        "taskId": item.id,
        "task": item.title,
        "description": item.description,
        "runId": assignment.run,
        "status": dex_word(assignment.status),
        "response": assignment.response,
    });
    let (file, bytes) = (file_of(&assignment.id), shown.to_string().into_bytes());
    if folder.read(&file)?.as_ref() == Some(&bytes) { Ok(()) } else { folder.replace(&file, &bytes) }
}
