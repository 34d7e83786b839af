//! Making root threads and writing to threads, from outside.

use crate::runtime::{Inner, Runtime, RuntimeError};
use entourage_engine::hears_birth;
use entourage_model::{
    Attachment, Dialect, Digest, Event, Ids, Item, Message, MessageId, Name, NewRun, NewThread, Posted, Role, RunId,
    Side, Started, Team, ThreadId, ThreadStatus, VariableValue,
};
use entourage_store::{Claim, EnqueueError, FileRow, NewLine, RootKey, RootMade};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A root thread to be made.
#[derive(Clone, Debug)]
pub struct NewRoot {
    pub team: Arc<Team>,
    pub agent: Name,
    /// The request of the thread's first run. Without one it waits for the first message.
    pub message: Option<Outgoing>,
    pub user_id: Option<String>,
    pub tags: Vec<String>,
    /// Files that are there from the start.
    pub files: Vec<FileRow>,
    /// The thread's own variables, which go before all others.
    pub variables: BTreeMap<String, VariableValue>,
}

/// How somebody else's runtime wants a piece of work to be done.
#[derive(Clone, Debug)]
pub struct Order {
    /// The id that it has there.
    pub run: RunId,
    /// Tools that nobody may call for it.
    pub denied: Vec<Name>,
    /// What makes a repetition the same as the first, beside the run's id.
    pub key: Option<RootKey>,
}

/// Something said to a thread from outside.
#[derive(Clone, Debug)]
pub struct Outgoing {
    pub content: String,
    pub role: Role,
    pub silent: bool,
    pub attachments: Vec<Attachment>,
    /// What is said beside it, for whoever reads the message; models are not told.
    pub metadata: Map<String, Value>,
}

impl Outgoing {
    pub fn user(content: impl Into<String>) -> Self {
        let (attachments, metadata) = (Vec::new(), Map::new());
        Self { content: content.into(), role: Role::User, silent: false, attachments, metadata }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    pub thread: ThreadId,
    pub run: Option<RunId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub message: MessageId,
    pub repeated: bool,
}

/// A line that lies in a thread's queue.
pub(crate) struct Queued {
    pub(crate) number: u64,
    /// What the key's first call had queued, where this one repeats it.
    pub(crate) first: Option<Item>,
}

impl Runtime {
    /// Makes a root thread and takes it up. When this returns, the thread and its message are durable.
    pub async fn create(&self, root: NewRoot) -> Result<Created, RuntimeError> {
        let (new, files) = self.new_root(root, None).await?;
        let inner = Arc::clone(&self.inner);
        self.whole(async move {
            let (thread, run) = (new.id, new.run.as_ref().map(|run| run.id.clone()));
            let room = if new.at_work { inner.room() } else { None };
            let claim = inner.store.create(new, room.as_ref().map(|_| inner.node.id())).await?;
            inner.furnish(thread, files, claim).await?;
            Ok(Created { thread, run })
        })
        .await
    }

    /// The same, once for each key: whoever repeats a request is told what its first call made.
    pub async fn create_once(&self, root: NewRoot, key: RootKey) -> Result<Created, RuntimeError> {
        self.create_keyed(root, None, key).await
    }

    /// The same for work whose run has its id already: repeating it is told of the first.
    pub async fn submit(&self, root: NewRoot, order: Order) -> Result<Created, RuntimeError> {
        let name = format!("run/{}", order.run);
        let key = order.key.clone().unwrap_or_else(|| RootKey { request: Digest::of(name.as_bytes()), name });
        self.create_keyed(root, Some(order), key).await
    }

    /// What the first call with this key made; nothing where the key is free.
    pub async fn made_once(&self, key: &RootKey) -> Result<Option<Created>, RuntimeError> {
        match self.inner.store.made_once(key).await? {
            Some(RootMade::Repeated { thread, run }) => Ok(Some(Created { thread, run })),
            Some(RootMade::Conflict) => Err(RuntimeError::KeyConflict),
            Some(RootMade::New(_)) | None => Ok(None),
        }
    }

    async fn create_keyed(&self, root: NewRoot, order: Option<Order>, key: RootKey) -> Result<Created, RuntimeError> {
        let (new, files) = match self.new_root(root, order).await {
            Ok(new) => new,
            // What the request names may have gone since it came first: that changes nothing for a repetition.
            Err(error) => return self.made_once(&key).await?.ok_or(error),
        };
        let inner = Arc::clone(&self.inner);
        self.whole(async move {
            let (thread, run) = (new.id, new.run.as_ref().map(|run| run.id.clone()));
            let room = if new.at_work { inner.room() } else { None };
            match inner.store.create_once(new, key, room.as_ref().map(|_| inner.node.id())).await? {
                RootMade::New(claim) => {
                    inner.furnish(thread, files, claim).await?;
                    Ok(Created { thread, run })
                }
                RootMade::Repeated { thread, run } => Ok(Created { thread, run }),
                RootMade::Conflict => Err(RuntimeError::KeyConflict),
            }
        })
        .await
    }

    /// The thread as it is to be stored, and its files.
    async fn new_root(&self, root: NewRoot, order: Option<Order>) -> Result<(NewThread, Vec<FileRow>), RuntimeError> {
        let inner = &self.inner;
        if root.team.agent(&root.agent).is_none() {
            return Err(RuntimeError::NoAgent(root.agent));
        }
        let bundle = inner.teams.keep(&root.team).await?;
        let now = inner.store.now();
        let mut ids = Ids::new(now, fastrand::u64(..));
        let thread = ids.thread();
        let (run, denied) = match order {
            Some(order) => (order.run, order.denied),
            None => (ids.run(Dialect::Standard), Vec::new()),
        };
        let (hooked, waits) = hears_birth(&root.team, &root.agent, Side::A);
        let asked =
            root.message.map(|message| self.first_run(&mut ids, (thread, run), &root.agent, message)).transpose()?;
        let (mut run, posted) = asked.unzip();
        let started = Started {
            user_id: root.user_id.clone(),
            denied,
            hooked,
            ..Started::root(thread, root.agent.clone(), bundle, now)
        };
        let has_immediate = root.team.agent(&root.agent).is_some_and(|agent| agent.has_immediate_children());
        let mut events = vec![Event::Started(started)];
        if !root.variables.is_empty() {
            let variables = inner.vault.seal_all(root.variables).map_err(RuntimeError::Broken)?;
            events.push(Event::VariablesSet { variables });
        }
        let mut items = Vec::new();
        if let (Some(posted), true) = (&posted, waits) {
            // Hooks hear of the first message before it is said.
            items.push(Item::Message(posted.clone()));
            run.iter_mut().for_each(|run: &mut NewRun| run.begun = false);
        } else if let Some(posted) = posted {
            // Born at work: the first message need not pass through the queue.
            let deadline = now.after(Duration::from_secs(inner.limits.run_seconds));
            events.push(Event::SessionStarted { deadline, acting: Side::A, ask: None });
            events.push(Event::Posted(Box::new(posted)));
        }
        let new = NewThread {
            id: thread,
            parent: None,
            root: thread,
            depth: 0,
            agent: root.agent,
            bundle,
            user_id: root.user_id,
            tags: root.tags,
            events,
            items,
            // Immediate children start with the thread, and hooks hear of it, whether or not anybody has said anything.
            at_work: run.is_some() || has_immediate || hooked,
            run,
        };
        Ok((new, root.files))
    }

    fn first_run(
        &self,
        ids: &mut Ids,
        (thread, id): (ThreadId, RunId),
        agent: &Name,
        outgoing: Outgoing,
    ) -> Result<(NewRun, Posted), RuntimeError> {
        let request = outgoing.content.clone();
        let message = self.message(ids, outgoing)?;
        let run = NewRun { id: id.clone(), thread, parent: None, agent: agent.clone(), request, begun: true };
        let posted = Posted { run: Some(id), ..Posted::plain(message) };
        Ok((run, posted))
    }

    fn message(&self, ids: &mut Ids, outgoing: Outgoing) -> Result<Message, RuntimeError> {
        let (found, max) = (outgoing.content.len(), self.inner.limits.message_bytes);
        if found > max {
            return Err(RuntimeError::MessageTooLarge { found, max });
        }
        let mut message = Message::new(ids.message(), outgoing.role, outgoing.content, self.inner.store.now());
        message.silent = outgoing.silent;
        message.attachments = outgoing.attachments;
        message.metadata = outgoing.metadata;
        Ok(message)
    }

    /// Queues a message. When this returns, the message is durable. The same key sends it once.
    pub async fn send(&self, thread: ThreadId, outgoing: Outgoing, key: Option<String>) -> Result<Sent, RuntimeError> {
        let mut ids = Ids::new(self.inner.store.now(), fastrand::u64(..));
        let message = self.message(&mut ids, outgoing)?;
        let id = message.id;
        let first = self.queue(thread, Item::Message(Posted::plain(message)), key).await?;
        Ok(match first {
            Some(Item::Message(posted)) => Sent { message: posted.message.id, repeated: true },
            _ => Sent { message: id, repeated: false },
        })
    }

    /// What the first call with this key has sent to the thread; nothing where the key is free there. Files that the
    /// message is said to have need not be there any more.
    pub async fn sent_once(
        &self,
        thread: ThreadId,
        outgoing: Outgoing,
        key: String,
    ) -> Result<Option<Sent>, RuntimeError> {
        let mut ids = Ids::new(self.inner.store.now(), fastrand::u64(..));
        let item = Item::Message(Posted::plain(self.message(&mut ids, outgoing)?));
        let first = self.known_line(thread, item, key).await?;
        Ok(first.map(|posted| Sent { message: posted.message.id, repeated: true }))
    }

    /// Queues a message as the request of a run with this id, once. What the thread may call was settled when it was
    /// made.
    pub async fn ask(&self, thread: ThreadId, outgoing: Outgoing, order: Order) -> Result<(), RuntimeError> {
        let (run, key) = (order.run, order.key.map(|key| key.name));
        let row = self.thread(thread).await?.ok_or(RuntimeError::NoThread(thread))?;
        let request = outgoing.content.clone();
        let item = self.request_of(&run, outgoing)?;
        let new = NewRun { id: run.clone(), thread, parent: None, agent: row.agent, request, begun: false };
        match self.queue_line(thread, (item, Some(new)), key).await?.first {
            Some(Item::Message(first)) if first.run.as_ref() != Some(&run) => Err(RuntimeError::KeyConflict),
            _ => Ok(()),
        }
    }

    /// Whether `ask` was told this before, with this key. Not so where the key is free in the thread.
    pub async fn asked_once(
        &self,
        thread: ThreadId,
        outgoing: Outgoing,
        (run, key): (&RunId, String),
    ) -> Result<bool, RuntimeError> {
        let item = self.request_of(run, outgoing)?;
        match self.known_line(thread, item, key).await? {
            Some(first) if first.run.as_ref() != Some(run) => Err(RuntimeError::KeyConflict),
            first => Ok(first.is_some()),
        }
    }

    fn request_of(&self, run: &RunId, outgoing: Outgoing) -> Result<Item, RuntimeError> {
        let mut ids = Ids::new(self.inner.store.now(), fastrand::u64(..));
        let message = self.message(&mut ids, outgoing)?;
        Ok(Item::Message(Posted { run: Some(run.clone()), ..Posted::plain(message) }))
    }

    /// What was queued with this key before. A key is answered first, and a queue without room takes nothing new.
    async fn known_line(&self, thread: ThreadId, item: Item, key: String) -> Result<Option<Posted>, RuntimeError> {
        let line = NewLine { item, key: Some(key), run: None, messages_max: 0 };
        match self.inner.store.enqueue(thread, line, None).await {
            Ok(queued) => Ok(match queued.first {
                Some(Item::Message(posted)) => Some(posted),
                _ => None,
            }),
            Err(EnqueueError::QueueFull | EnqueueError::Terminated) => Ok(None),
            Err(error) => Err(RuntimeError::from_enqueue(error, thread)),
        }
    }

    /// Ends the current turn of a thread; background children go on. Where there is no turn, nothing happens.
    pub async fn stop(&self, thread: ThreadId) -> Result<(), RuntimeError> {
        let row = self.thread(thread).await?.ok_or(RuntimeError::NoThread(thread))?;
        match row.status {
            ThreadStatus::Idle | ThreadStatus::Done | ThreadStatus::Failed | ThreadStatus::Terminated => Ok(()),
            ThreadStatus::Ready | ThreadStatus::Running | ThreadStatus::Waiting => {
                match self.queue(thread, Item::Stop, None).await {
                    Ok(_) | Err(RuntimeError::Terminated) => Ok(()),
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// Ends a thread and everything below it. Repeating it changes nothing.
    pub async fn terminate(&self, thread: ThreadId) -> Result<(), RuntimeError> {
        match self.queue(thread, Item::Terminate, None).await {
            // Whoever comes second may find it ended and not yet parked.
            Ok(_) | Err(RuntimeError::Terminated) => self.until_terminated(thread).await,
            Err(error) => Err(error),
        }
    }

    /// Ends a run and everything that works for it. An ended run stays as it is.
    pub async fn cancel(&self, run: &RunId) -> Result<(), RuntimeError> {
        let row = self.inner.store.request_cancel(run).await?;
        let row = row.ok_or_else(|| RuntimeError::NoRun(run.to_string()))?;
        if !row.status.is_terminal() {
            match self.queue(row.thread, Item::Cancel { run: run.clone() }, None).await {
                Ok(_) | Err(RuntimeError::Terminated) => self.until_ended(run, row.thread).await?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns what the key's first call had queued, where this one repeats it.
    pub(crate) async fn queue(
        &self,
        thread: ThreadId,
        item: Item,
        key: Option<String>,
    ) -> Result<Option<Item>, RuntimeError> {
        Ok(self.queue_line(thread, (item, None), key).await?.first)
    }

    pub(crate) async fn queue_line(
        &self,
        thread: ThreadId,
        (item, run): (Item, Option<NewRun>),
        key: Option<String>,
    ) -> Result<Queued, RuntimeError> {
        let line = NewLine { item, key, run, messages_max: self.inner.limits.queue_messages };
        let inner = Arc::clone(&self.inner);
        self.whole(async move {
            let room = inner.room();
            let queued = inner.store.enqueue(thread, line, room.as_ref().map(|_| inner.node.id())).await;
            let queued = queued.map_err(|error| RuntimeError::from_enqueue(error, thread))?;
            let notified = queued.holder.filter(|holder| *holder == inner.node.id()).map(|_| thread);
            inner.take_up(queued.claim.into_iter().collect(), notified.as_slice());
            Ok(Queued { number: queued.number, first: queued.first })
        })
        .await
    }

    /// Does all of it even if whoever asked has gone: what a store has claimed must be taken up.
    async fn whole<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, RuntimeError>> + Send + 'static,
    ) -> Result<T, RuntimeError> {
        match self.inner.tasks.spawn(work).await {
            Ok(done) => done,
            Err(broken) => Err(RuntimeError::Broken(broken.to_string())),
        }
    }
}

impl Inner {
    /// Gives a new thread its files, and then to an actor.
    async fn furnish(
        self: &Arc<Self>,
        thread: ThreadId,
        files: Vec<FileRow>,
        claim: Option<Claim>,
    ) -> Result<(), RuntimeError> {
        for file in files {
            self.store.put_file(thread, file).await?;
        }
        self.take_up(claim.into_iter().collect(), &[]);
        Ok(())
    }
}
