//! Who is called what: of the declarations with one side, which counts, and under which name.

use crate::draft::Declared;
use crate::faults::quoted;
use crate::format::Format;
use crate::harness;
use crate::solo::Solo;
use entourage_model::{Name, Report};
use std::collections::{BTreeMap, BTreeSet};

/// A declaration that counts and is sound, and the name that its agent has in the team.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Role<'a> {
    pub(crate) declared: &'a Declared<Solo>,
    pub(crate) solo: &'a Solo,
    /// Settings count less than files: whoever asks for this id by any dialect gets the file's agent.
    pub(crate) is_overridden: bool,
}

/// Whoever has a name already.
#[derive(Debug)]
pub(crate) struct Owner {
    /// As people know it.
    pub(crate) shown: String,
    /// Whether it is a file's agent that others can start by this name.
    pub(crate) is_startable_file: bool,
}

impl Role<'_> {
    /// The same where somebody else has the name.
    fn below(self, is_startable_file: bool) -> Self {
        Self { is_overridden: is_startable_file && origin(&self) == Origin::Settings, ..self }
    }

    pub(crate) fn id(&self) -> &Name {
        &self.declared.name.value
    }

    /// Absent: it comes with the program.
    pub(crate) fn file(&self) -> Option<&str> {
        Some(self.declared.faults.file.as_str()).filter(|file| !file.is_empty())
    }
}

/// The declarations that count, by the names of their agents. A name that is in `taken` belongs to somebody else, who
/// is described there.
pub(crate) fn cast<'a>(
    solos: &'a [Declared<Solo>],
    taken: &BTreeMap<Name, Owner>,
    reports: &mut Vec<Report>,
) -> BTreeMap<Name, Role<'a>> {
    let mut by_name: BTreeMap<&Name, Vec<Role<'a>>> = BTreeMap::new();
    for role in of_each_format(solos, reports) {
        by_name.entry(&role.declared.name.value).or_default().push(role);
    }
    let mut cast = BTreeMap::new();
    let mut others = Vec::new();
    for (name, mut roles) in by_name {
        roles.sort_by_key(|role| std::cmp::Reverse(rank(role)));
        let mut roles = roles.into_iter();
        match taken.get(name) {
            Some(owner) => {
                others.extend(roles.map(|role| (role.below(owner.is_startable_file), owner.shown.clone(), true)));
            }
            None => {
                let Some(first) = roles.next() else { continue };
                // A profile is started by a tool of its own, which leaves the id to the settings elsewhere.
                let is_startable_file = origin(&first) == Origin::File && first.solo.format != Format::Dex;
                others.extend(
                    roles.map(|role| (role.below(is_startable_file), describe(&first), is_told(&first, &role))),
                );
                cast.insert(name.clone(), first);
            }
        }
    }
    for (role, owner, is_told) in others {
        let name = Name::from(format!("{}/{}", role.solo.format, role.id()));
        if is_told && role.file().is_some() {
            reports.push(two_formats(&role, &owner, &name));
        }
        cast.entry(name).or_insert(role);
    }
    cast
}

/// The last declaration of each id in each format, if it is sound: a broken one hides the others all the same.
fn of_each_format<'a>(solos: &'a [Declared<Solo>], reports: &mut Vec<Report>) -> Vec<Role<'a>> {
    let mut last: BTreeMap<(Format, &Name), Role<'a>> = BTreeMap::new();
    for declared in solos {
        let Some(solo) = &declared.draft else { continue };
        let later = Role { declared, solo, is_overridden: false };
        if let Some(earlier) = last.insert((solo.format, &declared.name.value), later) {
            reports.extend(twice(&earlier, &later));
        }
    }
    last.into_values().filter(|role| !role.declared.faults.has_error()).collect()
}

/// What is said about two declarations of one format with one id, if it is not simply how they override each other.
fn twice(earlier: &Role<'_>, later: &Role<'_>) -> Option<Report> {
    let (first, second) = (earlier.file()?, later.file()?);
    let place = later.declared.place(later.declared.name.spot);
    let id = quoted(later.id().as_str());
    let what = format!("agent {id} is declared twice: in `{first}` and in `{second}`");
    let hint = format!("give one of them another name; until then `{second}` counts");
    if folder(first) == folder(second) {
        return Some(Report::error("D010", what).at(place).hint(hint));
    }
    let is_override = match later.solo.format {
        Format::Dex => true,
        Format::AgentScope => is_settings(first) && is_settings(second),
        // A folder that is a link to the other holds the same agents.
        _ => earlier.solo.verbatim == later.solo.verbatim && earlier.solo.body == later.solo.body,
    };
    (!is_override).then(|| Report::warning("D084", what).at(place).hint(hint))
}

/// The folder whose files must not have the same id; a settings file is one by itself.
fn folder(file: &str) -> &str {
    let harness = harness::FOLDERS.into_iter().map(|(folder, _)| folder).find(|folder| file.starts_with(folder));
    match harness {
        Some(folder) => folder,
        None if is_settings(file) => file,
        None => file.rsplit_once('/').map_or("", |(folder, _)| folder),
    }
}

fn is_settings(file: &str) -> bool {
    file.ends_with(".toml")
}

/// Who declares an agent; later counts before earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Program,
    Settings,
    File,
}

fn origin(role: &Role<'_>) -> Origin {
    match role.file() {
        None => Origin::Program,
        Some(file) if is_settings(file) => Origin::Settings,
        Some(_) => Origin::File,
    }
}

/// Who keeps the name where formats share it: what counts more, then the format that says more about how an agent is
/// started.
fn rank(role: &Role<'_>) -> (Origin, std::cmp::Reverse<Format>) {
    let order = match role.solo.format {
        // A subagent is started by its id, a profile by its own tool: the latter can do without the plain name.
        Format::Dex => Format::AgentScope,
        Format::AgentScope => Format::Dex,
        other => other,
    };
    (origin(role), std::cmp::Reverse(order))
}

/// dex and AgentScope each see their own, so that both may use an id; and nobody chose the ids that are built in.
fn is_told(first: &Role<'_>, other: &Role<'_>) -> bool {
    let formats = BTreeSet::from([first.solo.format, other.solo.format]);
    first.file().is_some() && formats != BTreeSet::from([Format::Dex, Format::AgentScope])
}

fn describe(role: &Role<'_>) -> String {
    role.file().map_or_else(|| "what comes with entourage".to_owned(), |file| format!("`{file}`"))
}

fn two_formats(role: &Role<'_>, owner: &str, name: &Name) -> Report {
    let (id, file) = (quoted(role.id().as_str()), &role.declared.faults.file);
    let what = format!("agent {id} is declared twice: in {owner} and in `{file}`");
    let hint = format!("give one of them another name; until then the latter is called {}", quoted(name.as_str()));
    Report::warning("D085", what).at(role.declared.place(role.declared.name.spot)).hint(hint)
}
