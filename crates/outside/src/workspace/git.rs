//! What belongs to git, which no tool changes: git runs commands that its files name, for whoever calls it next and
//! outside of any box.

use super::closed::real_path;
use cap_std::fs::Dir;
use std::ffi::OsStr;

const NAME: &str = ".git";

/// Whether something of this name is a repository's own, on file systems that know no case, too.
pub(super) fn is_name(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(NAME)
}

/// Whether the open folder is a repository's own or lies in one, at any depth below the root. As with the closed folder,
/// what was opened is judged and not a path that somebody gave.
pub(super) fn holds(root: &Dir, opened: &Dir) -> bool {
    let (Some(root), Some(path)) = (real_path(root), real_path(opened)) else { return false };
    // A root that was moved meanwhile is none of its own files' beginning: then all of the path is looked at.
    path.strip_prefix(root).unwrap_or(&path).iter().any(is_name)
}
