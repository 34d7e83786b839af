//! Which tools a side is offered at this moment.

use crate::dialect::standard;
use crate::state::ThreadState;
use entourage_model::{Agent, Limits, Name, Prompt, Side, SideConfig, Team, ToolEntry, ToolSpec};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything that a decision may look at beside the thread itself.
#[derive(Clone, Copy, Debug)]
pub struct World<'a> {
    pub team: &'a Team,
    /// The tools that exist here, by their own names.
    pub tools: &'a BTreeMap<Name, Arc<ToolSpec>>,
    pub limits: &'a Limits,
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
}

/// The tools that this prompt may call now: its own, its children as tools, and what drives resumable children.
pub fn offered(world: &World<'_>, state: &ThreadState, prompt: &Prompt) -> Vec<Arc<ToolSpec>> {
    let own = prompt.tools.iter().filter_map(|entry| match entry {
        ToolEntry::Tool(name) => world.tools.get(name).cloned(),
        ToolEntry::Child(_) => None,
    });
    own.chain(standard::tools(world, state, prompt)).collect()
}
