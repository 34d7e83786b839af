//! Which store holds this project's threads, and opening it.

use crate::environment;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::screen::{Format, Screen};
use entourage_model::Report;
use entourage_store::{MemoryStore, Store, StoreError};
use entourage_store_sqlite::{Options, SqliteStore};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// A store and where it is, for reports about it. Whoever opened it closes it.
#[derive(Clone, Debug)]
pub(crate) struct Storage {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) place: String,
}

impl Storage {
    /// Opens the store and makes it if there is none.
    pub(crate) fn open(invocation: &Invocation) -> Result<Self, Failure> {
        let folder = folder(invocation)?;
        if folder == invocation.project.data {
            invocation.project.make_data_folder()?;
        }
        Self::open_folder(&folder)
    }

    /// Opens the store for looking: where there is none, there are no threads, and none is made.
    pub(crate) fn look(invocation: &Invocation) -> Result<Self, Failure> {
        let folder = folder(invocation)?;
        if folder.exists() {
            return Self::open_folder(&folder);
        }
        Ok(Self { store: Arc::new(MemoryStore::new()), place: folder.display().to_string() })
    }

    /// Opens the store in this folder, or makes one.
    pub(crate) fn open_folder(folder: &Path) -> Result<Self, Failure> {
        let place = folder.display().to_string();
        let options = Options { fatal: fatal(place.clone()), ..Options::default() };
        match SqliteStore::open_with(folder, options) {
            Ok(store) => Ok(Self { store: Arc::new(store), place }),
            Err(error) => Err(Failure::of_store(&error, &place)),
        }
    }

    /// Changes with the store's files, as far as the system tells; nothing where there are none.
    pub(crate) fn fingerprint(invocation: &Invocation) -> Option<Vec<(OsString, u64, Option<SystemTime>)>> {
        let entries = std::fs::read_dir(folder(invocation).ok()?).ok()?;
        let mut files: Vec<_> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let found = entry.metadata().ok()?;
                Some((entry.file_name(), found.len(), found.modified().ok()))
            })
            .collect();
        files.sort();
        Some(files)
    }

    pub(crate) fn refused(&self, error: &StoreError) -> Failure {
        Failure::of_store(error, &self.place)
    }
}

/// The folder of the SQLite store: what `--store` says, else the data folder.
fn folder(invocation: &Invocation) -> Result<PathBuf, Failure> {
    let Some(url) = &invocation.options.store else { return Ok(invocation.project.data.clone()) };
    match url.split_once(':') {
        Some(("sqlite", path)) if !path.is_empty() => Ok(environment::current_folder().join(path)),
        scheme => {
            // An address may hold a password: only its scheme is repeated.
            let scheme = scheme.map_or(url.as_str(), |(scheme, _)| scheme);
            let report = Report::error("C014", format!("there is no store of the kind `{scheme}`"));
            Err(Failure::usage(report.hint("`--store sqlite:DIR` names a folder for the store")))
        }
    }
}

/// What to do when the disk fails under a store: say so and end, because nothing in memory can be made durable any
/// more. The next start finds what is really there.
#[expect(clippy::exit, reason = "the store's own thread has nobody to return to")]
fn fatal(place: String) -> Arc<dyn Fn(&StoreError) + Send + Sync> {
    Arc::new(move |error| {
        let Failure { reports, exit } = Failure::of_store(error, &place);
        let screen = Screen::new(Format::Text);
        reports.iter().for_each(|report| screen.report(report));
        std::process::exit(i32::from(exit as u8))
    })
}
