//! A folder that files are written into: all of them, or none.

use crate::environment;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use cap_std::fs::{Dir, Metadata, OpenOptions, Permissions};
use entourage_bundle::materialize::{Changes, Found, NewFile, OnClash, There};
use entourage_model::{Place, Report};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Files are made beneath it by capability, and no link in it is followed.
#[derive(Debug)]
pub(crate) struct Output {
    shown: PathBuf,
    /// Absent: it is made with the first file.
    dir: Option<Dir>,
}

/// Texts as files.
pub(crate) fn texts<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<NewFile> {
    let file = |(path, text): (&str, &str)| NewFile { path: path.to_owned(), bytes: text.into(), executable: false };
    files.into_iter().map(file).collect()
}

impl Output {
    /// The folder that a person named, or the project's own.
    pub(crate) fn open(path: Option<&Path>, project: &Project) -> Result<Self, Failure> {
        Self::at(path.unwrap_or(&project.root))
    }

    pub(crate) fn at(path: &Path) -> Result<Self, Failure> {
        let shown = environment::current_folder().join(path);
        match Dir::open_ambient_dir(&shown, cap_std::ambient_authority()) {
            Ok(dir) => Ok(Self { shown, dir: Some(dir) }),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(Self { shown, dir: None }),
            Err(fault) => Err(unwritable(&shown.display().to_string(), &shown, &fault)),
        }
    }

    /// Writes new files. One that is there already with the same contents is fine.
    pub(crate) fn write(&mut self, files: &[NewFile], on_clash: OnClash) -> Result<(), Failure> {
        let mut blocked: Vec<_> = files.iter().filter_map(|file| self.blocked(&file.path)).collect();
        blocked.dedup();
        if !blocked.is_empty() {
            return Err(Failure { reports: blocked, exit: Exit::File });
        }
        let in_the_way: Vec<_> = files.iter().filter(|file| self.differs(file)).collect();
        if on_clash == OnClash::Refuse && !in_the_way.is_empty() {
            let reports = in_the_way.into_iter().map(|file| self.in_the_way(&file.path)).collect();
            return Err(Failure { reports, exit: Exit::File });
        }
        self.carry_out(files, &[])
    }

    /// Does what was decided after a look at this folder.
    pub(crate) fn apply(&mut self, changes: &Changes) -> Result<(), Failure> {
        self.carry_out(&changes.writes, &changes.removals)
    }

    /// First every new file is written beside its place, so that a full disk changes nothing, then all are moved there.
    fn carry_out(&mut self, files: &[NewFile], removals: &[String]) -> Result<(), Failure> {
        if files.is_empty() && removals.is_empty() {
            return Ok(());
        }
        let shown = self.shown.clone();
        let failed = |path: &str, fault: io::Error| unwritable(path, &shown.join(path), &fault);
        let dir = self.made().map_err(|fault| failed("", fault))?;
        let mut stage = Stage { dir, files: Vec::new(), folders: Vec::new() };
        for file in files {
            stage.add(file).map_err(|fault| failed(&file.path, fault))?;
        }
        stage.settle().map_err(|(path, fault)| failed(&path, fault))?;
        for path in removals {
            remove(dir, path).map_err(|fault| failed(path, fault))?;
        }
        Ok(())
    }

    fn made(&mut self) -> io::Result<&Dir> {
        if self.dir.is_none() {
            let authority = cap_std::ambient_authority();
            Dir::create_ambient_dir_all(&self.shown, authority)?;
            self.dir = Some(Dir::open_ambient_dir(&self.shown, authority)?);
        }
        Ok(self.dir.as_ref().expect("it was just opened"))
    }

    /// What keeps a file from being written, whoever insists: where it needs a folder there is something else, or a
    /// folder where it would be.
    fn blocked(&self, path: &str) -> Option<Report> {
        let (there, kind) = self.obstacle(path)?;
        let report = Report::error("C030", format!("`{there}` is {kind}; nothing was written"));
        let place = Place::file(self.shown.join(there).display().to_string());
        Some(report.at(place).hint("move it away, or write elsewhere by `--out DIR`"))
    }

    fn obstacle<'a>(&self, path: &'a str) -> Option<(&'a str, &'static str)> {
        let dir = self.dir.as_ref()?;
        for parent in path.match_indices('/').map(|(end, _)| &path[..end]) {
            match dir.symlink_metadata(parent) {
                Ok(meta) if meta.is_dir() => {}
                Ok(meta) if meta.is_symlink() => return Some((parent, "a link, which is not followed")),
                Ok(_) => return Some((parent, "no folder")),
                Err(_) => return None,
            }
        }
        let is_folder = dir.symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
        is_folder.then_some((path, "a folder, where a file is to be written"))
    }

    /// A link counts as in the way whatever it points to: it is never followed.
    fn differs(&self, file: &NewFile) -> bool {
        let Some(dir) = &self.dir else { return false };
        match dir.symlink_metadata(&file.path) {
            Ok(meta) if meta.is_file() => dir.read(&file.path).is_ok_and(|bytes| bytes != file.bytes),
            Ok(_) => true,
            Err(_) => false,
        }
    }

    fn in_the_way(&self, path: &str) -> Report {
        let file = self.shown.join(path).display().to_string();
        Report::error("C035", format!("`{path}` is there already with other contents, and nothing was written"))
            .at(Place::file(file))
            .hint("look at it, then add `--force` to overwrite it, or write elsewhere by `--out DIR`")
    }
}

impl There for Output {
    fn look(&self, path: &str) -> Found {
        let Some(dir) = &self.dir else { return Found::Nothing };
        if let Some((there, kind)) = self.obstacle(path) {
            return Found::Blocked(format!("`{there}` is {kind}"));
        }
        match dir.symlink_metadata(path) {
            Ok(meta) if meta.is_file() => dir.read(path).map_or_else(
                |fault| Found::Blocked(fault.to_string()),
                |bytes| Found::File { bytes, executable: is_executable(&meta) },
            ),
            Ok(meta) if meta.is_symlink() => Found::Blocked("it is a link, which is not followed".to_owned()),
            Ok(_) => Found::Blocked("it is no file".to_owned()),
            Err(_) => Found::Nothing,
        }
    }
}

/// New files beside their places. Those that were not moved there go away with it, and the folders made for them.
struct Stage<'a> {
    dir: &'a Dir,
    /// The paths that are meant.
    files: Vec<String>,
    folders: Vec<PathBuf>,
}

impl Stage<'_> {
    fn add(&mut self, file: &NewFile) -> io::Result<()> {
        if let Some(parent) = Path::new(&file.path).parent() {
            self.make_folder(parent)?;
        }
        let beside = beside(&file.path);
        // What an earlier call left when it was killed.
        _ = self.dir.remove_file(&beside);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let replaced = self.dir.symlink_metadata(&file.path).ok().filter(|meta| meta.is_file());
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt as _;
            let mode = if file.executable { 0o777 } else { 0o666 };
            options.mode(if replaced.is_some() { 0o600 } else { mode });
        }
        let mut open = self.dir.open_with(&beside, &options)?;
        self.files.push(file.path.clone());
        open.write_all(&file.bytes)?;
        replaced.map_or(Ok(()), |meta| open.set_permissions(permissions(&meta, file.executable)))
    }

    fn make_folder(&mut self, folder: &Path) -> io::Result<()> {
        let missing = folder.ancestors().filter(|folder| !folder.as_os_str().is_empty());
        let missing: Vec<_> = missing.take_while(|folder| self.dir.symlink_metadata(folder).is_err()).collect();
        for folder in missing.into_iter().rev() {
            self.dir.create_dir(folder)?;
            self.folders.push(folder.to_owned());
        }
        Ok(())
    }

    /// Moves all of them to their places.
    fn settle(mut self) -> Result<(), (String, io::Error)> {
        for path in &self.files {
            self.dir.rename(beside(path), self.dir, path).map_err(|fault| (path.clone(), fault))?;
        }
        self.files.clear();
        self.folders.clear();
        Ok(())
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        for path in &self.files {
            _ = self.dir.remove_file(beside(path));
        }
        for folder in self.folders.iter().rev() {
            // One that has a file in it by now stays.
            _ = self.dir.remove_dir(folder);
        }
    }
}

/// Those of a file that is replaced. Who may read it is its owner's decision, not that of whoever changes it; where it
/// becomes a program, whoever may read it may start it.
#[cfg(unix)]
fn permissions(replaced: &Metadata, executable: bool) -> Permissions {
    use cap_std::fs::PermissionsExt as _;
    let mode = replaced.permissions().mode();
    Permissions::from_mode(match (executable, is_executable(replaced)) {
        (true, true) => mode,
        (true, false) => mode | ((mode & 0o444) >> 2),
        (false, _) => mode & !0o111,
    })
}

#[cfg(not(unix))]
fn permissions(replaced: &Metadata, _: bool) -> Permissions {
    replaced.permissions()
}

#[cfg(unix)]
fn is_executable(meta: &Metadata) -> bool {
    cap_std::fs::MetadataExt::mode(meta) & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}

fn beside(path: &str) -> String {
    format!("{path}.entourage-new")
}

/// Removes a file, and the folders that it leaves empty.
fn remove(dir: &Dir, path: &str) -> io::Result<()> {
    dir.remove_file(path)?;
    let parents = Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    for folder in parents {
        if dir.remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

fn unwritable(shown: &str, path: &Path, fault: &io::Error) -> Failure {
    let report = Report::error("C030", format!("`{shown}` cannot be written: {fault}"));
    let report = report.at(Place::file(path.display().to_string()));
    Failure::new(Exit::File, report.hint("look at what is there already, who owns it and how much room the disk has"))
}
