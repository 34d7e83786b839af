//! The runtime of one process: what its actors share, and how it starts and ends.

use crate::actor;
use crate::artifact::Artifacts;
use crate::cache::StateCache;
use crate::hub::{Hub, Watcher};
use crate::mirror::Mirror;
use crate::node::{self, Node};
use crate::poller;
use crate::roster::{Expected, Roster};
use crate::team::Teams;
use crate::vault::SealedVault;
use entourage_engine::{ThreadState, World, apply};
use entourage_model::{FileRow, Limits, Name, Team, ThreadId, ToolSpec, Variables};
use entourage_outside::mcp::Servers;
use entourage_outside::model::Models;
use entourage_outside::remote::Remotes;
use entourage_outside::tool::{Scripts, Toolbox};
use entourage_outside::workspace::{PathFault, Workspace};
use entourage_outside::workspaces::Workspaces;
use entourage_store::{Claim, EnqueueError, JournalReader, Store, StoreError};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long a call that must not be repeated may still run after the runtime was asked to end.
const GRACE: Duration = Duration::from_secs(6);
/// How long the store may take to hear that this node ends.
const FAREWELL: Duration = Duration::from_millis(500);

#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error("there is no thread `{0}`")]
    NoThread(ThreadId),
    #[error("there is no run `{0}`")]
    NoRun(String),
    #[error("there is no agent `{0}`")]
    NoAgent(Name),
    #[error("the thread is terminated")]
    Terminated,
    #[error("the queue of the thread is full")]
    QueueFull,
    #[error("the message has {found} bytes; at most {max} are allowed")]
    MessageTooLarge { found: usize, max: usize },
    #[error("the key was used for another request")]
    KeyConflict,
    #[error("a journal cannot be read: {0}")]
    Journal(String),
    #[error("the work broke: {0}")]
    Broken(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RuntimeError {
    /// What the store cannot give although it is there: trying again changes nothing.
    pub fn damage(&self) -> Option<StoreError> {
        match self {
            Self::Journal(fault) => Some(StoreError::Corrupt(fault.clone())),
            Self::Store(error) => Some(error.clone()).filter(StoreError::is_damage),
            Self::NoThread(_)
            | Self::NoRun(_)
            | Self::NoAgent(_)
            | Self::Terminated
            | Self::QueueFull
            | Self::MessageTooLarge { .. }
            | Self::KeyConflict
            | Self::Broken(_) => None,
        }
    }

    /// Why a line was not queued.
    pub fn from_enqueue(error: EnqueueError, thread: ThreadId) -> Self {
        match error {
            EnqueueError::NoThread => Self::NoThread(thread),
            EnqueueError::Terminated => Self::Terminated,
            EnqueueError::QueueFull => Self::QueueFull,
            EnqueueError::Conflict => Self::KeyConflict,
            EnqueueError::Store(error) => Self::Store(error),
        }
    }
}

/// What a runtime is made of.
#[derive(Debug)]
pub struct Parts {
    pub store: Arc<dyn Store>,
    pub models: Models,
    pub tools: Toolbox,
    /// MCP servers, whose tools agents may call. The runtime ends them when it ends.
    pub servers: Servers,
    /// The project's folder.
    pub workspace: Arc<Workspace>,
    pub limits: Limits,
    /// What holds for every thread, and for every thread of a user.
    pub variables: Variables,
    /// Servers that run agents for this process.
    pub remotes: Remotes,
    /// Seals secret variables before they are stored.
    pub vault: SealedVault,
    /// How many threads may be at work at once; the others are `ready` until there is room.
    pub slots: usize,
    /// Where runs and assignments are shown as files; nowhere without one.
    pub data: Option<PathBuf>,
    /// The project, where AgentScope's tasks are to be shown in it as files.
    pub task_files: Option<PathBuf>,
}

/// A handle to the runtime of this process. Clones share it; `shutdown` ends it.
#[derive(Clone, Debug)]
pub struct Runtime {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) node: Node,
    pub(crate) models: Models,
    pub(crate) tools: Toolbox,
    pub(crate) specs: BTreeMap<Name, Arc<ToolSpec>>,
    pub(crate) servers: Servers,
    pub(crate) scripts: Scripts,
    pub(crate) workspaces: Workspaces,
    pub(crate) limits: Limits,
    pub(crate) variables: Variables,
    pub(crate) remotes: Arc<Remotes>,
    pub(crate) vault: SealedVault,
    pub(crate) slots: usize,
    pub(crate) teams: Teams,
    pub(crate) artifacts: Artifacts,
    pub(crate) cache: StateCache,
    pub(crate) hub: Hub,
    pub(crate) mirror: Mirror,
    /// An actor leaves by itself when it ends.
    pub(crate) roster: Roster,
    pub(crate) tasks: TaskTracker,
    pub(crate) stopping: CancellationToken,
    /// Cancelled when every actor has ended: until then the node lives.
    pub(crate) ended: CancellationToken,
    /// Rung when ready threads may wait in the store and can be taken up: a slot is free, or one that was tried in vain
    /// has come to a commit.
    pub(crate) room: Notify,
    /// Threads were left `ready` because there was no slot.
    pub(crate) overflow: AtomicBool,
    /// The store's last complaint, for those who wait for something.
    trouble: watch::Sender<Option<StoreError>>,
    /// Threads that wait rather than fail where their model has no key, or a server that they need cannot be used, each
    /// until its question is taken back.
    pub(crate) spared: Mutex<HashSet<ThreadId>>,
}

impl Runtime {
    /// From now on others read at any time what has happened, so that it becomes durable sooner.
    pub fn expect_readers(&self) {
        self.inner.hub.expect_readers();
    }

    /// Announces this process to the store. Nothing is taken up before `resume` or the first message.
    pub async fn start(parts: Parts) -> Result<Self, RuntimeError> {
        let node = Node::join(&*parts.store).await?;
        parts.store.sweep().await?;
        let specs = parts.tools.specs().map(|spec| (spec.name.clone(), Arc::clone(spec))).collect();
        let inner = Arc::new(Inner {
            teams: Teams::new(Arc::clone(&parts.store)),
            store: parts.store,
            node,
            models: parts.models,
            tools: parts.tools,
            specs,
            servers: parts.servers,
            scripts: Scripts::default(),
            workspaces: Workspaces::new(parts.workspace),
            limits: parts.limits,
            variables: parts.variables,
            remotes: Arc::new(parts.remotes),
            vault: parts.vault,
            slots: parts.slots.max(1),
            artifacts: Artifacts::default(),
            cache: StateCache::default(),
            hub: Hub::default(),
            mirror: Mirror::new(parts.data, parts.task_files),
            roster: Roster::default(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            ended: CancellationToken::new(),
            room: Notify::new(),
            overflow: AtomicBool::new(false),
            trouble: watch::Sender::new(None),
            spared: Mutex::default(),
        });
        // These go on until the last actor has ended.
        tokio::spawn(node::beat(Arc::clone(&inner)));
        tokio::spawn(poller::heed(Arc::clone(&inner)));
        tokio::spawn(poller::listen(Arc::clone(&inner)));
        tokio::spawn(poller::watch(Arc::clone(&inner)));
        inner.tasks.spawn(mend(Arc::clone(&inner)));
        Ok(Self { inner })
    }

    /// Has these threads wait where their model has no key, or a server that they need cannot be used: they were left
    /// unfinished, and whoever comes next with what is missing goes on with them. Each holds a slot until then; stopping
    /// or cancelling it ends the wait.
    pub fn spare(&self, threads: impl IntoIterator<Item = ThreadId>) {
        self.inner.spared.lock().unwrap_or_else(PoisonError::into_inner).extend(threads);
    }

    /// Takes up what is `ready`, now and from now on: everything, or one tree.
    pub fn resume(&self, root: Option<ThreadId>) {
        self.inner.tasks.spawn(poller::poll(Arc::clone(&self.inner), root));
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// What we call the tool that somebody names, perhaps as another harness does. A name that nobody here answers to
    /// stays as it is.
    pub fn own_name_of(&self, tool: Name) -> Name {
        self.inner.tools.canonical(tool.as_str()).cloned().unwrap_or(tool)
    }

    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// What happens in a tree from now on.
    pub fn watch(&self, root: ThreadId) -> Watcher {
        self.inner.hub.watch(root)
    }

    /// The state of a thread as its journal tells it.
    pub async fn state(&self, thread: ThreadId) -> Result<Option<Arc<ThreadState>>, RuntimeError> {
        self.inner.state(thread).await
    }

    /// How many threads this process holds in memory right now.
    pub fn threads_in_memory(&self) -> usize {
        self.inner.roster.len()
    }

    /// Waits until this process holds no thread.
    pub async fn until_parked(&self) {
        while self.threads_in_memory() > 0 {
            tokio::task::yield_now().await;
        }
    }

    /// Ends every actor: what may be repeated is dropped at once, what may not gets a few seconds.
    /// Everything that was not finished is `ready` for whoever comes next.
    pub async fn shutdown(&self) {
        self.inner.stopping.cancel();
        self.inner.roster.ring_all();
        self.inner.tasks.close();
        if tokio::time::timeout(GRACE + Duration::from_secs(1), self.inner.tasks.wait()).await.is_err() {
            tracing::warn!("some threads did not let go in time; they are taken up again at the next start");
        }
        self.inner.servers.close().await;
        self.inner.ended.cancel();
        // Whoever works on the same store takes up at once what this node leaves.
        match tokio::time::timeout(FAREWELL, self.inner.store.retire(self.inner.node.id())).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the store was not told that this node ends"),
            Err(_) => tracing::warn!("the store was not told in time that this node ends"),
        }
    }
}

/// Makes good on disk what a process before this one could not.
async fn mend(inner: Arc<Inner>) {
    if let Err(error) = inner.mend_mirror().await {
        tracing::warn!(%error, "the files of earlier runs could not be looked at");
    }
}

impl Inner {
    /// What a decision about a thread of this team may look at.
    pub(crate) fn world<'a>(&'a self, team: &'a Team, tree_left: u32) -> World<'a> {
        const NO_FILES: &BTreeMap<String, FileRow> = &BTreeMap::new();
        const NO_DEFINITIONS: &BTreeMap<String, Arc<str>> = &BTreeMap::new();
        World {
            team,
            tools: &self.specs,
            served: &self.servers,
            variables: &self.variables,
            vault: &self.vault,
            limits: &self.limits,
            files: NO_FILES,
            definitions: NO_DEFINITIONS,
            echoes: &[],
            tree_left,
            since: self.node.awake_since(self.store.now()),
        }
    }

    /// The prompts that these folders of the project hold now. One without its file holds an empty prompt; one that
    /// cannot be looked at, such as a folder elsewhere, is left out: then what was read with the declarations counts.
    pub(crate) async fn definitions(&self, folders: Vec<String>) -> BTreeMap<String, Arc<str>> {
        if folders.is_empty() {
            return BTreeMap::new();
        }
        let workspaces = self.workspaces.clone();
        let read = move |folder: String| {
            let text = match workspaces.definition(&folder) {
                Ok(text) => text.unwrap_or_default(),
                Err(PathFault::NotFound { .. }) => String::new(),
                Err(fault) => {
                    tracing::warn!(%folder, %fault, "the folder gives no prompt");
                    return None;
                }
            };
            Some((folder, Arc::from(text)))
        };
        let read = tokio::task::spawn_blocking(move || folders.into_iter().filter_map(read).collect());
        read.await.unwrap_or_default()
    }

    /// Makes the folder that a thread is going to work in. One that cannot be made is told when a tool needs it.
    pub(crate) async fn make_folder(&self, folder: String) {
        let workspaces = self.workspaces.clone();
        let made = tokio::task::spawn_blocking(move || workspaces.root(Some(&folder)).err()).await;
        if let Ok(Some(fault)) = made {
            tracing::warn!(%fault, "the folder of a thread cannot be opened");
        }
    }

    /// The files of a thread.
    pub(crate) async fn files_by_path(&self, thread: ThreadId) -> Result<BTreeMap<String, FileRow>, StoreError> {
        let files = self.store.files(thread).await?;
        Ok(files.into_iter().map(|file| (file.path.clone(), file)).collect())
    }

    /// Lets those who wait know that the store refuses.
    pub(crate) fn trouble(&self, error: &StoreError) {
        self.trouble.send_replace(Some(error.clone()));
    }

    /// Complaints from now on.
    pub(crate) fn troubles(&self) -> watch::Receiver<Option<StoreError>> {
        self.trouble.subscribe()
    }

    /// Waits for that long; an error when the runtime is about to end.
    pub(crate) async fn rest(&self, wait: Duration) -> Result<(), ()> {
        tokio::select! {
            () = self.stopping.cancelled() => Err(()),
            () = tokio::time::sleep(wait) => Ok(()),
        }
    }

    pub(crate) fn grace(&self) -> Duration {
        GRACE
    }

    /// Room for what the store will have claimed, if there is any; it is held until that is taken up.
    pub(crate) fn room(&self) -> Option<Expected<'_>> {
        let closed = self.stopping.is_cancelled() || !self.node.is_member();
        let room = if closed { None } else { self.roster.expect_below(self.slots) };
        if room.is_none() {
            self.overflow.store(true, Ordering::Release);
        }
        room
    }

    /// Starts an actor for each claimed thread and wakes the ones that live here already.
    pub(crate) fn take_up(self: &Arc<Self>, claims: Vec<Claim>, notified: &[ThreadId]) {
        for claim in claims {
            actor::start(self, claim);
        }
        for &thread in notified {
            self.roster.ring(thread);
        }
    }

    /// The state of a thread, folded from what is kept of it onwards: whoever looks again pays for what is new.
    async fn state(&self, thread: ThreadId) -> Result<Option<Arc<ThreadState>>, RuntimeError> {
        let Some(row) = self.store.thread(thread).await? else { return Ok(None) };
        if let Some(kept) = self.cache.look(thread, row.seq) {
            return Ok(Some(kept));
        }
        let mut state = match self.cache.take_beginning(thread) {
            Some(beginning) => beginning,
            None => match self.fold(thread).await? {
                Some(state) => Arc::new(state),
                None => return Ok(None),
            },
        };
        if state.seq < row.seq {
            let mut journal = JournalReader::behind(&*self.store, thread, state.seq);
            let growing = Arc::make_mut(&mut state);
            while let Some(stored) = journal.next().await? {
                apply(growing, &stored.event);
            }
        }
        self.cache.put(Arc::clone(&state));
        Ok(Some(state))
    }

    /// Folds a thread's journal. `None` when there is no such thread.
    pub(crate) async fn fold(&self, thread: ThreadId) -> Result<Option<ThreadState>, RuntimeError> {
        let mut journal = JournalReader::of_thread(&*self.store, thread);
        let Some(first) = journal.next().await? else { return Ok(None) };
        let born = ThreadState::born(&first.event);
        let mut state = born.ok_or_else(|| RuntimeError::Journal(format!("{thread} has no beginning")))?;
        while let Some(stored) = journal.next().await? {
            apply(&mut state, &stored.event);
        }
        Ok(Some(state))
    }
}
