//! A plan and what lies in the target folder → the changes to make there, or what is in the way.

use super::adapter::Adapter;
use super::merge::{Insistence, Left, Merged, Refusal, fresh, merge, unset};
use super::plan::{Content, Document, Plan, Setting};
use super::record::{Earlier, Entry, RECORD, Record, Settled};
use crate::{Exit, Fault};
use entourage_model::{Digest, Place, Report};
use std::collections::BTreeSet;

/// The target folder, as far as it must be looked at. Links are never followed.
pub trait There {
    fn look(&self, path: &str) -> Found;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Nothing,
    File {
        bytes: Vec<u8>,
        executable: bool,
    },
    /// No file can be written there; why, as in "`.claude` is a link".
    Blocked(String),
}

/// What becomes of a file that is there already and is not ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnClash {
    /// Nothing at all is written.
    Refuse,
    Overwrite,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    pub path: String,
    pub bytes: Vec<u8>,
    pub executable: bool,
}

/// What is to be done in the target folder. The record is one of the files.
#[derive(Debug, Default)]
pub struct Changes {
    pub writes: Vec<NewFile>,
    pub removals: Vec<String>,
    pub warnings: Vec<Report>,
}

/// What makes the target folder hold the plan, in the place of whatever was written for the same adapter before. A file
/// that we did not write, or that changed since, is named, and then nothing is done.
pub fn decide(plan: &Plan, mut record: Record, there: &dyn There, on_clash: OnClash) -> Result<Changes, Fault> {
    let before = record.take(Some(plan.adapter));
    let mut decision = Decision { record, before, there, on_clash, changes: Changes::default(), blocks: Vec::new() };
    let mut entry = Entry { agent: plan.agent.clone(), adapter: plan.adapter.name().to_owned(), ..Entry::default() };
    for Document { path, content } in &plan.documents {
        match content {
            Content::Whole { bytes, executable } => {
                if decision.whole(path, bytes, *executable) {
                    entry.files.insert(path.clone(), Digest::of(bytes));
                }
            }
            Content::Settings(settings) => {
                let settled = decision.settings(path, settings);
                entry.settings.insert(path.clone(), settled);
            }
        }
    }
    decision.clear_stale(&entry);
    if !decision.blocks.is_empty() {
        return Err(Fault::Told { exit: Exit::File, reports: decision.blocks });
    }
    decision.record.entries.push(entry);
    Ok(decision.finish())
}

/// What takes the files away that were written for an adapter, or for all. One that changed since stays, unless
/// everything is to go.
pub fn removal(mut record: Record, adapter: Option<Adapter>, there: &dyn There, on_clash: OnClash) -> Changes {
    share_making(&mut record);
    let before = record.take(adapter);
    let mut decision = Decision { record, before, there, on_clash, changes: Changes::default(), blocks: Vec::new() };
    decision.clear_stale(&Entry::default());
    decision.finish()
}

/// A file of settings that several wrote to was made by all of them: it goes with the last.
fn share_making(record: &mut Record) {
    let settings = record.entries.iter().flat_map(|entry| &entry.settings);
    let made: BTreeSet<_> = settings.filter(|(_, settled)| settled.is_made).map(|(path, _)| path.clone()).collect();
    let settings = record.entries.iter_mut().flat_map(|entry| &mut entry.settings);
    settings.filter(|(path, _)| made.contains(*path)).for_each(|(_, settled)| settled.is_made = true);
}

struct Decision<'a> {
    /// What was written for other adapters.
    record: Record,
    /// What was written for this one, by this bundle or another.
    before: Earlier,
    there: &'a dyn There,
    on_clash: OnClash,
    changes: Changes,
    blocks: Vec<Report>,
}

impl Decision<'_> {
    /// Whether the file is ours then. One that was there before with the same bytes is not.
    fn whole(&mut self, path: &str, bytes: &[u8], executable: bool) -> bool {
        match self.there.look(path) {
            Found::Blocked(why) => self.blocks.push(blocked(path, &why)),
            Found::File { bytes: there, executable: is_program } if there == bytes => {
                let is_known = self.before.files.contains_key(path);
                let is_ours = is_known || self.record.owner(path, Digest::of(bytes)).is_some();
                if is_ours && is_program != executable {
                    self.write(path, bytes, executable);
                }
                return is_ours;
            }
            Found::File { bytes: there, .. } if !self.may_replace(path, &there) => self.block(path),
            found @ (Found::Nothing | Found::File { .. }) => {
                self.note_takeover(path, &found);
                self.record.rewrite(path, Digest::of(bytes));
                self.write(path, bytes, executable);
            }
        }
        true
    }

    /// Ours until somebody changes it, whichever bundle and adapter it was written for.
    fn may_replace(&self, path: &str, there: &[u8]) -> bool {
        let digest = Digest::of(there);
        let is_ours = self.before.wrote(path, digest) || self.record.owner(path, digest).is_some();
        self.on_clash == OnClash::Overwrite || is_ours
    }

    fn block(&mut self, path: &str) {
        let is_known = self.before.files.contains_key(path) || self.record.names(path);
        let what = match is_known {
            true => format!("`{path}` was changed since it was written"),
            false => format!("`{path}` is there already, and was not written by this command"),
        };
        self.blocks.push(in_the_way("B073", path, &what));
    }

    /// Says that another harness reads the file as well, which was written for that one alone.
    fn note_takeover(&mut self, path: &str, found: &Found) {
        let Found::File { bytes: there, .. } = found else { return };
        let owner = self.record.owner(path, Digest::of(there)).filter(|_| !self.before.files.contains_key(path));
        let Some(Entry { agent, adapter, .. }) = owner else { return };
        let what = format!("`{path}`, which was written for agent `{agent}` and `{adapter}`, says something else now");
        let hint = format!("`{adapter}` reads it too; write for one of the two elsewhere by `--out DIR`");
        self.changes.warnings.push(Report::warning("B088", what).at(Place::file(path)).hint(hint));
    }

    fn remove(&mut self, path: &str) {
        self.changes.removals.push(path.to_owned());
    }

    fn write(&mut self, path: &str, bytes: &[u8], executable: bool) {
        self.changes.writes.push(NewFile { path: path.to_owned(), bytes: bytes.to_vec(), executable });
    }

    /// What there is in the file because of us.
    fn settings(&mut self, path: &str, settings: &[Setting]) -> Settled {
        let before = self.before.settings.get(path);
        let was_made = before.is_some_and(|settled| settled.is_made);
        let (there, executable) = match self.there.look(path) {
            Found::Blocked(why) => {
                self.blocks.push(blocked(path, &why));
                return Settled::default();
            }
            Found::Nothing => return self.make(path, settings),
            Found::File { bytes, executable } => (bytes, executable),
        };
        let insistence = match self.on_clash {
            OnClash::Refuse => Insistence::Yield,
            OnClash::Overwrite => Insistence::Insist,
        };
        let text = std::str::from_utf8(&there).map_err(|_| Refusal::NotAnObject);
        match text.and_then(|text| merge(text, settings, before, insistence)) {
            Ok(Merged { text, ours }) => {
                if text.as_bytes() != there {
                    self.write(path, text.as_bytes(), executable);
                }
                Settled::of(was_made, &ours)
            }
            Err(Refusal::NotAnObject) if insistence == Insistence::Insist => self.make(path, settings),
            Err(refusal) => {
                self.blocks.push(unsettled(path, &refusal));
                Settled::default()
            }
        }
    }

    fn make(&mut self, path: &str, settings: &[Setting]) -> Settled {
        self.write(path, fresh(settings).as_bytes(), false);
        Settled::of(true, settings)
    }

    /// Takes away what was written before and is not in `entry`.
    fn clear_stale(&mut self, entry: &Entry) {
        let before = std::mem::take(&mut self.before);
        let is_stale = |path: &str| !entry.files.contains_key(path) && !entry.settings.contains_key(path);
        for path in before.files.keys().filter(|path| is_stale(path)) {
            if self.record.names(path) {
                continue;
            }
            match self.there.look(path) {
                Found::File { bytes, .. }
                    if before.wrote(path, Digest::of(&bytes)) || self.on_clash == OnClash::Overwrite =>
                {
                    self.remove(path);
                }
                Found::File { .. } | Found::Blocked(_) => self.keep(path),
                Found::Nothing => {}
            }
        }
        for (path, settled) in before.settings.iter().filter(|(path, _)| is_stale(path)) {
            self.clear_settings(path, settled);
        }
    }

    fn clear_settings(&mut self, path: &str, settled: &Settled) {
        let Found::File { bytes: there, executable } = self.there.look(path) else { return };
        let is_shared = |keys: &[String]| self.record.sets(path, keys);
        let left = std::str::from_utf8(&there).ok().and_then(|text| unset(text, settled, is_shared));
        match left {
            Some(Left::Nothing) if settled.is_made => self.remove(path),
            Some(Left::Nothing) => self.write(path, b"{}\n", executable),
            Some(Left::Text(text)) if text.as_bytes() != there => self.write(path, text.as_bytes(), executable),
            Some(Left::Text(_)) => {}
            None => self.keep(path),
        }
    }

    fn keep(&mut self, path: &str) {
        let report = Report::warning("B080", format!("`{path}` was changed since it was written, and stays"));
        let report = report.at(Place::file(path));
        self.changes.warnings.push(report.hint("remove it by hand, or add `--force`"));
    }

    /// The record is written last, and goes when it says nothing.
    fn finish(mut self) -> Changes {
        let text = self.record.text();
        match self.there.look(RECORD) {
            Found::File { .. } if self.record.entries.is_empty() => self.changes.removals.push(RECORD.to_owned()),
            Found::File { bytes, .. } if bytes == text => {}
            Found::Nothing if self.record.entries.is_empty() => {}
            Found::Nothing | Found::File { .. } | Found::Blocked(_) => self.write(RECORD, &text, false),
        }
        self.changes
    }
}

fn blocked(path: &str, why: &str) -> Report {
    let report = Report::error("B073", format!("`{path}` cannot be written: {why}; nothing was written"));
    report.at(Place::file(path)).hint("move it away, or write elsewhere by `--out DIR`")
}

fn in_the_way(code: &'static str, path: &str, what: &str) -> Report {
    let hint = "look at it, then add `--force` to overwrite it, or write elsewhere by `--out DIR`";
    Report::error(code, format!("{what}; nothing was written")).at(Place::file(path)).hint(hint)
}

fn unsettled(path: &str, refusal: &Refusal) -> Report {
    let what = match refusal {
        Refusal::NotAnObject => format!("`{path}` is no object in JSON, so that nothing can be added to it"),
        Refusal::Taken(values) => {
            let keys: Vec<_> = values.iter().map(|keys| format!("`{}`", keys.join("."))).collect();
            format!("`{path}` has other values already: {}", keys.join(", "))
        }
    };
    in_the_way("B074", path, &what)
}
