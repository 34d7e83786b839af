//! Skills: a folder for each, with a `SKILL.md` that says what it is for.

use super::source::{Source, front_matter};
use super::{name, prompt::Skill};
use crate::faults::{Faults, quoted};
use crate::fields::{Fields, Shape};
use crate::files::Kind;
use crate::front::{self, Front};
use crate::tree::Spot;
use entourage_model::Report;

const FILE: &str = "SKILL.md";

pub(super) fn read(source: &mut Source<'_>, folder: &str, faults: &mut Faults) -> Vec<Skill> {
    // Looked through for links and special files, which cannot be packed.
    let beneath = source.files_beneath(folder, faults);
    let entries = source.files.entries(folder).unwrap_or_default();
    let mut skills = Vec::new();
    for (skill, _) in entries.into_iter().filter(|(_, kind)| *kind == Kind::Folder) {
        let path = format!("{folder}/{skill}/{FILE}");
        let mut own = Faults::new(&path);
        match source.files.kind(&path) {
            Ok(Kind::File) => {
                let text = source.text(&path, Spot::START, &mut own);
                let skill = text.and_then(|text| self::skill(&path, &text, &mut own));
                skills.extend(skill.map(|(skill, text)| match source.is_on_disk {
                    true => skill,
                    false => Skill { text: Some(text), files: taken(source, &path, &beneath), ..skill },
                }));
            }
            _ => {
                let what = format!("the skill {} has no `{FILE}`", quoted(&skill));
                own.reports.push(Report::error("D071", what).at(entourage_model::Place::file(&path)).hint("write it"));
            }
        }
        faults.reports.append(&mut own.reports);
        source.claimed.insert(path);
    }
    skills
}

/// Whether a file of the folder is all that a skill says.
pub(super) fn is_text(folder: &str, file: &str) -> bool {
    let within = file.strip_prefix(folder).and_then(|file| file.strip_prefix('/'));
    within.and_then(|file| file.split_once('/')).is_some_and(|(_, name)| name == FILE)
}

/// What lies beside a skill's own file, taken along.
fn taken(source: &mut Source<'_>, skill: &str, beneath: &[String]) -> Vec<String> {
    let Source { files, luggage, is_imported, .. } = source;
    if *is_imported {
        return Vec::new();
    }
    let folder = skill.strip_suffix(FILE).unwrap_or(skill);
    let others = beneath.iter().filter(|path| path.starts_with(folder) && *path != skill);
    others.filter_map(|path| luggage.take(*files, path)).collect()
}

/// A skill, and what it says.
fn skill(path: &str, text: &str, faults: &mut Faults) -> Option<(Skill, String)> {
    let Front::Parts { yaml, first_line, body } = front::split(text) else {
        let report = Report::error("D071", "a skill begins with front matter that has `name` and `description`");
        faults.push(Spot::START, report.hint("add it between two lines `---`"));
        return None;
    };
    let node = front_matter(yaml, first_line, faults)?;
    let mut fields = Fields::of(&node, "", faults)?;
    let said = fields.require_name("name");
    let description = fields.require_name("description");
    for key in ["allowed-tools", "tags", "priority", "metadata", "license", "compatibility"] {
        fields.keep(key, Shape::Any);
    }
    for key in ["model", "argument-hint"] {
        fields.keep(key, Shape::Text);
    }
    fields.keep("user-invocable", Shape::Flag);
    if let Some(said) = said.as_ref().filter(|said| !name::is_valid(said.value.as_str())) {
        let what = format!("{} is no name of a skill: {}", quoted(said.value.as_str()), name::RULE);
        fields.report_at(said.spot, Report::error("D058", what).hint(name::hint(said.value.as_str())));
    }
    fields.finish();
    let (name, description) = (said?.value.to_string(), description?.value.to_string());
    Some((Skill { name, description, path: path.to_owned(), text: None, files: Vec::new() }, body.trim().to_owned()))
}
