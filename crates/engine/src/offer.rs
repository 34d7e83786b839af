//! Which tools a side is offered at this moment.

use crate::dialect;
use crate::hook::Echo;
use crate::state::ThreadState;
use crate::subprompt;
use entourage_model::{
    Agent, EffectClass, FileRow, Limits, Name, Prompt, Served, ServerEntry, Side, SideConfig, Team, Timestamp,
    ToolEntry, ToolSpec, Variables, Vault, means_tool, server_of,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything that a decision may look at beside the thread itself.
#[derive(Clone, Copy, Debug)]
pub struct World<'a> {
    pub team: &'a Team,
    /// The tools that this process has, by their own names. A tool that the team brings along goes before them.
    pub tools: &'a BTreeMap<Name, Arc<ToolSpec>>,
    /// The tools of MCP servers.
    pub served: &'a dyn Served,
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
    /// Since when the process that decides has been here without a break: what is older was left, by it or by another.
    pub since: Timestamp,
}

impl<'a> World<'a> {
    /// The agent at work. A thread pins its team, so it is missing only when the team was made for another thread.
    pub(crate) fn agent(&self, state: &ThreadState) -> Option<&'a Arc<Agent>> {
        self.team.agent(&state.agent)
    }

    /// Whether somebody outside makes the calls of the agent at work.
    pub(crate) fn is_driven(&self, state: &ThreadState) -> bool {
        self.agent(state).is_some_and(|agent| agent.driven)
    }

    pub(crate) fn side(&self, state: &ThreadState, side: Side) -> Option<&'a SideConfig> {
        self.agent(state)?.side(side)
    }

    /// The side whose limits and ways hold where the thread's own agent says nothing of them.
    pub(crate) fn mirrored(&self, state: &ThreadState) -> Option<&'a SideConfig> {
        Some(&self.team.agent(state.started.mirrors.as_ref()?)?.side_a)
    }

    /// The prompt of the side that acts; nothing while the thread rests.
    pub fn prompt(&self, state: &ThreadState) -> Option<&'a Prompt> {
        Some(&self.side(state, state.session.as_ref()?.acting)?.prompt)
    }

    /// The tool of that name that the prompt could call: the team's own, one of this process, or one of a server that the
    /// prompt uses.
    pub fn tool(&self, prompt: Option<&Prompt>, name: &Name) -> Option<Arc<ToolSpec>> {
        let here = self.team.tools.get(name).map(|tool| &tool.spec).or_else(|| self.tools.get(name));
        here.cloned().or_else(|| {
            let entry = server(prompt?, name)?;
            self.served.tools(&entry.key)?.get(name).cloned()
        })
    }

    /// Nothing for a tool that there is not. Asking a prompt of the team is as safe as the tools that it may call.
    pub fn class(&self, prompt: Option<&Prompt>, tool: &Name) -> Option<EffectClass> {
        self.tool(prompt, tool).map(|spec| spec.class).or_else(|| subprompt::class(self, tool))
    }

    /// What a list of tools means: a name that stands for all tools of a server, each of them.
    pub(crate) fn expand(&self, prompt: &Prompt, listed: &Name) -> Vec<Arc<ToolSpec>> {
        let here = self.team.tools.get(listed).map(|tool| &tool.spec).or_else(|| self.tools.get(listed));
        if let Some(spec) = here {
            return vec![Arc::clone(spec)];
        }
        let served = server(prompt, listed).and_then(|entry| self.served.tools(&entry.key));
        let is_meant = |spec: &&Arc<ToolSpec>| means_tool(listed, &spec.name) && allows(prompt, spec);
        served.iter().flat_map(|tools| tools.values().filter(is_meant).cloned()).collect()
    }
}

/// The server of the prompt whose tool this is.
pub fn server<'a>(prompt: &'a Prompt, tool: &Name) -> Option<&'a ServerEntry> {
    let name = server_of(tool.as_str())?;
    prompt.servers.iter().find(|entry| entry.key.name.as_str() == name)
}

/// Whether the prompt may call this tool of a server, if the tool is among those that it lists.
fn allows(prompt: &Prompt, spec: &ToolSpec) -> bool {
    let is_denied = prompt.denied_tools.iter().any(|denied| means_tool(denied, &spec.name));
    !is_denied && (!prompt.read_only || spec.class == EffectClass::Pure)
}

/// The tools that this prompt may call now: its own, its children as tools, and what drives resumable children.
pub fn offered(world: &World<'_>, state: &ThreadState, prompt: &Prompt) -> Vec<Arc<ToolSpec>> {
    let prompts = prompt.tools.iter().filter_map(|entry| match entry {
        ToolEntry::Prompt(entry) => subprompt::spec(world, state, prompt, entry),
        ToolEntry::Tool(_) | ToolEntry::Child(_) | ToolEntry::Handoff(_) => None,
    });
    let own = toolkit(world, state, prompt).into_iter();
    let offered = own.chain(prompts).chain(dialect::tools(world, state, prompt));
    offered.filter(|spec| !is_denied(state, &spec.name)).collect()
}

/// Whether whoever started the thread has denied it the tool.
pub(crate) fn is_denied(state: &ThreadState, tool: &Name) -> bool {
    state.started.denied.iter().any(|denied| means_tool(denied, tool))
}

/// The tools of this prompt that the thread may call: of those that it lists, what its caller handed down, and what
/// servers give it that its agent's own declaration brings, which no caller has.
pub(crate) fn toolkit(world: &World<'_>, state: &ThreadState, prompt: &Prompt) -> Vec<Arc<ToolSpec>> {
    let given = state.started.tools.as_ref();
    let is_own = |tool: &Name| server(prompt, tool).is_some_and(|entry| entry.key.agent.is_some());
    let is_given =
        |tool: &Name| given.is_none_or(|given| given.iter().any(|listed| means_tool(listed, tool))) || is_own(tool);
    let mut tools: Vec<Arc<ToolSpec>> = Vec::new();
    for spec in listed(prompt).flat_map(|name| world.expand(prompt, name)) {
        // A server's tool may be listed by its name and together with the others.
        let is_again = server_of(spec.name.as_str()).is_some() && tools.iter().any(|known| known.name == spec.name);
        if !is_again && is_given(&spec.name) {
            tools.push(spec);
        }
    }
    tools
}

/// The tools that a prompt lists, as it lists them.
pub(crate) fn listed(prompt: &Prompt) -> impl Iterator<Item = &Name> {
    prompt.tools.iter().filter_map(|entry| match entry {
        ToolEntry::Tool(name) => Some(name),
        ToolEntry::Child(_) | ToolEntry::Handoff(_) | ToolEntry::Prompt(_) => None,
    })
}

/// What a child may inherit of the prompt's list: names that stand for many stay what they are.
pub(crate) fn handed_down<'a>(state: &'a ThreadState, prompt: &'a Prompt) -> Vec<&'a Name> {
    let Some(given) = state.started.tools.as_ref() else { return listed(prompt).collect() };
    let mine: Vec<&Name> = listed(prompt).collect();
    let by_me = mine.iter().copied().filter(|name| given.iter().any(|given| means_tool(given, name)));
    let by_them = given.iter().filter(|name| mine.iter().any(|mine| means_tool(mine, name)));
    let mut both: Vec<&Name> = by_me.chain(by_them).collect();
    both.sort_unstable();
    both.dedup();
    both
}

#[cfg(test)]
mod tests {
    use super::*;
    use entourage_model::{Digest, Event, Ids, ServerKey, Started, Timestamp};
    use serde_json::json;

    /// A server `files` with tools that look, change and do it again.
    #[derive(Debug)]
    struct Files;

    impl Served for Files {
        fn tools(&self, server: &ServerKey) -> Option<Arc<BTreeMap<Name, Arc<ToolSpec>>>> {
            let classes =
                [("look", EffectClass::Pure), ("change", EffectClass::AtMostOnce), ("again", EffectClass::Idempotent)];
            let spec = |(tool, class): (&str, EffectClass)| {
                let name = entourage_model::server_tool(&server.name, tool);
                let spec =
                    ToolSpec { name: name.clone(), description: String::new(), parameters: Arc::new(json!({})), class };
                (name, Arc::new(spec))
            };
            (server.name.as_str() == "files").then(|| Arc::new(classes.into_iter().map(spec).collect()))
        }

        fn fault(&self, _server: &ServerKey) -> Option<String> {
            None
        }
    }

    #[derive(Debug)]
    struct Open;

    impl Vault for Open {
        fn open(&self, _sealed: &str) -> Option<String> {
            None
        }
    }

    fn names(text: &str) -> Vec<Name> {
        text.split_whitespace().map(Name::from).collect()
    }

    /// What a thread of a prompt with these tools is offered, of what its caller gave and denied it.
    fn check(listed: &str, change: impl Fn(&mut Prompt, &mut Started), expected: &str) {
        let mut prompt = Prompt::new(Name::from("p"), "");
        prompt.tools = names(listed).into_iter().map(ToolEntry::Tool).collect();
        prompt.servers = vec![ServerEntry { key: ServerKey::settled("files"), required: false }];
        let mut ids = Ids::new(Timestamp(0), 1);
        let mut started = Started::root(ids.thread(), Name::from("a"), Digest::of(&[]), Timestamp(0));
        change(&mut prompt, &mut started);
        let state = ThreadState::born(&Event::Started(started)).expect("it begins with its beginning");
        let world = World {
            team: &Team::default(),
            tools: &BTreeMap::new(),
            served: &Files,
            variables: &Variables::default(),
            vault: &Open,
            limits: &Limits::default(),
            files: &BTreeMap::new(),
            definitions: &BTreeMap::new(),
            tree_left: 0,
            since: Timestamp(0),
            echoes: &[],
        };
        let offered: Vec<_> = offered(&world, &state, &prompt).iter().map(|spec| spec.name.clone()).collect();
        assert_eq!(offered, names(expected), "{listed}");
    }

    #[test]
    fn tools_of_servers_are_offered_as_lists_and_callers_allow_it() {
        let all = "mcp__files__again mcp__files__change mcp__files__look";
        check("mcp__files__*", |_, _| {}, all);
        check("mcp__files__look mcp__files__look", |_, _| {}, "mcp__files__look");
        check("mcp__files__none mcp__other__*", |_, _| {}, "");
        check("mcp__files__*", |prompt, _| prompt.read_only = true, "mcp__files__look");
        check(
            "mcp__files__*",
            |prompt, _| prompt.denied_tools = names("mcp__files__look"),
            "mcp__files__again mcp__files__change",
        );
        check("mcp__files__*", |prompt, _| prompt.servers.clear(), "");
        check(
            "mcp__files__*",
            |_, started| started.tools = Some(names("read_file mcp__files__look")),
            "mcp__files__look",
        );
        check("mcp__files__look", |_, started| started.tools = Some(names("mcp__files__*")), "mcp__files__look");
        check("mcp__files__*", |_, started| started.tools = Some(names("read_file")), "");
        check("mcp__files__*", |_, started| started.denied = names("mcp__files__*"), "");
        let own = |prompt: &mut Prompt, started: &mut Started| {
            prompt.servers[0].key = ServerKey::of_agent(&Name::from("a"), "files");
            started.tools = Some(names("read_file"));
        };
        check("mcp__files__*", own, all);
        check("shell mcp__files__look", own, "mcp__files__look");
    }

    #[test]
    fn what_is_handed_down_is_what_both_lists_mean() {
        let mut ids = Ids::new(Timestamp(0), 1);
        let mut started = Started::root(ids.thread(), Name::from("a"), Digest::of(&[]), Timestamp(0));
        started.tools = Some(names("mcp__files__look mcp__web__* shell"));
        let state = ThreadState::born(&Event::Started(started)).expect("it begins with its beginning");
        let mut prompt = Prompt::new(Name::from("p"), "");
        prompt.tools = names("mcp__files__* mcp__web__get read_file").into_iter().map(ToolEntry::Tool).collect();
        let down: Vec<_> = handed_down(&state, &prompt).into_iter().cloned().collect();
        assert_eq!(down, names("mcp__files__look mcp__web__get"));
    }
}
