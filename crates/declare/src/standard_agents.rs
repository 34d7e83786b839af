//! Standard Agents: `agents/agents/*.json` and `agents/prompts/*.json`, one definition a file, as of 0.1.0.

mod agent;
mod prompt;
mod tool_entry;

use crate::draft::{Declared, Drafts};
use crate::faults::Faults;
use crate::fields::Fields;
use crate::files::{self, Files};
use crate::json;
use crate::tree::{At, Node, Spot};
use entourage_model::{Name, Report};

const FORMAT: &str = "standard-agents";

pub(crate) fn read(files: &dyn Files) -> Drafts {
    let mut reports = Vec::new();
    let agents = read_folder(files, "agents/agents", agent::read, &mut reports);
    let prompts = read_folder(files, "agents/prompts", prompt::read, &mut reports);
    Drafts { agents, prompts, reports }
}

/// Hidden files are not declarations: editors and file systems leave them about.
fn read_folder<D>(
    files: &dyn Files,
    folder: &str,
    read: fn(Fields<'_>) -> D,
    reports: &mut Vec<Report>,
) -> Vec<Declared<D>> {
    let names = files.list(folder).unwrap_or_else(|fault| {
        reports.push(files::unreadable(folder, &fault));
        Vec::new()
    });
    let stems = names.iter().filter_map(|name| name.strip_suffix(".json")).filter(|stem| !stem.starts_with('.'));
    stems.filter_map(|stem| read_file(files, folder, stem, read)).collect()
}

/// Absent: the file went away after the folder was listed.
fn read_file<D>(files: &dyn Files, folder: &str, stem: &str, read: fn(Fields<'_>) -> D) -> Option<Declared<D>> {
    let path = format!("{folder}/{stem}.json");
    let mut faults = Faults::new(&path);
    let node = match files::text(files, &path) {
        Ok(text) => parse(&text?, &mut faults),
        Err(report) => {
            faults.reports.push(report);
            None
        }
    };
    let named = node.as_ref().and_then(|node| {
        let mut fields = Fields::of(node, "", &mut faults)?;
        let name = fields.require_name("name")?;
        Some((name, read(fields)))
    });
    let stem = At { value: Name::from(stem), spot: Spot::START };
    let (name, draft) = named.map_or((stem, None), |(name, draft)| (name, Some(draft)));
    Some(Declared { name, faults, draft })
}

fn parse(text: &str, faults: &mut Faults) -> Option<Node> {
    json::parse(text)
        .map_err(|fault| {
            faults.push(fault.spot, Report::error("D004", format!("this is not valid JSON: {}", fault.what)));
        })
        .ok()
}
