//! The one door for what the process inherits: variables and the current folder.
//!
//! Variables are read when they are asked for and kept nowhere, because some of them are keys.

use std::env;
use std::path::PathBuf;

/// The variable's value; one that is empty or no text counts as absent.
#[expect(clippy::disallowed_methods, reason = "the one door for environment variables")]
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Every variable whose name begins with `prefix`, sorted by name. None of ours is a secret.
pub(crate) fn variables(prefix: &str) -> Vec<(String, String)> {
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let mut found: Vec<_> = names
        .filter(|name| name.starts_with(prefix))
        .filter_map(|name| Some((name.clone(), variable(&name)?)))
        .collect();
    found.sort();
    found
}

/// The user's own settings: `~/.config/entourage/config.toml`, wherever that is on this system.
pub(crate) fn config_file() -> Option<PathBuf> {
    let folder = variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = folder.or_else(|| Some(home()?.join(".config")))?;
    Some(folder.join("entourage").join("config.toml"))
}

/// Where evaluated definitions are kept; nothing is lost when it goes.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let folder = variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = folder.or_else(|| Some(home()?.join(".cache")))?;
    Some(folder.join("entourage").join("definitions"))
}

pub(crate) fn home() -> Option<PathBuf> {
    variable("HOME").map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Where relative paths of a person begin. A folder that was removed gives `.`, which then cannot be opened.
pub(crate) fn current_folder() -> PathBuf {
    env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}
