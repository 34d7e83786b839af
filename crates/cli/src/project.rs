//! The project's folder, and the one door of this crate to files.
//!
//! What a project names is opened beneath its folder, by capability. What a person names by hand (an attachment, a
//! script, the folder itself) may lie anywhere.

use crate::environment;
use crate::failure::{Exit, Failure};
use crate::settings::{SettingsFile, Trust};
use cap_std::fs::Dir;
use entourage_declare::{FILE_BYTES_MAX, Files, Kind, MemoryFiles};
use entourage_model::{Digest, Place, Report};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) const SETTINGS: &str = "entourage.toml";
const DATA: &str = ".entourage";
/// What helps whoever named a file that is not there.
pub(crate) const RELATIVE: &str = "paths are relative to the current folder";
/// What whoever trusts a project's folder does about it.
pub(crate) const TRUST_FOLDER: &str = "if you trust this project, run `entourage trust`, or add `--trust`";
/// The same for a bundle, which no list of folders can have.
const TRUST_BUNDLE: &str = "if you trust this bundle, add `--trust`";
/// Keeps the data folder out of version control.
const IGNORED: &str = ".gitignore";

/// One project, opened.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    /// Where threads are kept; made when the first one is.
    pub(crate) data: PathBuf,
    dir: Dir,
    /// What stands in for the folder's files. Absent: nothing does.
    packed: Option<Arc<Packed>>,
}

/// A bundle that is used as a project.
#[derive(Debug, Default)]
struct Packed {
    /// Absent: nobody has looked into it yet.
    artifact: Option<Digest>,
    files: MemoryFiles,
}

impl Project {
    pub(crate) fn open(root: Option<&Path>, data: Option<&Path>) -> Result<Self, Failure> {
        let here = environment::current_folder();
        let root = root.map_or_else(|| here.clone(), |root| here.join(root));
        let dir = Dir::open_ambient_dir(&root, cap_std::ambient_authority()).map_err(|fault| {
            let what = format!("the project's folder `{}` cannot be opened: {fault}", root.display());
            Failure::usage(Report::error("C002", what).hint("give an existing folder by `--project DIR`"))
        })?;
        let data = data.map_or_else(|| root.join(DATA), |data| here.join(data));
        Ok(Self { root, data, dir, packed: None })
    }

    /// A bundle in place of a folder. Its agents work in the current folder, whose own declarations and settings do not
    /// count. Until [`Self::unpack`] it declares nothing.
    pub(crate) fn of_bundle(data: Option<&Path>) -> Result<Self, Failure> {
        Ok(Self { packed: Some(Arc::default()), ..Self::open(None, data)? })
    }

    pub(crate) fn unpack(&mut self, artifact: Digest, files: MemoryFiles) {
        self.packed = Some(Arc::new(Packed { artifact: Some(artifact), files }));
    }

    /// The bundle that this project is.
    pub(crate) fn artifact(&self) -> Option<Digest> {
        self.packed.as_ref()?.artifact
    }

    /// What whoever trusts the project does about it.
    pub(crate) fn trust_hint(&self) -> &'static str {
        if self.packed.is_some() { TRUST_BUNDLE } else { TRUST_FOLDER }
    }

    /// The same project, for somebody who outlives this one.
    pub(crate) fn again(&self) -> Result<Self, Failure> {
        Ok(Self { packed: self.packed.clone(), ..Self::open(Some(&self.root), Some(&self.data))? })
    }

    /// The settings files that exist, in the order in which they count: the user's, then the project's. One that cannot
    /// be read is reported.
    pub(crate) fn settings_files(&self, trust: Trust) -> (Vec<SettingsFile>, Vec<Report>) {
        let user = environment::config_file().map(|path| {
            let text = read_outside(&path, FILE_BYTES_MAX);
            (shown(&path), text, Trust::User)
        });
        let own = || (SETTINGS.to_owned(), self.read_beneath(SETTINGS), trust);
        let own = self.packed.is_none().then(own);
        let (mut files, mut reports) = (Vec::new(), Vec::new());
        for (name, bytes, trust) in user.into_iter().chain(own) {
            match bytes.and_then(text) {
                Ok(text) => files.push(SettingsFile { name, text, trust }),
                Err(fault) if is_absent(&fault) => {}
                Err(fault) => reports.push(unreadable(&name, &fault)),
            }
        }
        (files, reports)
    }

    /// Makes the data folder, for its owner only, and keeps it out of version control.
    pub(crate) fn make_data_folder(&self) -> Result<(), Failure> {
        make_folder(&self.data).map_err(|fault| {
            let what = format!("the data folder `{}` cannot be made: {fault}", self.data.display());
            let exit = if fault.kind() == io::ErrorKind::StorageFull { Exit::Store } else { Exit::File };
            Failure::new(exit, Report::error("C013", what).hint("give another one by `--data DIR`"))
        })
    }

    /// Whether something lies at this path, be it a link that leads nowhere.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.dir.symlink_metadata(path).is_ok()
    }

    /// A regular file beneath the project, of any size. A link is not followed.
    pub(crate) fn open_file(&self, path: &str) -> io::Result<std::fs::File> {
        if !self.dir.symlink_metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        Ok(self.dir.open(path)?.into_std())
    }

    /// What [`Files::entries`] cannot name, as well as it can be shown, sorted.
    pub(crate) fn nameless_entries(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        for entry in self.dir.read_dir(if folder.is_empty() { "." } else { folder })? {
            if let Err(name) = entry?.file_name().into_string() {
                found.push(name.to_string_lossy().into_owned());
            }
        }
        found.sort();
        Ok(found)
    }

    /// A pipe or a device is refused before it is opened: nobody may ever write to it.
    fn read_beneath(&self, path: &str) -> io::Result<Vec<u8>> {
        if !self.dir.metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        bounded(self.dir.open(path)?, FILE_BYTES_MAX)
    }
}

impl Files for Project {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        if let Some(packed) = &self.packed {
            return packed.files.list(folder);
        }
        // A link counts as what it points to, as long as that lies beneath the project.
        let leads_to_file =
            |name: &str| self.dir.metadata(Path::new(folder).join(name)).is_ok_and(|meta| meta.is_file());
        let is_file = |(name, kind): &(String, Kind)| match kind {
            Kind::File => true,
            Kind::Link => leads_to_file(name),
            Kind::Folder | Kind::Other => false,
        };
        Ok(self.entries(folder)?.into_iter().filter(is_file).map(|(name, _)| name).collect())
    }

    fn entries(&self, folder: &str) -> io::Result<Vec<(String, Kind)>> {
        if let Some(packed) = &self.packed {
            return packed.files.entries(folder);
        }
        let entries = match self.dir.read_dir(if folder.is_empty() { "." } else { folder }) {
            Ok(entries) => entries,
            Err(fault) if is_absent(&fault) => return Ok(Vec::new()),
            Err(fault) => return Err(fault),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string() {
                found.push((name, kind_of(entry.file_type()?)));
            }
        }
        found.sort();
        Ok(found)
    }

    fn kind(&self, path: &str) -> io::Result<Kind> {
        if let Some(packed) = &self.packed {
            return packed.files.kind(path);
        }
        match self.dir.symlink_metadata(path) {
            Ok(meta) => Ok(kind_of(meta.file_type())),
            Err(fault) if is_absent(&fault) => Err(io::ErrorKind::NotFound.into()),
            Err(fault) => Err(fault),
        }
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        if let Some(packed) = &self.packed {
            return packed.files.read(path);
        }
        match self.read_beneath(path) {
            Err(fault) if is_absent(&fault) => Err(io::ErrorKind::NotFound.into()),
            read => read,
        }
    }

    fn precedence(&self, path: &str) -> usize {
        self.packed.as_ref().map_or(0, |packed| packed.files.precedence(path))
    }

    fn is_on_disk(&self) -> bool {
        self.packed.is_none()
    }
}

fn kind_of(file_type: cap_std::fs::FileType) -> Kind {
    match file_type {
        found if found.is_file() => Kind::File,
        found if found.is_dir() => Kind::Folder,
        found if found.is_symlink() => Kind::Link,
        _ => Kind::Other,
    }
}

/// Reads a file that a person named, at most `bytes_max` and one more.
#[expect(clippy::disallowed_methods, reason = "the one door for files that a person names by hand")]
pub(crate) fn read_outside(path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    bounded(std::fs::File::open(path)?, bytes_max)
}

/// One byte beyond the bound is read, so that whoever asked sees that there was more.
fn bounded(file: impl io::Read, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a file that was read up to its bound.
pub(crate) fn text(bytes: Vec<u8>) -> io::Result<String> {
    if bytes.len() > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {} MiB", FILE_BYTES_MAX >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    let folder = Dir::open_ambient_dir(path, cap_std::ambient_authority())?;
    // An empty one is what a full disk left.
    if folder.metadata(IGNORED).is_ok_and(|found| found.len() > 0) {
        return Ok(());
    }
    folder.write(IGNORED, "*\n").inspect_err(|_| _ = folder.remove_file(IGNORED))
}

/// A file that lies beneath what is no folder is absent too.
fn is_absent(fault: &io::Error) -> bool {
    matches!(fault.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn unreadable(name: &str, fault: &io::Error) -> Report {
    let report = Report::error("C003", format!("the settings cannot be read: {fault}")).at(Place::file(name));
    report.hint("a settings file is a small file of text that you may read; mend it, or move it away")
}

/// The path with `~` for the user's home.
pub(crate) fn shown(path: &Path) -> String {
    match environment::home().and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
