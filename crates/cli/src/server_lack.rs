//! Whether the MCP servers that agents need can be started, as far as one can tell without starting them.

use crate::environment;
use crate::invocation::Invocation;
use crate::servers;
use entourage_model::{Agent, Report, ServerAddress, ServerKey, ServerValue, Team};
use entourage_outside::mcp::Book;
use std::sync::OnceLock;

/// The report of a server that is not here, or not allowed to start.
pub(crate) const NOT_HERE: &str = "C060";
/// The report of a secret that is not there.
pub(crate) const NO_SECRET: &str = "C061";

/// The servers of this call.
pub(crate) struct ServerLack<'a> {
    invocation: &'a Invocation,
    /// Read when an agent needs one: most need none.
    book: OnceLock<Book>,
}

impl<'a> ServerLack<'a> {
    pub(crate) fn new(invocation: &'a Invocation) -> Self {
        Self { invocation, book: OnceLock::new() }
    }

    /// What one of the servers lacks without which the agent is not asked.
    pub(crate) fn of(&self, team: &Team, agent: &Agent) -> Option<Report> {
        let entries = agent.prompts().flat_map(|prompt| &prompt.servers).filter(|entry| entry.required);
        entries.map(|entry| &entry.key).find_map(|key| match self.book().get(key) {
            Some(address) => missing_secret(key, address),
            None => self.absent(key, team, agent),
        })
    }

    fn book(&self) -> &Book {
        let Invocation { project, settings, settings_files, .. } = self.invocation;
        self.book.get_or_init(|| servers::book(project, settings, settings_files))
    }

    /// A server of the project that it was started from may be here in another call. One that is declared nowhere is
    /// nothing to wait for.
    fn absent(&self, key: &ServerKey, team: &Team, agent: &Agent) -> Option<Report> {
        let report = |what: &str| {
            let what = format!("the MCP server `{key}` of agent `{}` {what}", agent.name);
            Report::error(NOT_HERE, what)
        };
        let project = &self.invocation.project;
        if key.agent.is_some() && team.artifact != project.artifact() {
            return Some(match team.artifact {
                Some(bundle) => report("is that of a bundle, which is not this project").hint(format!(
                    "name the bundle as when the thread was started, such as `--project oci:{bundle}`, and add `--trust`"
                )),
                None => report("is that of a folder, and this project is a bundle").hint("leave `--project oci:…` out"),
            });
        }
        let is_left_out = self.invocation.settings.servers_left_out.contains(key)
            || self.invocation.declared().servers.iter().any(|server| server.key == *key);
        is_left_out.then(|| report("may not be started").hint(project.trust_hint()))
    }
}

fn missing_secret(key: &ServerKey, address: &ServerAddress) -> Option<Report> {
    address.values().find_map(|value| match value {
        ServerValue::Wanted { secret, variable, required: true } if environment::variable(variable).is_none() => {
            let what = format!("the MCP server `{key}` needs the secret `{secret}`, which is not there");
            Some(Report::error(NO_SECRET, what).hint(format!("set the variable `{variable}`")))
        }
        ServerValue::Wanted { .. } | ServerValue::Plain(_) | ServerValue::Template(_) => None,
    })
}
