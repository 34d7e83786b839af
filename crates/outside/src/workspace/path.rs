//! A path as a model gave it, checked for what no system call can say clearly.

use super::fault::{PathFault, shown};
use std::borrow::Cow;
use std::path::Path;

const PATH_BYTES_MAX: usize = 4096;

/// A relative path without NUL. Whether it stays beneath the root is not known before it is opened.
#[derive(Debug)]
pub(crate) struct WorkspacePath {
    given: String,
    /// Without `.` and empty segments; `..` stays, for only the kernel knows what it means behind a symlink.
    segments: String,
}

impl WorkspacePath {
    /// An empty path is the root, like `.`. An absolute path is one that begins with one of `roots`, by which commands
    /// and people know the root: what follows is resolved beneath it like any other path.
    pub(crate) fn parse_from(given: &str, roots: &[&Path]) -> Result<Self, PathFault> {
        let malformed = |why: String| Err(PathFault::Malformed { path: shown(given), why });
        if given.len() > PATH_BYTES_MAX {
            return malformed(format!("it has {} bytes, and at most {PATH_BYTES_MAX} are allowed", given.len()));
        }
        if given.contains('\0') {
            return malformed("it contains a NUL".to_owned());
        }
        let beneath = match given.strip_prefix('/') {
            None => given,
            Some(_) => roots
                .iter()
                .find_map(|root| Path::new(given).strip_prefix(root).ok()?.to_str())
                .ok_or_else(|| PathFault::Outside { path: shown(given) })?,
        };
        let segments: Vec<&str> = beneath.split('/').filter(|segment| !segment.is_empty() && *segment != ".").collect();
        Ok(Self { given: given.to_owned(), segments: segments.join("/") })
    }

    /// For sentences.
    pub(crate) fn given(&self) -> &str {
        &self.given
    }

    /// For opening.
    pub(crate) fn resolvable(&self) -> &str {
        if self.segments.is_empty() { "." } else { &self.segments }
    }

    /// The same with what `..` means as long as no symlink is on the way: for telling, never for opening.
    pub(crate) fn plain(&self) -> String {
        let mut plain: Vec<&str> = Vec::new();
        for segment in self.segments.split('/').filter(|segment| !segment.is_empty()) {
            match segment {
                ".." => drop(plain.pop()),
                _ => plain.push(segment),
            }
        }
        plain.join("/")
    }

    /// What the paths of everything below begin with: nothing, or the path and a slash.
    pub(crate) fn prefix(&self) -> String {
        if self.segments.is_empty() { String::new() } else { format!("{}/", self.segments) }
    }
}

/// `text` on one line: a name with a line break in it cannot pass for two names.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    Cow::Owned(line)
}
