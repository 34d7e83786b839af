//! What a variable holds for a thread: thread → agent → prompt → user → everybody.

use crate::offer::World;
use crate::state::ThreadState;
use entourage_model::{Agent, ChildEntry, Name, Prompt, Secret, Team, ToolEntry, Variable, VariableValue};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Every variable that holds something for this thread, as a tool reads it. Secrets are among them: this is never for a
/// model. What the prompt that called it gives to that very tool goes before what it gives to all.
pub fn for_tool(
    world: &World<'_>,
    state: &ThreadState,
    prompt: Option<&Prompt>,
    tool: &Name,
) -> BTreeMap<String, String> {
    let agent = world.agent(state).into_iter().flat_map(|agent| agent.env.keys());
    let config = prompt.and_then(|prompt| prompt.tool_configs.get(tool));
    let given = prompt.into_iter().flat_map(|prompt| prompt.env.keys());
    let given = given.chain(config.into_iter().flat_map(|config| config.env.keys()));
    let declared = state.variables.keys().chain(agent).chain(given).map(String::as_str);
    let names: BTreeSet<&str> = declared.chain(world.variables.names(state.started.user_id.as_deref())).collect();
    let value = |name: &str| {
        let own = |config: &entourage_model::ToolConfig| config.env.get(name).cloned();
        let found = of_thread(world, state, name).map(Cow::into_owned).or_else(|| config.and_then(own));
        found.or_else(|| beyond(world, state, prompt, name).map(str::to_owned))
    };
    names.into_iter().filter_map(|name| Some((name.to_owned(), value(name)?))).collect()
}

/// What a thread's parent and children may read of its variables: nothing that is secret, and nothing that is given to
/// single threads.
pub fn for_relative(world: &World<'_>, state: &ThreadState) -> BTreeMap<String, String> {
    let hidden: BTreeSet<&str> = world.team.hidden().collect();
    let is_secret = |name: &str| state.variables.get(name).is_some_and(VariableValue::is_secret);
    let mut known = for_tool(world, state, world.prompt(state), &Name::from(""));
    known.retain(|name, _| !is_secret(name) && !hidden.contains(name.as_str()));
    known
}

/// What `name` holds where a model sees it: nothing that is secret or scoped.
pub(crate) fn for_model(world: &World<'_>, state: &ThreadState, prompt: &Prompt, name: &str) -> Option<String> {
    let hides = |variable: &Variable| variable.name == name && (variable.secret || variable.scoped);
    let tools = prompt.tools.iter().filter_map(|entry| world.team.tools.get(entry.name()));
    let mut declared = world
        .agent(state)
        .into_iter()
        .flat_map(|agent| &agent.variables)
        .chain(&prompt.variables)
        .chain(tools.flat_map(|tool| &tool.variables));
    if state.variables.get(name).is_some_and(VariableValue::is_secret) || declared.any(hides) {
        return None;
    }
    of_prompt(world, state, prompt, name)
}

/// What `name` holds for code that acts for this prompt.
pub(crate) fn of_prompt(world: &World<'_>, state: &ThreadState, prompt: &Prompt, name: &str) -> Option<String> {
    let beyond = || beyond(world, state, Some(prompt), name).map(Cow::Borrowed);
    of_thread(world, state, name).or_else(beyond).map(Cow::into_owned)
}

fn of_thread<'a>(world: &World<'a>, state: &'a ThreadState, name: &str) -> Option<Cow<'a, str>> {
    let own = state.variables.get(name).and_then(|value| value.open(world.vault));
    own.or_else(|| world.agent(state)?.env.get(name).map(|value| Cow::Borrowed(value.as_str())))
}

fn beyond<'a>(world: &World<'a>, state: &ThreadState, prompt: Option<&'a Prompt>, name: &str) -> Option<&'a str> {
    let prompt = prompt.and_then(|prompt| prompt.env.get(name)).map(String::as_str);
    prompt.or_else(|| world.variables.find(state.started.user_id.as_deref(), name).map(Secret::reveal))
}

/// The variables that a child begins with: those of its parent, but scoped ones only where they are given to it, or were
/// given to its parent with all that can be started there.
pub(crate) fn inherited(world: &World<'_>, state: &ThreadState, entry: &ChildEntry) -> BTreeMap<String, VariableValue> {
    let given = entry.scoped_env.iter().filter_map(|name| Some((name.clone(), given(world, state, entry, name)?)));
    if state.variables.is_empty() {
        return given.collect();
    }
    let scoped = scoped_below(world.team, &entry.agent);
    let reaches = |name: &str, value: &VariableValue| value.is_granted() || !scoped.contains(name);
    let kept = state.variables.iter().filter(|(name, value)| reaches(name, value));
    kept.map(|(name, value)| (name.clone(), value.clone())).chain(given).collect()
}

/// What a thread has to give to a child by that name: its own, or what its agent or the prompt that lists the child
/// brings, which is sealed on its way to the store. What the user and everybody have, the child finds by itself.
fn given(world: &World<'_>, state: &ThreadState, entry: &ChildEntry, name: &str) -> Option<VariableValue> {
    let brought = || {
        let agent = world.agent(state)?;
        let mut prompts = world.prompt(state).into_iter().chain(agent.prompts());
        let prompt = prompts.find(|prompt| prompt.children().any(|child| child == entry));
        let value = agent.env.get(name).or_else(|| prompt?.env.get(name));
        value.map(VariableValue::secret)
    };
    state.variables.get(name).cloned().or_else(brought).map(VariableValue::granted)
}

/// What a child has to be given before it can start: every scoped variable that it, or anything that it can start or
/// call, cannot do without; and those of them that nobody gives.
pub(crate) fn needed(world: &World<'_>, state: &ThreadState, entry: &ChildEntry) -> Needed {
    let is_given = |name: &String| entry.scoped_env.contains(name) && given(world, state, entry, name).is_some();
    let is_handed_on = |name: &String| {
        is_given(name)
            || state.variables.get(name).is_some_and(VariableValue::is_granted)
            || world.variables.find(state.started.user_id.as_deref(), name).is_some()
    };
    let (mut required, mut missing) = (BTreeSet::new(), BTreeSet::new());
    for needs in needs_below(world.team, &entry.agent) {
        for Variable { name, .. } in needs.declared.iter().filter(|variable| variable.scoped && variable.required) {
            required.insert(name.clone());
            if !is_handed_on(name) && !needs.are_met(name) {
                missing.insert(name.clone());
            }
        }
    }
    Needed { required: required.into_iter().collect(), missing: missing.into_iter().collect() }
}

/// Names of variables.
pub(crate) struct Needed {
    pub(crate) required: Vec<String>,
    pub(crate) missing: Vec<String>,
}

/// Every name that the agent, or anything that it can start or call, declares as scoped.
fn scoped_below<'t>(team: &'t Team, agent: &'t Name) -> BTreeSet<&'t str> {
    let declared = needs_below(team, agent).into_iter().flat_map(|needs| needs.declared);
    declared.filter(|variable| variable.scoped).map(|variable| variable.name.as_str()).collect()
}

/// What an agent, and the tools and prompts that it can call, declare.
struct Needs<'t> {
    agent: Option<&'t Agent>,
    declared: Vec<&'t Variable>,
}

impl Needs<'_> {
    /// Whether the agent brings a value for it: an agent's variables reach nobody that it starts.
    fn are_met(&self, name: &str) -> bool {
        self.agent.is_some_and(|agent| {
            agent.env.contains_key(name) || agent.prompts().any(|prompt| prompt.env.contains_key(name))
        })
    }
}

/// The needs of the agent and of every other that can come to work below it.
fn needs_below<'t>(team: &'t Team, agent: &'t Name) -> Vec<Needs<'t>> {
    let (mut seen, mut unread, mut below) = (BTreeSet::from([agent]), vec![agent], Vec::new());
    while let Some(name) = unread.pop() {
        let (needs, others) = needs_of(team, name);
        below.push(needs);
        unread.extend(others.into_iter().filter(|other| seen.insert(other)));
    }
    below
}

/// The needs of one agent, and the agents that it leads to.
fn needs_of<'t>(team: &'t Team, name: &'t Name) -> (Needs<'t>, BTreeSet<&'t Name>) {
    let agent = team.agent(name).map(|agent| &**agent);
    let mut declared: Vec<&Variable> = agent.into_iter().flat_map(|agent| &agent.variables).collect();
    let (mut seen, mut unread, mut others) = (BTreeSet::from([name]), vec![name], BTreeSet::new());
    while let Some(callable) = unread.pop() {
        let sides = agent.filter(|_| callable == name).into_iter().flat_map(Agent::prompts);
        let prompts: Vec<&Prompt> = sides.chain(team.prompts.get(callable).map(|prompt| &**prompt)).collect();
        let tool = team.tools.get(callable);
        declared.extend(prompts.iter().flat_map(|prompt| &prompt.variables));
        declared.extend(tool.into_iter().flat_map(|tool| &tool.variables));
        let entries = prompts.iter().flat_map(|prompt| &prompt.tools).map(target);
        for next in entries.chain(tool.into_iter().flat_map(|tool| &tool.uses)) {
            if team.agent(next).is_some() {
                others.insert(next);
            } else if seen.insert(next) {
                unread.push(next);
            }
        }
    }
    (Needs { agent, declared }, others)
}

/// What an entry leads to, by its own name.
fn target(entry: &ToolEntry) -> &Name {
    match entry {
        ToolEntry::Tool(name) => name,
        ToolEntry::Child(child) => &child.agent,
        ToolEntry::Handoff(handoff) => &handoff.agent,
        ToolEntry::Prompt(prompt) => &prompt.prompt,
    }
}
