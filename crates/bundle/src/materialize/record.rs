//! What was written into a folder, so that a later run changes and removes only that.

use super::adapter::Adapter;
use super::plan::Setting;
use crate::canonical::{KeyOrder, canonical};
use crate::{Exit, Fault};
use entourage_model::{Digest, Place, Report};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Where the record lies, in the folder that it is about.
pub const RECORD: &str = ".entourage/materialized.json";

/// The form that is written. A newer one is refused.
const VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    version: u32,
    pub(super) entries: Vec<Entry>,
}

/// What one bundle wrote for one adapter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) agent: String,
    pub(super) adapter: String,
    /// Digests of whole files, by path.
    #[serde(default)]
    pub(super) files: BTreeMap<String, Digest>,
    /// Values in files of settings, by path.
    #[serde(default)]
    pub(super) settings: BTreeMap<String, Settled>,
}

/// Values in a file that others write to as well.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settled {
    /// Whether there was no such file before.
    pub(super) is_made: bool,
    pub(super) values: Vec<Set>,
}

/// One value, by the keys that lead to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Set {
    pub(super) path: Vec<String>,
    pub(super) digest: Digest,
}

impl Default for Record {
    fn default() -> Self {
        Self { version: VERSION, entries: Vec::new() }
    }
}

impl Record {
    /// The record that lies in a folder.
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let refuse = |reason: String| {
            let report = Report::error("B075", format!("`{RECORD}` cannot be used: {reason}")).at(Place::file(RECORD));
            Fault::new(Exit::File, report.hint("it says which files were written here; move it away to start afresh"))
        };
        let record: Self = serde_json::from_slice(bytes).map_err(|fault| refuse(fault.to_string()))?;
        if record.version > VERSION {
            return Err(refuse(format!("it has version {}, and {VERSION} is the newest known here", record.version)));
        }
        Ok(record)
    }

    pub(super) fn text(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).expect("a record is JSON");
        text.push(b'\n');
        text
    }

    /// Takes out what a bundle wrote for an adapter.
    pub(super) fn take(&mut self, agent: &str, adapter: Adapter) -> Option<Entry> {
        let found = self.entries.iter().position(|entry| entry.agent == agent && entry.adapter == adapter.name());
        found.map(|at| self.entries.remove(at))
    }

    /// Whose a file is, if it has this digest.
    pub(super) fn owner(&self, path: &str, digest: Digest) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.files.get(path) == Some(&digest))
    }

    pub(super) fn names(&self, path: &str) -> bool {
        self.entries.iter().any(|entry| entry.files.contains_key(path))
    }

    /// Whether somebody else set the same value.
    pub(super) fn sets(&self, path: &str, keys: &[String]) -> bool {
        let settled = self.entries.iter().filter_map(|entry| entry.settings.get(path));
        settled.flat_map(|settled| &settled.values).any(|value| value.path == keys)
    }
}

impl Settled {
    pub(super) fn digest(&self, keys: &[String]) -> Option<Digest> {
        self.values.iter().find(|value| value.path == keys).map(|value| value.digest)
    }

    pub(super) fn of(is_made: bool, settings: &[Setting]) -> Self {
        let value = |setting: &Setting| Set { path: setting.path.clone(), digest: digest_of(&setting.value) };
        Self { is_made, values: settings.iter().map(value).collect() }
    }
}

pub(super) fn digest_of(value: &Value) -> Digest {
    Digest::of(&canonical(value, KeyOrder::Utf8))
}
