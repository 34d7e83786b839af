//! A folder that files are written into: all of them, or none.

use crate::environment;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use cap_std::fs::Dir;
use entourage_model::{Place, Report};
use std::io;
use std::path::{Path, PathBuf};

/// Files are made beneath it by capability: a link that leads out of it is refused.
#[derive(Debug)]
pub(crate) struct Output {
    shown: PathBuf,
    dir: Dir,
}

/// What becomes of a file that is there already, with other contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnClash {
    /// Nothing at all is written.
    Refuse,
    Overwrite,
}

impl Output {
    /// The folder, made if it is not there; the project's own without a path.
    pub(crate) fn open(path: Option<&Path>, project: &Project) -> Result<Self, Failure> {
        let shown = path.map_or_else(|| project.root.clone(), |path| environment::current_folder().join(path));
        let authority = cap_std::ambient_authority();
        let opened =
            Dir::create_ambient_dir_all(&shown, authority).and_then(|()| Dir::open_ambient_dir(&shown, authority));
        match opened {
            Ok(dir) => Ok(Self { shown, dir }),
            Err(fault) => Err(unwritable(&shown.display().to_string(), &shown, &fault)),
        }
    }

    pub(crate) fn write(&self, files: &[(String, String)], on_clash: OnClash) -> Result<(), Failure> {
        let mut blocked: Vec<_> = files.iter().filter_map(|(path, _)| self.blocked(path)).collect();
        blocked.dedup();
        if !blocked.is_empty() {
            return Err(Failure { reports: blocked, exit: Exit::File });
        }
        let in_the_way: Vec<_> = files.iter().filter(|(path, text)| self.differs(path, text)).collect();
        if on_clash == OnClash::Refuse && !in_the_way.is_empty() {
            let reports = in_the_way.into_iter().map(|(path, _)| self.in_the_way(path)).collect();
            return Err(Failure { reports, exit: Exit::File });
        }
        for (path, text) in files {
            self.write_one(path, text).map_err(|fault| unwritable(path, &self.shown.join(path), &fault))?;
        }
        Ok(())
    }

    /// What keeps a file from being written, whoever insists: where it needs a folder there is something else, or a
    /// folder where it would be.
    fn blocked(&self, path: &str) -> Option<Report> {
        let is_folder = |path: &str| self.dir.metadata(path).is_ok_and(|meta| meta.is_dir());
        let parents = path.match_indices('/').map(|(end, _)| &path[..end]);
        let parent = parents.into_iter().find(|parent| self.dir.symlink_metadata(parent).is_ok() && !is_folder(parent));
        let there = parent.or_else(|| {
            let is_folder = self.dir.symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
            is_folder.then_some(path)
        })?;
        let kind = match self.dir.symlink_metadata(there) {
            Ok(meta) if meta.is_symlink() => "a link that leads to no folder within, and is not followed",
            Ok(meta) if meta.is_dir() => "a folder, where a file is to be written",
            _ => "no folder",
        };
        let report = Report::error("C030", format!("`{there}` is {kind}; nothing was written"));
        let place = Place::file(self.shown.join(there).display().to_string());
        Some(report.at(place).hint("move it away, or write elsewhere by `--out DIR`"))
    }

    /// A link counts as in the way whatever it points to: it is never followed.
    fn differs(&self, path: &str, text: &str) -> bool {
        match self.dir.symlink_metadata(path) {
            Ok(meta) if meta.is_file() => self.dir.read(path).is_ok_and(|bytes| bytes != text.as_bytes()),
            Ok(_) => true,
            Err(_) => false,
        }
    }

    /// Through a file beside it, so that nobody ever reads half of it.
    fn write_one(&self, path: &str, text: &str) -> io::Result<()> {
        if let Some(parent) = Path::new(path).parent() {
            self.dir.create_dir_all(parent)?;
        }
        let beside = format!("{path}.entourage-new");
        self.dir.write(&beside, text)?;
        self.dir.rename(&beside, &self.dir, path)
    }

    fn in_the_way(&self, path: &str) -> Report {
        let file = self.shown.join(path).display().to_string();
        Report::error("C035", format!("`{path}` is there already with other contents, and nothing was written"))
            .at(Place::file(file))
            .hint("look at it, then add `--force` to overwrite it, or write elsewhere by `--out DIR`")
    }
}

fn unwritable(shown: &str, path: &Path, fault: &io::Error) -> Failure {
    let report = Report::error("C030", format!("`{shown}` cannot be written: {fault}"));
    let report = report.at(Place::file(path.display().to_string()));
    Failure::new(Exit::File, report.hint("look at what is there already, who owns it and how much room the disk has"))
}
