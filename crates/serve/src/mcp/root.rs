//! The thread that the clients of one data folder and user share: their subagents are its children.

use crate::service::Service;
use entourage_model::{
    Agent, Body as _, ChildEntry, Dialect, Digest, Kind, Name, Prompt, RunId, Source, Team, ThreadId, ToolEntry,
};
use entourage_runtime::{NewRoot, Page, RootKey, RuntimeError, ThreadFilter, ThreadRow};
use rmcp::model::JsonObject;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// By this the thread is found again.
const TAG: &str = "mcp";
/// The agent that stands for clients; the second name is for a project that has an agent of the first.
const NAMES: [&str; 2] = ["mcp", "entourage-mcp"];
const DESCRIPTION: &str = "Stands for the clients that come by the Model Context Protocol.";
/// Whose tools and model subagents inherit.
const LEAD: &str = "lead";
/// How many threads are looked at once for the one that fits.
const PAGE: usize = 100;
/// The names that calls of the dialect have: no exposed agent is called by one of them.
const TAKEN: [&str; 6] = ["agent_spawn", "agent_send", "agent_list", "task_output", "task_cancel", "task_list"];

/// The current team, with the agent that stands for clients.
pub(super) async fn team(service: &Service) -> Arc<Team> {
    let mut team = Team::clone(&*service.team().await);
    let name = NAMES.into_iter().find(|name| !team.agents.contains_key(*name)).unwrap_or(NAMES[1]);
    let agent = client(&team, name);
    team.agents.insert(agent.name.clone(), Arc::new(agent));
    Arc::new(team)
}

/// The agent that stands for clients in such a team.
pub(super) fn agent_name(team: &Team) -> Name {
    let driven = team.agents.values().find(|agent| agent.driven);
    driven.map_or_else(|| Name::from(NAMES[0]), |agent| agent.name.clone())
}

fn client(team: &Team, name: &str) -> Agent {
    let mut prompt = Prompt::new(Name::from(name), "");
    if let Some(lead) = team.agents.get(LEAD).map(|lead| &lead.side_a.prompt) {
        let is_tool = |entry: &&ToolEntry| matches!(entry, ToolEntry::Tool(_));
        prompt.tools = lead.tools.iter().filter(is_tool).cloned().collect();
        (prompt.model, prompt.fallbacks) = (lead.model.clone(), lead.fallbacks.clone());
    }
    let exposed = team.agents.values().filter(|agent| agent.expose_as_tool && agent.kind == Kind::DualAi);
    let exposed = exposed.filter(|agent| can_be_called(agent.name.as_str()));
    prompt.tools.extend(exposed.map(|agent| ToolEntry::Child(ChildEntry::blocking(agent.name.clone()))));
    let source = Source { format: "standard-agents".to_owned(), file: None };
    Agent {
        unlisted: true,
        driven: true,
        dialects: vec![Dialect::AgentScope],
        ..Agent::one_sided(Name::from(name), DESCRIPTION, prompt, source)
    }
}

/// Whether a tool can have the name, and none has it yet.
fn can_be_called(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(is_plain) && !TAKEN.contains(&name)
}

/// What a call wants from the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Whatever it has.
    Any,
    /// Room for another subagent.
    Room,
}

/// The thread of the current team, made when the first call comes. Changed declarations are another team, and have
/// another thread: a thread pins what it was started from. So does work for which the thread has no room any more.
pub(super) async fn current(service: &Service, need: Need) -> Result<ThreadId, RuntimeError> {
    let team = team(service).await;
    let body = team.to_json().map_err(|fault| RuntimeError::Broken(fault.to_string()))?;
    let bundle = Digest::of(body.as_bytes());
    let owner = service.user.as_ref().map(|user| format!("/{user}")).unwrap_or_default();
    let mut name = format!("mcp{owner}/{bundle}");
    if let Some(found) = find(service, bundle).await? {
        if need == Need::Any || !service.runtime.is_used_up(found).await? {
            return Ok(found);
        }
        name = format!("{name}/{found}");
    }
    loop {
        let root = NewRoot {
            agent: agent_name(&team),
            team: Arc::clone(&team),
            message: None,
            user_id: service.user.as_deref().map(str::to_owned),
            tags: vec![TAG.to_owned()],
            files: Vec::new(),
            variables: BTreeMap::new(),
        };
        // Clients that come at the same time make one thread.
        let made = service.runtime.create_once(root, RootKey { name, request: bundle }).await?.thread;
        if service.runtime.thread(made).await?.is_some_and(|row| row.terminated_at.is_none()) {
            return Ok(made);
        }
        name = format!("mcp{owner}/{bundle}/{made}");
    }
}

async fn find(service: &Service, bundle: Digest) -> Result<Option<ThreadId>, RuntimeError> {
    let user_id = service.user.as_deref().map(str::to_owned);
    let filter = ThreadFilter { tag: Some(TAG.to_owned()), user_id: user_id.clone(), ..ThreadFilter::default() };
    let mut after = None;
    loop {
        let rows = service.runtime.threads(&filter, Page { after, limit: PAGE }).await?;
        if let Some(row) = rows.iter().find(|row| row.bundle == bundle && row.user_id == user_id && is_shared(row)) {
            return Ok(Some(row.id));
        }
        after = rows.last().filter(|_| rows.len() == PAGE).map(|row| row.id);
        if after.is_none() {
            return Ok(None);
        }
    }
}

fn is_shared(row: &ThreadRow) -> bool {
    let is_ours = row.parent.is_none() && NAMES.contains(&row.agent.as_str()) && row.tags.iter().any(|tag| tag == TAG);
    is_ours && row.terminated_at.is_none()
}

/// The thread that a call is about: whose task or subagent it names, even if that was started from another team.
pub(super) async fn home(service: &Service, arguments: &JsonObject) -> Result<Option<ThreadId>, RuntimeError> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).map(str::trim);
    let parent = match (text("task_id"), text("agent_key")) {
        (Some(task), _) => service.runtime.run(&RunId::from(task)).await?.and_then(|run| run.parent),
        (None, Some(key)) => match key.rsplit(':').next().and_then(|id| id.parse::<ThreadId>().ok()) {
            Some(child) => service.runtime.thread(child).await?.and_then(|row| row.parent),
            None => None,
        },
        (None, None) => None,
    };
    match parent {
        Some(parent) if is_home(service, parent).await? => Ok(Some(parent)),
        _ => Ok(None),
    }
}

/// Whether clients of this user share that thread.
pub(super) async fn is_home(service: &Service, thread: ThreadId) -> Result<bool, RuntimeError> {
    let row = service.runtime.thread(thread).await?;
    Ok(row.is_some_and(|row| is_shared(&row) && service.shows(row.user_id.as_deref())))
}
