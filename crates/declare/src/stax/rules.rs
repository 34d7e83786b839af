//! Rules: a folder of Markdown files, each with what it is for in its front matter.

use super::luggage::Luggage;
use super::path;
use super::source::{Source, front_matter};
use crate::faults::Faults;
use crate::fields::Fields;
use crate::files::Files;
use crate::front::{self, Front};
use crate::tree::Spot;
use entourage_model::Report;
use entourage_script::NoMemory;
use std::collections::BTreeSet;

/// Lower comes first.
const PRIORITY: i64 = 100;

/// One rule, with what its front matter says of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Its path beneath the folder of rules, unless it gives itself another.
    pub id: String,
    pub scope: Scope,
    pub globs: Vec<String>,
    pub priority: i64,
    pub severity: Option<String>,
    pub description: Option<String>,
    pub tags: Vec<String>,
    pub triggers: Vec<String>,
    /// The keys that nobody knows.
    pub unknown: Vec<String>,
    pub text: String,
}

impl Rule {
    /// The rule as a part of a longer text, with what it holds for.
    pub fn section(&self) -> String {
        let when = match self.scope {
            Scope::Always => String::new(),
            Scope::Glob => format!("Holds for files that match {}.\n\n", self.globs.join(", ")),
            Scope::Auto => {
                format!("Holds where it fits: {}\n\n", self.description.as_deref().unwrap_or("judge by its text."))
            }
            Scope::Manual => "Holds only when the user asks for it.\n\n".to_owned(),
        };
        let about = self.description.as_ref().filter(|text| self.scope != Scope::Auto && !text.trim().is_empty());
        let about = about.map(|text| format!("About: {text}\n\n")).unwrap_or_default();
        format!("## Rule: {}\n\n{when}{about}{}", self.id, self.text.trim())
    }
}

/// When a rule holds: for every file, for some, where it fits, or when the user asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    Always,
    Glob,
    Auto,
    Manual,
}

const SCOPES: [(&str, Scope); 4] =
    [("always", Scope::Always), ("glob", Scope::Glob), ("auto", Scope::Auto), ("manual", Scope::Manual)];
const SEVERITIES: [(&str, &str); 3] = [("info", "info"), ("warn", "warn"), ("error", "error")];

/// The rules of a folder that was checked before, as others are told them.
pub fn rules_in(files: &dyn Files, folder: &str) -> Vec<Rule> {
    let mut source = Source {
        files,
        memory: &NoMemory,
        is_on_disk: files.is_on_disk(),
        is_imported: false,
        claimed: BTreeSet::new(),
        luggage: Luggage::default(),
    };
    read(&mut source, folder, &mut Faults::new(folder))
}

/// What a rule calls itself. Absent: it is known by where it lies.
pub fn rule_id(text: &str) -> Option<String> {
    rule("", text, &mut Faults::new("")).map(|rule| rule.id).filter(|id| !id.is_empty())
}

/// In the order in which they are told: by whose they are, then by priority, then by path.
pub(super) fn read(source: &mut Source<'_>, folder: &str, faults: &mut Faults) -> Vec<Rule> {
    let mut rules = Vec::new();
    for file in source.files_beneath(folder, faults).into_iter().filter(|file| path::is_markdown(file)) {
        let mut own = Faults::new(&file);
        if let Some(text) = source.text(&file, Spot::START, &mut own) {
            let id = file.strip_prefix(folder).unwrap_or(&file).trim_start_matches('/');
            let precedence = source.files.precedence(&file);
            rules.extend(rule(id, &text, &mut own).map(|rule| (precedence, rule)));
        }
        faults.reports.append(&mut own.reports);
        source.claimed.insert(file);
    }
    // Files come sorted by path, and the sort is stable.
    rules.sort_by_key(|(precedence, rule): &(usize, Rule)| (*precedence, rule.priority));
    rules.into_iter().map(|(_, rule)| rule).collect()
}

fn rule(path: &str, text: &str, faults: &mut Faults) -> Option<Rule> {
    let mut rule = Rule { id: path.to_owned(), priority: PRIORITY, ..Rule::default() };
    let (yaml, first_line) = match front::split(text) {
        Front::None => {
            rule.text = text.to_owned();
            return Some(rule);
        }
        Front::Unclosed(spot) => {
            faults
                .push(spot, Report::error("D070", "the front matter is not closed").hint("add a line `---` below it"));
            return None;
        }
        Front::Parts { yaml, first_line, body } => {
            rule.text = body.to_owned();
            (yaml, first_line)
        }
    };
    let node = front_matter(yaml, first_line, faults)?;
    let mut fields = Fields::of(&node, "", faults)?;
    if let Some(id) = fields.name("id") {
        rule.id = id.value.to_string();
    }
    rule.scope = fields.choice("scope", &SCOPES).unwrap_or_default();
    rule.globs = fields.texts("globs").unwrap_or_default();
    rule.priority = fields.integer("priority").unwrap_or(PRIORITY);
    rule.severity = fields.choice("severity", &SEVERITIES).map(str::to_owned);
    rule.description = fields.text("description");
    rule.tags = fields.texts("tags").unwrap_or_default();
    rule.triggers = fields.texts("triggers").unwrap_or_default();
    // Every known key has a place of its own.
    rule.unknown = fields.finish().into_iter().map(|(key, _)| key).collect();
    Some(rule)
}
