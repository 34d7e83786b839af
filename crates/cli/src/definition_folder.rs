//! Agents that a folder defines: its `AGENTS.md` is their prompt.

use crate::project::{self, Project};
use crate::settings::Trust;
use entourage_declare::{Files as _, Loaded};
use entourage_model::{Agent, Place, Report};
use std::io;
use std::path::Path;
use std::sync::Arc;

const FILE: &str = "AGENTS.md";
/// The code of reports about agents whose prompt is empty, because their folder gives none.
pub(crate) const NO_PROMPT: &str = "C041";

/// Why a folder gives no prompt, and what can be done about it.
struct Lack {
    reason: String,
    hint: &'static str,
}

/// Gives each such agent its prompt. `trust` says whose word an agent's declaration is.
pub(crate) fn read_prompts(loaded: &mut Loaded, project: &Project, trust: impl Fn(&Agent) -> Trust) {
    for agent in loaded.team.agents.values_mut().filter(|agent| agent.remote.is_none()) {
        let Some(folder) = agent.workspace.as_ref().and_then(|wish| wish.path.clone()) else { continue };
        match read(project, &folder, trust(agent)) {
            Ok(text) => Arc::make_mut(agent).side_a.prompt.instructions = text.into(),
            Err(Lack { reason, hint }) => {
                let what = format!("agent `{}` has an empty prompt: `{folder}/{FILE}` {reason}", agent.name);
                let place = agent.source.file.as_ref().map(Place::file);
                loaded.reports.push(Report { place, ..Report::warning(NO_PROMPT, what).hint(hint) });
            }
        }
    }
}

/// Relative folders lie beneath the project, links included; absolute ones too, unless somebody is trusted.
fn read(project: &Project, folder: &str, trust: Trust) -> Result<String, Lack> {
    let beneath = match Path::new(folder).strip_prefix(&project.root) {
        Ok(beneath) => Some(beneath),
        Err(_) => Some(Path::new(folder)).filter(|folder| folder.is_relative()),
    };
    let bytes = match (beneath, trust) {
        (Some(beneath), _) => project.read(&beneath.join(FILE).to_string_lossy()),
        (None, Trust::User) => match Project::open(Some(Path::new(folder)), None) {
            Ok(outside) => outside.read(FILE),
            Err(_) => Err(io::ErrorKind::NotFound.into()),
        },
        (None, Trust::Nobody) => {
            let reason = "lies outside the project, which is not trusted".to_owned();
            return Err(Lack { reason, hint: "if you trust this project, add `--trust`" });
        }
    };
    bytes.and_then(project::text).map_err(|fault| match fault.kind() {
        io::ErrorKind::NotFound => {
            let hint = "write the agent's instructions into that file, or remove `workspace.path`";
            Lack { reason: "is not there".to_owned(), hint }
        }
        _ => {
            let hint = "it must be a text of at most 8 MiB that lies beneath the project";
            Lack { reason: format!("cannot be read: {fault}"), hint }
        }
    })
}
