//! A team, a fake model, a runtime and a server in front of it.

use crate::client::{self, Answer, Events};
use entourage_model::{Agent, Limits, Team};
use entourage_outside::model::{Backoff, ModelSettings, Models, ProviderSettings};
use entourage_outside::tool::Toolbox;
use entourage_outside::workspace::Workspace;
use entourage_runtime::{Parts, Runtime};
use entourage_serve::{Drain, Server, Service, Teams, Tokens};
use entourage_store::Store;
use entourage_testkit::cast::{self, solo};
use entourage_testkit::fake_model::Brain;
use entourage_testkit::{FakeModel, any_store};
use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;

pub(crate) const TOKEN: &str = "0123456789abcdef";
pub(crate) const ALICE: &str = "alice-alice-alice";
pub(crate) const BOB: &str = "bob-bob-bob-bob-bob";
pub(crate) const READER: &str = "alice-reads-only";
const TOKENS: &str = "\
0123456789abcdef
alice-alice-alice user=alice
bob-bob-bob-bob-bob user=bob
alice-reads-only user=alice scopes=read
";

/// What is declared at the moment.
#[derive(Debug)]
pub(crate) struct Declared(Mutex<Arc<Team>>);

impl Declared {
    /// From now on there are these agents and no others.
    pub(crate) fn declare(&self, agents: Vec<Agent>) {
        *self.0.lock().unwrap() = cast::team(agents);
    }
}

impl Teams for Declared {
    fn current(&self) -> Arc<Team> {
        Arc::clone(&self.0.lock().unwrap())
    }
}

pub(crate) struct Stage {
    pub(crate) model: FakeModel,
    pub(crate) runtime: Runtime,
    pub(crate) teams: Arc<Declared>,
    pub(crate) address: SocketAddr,
    pub(crate) drain: Drain,
    pub(crate) server: JoinHandle<()>,
    folder: tempfile::TempDir,
}

impl Stage {
    /// One agent, `boss`.
    pub(crate) async fn new(brain: impl Brain + 'static) -> Self {
        Self::with(vec![solo("boss", vec![])], brain, Limits::default()).await
    }

    pub(crate) async fn with(agents: Vec<Agent>, brain: impl Brain + 'static, limits: Limits) -> Self {
        Self::with_tools(agents, brain, limits, Toolbox::builtin()).await
    }

    /// A server with these tools.
    pub(crate) async fn with_tools(
        agents: Vec<Agent>,
        brain: impl Brain + 'static,
        limits: Limits,
        tools: Toolbox,
    ) -> Self {
        Self::build(any_store().await, agents, brain, limits, tools).await
    }

    /// A server over this store.
    pub(crate) async fn on(
        store: Arc<dyn Store>,
        agents: Vec<Agent>,
        brain: impl Brain + 'static,
        limits: Limits,
    ) -> Self {
        Self::build(store, agents, brain, limits, Toolbox::builtin()).await
    }

    async fn build(
        store: Arc<dyn Store>,
        agents: Vec<Agent>,
        brain: impl Brain + 'static,
        limits: Limits,
        tools: Toolbox,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let model = FakeModel::start(brain).await;
        let mut settings = ModelSettings { openai: ProviderSettings::at(model.url()), ..ModelSettings::default() };
        settings.limits = (&limits).into();
        settings.limits.backoff = Backoff { base: Duration::from_millis(1), max: Duration::from_millis(5) };
        let parts = Parts {
            store,
            models: Models::new(settings),
            tools,
            servers: entourage_outside::mcp::Servers::none(),
            workspace: Arc::new(Workspace::open(folder.path()).unwrap()),
            limits,
            variables: entourage_model::Variables::default(),
            remotes: entourage_outside::remote::Remotes::plain(),
            vault: entourage_runtime::SealedVault::of_this_process(),
            slots: 100,
            data: None,
            task_files: None,
        };
        let runtime = Runtime::start(parts).await.unwrap();
        let server = Server::listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let (address, drain) = (server.address(), Drain::default());
        let teams = Arc::new(Declared(Mutex::new(cast::team(agents))));
        let service = Service::new(runtime.clone(), teams.clone(), Tokens::parse(TOKENS).unwrap());
        let server = tokio::spawn(server.run(service, drain.clone()));
        Self { model, runtime, teams, address, drain, server, folder }
    }

    /// Lays a file into the workspace.
    #[expect(clippy::disallowed_methods, reason = "a test writes what a tool then reads")]
    pub(crate) fn file(&self, path: &str, text: &str) {
        std::fs::write(self.folder.path().join(path), text).unwrap();
    }

    /// A request that would be answered, to be changed by a case.
    pub(crate) fn request(&self, method: &str, path: &str) -> hyper::http::request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header("host", self.address.to_string())
            .header("authorization", format!("Bearer {TOKEN}"))
    }

    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        client::send(self.address, request).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(self.request("GET", path).body(Full::default()).unwrap()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(self.request("DELETE", path).body(Full::default()).unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_text(path, body.to_string()).await
    }

    pub(crate) async fn post_text(&self, path: &str, body: impl Into<Bytes>) -> Answer {
        let request = self.request("POST", path).header("content-type", "application/json");
        self.send(request.body(Full::new(body.into())).unwrap()).await
    }

    /// The same with an idempotency key.
    pub(crate) async fn post_once(&self, path: &str, key: &str, body: &Value) -> Answer {
        let request = self.request("POST", path).header("content-type", "application/json");
        let request = request.header("idempotency-key", key);
        self.send(request.body(Full::new(body.to_string().into())).unwrap()).await
    }

    pub(crate) async fn put(&self, path: &str, kind: &str, body: &'static [u8]) -> Answer {
        let request = self.request("PUT", path).header("content-type", kind);
        self.send(request.body(Full::new(Bytes::from_static(body))).unwrap()).await
    }

    /// The id of a new thread.
    pub(crate) async fn create(&self, agent: &str, message: Option<&str>) -> String {
        let answer = self.post("/threads", &json!({ "agent": agent, "message": message })).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()["thread_id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn say(&self, thread: &str, content: &str) {
        let answer = self.post(&format!("/threads/{thread}/messages"), &json!({ "content": content })).await;
        assert_eq!(answer.status, 202, "{answer:?}");
    }

    /// The thread once it rests.
    pub(crate) async fn settle(&self, thread: &str) -> Value {
        let answer = self.get(&format!("/threads/{thread}/wait?timeout_seconds=20")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }

    pub(crate) async fn stream(&self, path: &str, last: Option<u64>) -> Events {
        let mut request = self.request("GET", path);
        if let Some(last) = last {
            request = request.header("last-event-id", last.to_string());
        }
        let mut sender = client::open(self.address).await;
        let response = sender.send_request(request.body(Full::default()).unwrap()).await.unwrap();
        Events::new(response, sender)
    }
}
