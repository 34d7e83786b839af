//! Agents as dex profiles.

use crate::Format;
use crate::exchange::{Record, Written, file_stem, page, vocabulary};
use crate::solo::Solo;
use entourage_model::{Name, WorkspaceMode};
use serde_json::{Map, Value, json};

const FORMAT: Format = Format::Dex;

/// What looks and changes nothing.
const LOOKING: [&str; 4] = ["read", "list", "glob", "search"];

pub(crate) fn write(agents: &[(Name, Solo)]) -> Written {
    let mut written = Written::default();
    for (name, solo) in agents {
        let id = name.as_str().strip_prefix("dex/").unwrap_or(name.as_str());
        let Record { keys, losses } = if solo.format == FORMAT { own(id, solo) } else { foreign(id, name, solo) };
        let path = format!("{}/{}.md", super::FOLDER, file_stem(id));
        written.add(name, path, page(&keys, &solo.body), losses);
    }
    written
}

/// As it was read, and with the id where only the file's name said it.
fn own(id: &str, solo: &Solo) -> Record {
    let mut keys = Map::from_iter([("id".to_owned(), Value::from(id))]);
    keys.extend(solo.verbatim.clone());
    keys.insert("id".to_owned(), id.into());
    Record { keys, ..Record::default() }
}

fn foreign(id: &str, name: &Name, solo: &Solo) -> Record {
    let mut left = solo.clone();
    let mut record = Record::default();
    record.set("id", id);
    if let Some(title) = left.title.clone() {
        record.set("name", title.value);
    }
    record.describe(name, &mut left);
    left.title = None;
    put_tools(&mut record, &mut left);
    // A profile works in the project's folder.
    left.workspace =
        left.workspace.filter(|said| said.value.mode != WorkspaceMode::Shared || said.value.path.is_some());
    record.lose(left)
}

fn put_tools(record: &mut Record, left: &mut Solo) {
    match &left.tools {
        None => {
            if left.read_only.take().is_some_and(|said| said.value) {
                record.set("tools", json!(LOOKING));
            }
        }
        Some(said) if vocabulary::only_looks(&said.value, left.format) => left.read_only = None,
        Some(_) => {}
    }
    record.tools("tools", left, FORMAT);
    record.denied_tools("disabledTools", left, FORMAT);
}
