//! The text of every prompt, with the prompts that it includes.

use super::ledger::{Id, Ledger};
use super::shelf::Shelf;
use crate::draft::{Declared, PartDraft, PromptDraft};
use crate::faults::{meant_or, quoted};
use crate::files::FILE_BYTES_MAX;
use crate::tree::At;
use entourage_model::{Instructions, Name, Part, Report};
use std::collections::BTreeMap;
use std::mem;

/// How many prompts may lie within one another.
const INCLUDES_DEEP_MAX: usize = 32;

/// Including is cheap to write and doubles at every level, so the whole text has the limit of a file.
const TEXT_BYTES_MAX: usize = FILE_BYTES_MAX;

/// What a variable costs of that limit beside its name.
const VARIABLE_BYTES: usize = 32;

pub(super) fn render(shelf: &Shelf<'_>, ledger: &mut Ledger) -> BTreeMap<Name, Instructions> {
    let mut renderer = Renderer { shelf, ledger, done: BTreeMap::new(), trail: Vec::new() };
    for name in shelf.prompts.keys() {
        renderer.prompt(name);
    }
    renderer.done.into_iter().map(|(name, rendered)| (name.clone(), rendered.text.finish())).collect()
}

struct Renderer<'a> {
    shelf: &'a Shelf<'a>,
    ledger: &'a mut Ledger,
    done: BTreeMap<&'a Name, Rendered>,
    /// The prompts that are being rendered, each included by the one before it.
    trail: Vec<&'a Name>,
}

#[derive(Clone, Default)]
struct Rendered {
    text: Text,
    /// How many prompts lie within one another below it.
    depth: usize,
}

/// Parts, with no two texts side by side.
#[derive(Clone, Default)]
struct Text {
    parts: Vec<Part>,
    /// What follows the parts.
    open: String,
    bytes: usize,
}

impl Text {
    fn push_text(&mut self, text: &str) {
        self.open.push_str(text);
        self.bytes += text.len();
    }

    fn push_variable(&mut self, part: Part, name: &Name) {
        self.close();
        self.parts.push(part);
        self.bytes += name.as_str().len() + VARIABLE_BYTES;
    }

    fn push(&mut self, other: &Self) {
        let bytes = self.bytes + other.bytes;
        for part in &other.parts {
            match part {
                Part::Text(text) => self.push_text(text),
                Part::Env(_) | Part::Variable(_) => {
                    self.close();
                    self.parts.push(part.clone());
                }
            }
        }
        self.push_text(&other.open);
        self.bytes = bytes;
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.parts.push(Part::Text(mem::take(&mut self.open).into()));
        }
    }

    fn finish(mut self) -> Instructions {
        self.close();
        if self.parts.is_empty() { Instructions::from("") } else { Instructions(self.parts) }
    }
}

impl<'a> Renderer<'a> {
    /// A fault gives a text with a gap; the prompt is then broken, and nobody reads it.
    fn prompt(&mut self, name: &'a Name) -> Rendered {
        if let Some(done) = self.done.get(name) {
            return done.clone();
        }
        let declared = self.shelf.prompts.get(name).copied();
        let Some((declared, draft)) = declared.and_then(|declared| Some((declared, declared.draft.as_ref()?))) else {
            return Rendered::default();
        };
        self.trail.push(name);
        let rendered = self.parts(declared, draft);
        self.trail.pop();
        self.done.insert(name, rendered.clone());
        rendered
    }

    fn parts(&mut self, declared: &'a Declared<PromptDraft>, draft: &'a PromptDraft) -> Rendered {
        let id = Id::Prompt(declared.name.value.clone());
        let mut text = Text::default();
        let mut depth = 0;
        for part in &draft.parts {
            match part {
                PartDraft::Text(part) => text.push_text(part),
                PartDraft::Env(name) => {
                    self.variable(&id, declared, name);
                    text.push_variable(Part::Env(name.value.to_string()), &name.value);
                }
                PartDraft::Variable(name) => {
                    self.variable(&id, declared, name);
                    text.push_variable(Part::Variable(name.value.to_string()), &name.value);
                }
                PartDraft::Include(included) => match self.include(&id, included, text.bytes) {
                    Ok(rendered) => {
                        text.push(&rendered.text);
                        depth = depth.max(rendered.depth + 1);
                        self.ledger.need(&id, Id::Prompt(included.value.clone()));
                    }
                    Err(report) => self.ledger.refuse(&id, report.at(declared.place(included.spot))),
                },
            }
        }
        Rendered { text, depth }
    }

    fn variable(&mut self, id: &Id, declared: &Declared<PromptDraft>, name: &At<Name>) {
        if self.shelf.is_hidden(name.value.as_str()) {
            let shown = quoted(name.value.as_str());
            let what = format!("{id} shows variable {shown}, which is secret or scoped, to a model");
            let report = Report::error("D036", what).hint("remove the part; a tool can read the variable instead");
            self.ledger.refuse(id, report.at(declared.place(name.spot)));
        }
    }

    fn include(&mut self, id: &Id, included: &'a At<Name>, bytes_before: usize) -> Result<Rendered, Report> {
        let name = &included.value;
        if !self.shelf.prompts.contains_key(name) {
            let what = format!("{id} includes prompt {}, which is not declared", quoted(name.as_str()));
            let prompts = self.shelf.prompts.keys().map(|name| name.as_str());
            return Err(Report::error("D012", what).hint(meant_or(
                name.as_str(),
                prompts,
                "add it to `agents/prompts`",
            )));
        }
        if let Some(start) = self.trail.iter().position(|earlier| *earlier == name) {
            let circle: Vec<_> = self.trail[start..].iter().map(|name| quoted(name.as_str())).collect();
            let what = format!("{id} includes itself, by way of {}", circle.join(" → "));
            return Err(Report::error("D013", what).hint("remove one of these includes"));
        }
        let is_new = !self.done.contains_key(name);
        let too_deep = || {
            let what = format!("{id} includes prompts that lie more than {INCLUDES_DEEP_MAX} deep within one another");
            Report::error("D013", what).hint("put the text of some of them into the prompt that includes them")
        };
        if is_new && self.trail.len() > INCLUDES_DEEP_MAX {
            return Err(too_deep());
        }
        let rendered = self.prompt(name);
        if rendered.depth >= INCLUDES_DEEP_MAX {
            return Err(too_deep());
        }
        if bytes_before + rendered.text.bytes > TEXT_BYTES_MAX {
            let what = format!("{id} is larger than {} MiB with what it includes", TEXT_BYTES_MAX >> 20);
            return Err(Report::error("D013", what).hint("include less"));
        }
        Ok(rendered)
    }
}
