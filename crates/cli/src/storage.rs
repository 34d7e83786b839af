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
    pub(crate) async fn open(invocation: &Invocation) -> Result<Self, Failure> {
        match address(invocation)? {
            Address::Folder(folder) => {
                if folder == invocation.project.data {
                    invocation.project.make_data_folder()?;
                }
                Self::open_folder(&folder)
            }
            Address::Server(url) => Self::open_server(&url).await,
        }
    }

    /// Opens the store for looking: where there is none, there are no threads, and none is made.
    pub(crate) async fn look(invocation: &Invocation) -> Result<Self, Failure> {
        match address(invocation)? {
            Address::Folder(folder) if folder.exists() => Self::open_folder(&folder),
            Address::Folder(folder) => {
                Ok(Self { store: Arc::new(MemoryStore::new()), place: folder.display().to_string() })
            }
            Address::Server(url) => Self::open_server(&url).await,
        }
    }

    /// Opens the store if there is one.
    pub(crate) async fn existing(invocation: &Invocation) -> Result<Option<Self>, Failure> {
        match address(invocation)? {
            Address::Folder(folder) if !folder.exists() => Ok(None),
            Address::Folder(_) | Address::Server(_) => Self::look(invocation).await.map(Some),
        }
    }

    /// Opens the store that this address names, as `--store` takes it.
    pub(crate) async fn open_url(url: &str) -> Result<Self, Failure> {
        match parse(url)? {
            Address::Folder(folder) => Self::open_folder(&folder),
            Address::Server(url) => Self::open_server(&url).await,
        }
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

    #[cfg(feature = "postgres")]
    async fn open_server(url: &str) -> Result<Self, Failure> {
        let place = entourage_store_postgres::place(url);
        let options = entourage_store_postgres::Options::default();
        match entourage_store_postgres::PostgresStore::open(url, options).await {
            Ok(store) => Ok(Self { store: Arc::new(store), place }),
            Err(error) => Err(Failure::of_store(&error, &place)),
        }
    }

    #[cfg(not(feature = "postgres"))]
    async fn open_server(_url: &str) -> Result<Self, Failure> {
        let report = Report::error("C014", "this program was built without PostgreSQL");
        Err(Failure::usage(report.hint("build it with the feature `postgres`, or use `--store sqlite:DIR`")))
    }

    /// Changes with the store's files, as far as the system tells; nothing where there are none.
    pub(crate) fn fingerprint(invocation: &Invocation) -> Option<Vec<(OsString, u64, Option<SystemTime>)>> {
        let Address::Folder(folder) = address(invocation).ok()? else { return None };
        let entries = std::fs::read_dir(folder).ok()?;
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

/// Where a store is.
enum Address {
    /// Of a SQLite store.
    Folder(PathBuf),
    /// The whole address of a PostgreSQL store, which may hold a password.
    Server(String),
}

/// What `--store` says, else the data folder.
fn address(invocation: &Invocation) -> Result<Address, Failure> {
    match &invocation.options.store {
        Some(url) => parse(url),
        None => folder(invocation.project.data.clone(), "--data DIR"),
    }
}

fn parse(url: &str) -> Result<Address, Failure> {
    match url.split_once(':') {
        Some(("sqlite", path)) if !path.is_empty() => {
            folder(environment::current_folder().join(path), "--store sqlite:DIR")
        }
        Some(("postgres" | "postgresql", _)) => Ok(Address::Server(url.to_owned())),
        scheme => {
            // An address may hold a password: only its scheme is repeated.
            let scheme = scheme.map_or(url, |(scheme, _)| scheme);
            let report = Report::error("C014", format!("there is no store of the kind `{scheme}`"));
            let hint = "`--store sqlite:DIR` names a folder for the store, `--store postgres://…` a database";
            Err(Failure::usage(report.hint(hint)))
        }
    }
}

/// A store is a folder. Whoever names the database in it means the folder; another file is none.
fn folder(path: PathBuf, option: &str) -> Result<Address, Failure> {
    if !path.is_file() {
        return Ok(Address::Folder(path));
    }
    match path.parent().filter(|_| path.ends_with(entourage_store_sqlite::DATABASE)) {
        Some(folder) => Ok(Address::Folder(folder.to_owned())),
        None => {
            let report = Report::error("C014", format!("`{}` is a file, and a store is a folder", path.display()));
            Err(Failure::usage(report.hint(format!("give a folder by `{option}`; one that is not there is made"))))
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
