//! An artifact → a folder: its documents as they travel, and a folder for each archive. All of it, or nothing.

use crate::archive::EntryKind;
use crate::bundle::Bundle;
use crate::fault::{Exit, Fault};
use crate::layout::Blobs;
use crate::lock::LOCK_FILE;
use crate::media::{ArtifactKind, LayerForm, LayerKind};
use cap_std::fs::{Dir, OpenOptions};
use entourage_declare::is_instructions_path;
use entourage_model::{Place, Report};
use serde_json::{Map, Value};
use std::io;
use std::path::{Path, PathBuf};

/// The subagents with a path in place of each text that would be taken for one, and where those texts lie.
const SUBAGENTS_WITH_PATHS: &str = "subagents-with-paths.json";
const TEXTS: &str = "subagents";

/// Where files lie until all of them are there.
const STAGING: &str = ".entourage-extract";

/// Writes an artifact that was opened, and so was checked, beneath `path`. What is there already stays untouched: if it
/// is in the way, nothing is written. Gives the names that were added.
pub fn extract(bundle: &Bundle, blobs: &dyn Blobs, path: &Path) -> Result<Vec<String>, Fault> {
    let mut target = Target::open(path)?;
    let names = names(bundle);
    let in_the_way: Vec<_> = names.iter().filter(|name| target.dir.symlink_metadata(name).is_ok()).collect();
    if !in_the_way.is_empty() {
        let report = |name: &&String| {
            let report = Report::error("B025", format!("`{name}` is there already, and nothing was written"));
            report.at(Place::file(path.join(name).display().to_string())).hint("extract into an empty folder")
        };
        return Err(Fault::Told { exit: Exit::File, reports: in_the_way.iter().map(report).collect() });
    }
    let staging = target.stage()?;
    write(bundle, blobs, &staging)?;
    for name in &names {
        staging.rename(name, &target.dir, name).map_err(Fault::machine(format!("writing `{name}`")))?;
    }
    target.is_kept = true;
    Ok(names)
}

/// What is written directly beneath the folder.
fn names(bundle: &Bundle) -> Vec<String> {
    let definition = (bundle.kind == ArtifactKind::Agent).then(|| "agent.json".to_owned());
    let lock = has_lock(bundle).then(|| LOCK_FILE.to_owned());
    let kinds = LayerKind::ALL.into_iter().filter(|kind| bundle.manifest.layer(*kind).is_some());
    let by_path = [SUBAGENTS_WITH_PATHS, TEXTS].into_iter().filter(|_| has_path_like(bundle)).map(str::to_owned);
    definition.into_iter().chain(lock).chain(kinds.map(LayerKind::path)).chain(by_path).collect()
}

/// Whether an agent says what its packages are: a tag may have moved since it was built.
fn has_lock(bundle: &Bundle) -> bool {
    bundle.kind == ArtifactKind::Agent && !bundle.packages.is_empty() && !bundle.lock.packages.is_empty()
}

/// Whether an agent has a subagent whose text would be taken for a path if it were built again. Where it is used, it is
/// a text all the same.
fn has_path_like(bundle: &Bundle) -> bool {
    bundle.kind == ArtifactKind::Agent && bundle.agents().any(|(_, agent)| path_like(agent).is_some())
}

fn path_like(agent: &Map<String, Value>) -> Option<&str> {
    agent.get("instructions").and_then(Value::as_str).filter(|text| is_instructions_path(text))
}

fn write_with_paths(bundle: &Bundle, staging: &Dir) -> Result<(), Fault> {
    let mut document = bundle.subagents.clone().unwrap_or_default();
    staging.create_dir(TEXTS).map_err(Fault::machine(format!("writing `{TEXTS}`")))?;
    for (name, agent) in document.get_mut("agents").and_then(Value::as_object_mut).into_iter().flatten() {
        let Some(text) = agent.as_object().and_then(path_like).map(str::to_owned) else { continue };
        let path = format!("{TEXTS}/{name}.md");
        staging.write(&path, text).map_err(Fault::machine(format!("writing `{path}`")))?;
        agent["instructions"] = format!("./{path}").into();
    }
    let text = format!("{:#}\n", Value::Object(document));
    staging.write(SUBAGENTS_WITH_PATHS, text).map_err(Fault::machine(format!("writing `{SUBAGENTS_WITH_PATHS}`")))
}

fn write(bundle: &Bundle, blobs: &dyn Blobs, staging: &Dir) -> Result<(), Fault> {
    if bundle.kind == ArtifactKind::Agent {
        let text = format!("{:#}\n", definition(bundle));
        staging.write("agent.json", text).map_err(Fault::machine("writing `agent.json`"))?;
    }
    if has_lock(bundle) {
        staging.write(LOCK_FILE, bundle.lock.to_bytes()).map_err(Fault::machine(format!("writing `{LOCK_FILE}`")))?;
    }
    if has_path_like(bundle) {
        write_with_paths(bundle, staging)?;
    }
    for kind in LayerKind::ALL {
        let Some(layer) = bundle.manifest.layer(kind) else { continue };
        let path = kind.path();
        match kind.form() {
            LayerForm::Json | LayerForm::Markdown => {
                let bytes = blobs.read(layer, kind.bytes_max())?;
                staging.write(&path, bytes).map_err(Fault::machine(format!("writing `{path}`")))?;
            }
            LayerForm::Archive => {
                staging.create_dir(&path).map_err(Fault::machine(format!("writing `{path}`")))?;
                let folder = staging.open_dir(&path).map_err(Fault::machine(format!("writing `{path}`")))?;
                unpack(bundle, blobs, kind, &folder)?;
            }
        }
    }
    Ok(())
}

fn unpack(bundle: &Bundle, blobs: &dyn Blobs, kind: LayerKind, folder: &Dir) -> Result<(), Fault> {
    bundle.archive(blobs, kind, &mut |entry, content| {
        let path = Path::new(&entry.path);
        let written = match entry.kind {
            EntryKind::Folder => folder.create_dir_all(path),
            EntryKind::File { is_executable, .. } => {
                let parent = path.parent().filter(|parent| *parent != Path::new(""));
                parent.map_or(Ok(()), |parent| folder.create_dir_all(parent)).and_then(|()| {
                    let mut file = folder.open_with(path, OpenOptions::new().write(true).create_new(true))?;
                    io::copy(content, &mut file)?;
                    if is_executable { make_executable(&file.into_std()) } else { Ok(()) }
                })
            }
        };
        written.map_err(Fault::machine(format!("writing `{}`", entry.path)))
    })
}

#[cfg(unix)]
fn make_executable(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = file.metadata()?.permissions().mode();
    // Whoever may read it may execute it.
    file.set_permissions(std::fs::Permissions::from_mode(mode | (mode & 0o444) >> 2))
}

#[cfg(not(unix))]
fn make_executable(_: &std::fs::File) -> io::Result<()> {
    Ok(())
}

/// The definition that leads to the same artifact when it is built again.
fn definition(bundle: &Bundle) -> Value {
    let mut definition = bundle.config.clone();
    definition.remove("kind");
    definition.remove(LayerKind::Packages.key());
    for kind in LayerKind::ALL {
        let value = match kind {
            _ if bundle.manifest.layer(kind).is_none() => continue,
            LayerKind::Secrets => Value::Array(bundle.secrets.clone()),
            LayerKind::Packages => bundle.packages.iter().map(|entry| Value::from(entry.text.as_str())).collect(),
            LayerKind::Subagents if has_path_like(bundle) => format!("./{SUBAGENTS_WITH_PATHS}").into(),
            _ => format!("./{}", kind.path()).into(),
        };
        definition.insert(kind.key().to_owned(), value);
    }
    Value::Object(definition)
}

/// The folder to extract into. What was made of it goes again unless all of it is there.
struct Target {
    dir: Dir,
    path: PathBuf,
    was_there: bool,
    is_kept: bool,
}

impl Target {
    fn open(path: &Path) -> Result<Self, Fault> {
        let was_there = path.symlink_metadata().is_ok();
        let authority = cap_std::ambient_authority();
        let opened = Dir::create_ambient_dir_all(path, authority).and_then(|()| Dir::open_ambient_dir(path, authority));
        let dir = opened.map_err(Fault::machine(format!("making `{}`", path.display())))?;
        Ok(Self { dir, path: path.to_owned(), was_there, is_kept: false })
    }

    /// An empty folder on the same disk; what a process that was killed left in it is removed.
    fn stage(&self) -> Result<Dir, Fault> {
        let staged = || {
            if self.dir.symlink_metadata(STAGING).is_ok() {
                self.dir.remove_dir_all(STAGING)?;
            }
            self.dir.create_dir(STAGING)?;
            self.dir.open_dir(STAGING)
        };
        staged().map_err(Fault::machine(format!("writing to `{}`", self.path.display())))
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // What cannot be removed is in nobody's way: the next call removes it.
        _ = self.dir.remove_dir_all(STAGING);
        if !self.was_there && !self.is_kept {
            _ = std::fs::remove_dir(&self.path);
        }
    }
}
