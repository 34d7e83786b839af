//! What an import names: a module of ours, or files of the project in which it may be found.

use crate::limits::SPECIFIER_BYTES_MAX;
use crate::modules;
use entourage_model::meant;

/// Begins the names of modules that only our own modules import.
const INTERNAL: &str = "entourage:";
/// Tried in this order behind a name without an ending.
const ENDINGS: [&str; 4] = [".ts", ".mts", ".js", ".mjs"];

/// What a specifier stands for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A module that comes with the program.
    Ours,
    /// The first of these paths that exists. They are inside the project and have no `.` or `..` in them.
    Project(Vec<String>),
}

/// Finds out what `specifier` names in the module `base`, or says why it may not be imported.
pub(crate) fn target(base: &str, specifier: &str) -> Result<Target, String> {
    let base_is_ours = modules::source(base).is_some();
    if modules::source(specifier).is_some() && (base_is_ours || !specifier.starts_with(INTERNAL)) {
        return Ok(Target::Ours);
    }
    refuse_tricks(specifier)?;
    let relative = specifier == "." || specifier == ".." || specifier.starts_with("./") || specifier.starts_with("../");
    if !relative {
        return Err(unknown(specifier));
    }
    let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = join(folder, specifier)
        .ok_or_else(|| format!("`{specifier}` leads out of the project; only files inside it can be imported"))?;
    Ok(Target::Project(candidates(&path, specifier)))
}

/// Whether a path may be handed to `Sources`: relative, not empty, and without anything to normalise.
pub(crate) fn is_plain(path: &str) -> bool {
    !path.is_empty() && !path.contains(['\0', '\\']) && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn refuse_tricks(specifier: &str) -> Result<(), String> {
    if specifier.len() > SPECIFIER_BYTES_MAX {
        let start: String = specifier.chars().take(40).collect();
        return Err(format!("the name of a module has more than {SPECIFIER_BYTES_MAX} bytes: `{start}…`"));
    }
    let shown = specifier.escape_debug();
    if specifier.chars().any(char::is_control) {
        return Err(format!("`{shown}` has a control character in it and names no module"));
    }
    if specifier.starts_with('/') || specifier.contains('\\') || drive(specifier) {
        return Err(format!("`{shown}` is not a relative path: write `./` or `../`, with `/` between the parts"));
    }
    // A literal percent sign is fine; one that would be read as a dot, a separator or an end is meant to mislead.
    let lower = specifier.to_ascii_lowercase();
    if ["%2e", "%2f", "%5c", "%00"].iter().any(|trick| lower.contains(trick)) {
        return Err(format!("`{shown}` has an encoded path in it; write it as it is"));
    }
    Ok(())
}

fn drive(specifier: &str) -> bool {
    matches!(specifier.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
}

fn unknown(specifier: &str) -> String {
    let shown = specifier.escape_debug();
    let name = specifier.strip_prefix("node:").unwrap_or(specifier);
    let why = match longer(specifier).or_else(|| meant(specifier, modules::names())) {
        Some(name) => format!("did you mean `{name}`?"),
        None if specifier.starts_with("node:") || NODE.contains(&name) => "code is evaluated without Node".to_owned(),
        None => format!("packages are not installed; there are {OURS}, and the project's files by `./`"),
    };
    format!("there is no module `{shown}`: {why}")
}

/// The module of the same scope whose own name ends this one, such as `@stax/codex` for `@stax/adapter-codex`.
fn longer(specifier: &str) -> Option<&'static str> {
    let (scope, own) = specifier.rsplit_once('/')?;
    modules::names().find(|name| {
        let known = name.rsplit_once('/').filter(|(known, _)| *known == scope);
        known.is_some_and(|(_, name)| own.strip_suffix(name).is_some_and(|before| before.ends_with('-')))
    })
}

/// Modules of Node that definitions reach for.
const NODE: [&str; 12] =
    ["assert", "buffer", "child_process", "crypto", "events", "fs", "http", "https", "os", "path", "url", "util"];

/// The modules that come with the program, in few words.
const OURS: &str = "`zod`, `@standardagents/spec`, `@standardagents/builder`, its providers such as \
                    `@standardagents/openai`, `stax`, its adapters such as `@stax/codex`, and `entourage`";

/// Both with `/` between their parts; nothing if the result lies outside.
fn join(folder: &str, specifier: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in specifier.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn candidates(path: &str, specifier: &str) -> Vec<String> {
    let index = || ENDINGS.iter().map(|ending| format!("{path}/index{ending}").trim_start_matches('/').to_owned());
    if path.is_empty() || specifier.ends_with('/') || specifier.ends_with("/.") || specifier.ends_with("..") {
        return index().collect();
    }
    let named = |stem: &str, endings: [&str; 2]| endings.map(|ending| format!("{stem}{ending}")).to_vec();
    match path.rsplit_once('.') {
        Some((_, "ts" | "mts" | "json")) => vec![path.to_owned()],
        // TypeScript is written with the names that its modules will have once they are JavaScript.
        Some((stem, "js")) => named(stem, [".ts", ".js"]),
        Some((stem, "mjs")) => named(stem, [".mts", ".mjs"]),
        _ => ENDINGS.iter().map(|ending| format!("{path}{ending}")).chain(index()).collect(),
    }
}
