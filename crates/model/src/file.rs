//! A thread's own files: paths that point at content-addressed bytes.

use crate::{Attachment, Digest, Timestamp};
use serde::{Deserialize, Serialize};

const PATH_BYTES_MAX: usize = 1024;

/// A path in a thread's own file system and the content it points to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRow {
    pub path: String,
    pub digest: Digest,
    pub size: u64,
    pub mime_type: String,
    pub created_at: Timestamp,
}

impl FileRow {
    /// The last part of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The file as a message of the same thread lists it.
    pub fn attachment(&self) -> Attachment {
        Attachment {
            path: self.path.clone(),
            name: self.name().to_owned(),
            mime_type: self.mime_type.clone(),
            size: self.size,
            digest: Some(self.digest),
        }
    }
}

/// A text that cannot be the path of a thread's file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a path of a file: {why}", .path.escape_debug())]
pub struct BadPath {
    path: String,
    why: &'static str,
}

/// The path as it is kept: absolute, its parts neither empty nor `.` nor `..`. The leading slash may be left out.
pub fn file_path(text: &str) -> Result<String, BadPath> {
    let bad = |why| {
        let path: String = text.chars().take(80).collect();
        Err(BadPath { path, why })
    };
    let rest = text.strip_prefix('/').unwrap_or(text);
    if rest.len() >= PATH_BYTES_MAX {
        return bad("it is longer than 1,024 bytes");
    }
    if rest.contains('\0') {
        return bad("it has a NUL in it");
    }
    if rest.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return bad("a part of it is empty, `.` or `..`");
    }
    Ok(format!("/{rest}"))
}

/// Where a copy of a file lies in the thread that it was copied to: among the attachments, told from others by `word`.
pub fn copy_path(name: &str, word: u32) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => (stem, plain(ending, 16)),
        _ => (name, String::new()),
    };
    let stem = Some(plain(stem, 64)).filter(|stem| !stem.is_empty()).unwrap_or_else(|| "file".to_owned());
    let dot = if ending.is_empty() { "" } else { "." };
    format!("/attachments/{stem}-{word:08x}{dot}{ending}")
}

/// Only what needs no quoting anywhere.
fn plain(text: &str, chars_max: usize) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' };
    text.trim_start_matches('.').chars().take(chars_max).map(kept).collect()
}

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

/// The media type of a file of that name, by its ending or else by whether it is text.
pub fn mime_type(name: &str, bytes: &[u8]) -> &'static str {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let known = ending.and_then(|ending| TYPES.iter().find(|(known, _)| *known == ending));
    match known {
        Some((_, mime_type)) => mime_type,
        None if std::str::from_utf8(bytes).is_ok() => "text/plain",
        None => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_are_taken() {
        for (text, kept) in [
            ("/a", Some("/a")),
            ("a/b.txt", Some("/a/b.txt")),
            ("/attachments/x y.md", Some("/attachments/x y.md")),
            ("/..a/.b", Some("/..a/.b")),
            ("", None),
            ("/", None),
            ("//a", None),
            ("/a/", None),
            ("/a/./b", None),
            ("../a", None),
            ("/a\0", None),
        ] {
            assert_eq!(file_path(text).ok().as_deref(), kept, "{text:?}");
        }
        let longest = "a".repeat(1023);
        assert_eq!(file_path(&longest).ok(), Some(format!("/{longest}")));
        assert_eq!(file_path(&"a".repeat(1024)).ok(), None);
    }

    #[test]
    fn a_name_tells_the_type_and_else_the_bytes_do() {
        for (name, bytes, expected) in [
            ("a.PNG", &b"x"[..], "image/png"),
            ("a.md", b"x", "text/markdown"),
            ("a.unknown", b"words", "text/plain"),
            ("a", &[0xff, 0xfe], "application/octet-stream"),
        ] {
            assert_eq!(mime_type(name, bytes), expected);
        }
    }
}
