//! Agents that a folder defines: its `AGENTS.md` is their prompt.

use crate::project::{self, Project};
use crate::settings::Trust;
use entourage_declare::{Files as _, Loaded};
use entourage_model::{Agent, Report, WorkspaceMode};
use std::io;
use std::path::Path;
use std::sync::Arc;

const FILE: &str = "AGENTS.md";
/// The code of reports about agents whose prompt is empty, because their folder gives none.
const NO_PROMPT: &str = "C041";
/// The code of reports about agents that a project, which nobody trusts, sends elsewhere.
const ELSEWHERE: &str = "T003";

/// Whether whoever starts an agent should know: one without its prompt does something, but hardly what was meant, and one
/// that works elsewhere may change what nobody thinks of.
pub(crate) fn is_told_at_start(report: &Report) -> bool {
    [NO_PROMPT, ELSEWHERE].contains(&report.code.0)
}

/// Why a folder gives no prompt, and what can be done about it.
struct Lack {
    reason: String,
    hint: &'static str,
}

/// Gives each such agent its prompt. `trust` says whose word an agent's declaration is.
pub(crate) fn read_prompts(loaded: &mut Loaded, project: &Project, trust: impl Fn(&Agent) -> Trust) {
    for agent in loaded.team.agents.values_mut().filter(|agent| agent.remote.is_none()) {
        let Some(wish) = agent.workspace.clone() else { continue };
        let Some(folder) = wish.path else { continue };
        let place = loaded.definition_folders.get(&agent.name).cloned();
        let works_elsewhere = wish.mode == WorkspaceMode::Isolated && beneath(project, &folder).is_none();
        match read(project, &folder) {
            Ok(text) => {
                if works_elsewhere && trust(agent) == Trust::Nobody {
                    let what = format!("agent `{}` works outside of the project, in `{folder}`", agent.name);
                    let hint = "if that is what you want, add `--trust`; else remove `workspace.path`";
                    loaded.reports.push(Report { place, ..Report::warning(ELSEWHERE, what).hint(hint) });
                }
                Arc::make_mut(agent).side_a.prompt.instructions = text.into();
            }
            Err(Lack { reason, hint }) => {
                let what = format!("agent `{}` has an empty prompt: `{folder}/{FILE}` {reason}", agent.name);
                loaded.reports.push(Report { place, ..Report::warning(NO_PROMPT, what).hint(hint) });
            }
        }
    }
}

/// The folder as the project knows it. Absent: it lies elsewhere.
fn beneath<'a>(project: &Project, folder: &'a str) -> Option<&'a Path> {
    match Path::new(folder).strip_prefix(&project.root) {
        Ok(beneath) => Some(beneath),
        Err(_) => Some(Path::new(folder)).filter(|folder| folder.is_relative()),
    }
}

/// Relative folders lie beneath the project, links included; absolute ones lie where they say.
fn read(project: &Project, folder: &str) -> Result<String, Lack> {
    let bytes = match beneath(project, folder) {
        Some(beneath) => project.read(&beneath.join(FILE).to_string_lossy()),
        None => match Project::open(Some(Path::new(folder)), None) {
            Ok(outside) => outside.read(FILE),
            Err(_) => Err(io::ErrorKind::NotFound.into()),
        },
    };
    bytes.and_then(project::text).map_err(|fault| match fault.kind() {
        io::ErrorKind::NotFound => {
            let hint = "write the agent's instructions into that file, or remove `workspace.path`";
            Lack { reason: "is not there".to_owned(), hint }
        }
        _ => {
            let hint = "it must be a text of at most 8 MiB that lies in that folder";
            Lack { reason: format!("cannot be read: {fault}"), hint }
        }
    })
}
