//! Which tools a side is offered at this moment.

use crate::dialect;
use crate::hook::Echo;
use crate::state::ThreadState;
use crate::subprompt;
use entourage_model::{
    Agent, EffectClass, FileRow, Limits, Name, Prompt, Side, SideConfig, Team, ToolEntry, ToolSpec, Variables, Vault,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything that a decision may look at beside the thread itself.
#[derive(Clone, Copy, Debug)]
pub struct World<'a> {
    pub team: &'a Team,
    /// The tools that this process has, by their own names. A tool that the team brings along goes before them.
    pub tools: &'a BTreeMap<Name, Arc<ToolSpec>>,
    /// What holds for every thread and for every thread of a user.
    pub variables: &'a Variables,
    /// Reads the thread's secret variables.
    pub vault: &'a dyn Vault,
    pub limits: &'a Limits,
    /// The thread's files by their paths, where the input is one that looks at them.
    pub files: &'a BTreeMap<String, FileRow>,
    /// The prompts of agents that a folder defines, by the folder, where the input is one that starts such agents.
    pub definitions: &'a BTreeMap<String, Arc<str>>,
    /// What came of the occasions of this very decision that hooks have heard of, in their order.
    pub echoes: &'a [Echo],
    /// How many threads still fit below this thread's root.
    pub tree_left: u32,
}

impl<'a> World<'a> {
    /// The agent at work. A thread pins its team, so it is missing only when the team was made for another thread.
    pub(crate) fn agent(&self, state: &ThreadState) -> Option<&'a Arc<Agent>> {
        self.team.agent(&state.agent)
    }

    pub(crate) fn side(&self, state: &ThreadState, side: Side) -> Option<&'a SideConfig> {
        self.agent(state)?.side(side)
    }

    /// The prompt of the side that acts; nothing while the thread rests.
    pub fn prompt(&self, state: &ThreadState) -> Option<&'a Prompt> {
        Some(&self.side(state, state.session.as_ref()?.acting)?.prompt)
    }

    /// The tool of that name: the team's own, else one of this process.
    pub fn tool(&self, name: &Name) -> Option<&'a Arc<ToolSpec>> {
        self.team.tools.get(name).map(|tool| &tool.spec).or_else(|| self.tools.get(name))
    }

    /// Nothing for a tool that there is not. Asking a prompt of the team is as safe as the tools that it may call.
    pub fn class(&self, tool: &Name) -> Option<EffectClass> {
        self.tool(tool).map(|spec| spec.class).or_else(|| subprompt::class(self, tool))
    }
}

/// The tools that this prompt may call now: its own, its children as tools, and what drives resumable children.
pub fn offered(world: &World<'_>, state: &ThreadState, prompt: &Prompt) -> Vec<Arc<ToolSpec>> {
    let own = toolkit(state, prompt).filter_map(|name| world.tool(name).cloned());
    let prompts = prompt.tools.iter().filter_map(|entry| match entry {
        ToolEntry::Prompt(entry) => subprompt::spec(world, state, prompt, entry),
        ToolEntry::Tool(_) | ToolEntry::Child(_) | ToolEntry::Handoff(_) => None,
    });
    let offered = own.chain(prompts).chain(dialect::tools(world, state, prompt));
    offered.filter(|spec| !state.started.denied.contains(&spec.name)).collect()
}

/// The tools of this prompt that the thread may call: of those that it lists, what its caller handed down.
pub(crate) fn toolkit<'a>(state: &'a ThreadState, prompt: &'a Prompt) -> impl Iterator<Item = &'a Name> {
    let listed = prompt.tools.iter().filter_map(|entry| match entry {
        ToolEntry::Tool(name) => Some(name),
        ToolEntry::Child(_) | ToolEntry::Handoff(_) | ToolEntry::Prompt(_) => None,
    });
    listed.filter(|name| state.started.tools.as_ref().is_none_or(|given| given.contains(name)))
}
