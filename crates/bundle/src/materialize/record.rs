//! What was written into a folder, so that a later run changes and removes only that.

use super::adapter::Adapter;
use super::plan::Setting;
use crate::canonical::{KeyOrder, canonical};
use crate::{Exit, Fault};
use entourage_model::{Digest, Place, Report};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

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

/// What was written earlier for one adapter, or for all, whichever bundles it came from.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    /// By path. Where several bundles wrote a file, one of them may know what another has changed since.
    pub(super) files: BTreeMap<String, BTreeSet<Digest>>,
    pub(super) settings: BTreeMap<String, Settled>,
}

impl Earlier {
    pub(super) fn wrote(&self, path: &str, digest: Digest) -> bool {
        self.files.get(path).is_some_and(|digests| digests.contains(&digest))
    }
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

    /// Takes out what was written for an adapter, or for all.
    pub(super) fn take(&mut self, adapter: Option<Adapter>) -> Earlier {
        let is_meant = |entry: &mut Entry| adapter.is_none_or(|adapter| entry.adapter == adapter.name());
        let mut earlier = Earlier::default();
        for entry in self.entries.extract_if(.., is_meant) {
            for (path, digest) in entry.files {
                earlier.files.entry(path).or_default().insert(digest);
            }
            for (path, settled) in entry.settings {
                let known = earlier.settings.entry(path).or_default();
                known.is_made |= settled.is_made;
                known.values.extend(settled.values);
            }
        }
        earlier
    }

    /// Whose a file is, if it has this digest.
    pub(super) fn owner(&self, path: &str, digest: Digest) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.files.get(path) == Some(&digest))
    }

    /// Lets everybody who wrote a file, but for those who were taken out, have written it as it is from now on.
    pub(super) fn rewrite(&mut self, path: &str, digest: Digest) {
        let known = self.entries.iter_mut().filter_map(|entry| entry.files.get_mut(path));
        known.for_each(|known| *known = digest);
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
    pub(super) fn names(&self, keys: &[String]) -> bool {
        self.values.iter().any(|value| value.path == keys)
    }

    /// Whether a value is one that was set there.
    pub(super) fn holds(&self, keys: &[String], value: &Value) -> bool {
        self.names(keys) && self.values.contains(&Set { path: keys.to_vec(), digest: digest_of(value) })
    }

    pub(super) fn of(is_made: bool, settings: &[Setting]) -> Self {
        let value = |setting: &Setting| Set { path: setting.path.clone(), digest: digest_of(&setting.value) };
        Self { is_made, values: settings.iter().map(value).collect() }
    }
}

pub(super) fn digest_of(value: &Value) -> Digest {
    Digest::of(&canonical(value, KeyOrder::Utf8))
}
