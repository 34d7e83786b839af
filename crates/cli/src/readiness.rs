//! Whether the models of agents can be asked, and their servers started, found out before anything is written down or taken up for them.

use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::models;
use crate::project::Project;
use crate::server_lack::{NO_SECRET, NOT_HERE, ServerLack};
use crate::workbench::Workbench;
use entourage_model::{Agent, ModelRef, Report, Severity, Team};
use entourage_outside::model::ModelSettings;
use entourage_store::ThreadRow;
use std::collections::HashMap;

/// The report of a key that is not there.
const NO_KEY: &str = "C009";
/// Threads that wait hold slots which others need: of more than so many unfinished ones the older are not looked at, and
/// fail.
const SPARED_MAX: usize = 256;

/// The models and servers of this call, as far as one can tell without asking them.
pub(crate) struct Readiness<'a> {
    settings: ModelSettings,
    /// Where the scripts lie that settings and declarations name.
    project: Project,
    servers: ServerLack<'a>,
}

impl<'a> Readiness<'a> {
    pub(crate) fn new(invocation: &'a Invocation, settings: &ModelSettings) -> Result<Self, Failure> {
        let project = models::script_folder(invocation)?;
        Ok(Self { settings: settings.clone(), project, servers: ServerLack::new(invocation) })
    }

    /// Fails when no model of a side of this agent could be asked, or a server that it needs could not be started.
    pub(crate) fn insist(&self, team: &Team, agent: &Agent) -> Result<(), Failure> {
        let lack = self.lack(agent, &[]).or_else(|| self.servers.of(team, agent));
        lack.map_or(Ok(()), |report| Err(Failure::usage(report)))
    }

    /// The same for the agents of threads that are about to go on. Whoever is refused leaves nothing taken up.
    pub(crate) async fn insist_for(&self, bench: &Workbench, threads: Vec<ThreadRow>) -> Result<(), Failure> {
        let Some((_, report)) = self.lacking(bench, threads).await.into_iter().next() else { return Ok(()) };
        bench.close().await;
        Err(Failure::usage(report))
    }

    /// For whoever serves others, and does so all the same: tells of unfinished threads that cannot go on. They wait.
    pub(crate) async fn warn(&self, invocation: &Invocation, bench: &Workbench) -> Result<(), Failure> {
        let mut lacking = self.lacking(bench, bench.some_unfinished(SPARED_MAX).await?).await;
        // A script that is none is nothing to wait for.
        lacking.retain(|(_, report)| [NO_KEY, NOT_HERE, NO_SECRET].contains(&report.code.0));
        let Some((row, report)) = lacking.first() else { return Ok(()) };
        let what = format!("{}; unfinished threads of agent `{}` wait", report.what, row.agent);
        invocation.screen.report(&Report { severity: Severity::Warning, what, ..report.clone() });
        bench.runtime.spare(lacking.iter().map(|(row, _)| row.id));
        Ok(())
    }

    /// The threads that cannot go on, each with what is missing.
    async fn lacking(&self, bench: &Workbench, threads: Vec<ThreadRow>) -> Vec<(ThreadRow, Report)> {
        // Many threads of one agent need one look.
        let mut looked = HashMap::new();
        let mut lacking = Vec::new();
        for row in threads {
            // One whose team cannot be read fails with a better word than any that could be said here.
            let Ok(team) = bench.runtime.team(row.bundle).await else { continue };
            let Some(agent) = team.agent(&row.agent) else { continue };
            let given = given(bench, &row, agent).await;
            let key = (row.bundle, row.agent.clone(), given);
            let lack = looked
                .entry(key)
                .or_insert_with_key(|(_, _, given)| self.lack(agent, given).or_else(|| self.servers.of(&team, agent)));
            if let Some(report) = lack.clone() {
                lacking.push((row, report));
            }
        }
        lacking
    }

    /// Why nobody could be asked for one of the agent's sides. Prompts that name no model ask what was `given` to the
    /// thread.
    fn lack(&self, agent: &Agent, given: &[ModelRef]) -> Option<Report> {
        if agent.remote.is_some() || agent.driven {
            return None;
        }
        agent.prompts().find_map(|prompt| {
            let given = given.iter().filter(|_| prompt.model.is_none());
            let own: Vec<_> = prompt.model.iter().chain(given).chain(&prompt.fallbacks).collect();
            let models = match (&self.settings.override_model, &self.settings.default_model) {
                (Some(model), _) => vec![model],
                (None, Some(model)) if own.is_empty() => vec![model],
                (None, _) => own,
            };
            let missing: Vec<_> = models.iter().filter_map(|model| self.missing(model)).collect();
            missing.first().filter(|_| missing.len() == models.len()).cloned()
        })
    }

    /// Why the model cannot be asked: its provider has no address, or is elsewhere and wants a key that nobody set, or its
    /// script is no script.
    fn missing(&self, model: &ModelRef) -> Option<Report> {
        let provider = match model.provider() {
            "openai" => &self.settings.openai,
            "anthropic" => &self.settings.anthropic,
            "gemini" => &self.settings.gemini,
            "ollama" => &self.settings.ollama,
            models::SCRIPT => {
                let is_known = self.settings.scripts.contains_key(model.model());
                return if is_known { None } else { models::script_inside(&self.project, model.model()).err() };
            }
            _ => return None,
        };
        if !provider.has_address() {
            return Some(no_address(model));
        }
        if provider.api_key.is_some() || is_here(&provider.base_url) {
            return None;
        }
        let variable = models::key_variable(model.provider())?;
        let report =
            Report::error(NO_KEY, format!("there is no key for `{model}`: the variable `{variable}` is not set"));
        Some(report.hint(format!(
            "set `{variable}`, choose a model that needs none (`--model ollama:qwen3`), or see `entourage demo`"
        )))
    }
}

/// The address itself is not repeated: it may hold a password.
fn no_address(model: &ModelRef) -> Report {
    let what = format!("`{model}` cannot be asked: the base URL of its provider is no http or https address");
    let variable = format!("{}_BASE_URL", model.provider().to_ascii_uppercase());
    Report::error("C058", what).hint(format!("give one as in `{variable}=http://127.0.0.1:8080/v1`"))
}

/// The models that the thread's caller gave it, where one of its prompts asks them.
async fn given(bench: &Workbench, row: &ThreadRow, agent: &Agent) -> Vec<ModelRef> {
    if row.parent.is_none() || agent.prompts().all(|prompt| prompt.model.is_some()) {
        return Vec::new();
    }
    let state = bench.runtime.state(row.id).await.ok().flatten();
    state.map(|state| state.started.models.clone()).unwrap_or_default()
}

/// Whether an address is on this machine, where nobody asks for a key.
fn is_here(base_url: &str) -> bool {
    let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    match host.parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_told_from_others() {
        for here in ["http://127.0.0.1:1/v1", "http://[::1]:1", "http://localhost", "http://u:p@localhost:1/x"] {
            assert!(is_here(here), "{here}");
        }
        for there in ["https://api.openai.com/v1", "http://10.0.0.1", "http://localhost.example.com", ""] {
            assert!(!is_here(there), "{there}");
        }
    }
}
