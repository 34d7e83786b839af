//! Several runtimes on one PostgreSQL: whatever one of them does, the others can ask for, stop, wait for and go on with.

use crate::stage::{LONG, by_turn};
use async_trait::async_trait;
use entourage_model::{Agent, EffectClass, Limits, Role, RunStatus, Team, ThreadStatus, ToolSpec, Variables};
use entourage_outside::model::{ModelSettings, Models, ProviderSettings};
use entourage_outside::tool::{Call, Output, Tool, Toolbox};
use entourage_outside::workspace::Workspace;
use entourage_runtime::{Created, NewRoot, Notice, Outgoing, Parts, Runtime};
use entourage_store::Store;
use entourage_store_postgres::{Options, PostgresStore};
use entourage_testkit::breaking_store::BreakingStore;
use entourage_testkit::cast::{self, blocking, solo};
use entourage_testkit::fake_model::Brain;
use entourage_testkit::postgres::Database;
use entourage_testkit::{FakeModel, Reply};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// Nodes and what they share.
struct Cluster {
    model: FakeModel,
    team: Arc<Team>,
    hanging: Arc<Hanging>,
    folder: tempfile::TempDir,
    options: Options,
    /// What is added to the database's URL.
    wishes: &'static str,
    database: Database,
}

struct Node {
    runtime: Runtime,
    store: Arc<BreakingStore>,
}

/// A tool that never comes back.
#[derive(Debug)]
struct Hang {
    spec: Arc<ToolSpec>,
    hanging: Arc<Hanging>,
}

/// How many calls of it began and how many were dropped.
#[derive(Debug)]
struct Hanging {
    begun: Semaphore,
    dropped: Semaphore,
}

struct Dropped(Arc<Hanging>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.dropped.add_permits(1);
    }
}

#[async_trait]
impl Tool for Hang {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, _call: Call) -> Output {
        let _dropped = Dropped(Arc::clone(&self.hanging));
        self.hanging.begun.add_permits(1);
        std::future::pending().await
    }
}

impl Cluster {
    async fn new(agents: Vec<Agent>, brain: impl Brain + 'static) -> Self {
        Self {
            model: FakeModel::start(brain).await,
            team: cast::team(agents),
            hanging: Arc::new(Hanging { begun: Semaphore::new(0), dropped: Semaphore::new(0) }),
            folder: tempfile::tempdir().unwrap(),
            options: Options::default(),
            wishes: "",
            database: Database::new(),
        }
    }

    async fn node(&self) -> Node {
        self.node_with(100).await
    }

    async fn node_with(&self, slots: usize) -> Node {
        let url = format!("{}{}", self.database.url(), self.wishes);
        let store = PostgresStore::open(&url, self.options.clone()).await.unwrap();
        let store = Arc::new(BreakingStore::new(Arc::new(store)));
        let spec = ToolSpec {
            name: "hang".into(),
            description: "Never comes back.".to_owned(),
            parameters: Arc::new(json!({ "type": "object" })),
            class: EffectClass::AtMostOnce,
        };
        let mut tools = Toolbox::builtin();
        tools.insert(Arc::new(Hang { spec: Arc::new(spec), hanging: Arc::clone(&self.hanging) }));
        let models = ModelSettings { openai: ProviderSettings::at(self.model.url()), ..ModelSettings::default() };
        let parts = Parts {
            store: Arc::clone(&store) as Arc<dyn Store>,
            models: Models::new(models),
            tools,
            servers: entourage_outside::mcp::Servers::none(),
            workspace: Arc::new(Workspace::open(self.folder.path()).unwrap()),
            limits: Limits::default(),
            variables: Variables::default(),
            remotes: entourage_outside::remote::Remotes::plain(),
            vault: entourage_runtime::SealedVault::new([7; 32]),
            slots,
            data: None,
            task_files: None,
        };
        Node { runtime: Runtime::start(parts).await.unwrap(), store }
    }

    /// A thread of agent `boss`, held by this node.
    async fn create(&self, node: &Node, message: &str) -> Created {
        let root = NewRoot {
            team: Arc::clone(&self.team),
            agent: "boss".into(),
            message: Some(Outgoing::user(message)),
            user_id: None,
            tags: Vec::new(),
            files: Vec::new(),
            variables: BTreeMap::new(),
        };
        node.runtime.create(root).await.unwrap()
    }
}

async fn times(semaphore: &Semaphore, count: u32) {
    let passed = tokio::time::timeout(LONG, semaphore.acquire_many(count)).await;
    passed.expect("it happens in time").unwrap().forget();
}

async fn texts(node: &Node, created: &Created, role: Role) -> Vec<String> {
    let journal = node.runtime.journal(created.thread, 0, 1000).await.unwrap();
    let messages = journal.iter().filter_map(|stored| stored.event.message());
    messages.filter(|message| message.role == role).map(|message| message.content.clone()).collect()
}

async fn cancel_across(wishes: &'static str) {
    let brain = by_turn(vec![("boss", vec![Reply::call("hang", json!({})), Reply::text("over")])]);
    let mut cluster = Cluster::new(vec![solo("boss", vec![cast::tool("hang")])], brain).await;
    cluster.wishes = wishes;
    let (here, there) = (cluster.node().await, cluster.node().await);
    let created = cluster.create(&there, "go").await;
    times(&cluster.hanging.begun, 1).await;
    let (run, begin) = (created.run.clone().unwrap(), Instant::now());
    let (cancelled, ()) = tokio::join!(here.runtime.cancel(&run), async {
        times(&cluster.hanging.dropped, 1).await;
        let took = begin.elapsed();
        assert!(took < Duration::from_secs(1), "{wishes}: it took {took:?}");
    });
    cancelled.unwrap();
    assert_eq!(here.runtime.run(&run).await.unwrap().unwrap().status, RunStatus::Cancelled);
    assert_eq!(here.runtime.threads_in_memory(), 0, "it was the other node's thread");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_reaches_a_tool_on_another_node_within_a_second() {
    cancel_across("").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_does_so_even_where_nobody_hints() {
    cancel_across("?listen=off").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_ends_hands_its_threads_over_at_once() {
    let cluster = Cluster::new(vec![solo("boss", vec![])], Reply::hang()).await;
    let (here, there) = (cluster.node().await, cluster.node().await);
    here.runtime.resume(None);
    let created = cluster.create(&there, "go").await;
    cluster.model.until_requests(1).await;
    let begin = Instant::now();
    there.runtime.shutdown().await;
    cluster.model.until_requests(2).await;
    assert!(begin.elapsed() < Duration::from_secs(5), "a life has 15: it took {:?}", begin.elapsed());
    assert_eq!(here.runtime.threads_in_memory(), 1);
    here.runtime.terminate(created.thread).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_waiting_and_watching_work_from_any_node() {
    let brain = by_turn(vec![("boss", vec![Reply::text("first"), Reply::text("second")])]);
    let cluster = Cluster::new(vec![solo("boss", vec![])], brain).await;
    let (here, there) = (cluster.node().await, cluster.node().await);
    let created = cluster.create(&there, "one").await;
    let row = here.runtime.wait(created.thread, LONG).await.unwrap();
    assert_eq!(row.status, ThreadStatus::Idle);
    let mut watcher = here.runtime.watch(row.root);
    there.runtime.send(created.thread, Outgoing::user("two"), None).await.unwrap();
    let heard = tokio::time::timeout(LONG, watcher.next()).await.expect("it is heard of");
    assert!(matches!(heard, Notice::Lagged), "{heard:?}");
    assert!(here.runtime.wait_for_tree(created.thread, LONG).await.unwrap());
    assert_eq!(texts(&here, &created, Role::Assistant).await, ["first", "second"]);
    here.runtime.put_file(created.thread, "/note".to_owned(), "text/plain".to_owned(), b"hello").await.unwrap();
    let (_, bytes) = there.runtime.file(created.thread, "/note").await.unwrap().unwrap();
    assert_eq!(bytes, b"hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_watches_is_told_of_what_another_node_does_even_where_nobody_hints() {
    let brain = by_turn(vec![("boss", vec![Reply::text("first"), Reply::text("second"), Reply::text("third")])]);
    let mut cluster = Cluster::new(vec![solo("boss", vec![])], brain).await;
    cluster.wishes = "?listen=off";
    let (here, there) = (cluster.node().await, cluster.node().await);
    let created = cluster.create(&there, "one").await;
    let mut watcher = here.runtime.watch(created.thread);
    for words in ["first", "second", "third"] {
        let told = async {
            while texts(&here, &created, Role::Assistant).await.last().is_none_or(|last| last != words) {
                watcher.next().await;
            }
        };
        tokio::time::timeout(LONG, told).await.expect("it is told");
        there.runtime.send(created.thread, Outgoing::user("more"), None).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_waits_for_a_child_that_works_on_another_node() {
    let brain = by_turn(vec![
        ("boss", vec![Reply::call("helper", json!({ "message": "help" })), Reply::text("over")]),
        ("helper", vec![Reply::text("helped")]),
    ]);
    let cluster = Cluster::new(vec![solo("boss", vec![blocking("helper")]), solo("helper", vec![])], brain).await;
    let (here, there) = (cluster.node_with(1).await, cluster.node().await);
    there.runtime.resume(None);
    let created = cluster.create(&here, "go").await;
    assert!(here.runtime.wait_for_tree(created.thread, LONG).await.unwrap());
    assert_eq!(texts(&here, &created, Role::Tool).await, ["helped"]);
    assert_eq!(texts(&here, &created, Role::Assistant).await.last().unwrap(), "over");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_nobody_hears_stops_before_others_take_over_and_joins_again() {
    let brain = by_turn(vec![("boss", vec![Reply::call("hang", json!({})), Reply::text("over")])]);
    let mut cluster = Cluster::new(vec![solo("boss", vec![cast::tool("hang")])], brain).await;
    cluster.options.node_life = Duration::from_secs(4);
    let (here, there) = (cluster.node().await, cluster.node().await);
    here.runtime.resume(None);
    let created = cluster.create(&there, "go").await;
    times(&cluster.hanging.begun, 1).await;
    there.store.mute(true);
    times(&cluster.hanging.dropped, 1).await;
    let row = here.runtime.thread(created.thread).await.unwrap().unwrap();
    assert_eq!((row.status, row.epoch), (ThreadStatus::Running, 1), "nobody has taken it yet");
    let row = here.runtime.wait(created.thread, LONG).await.unwrap();
    assert_eq!(row.status, ThreadStatus::Idle);
    let told = texts(&here, &created, Role::Tool).await;
    assert!(told[0].contains("unknown"), "the call is not repeated: {told:?}");
    assert_eq!(cluster.hanging.begun.available_permits(), 0);
    there.store.mute(false);
    let again = until_member(&cluster, &there).await;
    times(&cluster.hanging.begun, 1).await;
    here.runtime.terminate(again.thread).await.unwrap();
}

/// A thread that this node works on, as soon as it is back.
async fn until_member(cluster: &Cluster, node: &Node) -> Created {
    let begin = Instant::now();
    loop {
        let created = cluster.create(node, "again").await;
        if node.runtime.threads_in_memory() > 0 {
            return created;
        }
        node.runtime.terminate(created.thread).await.unwrap();
        assert!(begin.elapsed() < LONG, "it never joins again");
    }
}
