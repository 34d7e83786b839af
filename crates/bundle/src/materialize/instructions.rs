//! What the main agent is told: who it is, what it is to do, and what holds in a single folder.

use super::adapter::{Adapter, Rules, Shape};
use super::loss::unsaid;
use super::plan::Plan;
use super::source::Source;
use crate::Fault;
use entourage_declare::{preamble, render_prompt, rules_in, surface_section};
use std::collections::BTreeMap;

/// The folder of the instruction tree that stands for the whole project.
const ROOT: &str = "_root";
const TREE_FILE: &str = "instructions.md";

/// The surfaces that OpenClaw has files for; it reads the rest of what there is as instructions.
const OPENCLAW_FILES: [(&str, &str); 5] = [
    ("tools", "TOOLS.md"),
    ("identity", "IDENTITY.md"),
    ("user", "USER.md"),
    ("heartbeat", "HEARTBEAT.md"),
    ("bootstrap", "BOOTSTRAP.md"),
];

pub(super) fn add(source: &Source<'_>, plan: &mut Plan) -> Result<(), Fault> {
    let shape = plan.adapter.shape();
    let mut told = Told::read(source, plan)?;
    if plan.adapter == Adapter::Openclaw {
        told.give_openclaw_its_own(plan);
    }
    let nested = std::mem::take(&mut told.nested);
    let embedded = told.embedded();
    if let Some(text) = told.text(source, &shape) {
        if source.leaves_out("writeInstructions") {
            plan.leave_out("instructions", "writeInstructions");
        } else {
            let into = shape.documents.first().copied().unwrap_or_default();
            embedded.into_iter().for_each(|field| plan.translate(field, into));
            let is_wanted = |path: &&str| **path != *"AGENTS.md" || !source.leaves_out("writeAgentsMd");
            shape.documents.iter().filter(|path| is_wanted(path)).for_each(|path| plan.write(*path, text.as_str()));
        }
    }
    for (folder, text) in nested {
        match shape.nested {
            Some(file) => {
                let path = format!("{folder}/{file}");
                plan.translate(format!("instructionTree.{folder}"), &path);
                plan.write(path, text);
            }
            None => plan.lose(format!("instructionTree.{folder}"), unsaid(plan.adapter)),
        }
    }
    Ok(())
}

/// All that says who the agent is and how it works.
#[derive(Default)]
struct Told {
    persona: Option<String>,
    prompt: Option<String>,
    /// By name, without the ending.
    surfaces: BTreeMap<String, String>,
    root: Option<String>,
    /// By folder.
    nested: BTreeMap<String, String>,
}

impl Told {
    fn read(source: &Source<'_>, plan: &mut Plan) -> Result<Self, Fault> {
        let mut told = Self { persona: source.persona().map(preamble), ..Self::default() };
        told.prompt = source.parcel.prompt.as_ref().map(|text| match source.persona() {
            Some(persona) => render_prompt(text, persona),
            None => text.clone(),
        });
        for part in source.parts("surfaces")? {
            match part.path.strip_suffix(".md") {
                Some(name) => drop(told.surfaces.insert(name.to_owned(), part.text("surfaces")?)),
                None => plan.lose(format!("surfaces.{}", part.path), "a surface is a Markdown file"),
            }
        }
        for part in source.parts("instructionTree")? {
            let text = part.text("instructionTree")?;
            match part.path.strip_suffix(TREE_FILE).and_then(|folder| folder.strip_suffix('/')) {
                Some(ROOT) => told.root = Some(text),
                Some(folder) => drop(told.nested.insert(folder.to_owned(), text)),
                None => plan.lose(
                    format!("instructionTree.{}", part.path),
                    format!("an instruction tree has only `<folder>/{TREE_FILE}`"),
                ),
            }
        }
        Ok(told)
    }

    /// Its surfaces are files; the persona is one of them.
    fn give_openclaw_its_own(&mut self, plan: &mut Plan) {
        let soul = [self.surfaces.remove("persona"), self.persona.take()];
        if let Some(soul) = joined(soul.into_iter().flatten().collect()) {
            plan.translate("persona", "SOUL.md");
            plan.write("SOUL.md", soul);
        }
        for (name, file) in OPENCLAW_FILES {
            if let Some(text) = self.surfaces.remove(name) {
                plan.translate(format!("surfaces.{name}"), file);
                plan.write(file, text);
            }
        }
    }

    /// What becomes part of a longer text.
    fn embedded(&self) -> Vec<String> {
        let mut fields: Vec<_> = self.persona.iter().map(|_| "persona".to_owned()).collect();
        fields.extend(self.surfaces.keys().map(|name| format!("surfaces.{name}")));
        fields.extend(self.root.iter().map(|_| format!("instructionTree.{ROOT}")));
        fields
    }

    /// Who the agent is comes first, then what it is to do, then the rules and what else there is.
    fn text(mut self, source: &Source<'_>, shape: &Shape) -> Option<String> {
        let mut sections: Vec<_> = self.persona.into_iter().collect();
        sections.extend(self.surfaces.remove("instructions"));
        sections.extend(self.prompt);
        sections.extend(self.root);
        if let Some(folder) = source.folder("rules") {
            let rules = rules_in(source.files, folder);
            sections.extend(rules.iter().filter(|rule| shape.rules.embeds(rule.scope)).map(|rule| rule.section()));
        }
        sections.extend(self.surfaces.iter().map(|(name, text)| surface_section(name, text)));
        if source.folder("knowledge").is_some() {
            sections.push(format!("## Knowledge\n\nLook things up in the files of `{}/`.", shape.knowledge));
        }
        joined(sections)
    }
}

impl Rules {
    /// Whether rules of this scope are told with the instructions. A target with files for rules may have no word for
    /// those that always hold.
    pub(super) fn embeds(self, scope: entourage_declare::Scope) -> bool {
        match self {
            Self::Embedded => true,
            Self::GithubCopilot => scope == entourage_declare::Scope::Always,
            Self::Cursor | Self::Windsurf => false,
        }
    }
}

/// The only text stays as its author left it.
fn joined(mut sections: Vec<String>) -> Option<String> {
    match sections.len() {
        0 | 1 => sections.pop(),
        _ => Some(sections.iter().map(|text| text.trim_end()).collect::<Vec<_>>().join("\n\n")),
    }
}
