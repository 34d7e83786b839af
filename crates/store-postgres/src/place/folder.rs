//! A folder that all nodes share, such as one that is mounted over the network.

use super::Stage;
use super::objects::Fault;
use crate::database::token;
use object_store::local::LocalFileSystem;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

/// Every write is a file of another name, its flush, its renaming, and a flush of the folder.
pub(super) async fn open(folder: &Path, stage: Stage) -> Result<LocalFileSystem, Fault> {
    let folder = folder.to_owned();
    let opened = tokio::task::spawn_blocking(move || {
        if stage == Stage::Opening {
            probe(&folder).map_err(|error| Fault::of_file(&error))?;
        }
        LocalFileSystem::new_with_prefix(&folder).map_err(|error| Fault::of(&error))
    });
    let opened = opened.await.unwrap_or_else(|fault| Err(Fault::of_file(&io::Error::other(fault))))?;
    Ok(opened.with_fsync(true))
}

/// Whether files can be made there. Nothing stays.
fn probe(folder: &Path) -> io::Result<()> {
    if !folder.metadata()?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let file: PathBuf = folder.join(format!("probe-{}", token()));
    OpenOptions::new().write(true).create_new(true).open(&file)?;
    std::fs::remove_file(&file)
}
