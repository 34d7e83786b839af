//! Files that are handed to an agent with a message.

use crate::environment;
use crate::failure::Failure;
use crate::project::{RELATIVE, read_outside};
use crate::storage::Storage;
use entourage_model::{Attachment, Digest, FileRow, Place, Report, mime_type};
use std::path::{Path, PathBuf};

const BYTES_MAX: usize = 64 << 20;

/// A file that was read and is kept nowhere yet.
#[derive(Clone, Debug)]
pub(crate) struct Paper {
    name: String,
    bytes: Vec<u8>,
}

/// Reads the files, each under a name of its own.
pub(crate) fn read(paths: &[PathBuf]) -> Result<Vec<Paper>, Failure> {
    let mut papers: Vec<Paper> = Vec::new();
    for path in paths {
        let bytes = read_one(path)?;
        papers.push(Paper { name: free_name(path, &papers), bytes });
    }
    Ok(papers)
}

/// Keeps the content, so that a thread can point at it.
pub(crate) async fn keep(storage: &Storage, paper: Paper) -> Result<(FileRow, Attachment), Failure> {
    let Paper { name, bytes } = paper;
    let digest = Digest::of(&bytes);
    storage.store.put_blob(digest, &bytes).await.map_err(|error| storage.refused(&error))?;
    let row = FileRow {
        path: format!("/attachments/{name}"),
        digest,
        size: bytes.len() as u64,
        mime_type: mime_type(&name, &bytes).to_owned(),
        created_at: storage.store.now(),
    };
    let attachment = row.attachment();
    Ok((row, attachment))
}

fn read_one(path: &Path) -> Result<Vec<u8>, Failure> {
    let refused = |why: &str, hint: &str| {
        let report = Report::error("C011", format!("`{}` cannot be attached: {why}", path.display()));
        Failure::usage(report.at(Place::file(path.display().to_string())).hint(hint))
    };
    let bytes = read_outside(&environment::current_folder().join(path), BYTES_MAX)
        .map_err(|fault| refused(&fault.to_string(), RELATIVE))?;
    if bytes.len() > BYTES_MAX {
        let why = format!("it is larger than {} MiB", BYTES_MAX >> 20);
        return Err(refused(&why, "put it into the project, where tools read parts of it"));
    }
    Ok(bytes)
}

/// The file's own name; the second of that name gets a number.
fn free_name(path: &Path, taken: &[Paper]) -> String {
    let name = path.file_name().map_or_else(|| "file".to_owned(), |name| name.to_string_lossy().into_owned());
    let is_free = |name: &String| taken.iter().all(|paper| paper.name != *name);
    let numbered = (2..).map(|number| format!("{number}-{name}"));
    std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or(name)
}
