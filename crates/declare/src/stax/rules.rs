//! Rules: a folder of Markdown files, each with what it is for in its front matter.

use super::source::{Source, front_matter};
use super::{path, prompt::Rule};
use crate::faults::Faults;
use crate::fields::{Fields, Shape};
use crate::front::{self, Front};
use crate::tree::Spot;
use entourage_model::Report;

/// Lower comes first.
const PRIORITY: i64 = 100;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Scope {
    #[default]
    Always,
    Glob,
    Auto,
    Manual,
}

const SCOPES: [(&str, Scope); 4] =
    [("always", Scope::Always), ("glob", Scope::Glob), ("auto", Scope::Auto), ("manual", Scope::Manual)];
const SEVERITIES: [(&str, ()); 3] = [("info", ()), ("warn", ()), ("error", ())];

/// In the order in which they are told: by priority, then by path.
pub(super) fn read(source: &mut Source<'_>, folder: &str, faults: &mut Faults) -> Vec<Rule> {
    let mut rules = Vec::new();
    for file in source.files_beneath(folder, faults).into_iter().filter(|file| path::is_markdown(file)) {
        let mut own = Faults::new(&file);
        if let Some(text) = source.text(&file, Spot::START, &mut own) {
            let id = file.strip_prefix(folder).unwrap_or(&file).trim_start_matches('/');
            rules.extend(rule(id, &text, &mut own));
        }
        faults.reports.append(&mut own.reports);
        source.claimed.insert(file);
    }
    // Files come sorted by path, and the sort is stable.
    rules.sort_by_key(|rule: &Rule| rule.priority);
    rules
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
    fields.choice("severity", &SEVERITIES);
    rule.description = fields.text("description");
    fields.keep("tags", Shape::Texts);
    fields.keep("triggers", Shape::Texts);
    fields.finish();
    Some(rule)
}
