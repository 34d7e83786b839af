//! What is materialised: a bundle as its author could have written it.

use super::choice::Choice;
use crate::{Exit, Fault};
use entourage_declare::{Files, Kind, Parcel};
use entourage_model::{Place, Report};
use serde_json::{Map, Value};

/// How deep the folders of a part may lie in each other.
const DEPTH_MAX: usize = 32;

pub(super) struct Source<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) parcel: Parcel,
    pub(super) choice: Choice,
}

/// A file of one of the bundle's folders.
pub(super) struct Part {
    /// Beneath the folder.
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    pub(super) executable: bool,
}

impl Source<'_> {
    /// What the definition says for this adapter.
    pub(super) fn own(&self, key: &str) -> Option<&Value> {
        self.choice.own.as_ref()?.get(key)
    }

    /// The same of its configuration.
    pub(super) fn config(&self, key: &str) -> Option<&Value> {
        self.own("config")?.get(key)
    }

    /// Whether the definition wants this left out, as in `writeSkills: false`.
    pub(super) fn leaves_out(&self, key: &str) -> bool {
        self.config(key) == Some(&Value::Bool(false))
    }

    pub(super) fn persona(&self) -> Option<&Map<String, Value>> {
        self.parcel.persona.as_ref()?.as_object()
    }

    /// Where a folder of the bundle lies. Absent: it has none.
    pub(super) fn folder(&self, key: &str) -> Option<&str> {
        self.parcel.folders.iter().find(|folder| folder.key == key).map(|folder| folder.path.as_str())
    }

    /// The files of a folder of the bundle, by path.
    pub(super) fn parts(&self, key: &str) -> Result<Vec<Part>, Fault> {
        let mut parts = Vec::new();
        if let Some(folder) = self.folder(key) {
            self.walk(folder, "", DEPTH_MAX, &mut parts)?;
        }
        parts.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(parts)
    }

    fn walk(&self, root: &str, inside: &str, depth_left: usize, parts: &mut Vec<Part>) -> Result<(), Fault> {
        let folder = format!("{root}{inside}");
        let entries = self.files.entries(&folder).map_err(Fault::machine(format!("reading `{folder}`")))?;
        for (name, kind) in entries {
            let path = format!("{folder}/{name}");
            match kind {
                Kind::File => {
                    let bytes = self.files.read(&path).map_err(Fault::machine(format!("reading `{path}`")))?;
                    let executable = self.files.is_executable(&path);
                    let path = path.strip_prefix(root).unwrap_or(&path).trim_start_matches('/').to_owned();
                    parts.push(Part { path, bytes, executable });
                }
                Kind::Folder if depth_left > 0 => {
                    self.walk(root, &format!("{inside}/{name}"), depth_left - 1, parts)?
                }
                // Reading the bundle reported them.
                Kind::Folder | Kind::Link | Kind::Other => {}
            }
        }
        Ok(())
    }
}

impl Part {
    /// The part as text that is to become a piece of a longer one.
    pub(super) fn text(&self, folder: &str) -> Result<String, Fault> {
        String::from_utf8(self.bytes.clone()).map_err(|_| {
            let path = format!("{folder}/{}", self.path);
            let report = Report::error("B077", format!("`{path}` is not UTF-8 text")).at(Place::file(path));
            Fault::new(Exit::Usage, report.hint("save it as UTF-8 and build the bundle again"))
        })
    }
}
