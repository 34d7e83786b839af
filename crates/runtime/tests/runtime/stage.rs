//! A team, a fake model and a runtime: what every case plays on.

use entourage_model::{
    Agent, Limits, Message, ModelRef, Role, RunId, Secret, Team, ThreadId, ToolEntry, VariableValue, Variables,
};
use entourage_outside::model::{Backoff, ModelSettings, Models, ProviderSettings, Script};
use entourage_outside::tool::Toolbox;
use entourage_outside::workspace::Workspace;
use entourage_runtime::{NewRoot, Outgoing, Parts, Runtime};
use entourage_store::{Page, Store, ThreadFilter, ThreadRow};
use entourage_testkit::cast::{self, mark};
use entourage_testkit::fake_model::Brain;
use entourage_testkit::{FakeModel, Reply, Request, any_store};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) struct Stage {
    pub(crate) model: FakeModel,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) runtime: Runtime,
    pub(crate) team: Arc<Team>,
    pub(crate) limits: Limits,
    /// Those of the threads that are made.
    pub(crate) variables: BTreeMap<String, VariableValue>,
    folder: tempfile::TempDir,
}

impl Stage {
    pub(crate) async fn new(agents: Vec<Agent>, brain: impl Brain + 'static) -> Self {
        Self::with_limits(agents, brain, Limits::default()).await
    }

    pub(crate) async fn with_limits(agents: Vec<Agent>, brain: impl Brain + 'static, limits: Limits) -> Self {
        Self::on(any_store().await, agents, brain, limits).await
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
        let settings = settings(&model, &limits);
        let runtime = start(&store, settings, &limits, folder.path()).await;
        Self { model, store, runtime, team: cast::team(agents), limits, variables: BTreeMap::new(), folder }
    }

    /// As scripted, by a model that answers at once: nothing passes between asking and the answer's last word.
    pub(crate) async fn scripted(store: Arc<dyn Store>, agents: Vec<Agent>, script: Script) -> Self {
        let mut stage = Self::on(store, agents, Reply::fail(400, "everything is scripted"), Limits::default()).await;
        let mut settings = settings(&stage.model, &stage.limits);
        settings.scripts.insert("play".to_owned(), script);
        settings.override_model = ModelRef::parse("script:play");
        stage.runtime = start(&stage.store, settings, &stage.limits, stage.folder.path()).await;
        stage
    }

    /// Another runtime over the same store, as after a restart.
    pub(crate) async fn restart(&mut self) {
        let settings = settings(&self.model, &self.limits);
        self.runtime = start(&self.store, settings, &self.limits, self.folder.path()).await;
        self.runtime.resume(None);
    }

    /// The project's folder.
    pub(crate) fn path(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub(crate) async fn create(&self, agent: &str, message: &str) -> (ThreadId, RunId) {
        let root = NewRoot {
            team: Arc::clone(&self.team),
            agent: agent.into(),
            message: Some(Outgoing::user(message)),
            user_id: None,
            tags: Vec::new(),
            files: Vec::new(),
            variables: self.variables.clone(),
        };
        let created = self.runtime.create(root).await.unwrap();
        (created.thread, created.run.unwrap())
    }

    /// Where runs are shown as files.
    pub(crate) fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    /// The thread once nothing in its tree is at work.
    pub(crate) async fn settle(&self, thread: ThreadId) -> ThreadRow {
        assert!(self.runtime.wait_for_tree(thread, LONG).await.unwrap(), "the tree never came to rest");
        self.store.thread(thread).await.unwrap().unwrap()
    }

    pub(crate) async fn messages(&self, thread: ThreadId) -> Vec<Message> {
        let journal = self.store.journal(thread, 0, 100_000).await.unwrap();
        journal.iter().filter_map(|stored| Some((**stored.event.message()?).clone())).collect()
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

fn settings(model: &FakeModel, limits: &Limits) -> ModelSettings {
    let mut settings = ModelSettings { openai: ProviderSettings::at(model.url()), ..ModelSettings::default() };
    settings.limits = limits.into();
    settings.limits.backoff = Backoff { base: Duration::from_millis(1), max: Duration::from_millis(5) };
    settings
}

async fn start(store: &Arc<dyn Store>, settings: ModelSettings, limits: &Limits, folder: &std::path::Path) -> Runtime {
    let parts = Parts {
        store: Arc::clone(store),
        models: Models::new(settings),
        tools: Toolbox::builtin(),
        servers: entourage_outside::mcp::Servers::none(),
        workspace: Arc::new(Workspace::open(folder).unwrap()),
        limits: limits.clone(),
        variables: settings_variables(),
        remotes: entourage_outside::remote::Remotes::plain(),
        vault: entourage_runtime::SealedVault::new([7; 32]),
        slots: 10_000,
        data: Some(folder.join("data")),
        task_files: Some(folder.to_owned()),
    };
    Runtime::start(parts).await.unwrap()
}

/// What holds for everybody and for one user.
fn settings_variables() -> Variables {
    let one = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), Secret::new(value))]);
    Variables {
        instance: one("REGION", "north"),
        users: BTreeMap::from([("alice".to_owned(), one("REGION", "south"))]),
    }
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

/// A one-sided agent with two built-in tools.
pub(crate) fn solo(name: &str, entries: Vec<ToolEntry>) -> Agent {
    let tools = ["read_file", "list_files"].map(cast::tool);
    cast::solo(name, tools.into_iter().chain(entries).collect())
}
