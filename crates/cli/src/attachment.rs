//! Files that are handed to an agent with a message.

use crate::environment;
use crate::failure::Failure;
use crate::project::read_outside;
use crate::storage::Storage;
use entourage_model::{Attachment, Digest, Report};
use entourage_store::FileRow;
use std::path::{Path, PathBuf};

const BYTES_MAX: usize = 64 << 20;

/// What the end of a name says about the content.
const TYPES: [(&str, &str); 20] = [
    ("csv", "text/csv"),
    ("css", "text/css"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("markdown", "text/markdown"),
    ("md", "text/markdown"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("toml", "application/toml"),
    ("webp", "image/webp"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("zip", "application/zip"),
];

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
    let (path, size, mime_type) = (format!("/attachments/{name}"), bytes.len() as u64, mime_type(&name, &bytes));
    let created_at = storage.store.now();
    let row = FileRow { path: path.clone(), digest, size, mime_type: mime_type.clone(), created_at };
    Ok((row, Attachment { path, name, mime_type, size }))
}

fn read_one(path: &Path) -> Result<Vec<u8>, Failure> {
    let refused =
        |why: String| Failure::usage(Report::error("C011", format!("`{}` cannot be attached: {why}", path.display())));
    let bytes = read_outside(&environment::current_folder().join(path), BYTES_MAX)
        .map_err(|fault| refused(fault.to_string()))?;
    if bytes.len() > BYTES_MAX {
        return Err(refused(format!("it is larger than {} MiB", BYTES_MAX >> 20)));
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

fn mime_type(name: &str, bytes: &[u8]) -> String {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let known = ending.and_then(|ending| TYPES.iter().find(|(known, _)| *known == ending));
    match known {
        Some((_, mime_type)) => (*mime_type).to_owned(),
        None if std::str::from_utf8(bytes).is_ok() => "text/plain".to_owned(),
        None => "application/octet-stream".to_owned(),
    }
}
