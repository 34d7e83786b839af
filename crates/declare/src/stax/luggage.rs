//! Files of a bundle that its agent opens while it works. They lie in no folder: the team takes them along.

use crate::faults::quoted;
use crate::files::Files;
use entourage_model::{Report, file_path};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How much all of them may be together: they are stored with every team.
pub const LUGGAGE_BYTES_MAX: u64 = 4 << 20;
/// The agent is told their paths.
const FILES_MAX: usize = 256;
/// What their paths begin with, so that they are none of the project's.
const ROOT: &str = "/bundle";
/// How many of those that stay behind are named.
const NAMED_MAX: usize = 5;

#[derive(Debug, Default)]
pub(crate) struct Luggage {
    pub(crate) files: BTreeMap<String, Arc<str>>,
    bytes: u64,
    left_behind: Vec<String>,
}

impl Luggage {
    /// Takes a file along, and says where the agent finds it. Absent: it is no text, or there is no room for it.
    pub(super) fn take(&mut self, files: &dyn Files, path: &str) -> Option<String> {
        let told = self.put(files, path);
        if told.is_none() {
            self.left_behind.push(path.to_owned());
        }
        told
    }

    fn put(&mut self, files: &dyn Files, path: &str) -> Option<String> {
        let text = String::from_utf8(files.read(path).ok()?).ok().filter(|text| !text.contains('\0'))?;
        let told = file_path(&format!("{ROOT}/{path}")).ok()?;
        let bytes = self.bytes + text.len() as u64;
        if bytes > LUGGAGE_BYTES_MAX || self.files.len() >= FILES_MAX {
            return None;
        }
        self.bytes = bytes;
        self.files.insert(told.clone(), text.into());
        Some(told)
    }

    /// What the agent will not find.
    pub(super) fn missed(&self) -> Option<Report> {
        let named = self.left_behind.iter().take(NAMED_MAX).map(|path| quoted(path)).collect::<Vec<_>>().join(", ");
        let more = match self.left_behind.len().checked_sub(NAMED_MAX) {
            None | Some(0) => String::new(),
            Some(more) => format!(" and {more} more"),
        };
        let what = format!("the bundle has files that its agent cannot open while it runs: {named}{more}");
        let hint = format!(
            "it has up to {FILES_MAX} texts of {} MiB together; `entourage materialize` writes every file",
            LUGGAGE_BYTES_MAX >> 20
        );
        (!self.left_behind.is_empty()).then(|| Report::warning("D134", what).hint(hint))
    }
}
