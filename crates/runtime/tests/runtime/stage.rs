//! A team, a fake model and a runtime: what every case plays on.

use entourage_model::{
    Agent, Binding, ChildEntry, Communication, Kind, Limits, Message, ModelRef, Name, Prompt, Resumable, Role, RunId,
    Side, SideConfig, Source, Team, ThreadId, ToolChoice, ToolEntry,
};
use entourage_outside::model::{Backoff, ModelSettings, Models, ProviderSettings};
use entourage_outside::tool::Toolbox;
use entourage_outside::workspace::Workspace;
use entourage_runtime::{NewRoot, Outgoing, Parts, Runtime};
use entourage_store::{MemoryStore, Page, Store, ThreadFilter, ThreadRow};
use entourage_testkit::fake_model::Brain;
use entourage_testkit::{FakeModel, Reply, Request};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const LONG: Duration = Duration::from_secs(20);

pub(crate) struct Stage {
    pub(crate) model: FakeModel,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) runtime: Runtime,
    pub(crate) team: Arc<Team>,
    pub(crate) limits: Limits,
    folder: tempfile::TempDir,
}

impl Stage {
    pub(crate) async fn new(agents: Vec<Agent>, brain: impl Brain + 'static) -> Self {
        Self::with_limits(agents, brain, Limits::default()).await
    }

    pub(crate) async fn with_limits(agents: Vec<Agent>, brain: impl Brain + 'static, limits: Limits) -> Self {
        Self::on(Arc::new(MemoryStore::new()), agents, brain, limits).await
    }

    pub(crate) async fn on(
        store: Arc<dyn Store>,
        agents: Vec<Agent>,
        brain: impl Brain + 'static,
        limits: Limits,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("note.txt"), "the note").unwrap();
        let model = FakeModel::start(brain).await;
        let runtime = start(&store, &model, &limits, folder.path()).await;
        let agents = agents.into_iter().map(|agent| (agent.name.clone(), Arc::new(agent)));
        Self { model, store, runtime, team: Arc::new(Team { agents: agents.collect() }), limits, folder }
    }

    /// Another runtime over the same store, as after a restart.
    pub(crate) async fn restart(&mut self) {
        self.runtime = start(&self.store, &self.model, &self.limits, self.folder.path()).await;
        self.runtime.resume(None);
    }

    pub(crate) async fn create(&self, agent: &str, message: &str) -> (ThreadId, RunId) {
        let root = NewRoot {
            team: Arc::clone(&self.team),
            agent: agent.into(),
            message: Some(Outgoing::user(message)),
            user_id: None,
            tags: Vec::new(),
            files: Vec::new(),
        };
        let created = self.runtime.create(root).await.unwrap();
        (created.thread, created.run.unwrap())
    }

    /// The thread once nothing in its tree is at work.
    pub(crate) async fn settle(&self, thread: ThreadId) -> ThreadRow {
        assert!(self.runtime.wait_for_tree(thread, LONG).await.unwrap(), "the tree never came to rest");
        self.store.thread(thread).await.unwrap().unwrap()
    }

    pub(crate) async fn messages(&self, thread: ThreadId) -> Vec<Message> {
        let journal = self.store.journal(thread, 0, 100_000).await.unwrap();
        journal.iter().filter_map(|stored| stored.event.message().cloned()).collect()
    }

    pub(crate) async fn texts(&self, thread: ThreadId, role: Role) -> Vec<String> {
        let messages = self.messages(thread).await;
        messages.into_iter().filter(|message| message.role == role).map(|message| message.content).collect()
    }

    pub(crate) async fn kids(&self, parent: ThreadId) -> Vec<ThreadRow> {
        let filter = ThreadFilter { parent: Some(parent), ..ThreadFilter::default() };
        self.store.threads(&filter, Page { after: None, limit: 1000 }).await.unwrap()
    }

    /// The requests whose system text marks them as this agent's.
    pub(crate) fn asked(&self, agent: &str) -> Vec<Arc<Request>> {
        let mark = mark(agent);
        self.model.requests().into_iter().filter(|request| request.system().contains(&mark)).collect()
    }
}

async fn start(store: &Arc<dyn Store>, model: &FakeModel, limits: &Limits, folder: &std::path::Path) -> Runtime {
    let mut settings = ModelSettings { openai: ProviderSettings::at(model.url()), ..ModelSettings::default() };
    settings.limits = limits.into();
    settings.limits.backoff = Backoff { base: Duration::from_millis(1), max: Duration::from_millis(5) };
    let parts = Parts {
        store: Arc::clone(store),
        models: Models::new(settings),
        tools: Toolbox::builtin(),
        workspace: Arc::new(Workspace::open(folder).unwrap()),
        limits: limits.clone(),
        slots: 10_000,
    };
    Runtime::start(parts).await.unwrap()
}

pub(crate) fn mark(agent: &str) -> String {
    format!("[[{agent}]]")
}

/// Whether the request is this agent's.
pub(crate) fn is(request: &Request, agent: &str) -> bool {
    request.system().contains(&mark(agent))
}

/// The reply for each agent by its turn; the last one repeats.
pub(crate) fn by_turn(script: Vec<(&'static str, Vec<Reply>)>) -> impl Brain + 'static {
    move |request: &Request| {
        let replies = script.iter().find(|(agent, _)| is(request, agent)).map(|(_, replies)| replies);
        let Some(replies) = replies else { return Reply::fail(400, "nobody scripted this") };
        replies[request.assistant_turns().min(replies.len() - 1)].clone()
    }
}

/// A one-sided agent with the built-in tools.
pub(crate) fn solo(name: &str, entries: Vec<ToolEntry>) -> Agent {
    let mut tools: Vec<_> = ["read_file", "list_files"].into_iter().map(|tool| ToolEntry::Tool(tool.into())).collect();
    tools.extend(entries);
    Agent {
        name: name.into(),
        kind: Kind::AiHuman,
        title: None,
        description: format!("The {name} does it."),
        side_a: side(name, tools),
        side_b: None,
        session_turns_max: None,
        expose_as_tool: false,
        tool_description: None,
        source: Source { format: "test".to_owned(), file: None },
        extra: serde_json::Map::new(),
    }
}

/// Two sides, `name_a` and `name_b`; side A ends the session with `read_file`.
pub(crate) fn pair(name: &str) -> Agent {
    let mut agent = solo(name, Vec::new());
    agent.kind = Kind::DualAi;
    agent.side_a = side(&format!("{name}_a"), vec![ToolEntry::Tool("read_file".into())]);
    agent.side_a.session_stop = Some(Binding {
        tool: "read_file".into(),
        message_property: Some("path".to_owned()),
        attachments_property: None,
    });
    agent.side_b = Some(side(&format!("{name}_b"), Vec::new()));
    agent.session_turns_max = Some(10);
    agent
}

fn side(mark_of: &str, tools: Vec<ToolEntry>) -> SideConfig {
    SideConfig {
        prompt: Prompt {
            name: mark_of.into(),
            instructions: format!("{} You work.", mark(mark_of)).into(),
            model: ModelRef::parse("openai:fake"),
            fallbacks: Vec::new(),
            include_chat: true,
            include_past_tools: true,
            parallel_tool_calls: None,
            tool_choice: ToolChoice::Auto,
            required_schema: None,
            reasoning: None,
            tools,
        },
        label: None,
        stop_on_response: true,
        stop_tool: None,
        stop_tool_response_property: None,
        steps_max: None,
        session_stop: None,
        session_fail: None,
        session_status: None,
    }
}

pub(crate) fn child(agent: &str) -> ChildEntry {
    ChildEntry {
        agent: Name::from(agent),
        blocking: true,
        message_property: None,
        attachments_property: None,
        name_property: None,
        resumable: None,
    }
}

pub(crate) fn background(agent: &str) -> ToolEntry {
    ToolEntry::Child(ChildEntry { blocking: false, ..child(agent) })
}

pub(crate) fn blocking(agent: &str) -> ToolEntry {
    ToolEntry::Child(child(agent))
}

pub(crate) fn resumable(agent: &str) -> ToolEntry {
    let resumable = Resumable { receives: Side::A, instances_max: None, communication: Communication::Implicit };
    ToolEntry::Child(ChildEntry { resumable: Some(resumable), ..child(agent) })
}
