//! The runtime of one process: what its actors share, and how it starts and ends.

use crate::actor::{self, Handle};
use crate::cache::StateCache;
use crate::hub::{Hub, Watcher};
use crate::poller;
use crate::team::Teams;
use entourage_engine::{ThreadState, apply};
use entourage_model::{Ids, Limits, Name, NodeId, ThreadId, ToolSpec};
use entourage_outside::model::Models;
use entourage_outside::tool::Toolbox;
use entourage_outside::workspace::Workspace;
use entourage_store::{Claim, EnqueueError, Store, StoreError};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How many events are read at once while a state is folded.
const JOURNAL_PAGE: usize = 1000;

/// When to look again for an actor that could not be reached.
const RING_AGAIN: [Duration; 3] = [Duration::from_millis(2), Duration::from_millis(20), Duration::from_millis(200)];

/// How long a call that must not be repeated may still run after the runtime was asked to end.
const GRACE: Duration = Duration::from_secs(8);

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
    #[error("the key was used with another message")]
    KeyConflict,
    #[error("a journal cannot be read: {0}")]
    Journal(String),
    #[error("the work broke: {0}")]
    Broken(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RuntimeError {
    pub(crate) fn from_enqueue(error: EnqueueError, thread: ThreadId) -> Self {
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
    pub workspace: Arc<Workspace>,
    pub limits: Limits,
    /// How many threads may be at work at once; the others are `ready` until there is room.
    pub slots: usize,
}

/// A handle to the runtime of this process. Clones share it; `shutdown` ends it.
#[derive(Clone, Debug)]
pub struct Runtime {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) node: NodeId,
    pub(crate) models: Models,
    pub(crate) tools: Toolbox,
    pub(crate) specs: BTreeMap<Name, Arc<ToolSpec>>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) limits: Limits,
    pub(crate) slots: usize,
    pub(crate) teams: Teams,
    pub(crate) cache: StateCache,
    pub(crate) hub: Hub,
    /// The threads that this process holds. An actor leaves by itself when it ends.
    pub(crate) actors: Mutex<HashMap<ThreadId, Handle>>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stopping: CancellationToken,
    /// Rung when a slot is free and ready threads may wait in the store.
    pub(crate) room: Notify,
    /// Threads were left `ready` because there was no slot.
    pub(crate) overflow: AtomicBool,
    /// The store's last complaint, for those who wait for something.
    trouble: watch::Sender<String>,
}

impl Runtime {
    /// Announces this process to the store. Nothing is taken up before `resume` or the first message.
    pub async fn start(parts: Parts) -> Result<Self, RuntimeError> {
        let node = Ids::new(parts.store.now(), fastrand::u64(..)).node();
        parts.store.register(node).await?;
        parts.store.sweep().await?;
        let specs = parts.tools.specs().map(|spec| (spec.name.clone(), Arc::clone(spec))).collect();
        let inner = Arc::new(Inner {
            teams: Teams::new(Arc::clone(&parts.store)),
            store: parts.store,
            node,
            models: parts.models,
            tools: parts.tools,
            specs,
            workspace: parts.workspace,
            limits: parts.limits,
            slots: parts.slots.max(1),
            cache: StateCache::default(),
            hub: Hub::default(),
            actors: Mutex::default(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            room: Notify::new(),
            overflow: AtomicBool::new(false),
            trouble: watch::Sender::new(String::new()),
        });
        inner.tasks.spawn(poller::beat(Arc::clone(&inner)));
        Ok(Self { inner })
    }

    /// Takes up what is `ready`, now and from now on: everything, or one tree.
    pub fn resume(&self, root: Option<ThreadId>) {
        self.inner.tasks.spawn(poller::poll(Arc::clone(&self.inner), root));
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// What happens in a tree from now on.
    pub fn watch(&self, root: ThreadId) -> Watcher {
        self.inner.hub.watch(root)
    }

    /// The state of a thread as its journal tells it.
    pub async fn state(&self, thread: ThreadId) -> Result<Option<ThreadState>, RuntimeError> {
        self.inner.fold(thread).await
    }

    /// How many threads this process holds in memory right now.
    pub fn threads_in_memory(&self) -> usize {
        self.inner.actors().len()
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
        self.inner.tasks.close();
        if tokio::time::timeout(GRACE + Duration::from_secs(1), self.inner.tasks.wait()).await.is_err() {
            tracing::warn!("some threads did not let go in time; they are taken up again at the next start");
        }
    }
}

impl Inner {
    /// Lets those who wait know that the store refuses.
    pub(crate) fn trouble(&self, error: &StoreError) {
        self.trouble.send_replace(error.to_string());
    }

    /// Complaints from now on.
    pub(crate) fn troubles(&self) -> watch::Receiver<String> {
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

    pub(crate) fn actors(&self) -> std::sync::MutexGuard<'_, HashMap<ThreadId, Handle>> {
        // Nothing that holds this lock can panic half way: the map is whole even if it is poisoned.
        self.actors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another thread may be taken up here.
    pub(crate) fn has_room(&self) -> bool {
        let room = !self.stopping.is_cancelled() && self.actors().len() < self.slots;
        if !room {
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
            if !self.ring(thread) {
                let inner = Arc::clone(self);
                self.tasks.spawn(async move { inner.ring_again(thread).await });
            }
        }
    }

    /// Tells an actor that its queue has grown; false if there is no such actor here.
    fn ring(&self, thread: ThreadId) -> bool {
        let handle = self.actors().get(&thread).cloned();
        handle.inspect(|handle| handle.bell.notify_one()).is_some()
    }

    /// A thread that was just taken up may have a line that came before its actor could be reached. A thread that
    /// lives elsewhere, or waits for room, costs these few looks.
    async fn ring_again(&self, thread: ThreadId) {
        for wait in RING_AGAIN {
            if self.rest(wait).await.is_err() || self.ring(thread) {
                return;
            }
        }
    }

    /// Folds a thread's journal. `None` when there is no such thread.
    pub(crate) async fn fold(&self, thread: ThreadId) -> Result<Option<ThreadState>, RuntimeError> {
        let mut state: Option<ThreadState> = None;
        loop {
            let after = state.as_ref().map_or(0, |state| state.seq);
            let page = self.store.journal(thread, after, JOURNAL_PAGE).await?;
            let full = page.len() == JOURNAL_PAGE;
            for stored in page {
                match &mut state {
                    Some(state) => apply(state, &stored.event),
                    None => {
                        let born = ThreadState::born(&stored.event);
                        state = Some(born.ok_or_else(|| RuntimeError::Journal(format!("{thread} has no beginning")))?);
                    }
                }
            }
            if !full {
                return Ok(state);
            }
        }
    }
}
