//! The only loop: input → step → commit → perform.

mod commit;
mod hear;

use crate::perform::{self, Flight};
use crate::runtime::{Inner, RuntimeError};
use entourage_engine::{
    CallState, Cue, Decision, Effect, Input, Letter, Mail, ThreadState, World, definition_folders, long_results,
    looks_at_files, server, step, summoned,
};
use entourage_model::{
    Act, Agent, CallId, Digest, FileRow, ModelAnswer, Served as _, ServerEntry, ServerKey, Team, ThreadId,
    ThreadStatus, Timestamp,
};
use entourage_store::{Claim, CommitError, Lease, QueueLine, StoreError};
use futures::FutureExt as _;
use futures::stream::{FuturesUnordered, StreamExt as _};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// After so many attempts without a commit, what lies in the queue is to blame and is put aside.
const ATTEMPTS_MAX: u32 = 5;

/// How long a decision may wait for the next one, if nobody waits for it: both then become durable at once.
const HOLD: Duration = Duration::from_millis(250);
/// The same while somebody watches the tree.
const HOLD_WATCHED: Duration = Duration::from_millis(20);

/// How long a thread rests after the store could not take its decision.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// How an actor's work ended.
enum Gone {
    Parked,
    /// Given back, because the process is about to end.
    Released,
    /// Somebody else holds the thread: nothing of what is in memory counts.
    Fenced,
    Failed(RuntimeError),
}

impl From<StoreError> for Gone {
    fn from(error: StoreError) -> Self {
        Self::Failed(RuntimeError::Store(error))
    }
}

impl From<CommitError> for Gone {
    fn from(error: CommitError) -> Self {
        match error {
            // Whoever wants to be told of a full tree looks at it first.
            CommitError::Fenced | CommitError::TreeFull { .. } => Self::Fenced,
            CommitError::Store(error) => error.into(),
        }
    }
}

impl From<RuntimeError> for Gone {
    fn from(error: RuntimeError) -> Self {
        Self::Failed(error)
    }
}

/// A thread's files, and the prompts of agents that folders define.
type Outlook = (BTreeMap<String, FileRow>, BTreeMap<String, Arc<str>>);

struct Actor {
    inner: Arc<Inner>,
    lease: Lease,
    root: ThreadId,
    team: Arc<Team>,
    state: ThreadState,
    /// How many events are durable; the state is ahead of it only between a step and its commit.
    seq: u64,
    mail: Mail,
    /// The greatest queue number that was read.
    seen: u64,
    /// How many threads still fit below the root, as far as is known.
    tree_left: u32,
    bell: Arc<Notify>,
    /// What is being done outside. Dropping a flight aborts it.
    flights: FuturesUnordered<Flight>,
    /// How many of the flights must not be dropped without need: they cannot be repeated.
    unrepeatable: usize,
    /// What came back while a commit was under way.
    landed: VecDeque<Input>,
    /// A decision that nobody waits for, and until when it is held back.
    held: Option<(Decision, Instant)>,
    /// An earlier attempt came to nothing: the next decision is made durable at once, even an empty one, so that a
    /// process that is killed again and again does not take its threads for the cause.
    tried: bool,
}

/// Runs an actor for the claimed thread until it parks.
pub(crate) fn start(inner: &Arc<Inner>, claim: Claim) {
    // What was claimed under a membership that is over belongs to others by now.
    let Some(over) = inner.node.over(claim.lease.node) else { return };
    let bell = inner.roster.join(claim.lease);
    inner.tasks.spawn(live(Arc::clone(inner), claim, (bell, over)));
}

async fn live(inner: Arc<Inner>, claim: Claim, (bell, over): (Arc<Notify>, CancellationToken)) {
    let lease = claim.lease;
    let blame = (claim.attempts > ATTEMPTS_MAX).then(|| {
        let reason = format!("the thread could not be worked on {ATTEMPTS_MAX} times in a row");
        Input::Broke { reason, bury: true }
    });
    let mut first = blame.unwrap_or(Input::Resumed);
    let mut claim = Some(claim);
    loop {
        let work = work(&inner, lease, claim.take(), (Arc::clone(&bell), first));
        // Dropping the work drops everything that it has begun.
        let done = tokio::select! {
            biased;
            () = over.cancelled() => Ok(Gone::Fenced),
            done = AssertUnwindSafe(work).catch_unwind() => done,
        };
        first = match done {
            Ok(Gone::Parked | Gone::Released | Gone::Fenced) => break,
            Ok(Gone::Failed(RuntimeError::Store(error))) if !error.is_damage() => {
                tracing::error!(thread = %lease.thread, %error, "the store refused");
                inner.trouble(&error);
                if inner.rest(STORE_PAUSE).await.is_err() {
                    break;
                }
                Input::Resumed
            }
            Ok(Gone::Failed(error)) => {
                // It stays held, so that nobody runs into the same wall again before the next start.
                tracing::error!(thread = %lease.thread, %error, "the thread cannot be worked on");
                get_stuck(&inner, lease, &error).await;
                break;
            }
            Err(panic) => {
                let reason = panic_text(panic.as_ref());
                tracing::error!(thread = %lease.thread, %reason, "working on the thread broke");
                Input::Broke { reason, bury: false }
            }
        };
    }
    inner.roster.leave(lease);
    if inner.overflow.load(Ordering::Acquire) {
        inner.room.notify_one();
    }
}

/// Leaves a thread that nobody can work on, and tells those who wait for it or for its tree.
async fn get_stuck(inner: &Inner, lease: Lease, error: &RuntimeError) {
    let row = inner.store.thread(lease.thread).await.ok().flatten();
    let root = row.map_or(lease.thread, |row| row.root);
    inner.roster.leave_stuck(lease, root, error.damage());
    inner.hub.rouse(root, lease.thread);
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without words".to_owned())
}

async fn work(inner: &Arc<Inner>, lease: Lease, claim: Option<Claim>, (bell, first): (Arc<Notify>, Input)) -> Gone {
    let loaded = Actor::load(inner, lease, claim, bell).await;
    let mut actor = match loaded {
        Ok(actor) => actor,
        Err(error) => return Gone::Failed(error),
    };
    let servers = actor.called_servers();
    // What becomes of calls that were under way depends on what their servers say of the tools. One that cannot be
    // reached says nothing, and then the call is not made again.
    futures::future::join_all(servers.iter().map(|server| inner.servers.ready(server))).await;
    let gone = match actor.run(first).await {
        Ok(never) => match never {},
        Err(gone) => gone,
    };
    if matches!(gone, Gone::Parked) && matches!(actor.state.status(), ThreadStatus::Waiting | ThreadStatus::Idle) {
        inner.cache.put(Arc::new(actor.state));
    }
    gone
}

impl Actor {
    /// With the claim the queue need not be read; a second try has none.
    async fn load(
        inner: &Arc<Inner>,
        lease: Lease,
        claim: Option<Claim>,
        bell: Arc<Notify>,
    ) -> Result<Self, RuntimeError> {
        let thread = lease.thread;
        let tried = claim.as_ref().is_none_or(|claim| claim.attempts > 1);
        let (kept, lines) = match claim {
            Some(claim) => {
                let kept = inner.cache.take(thread, claim.seq);
                (kept.or_else(|| ThreadState::fold(claim.journal?.iter())), claim.lines)
            }
            None => (None, inner.store.lines(thread, 0).await?),
        };
        let state = match kept {
            Some(state) => state,
            None => inner.fold(thread).await?.ok_or(RuntimeError::NoThread(thread))?,
        };
        let mut actor = Self {
            team: inner.teams.load(state.started.bundle).await?,
            root: state.started.root,
            seq: state.seq,
            state,
            lease,
            mail: Mail::new(),
            seen: 0,
            tree_left: inner.limits.children_total,
            bell,
            flights: FuturesUnordered::new(),
            unrepeatable: 0,
            landed: VecDeque::new(),
            held: None,
            tried,
            inner: Arc::clone(inner),
        };
        actor.receive(lines);
        // A thread that has not asked its model yet has just begun.
        if actor.state.usage.steps == 0
            && let Some(folder) = actor.state.folder(&actor.team)
        {
            inner.make_folder(folder).await;
        }
        if actor.tried {
            // Whoever died over the thread may not have shown what it had decided.
            inner.show_assignments(actor.state.tasks.clone()).await;
        }
        Ok(actor)
    }

    /// The servers whose tools were called when the thread was last held.
    fn called_servers(&self) -> BTreeSet<ServerKey> {
        let world = self.inner.world(&self.team, self.tree_left);
        let (Some(session), Some(prompt)) = (&self.state.session, world.prompt(&self.state)) else {
            return BTreeSet::new();
        };
        let open = session.calls.iter().filter(|call| !matches!(call.state, CallState::Ended(_)));
        open.filter_map(|call| Some(server(prompt, &call.call.name)?.key.clone())).collect()
    }

    async fn run(&mut self, first: Input) -> Result<std::convert::Infallible, Gone> {
        let mut input = first;
        loop {
            input = match self.detour(input) {
                Some(input) => input,
                None => {
                    input = self.next_input().await?;
                    continue;
                }
            };
            let again = self.may_spawn(&input);
            if let (Some((held, _)), true) = (&mut self.held, again.is_some()) {
                // Should the tree be full, the thread goes back to what is durable and decides this input again.
                let held = std::mem::take(held);
                self.held = None;
                self.commit(held, ThreadStatus::Running).await?;
            }
            let held = self.held.take();
            let mut decision = self.decide(input).await?;
            while let Some(landed) = self.landed.pop_front() {
                decision.append(self.decide(landed).await?);
            }
            // Whoever was taken up because of the time looks at it before it parks again.
            if self.state.wake_at().is_some_and(|at| self.until(at).is_zero()) {
                decision.append(self.decide(Input::Tick).await?);
            }
            if let Some(left) = self.settle(held, decision).await? {
                self.reload(left).await?;
                input = again.unwrap_or(Input::Resumed);
                continue;
            }
            input = self.next_input().await?;
        }
    }

    /// An answer that asks for agents which need servers comes back once those were tried. Whatever takes the question
    /// back meanwhile finds it still in flight.
    fn detour(&mut self, input: Input) -> Option<Input> {
        let Input::Answered(Ok(answer)) = &input else { return Some(input) };
        let servers = self.untried(answer);
        if servers.is_empty() {
            return Some(input);
        }
        self.flights.push(perform::prepare(&self.inner, servers, input));
        None
    }

    /// The servers that agents need which the answer asks for, as far as nobody has tried them.
    fn untried(&self, answer: &ModelAnswer) -> Vec<ServerEntry> {
        fn needed(agent: &Agent) -> impl Iterator<Item = &ServerEntry> {
            agent.prompts().flat_map(|prompt| &prompt.servers).filter(|entry| entry.required)
        }
        if answer.calls.is_empty() || !self.team.agents.values().any(|agent| needed(agent).next().is_some()) {
            return Vec::new();
        }
        let world = self.inner.world(&self.team, self.tree_left);
        let agents = summoned(&world, &self.state, &answer.calls);
        let servers = agents.iter().filter_map(|name| self.team.agent(name)).flat_map(|agent| needed(agent));
        let is_open = |entry: &&ServerEntry| {
            !self.inner.servers.is_settled(entry) && self.inner.servers.fault(&entry.key).is_none()
        };
        servers.filter(is_open).cloned().collect()
    }

    /// A copy of an input that could ask for more children than the tree has room for.
    fn may_spawn(&self, input: &Input) -> Option<Input> {
        let calls = match input {
            Input::Answered(Ok(answer)) | Input::Advised { answer: Ok(answer), .. } => !answer.calls.is_empty(),
            // Code can queue calls: the tool's own, and that of hooks which hear of its end. One that was recorded ran
            // alone and does not run again; any other does, with those beside it.
            Input::ToolEnded { call, acts, .. } => {
                let queues = |act: &Act| matches!(act, Act::QueueTool { .. });
                self.is_recorded(call) && (!self.team.hooks.is_empty() || acts.iter().any(queues))
            }
            Input::Answered(Err(_))
            | Input::Advised { answer: Err(_), .. }
            | Input::Resumed
            | Input::Mail
            | Input::Tick
            | Input::Broke { .. } => false,
        };
        let acting = self.state.session.as_ref()?.acting;
        let agent = self.team.agent(&self.state.agent)?;
        let side = agent.side(acting)?;
        let starts = side.prompt.children().next().is_some() || !agent.dialects.is_empty();
        (calls && starts).then(|| input.clone())
    }

    fn is_recorded(&self, call: &CallId) -> bool {
        let session = self.state.session.as_ref();
        let place = session.and_then(|session| Some(&session.calls[session.open_call(call)?]));
        place.is_some_and(|call| call.state == CallState::Started)
    }

    async fn decide(&mut self, input: Input) -> Result<Decision, Gone> {
        if !self.team.hooks.is_empty() {
            return self.decide_heard(input).await;
        }
        let (files, definitions) = self.outlook(&input).await?;
        let world = World { files: &files, definitions: &definitions, ..self.inner.world(&self.team, self.tree_left) };
        let cue = Cue { now: self.inner.store.now(), seed: fastrand::u64(..), input };
        let decision = step(&world, &mut self.state, &mut self.mail, cue);
        self.forget_aborted(&decision);
        Ok(decision)
    }

    /// What a decision about the input must know beside the thread itself.
    async fn outlook(&mut self, input: &Input) -> Result<Outlook, Gone> {
        let (looks, folders, long) = {
            let world = self.inner.world(&self.team, self.tree_left);
            let folders = definition_folders(&world, &self.state, &self.mail, input);
            (looks_at_files(&world, &self.state, input), folders, long_results(&world, &self.state, &self.mail))
        };
        // What a decision makes files of is there before it is named.
        for text in long {
            self.inner.store.put_blob(Digest::of(text.as_bytes()), text.as_bytes()).await?;
        }
        let files = if looks { self.inner.files_by_path(self.lease.thread).await? } else { BTreeMap::new() };
        Ok((files, self.inner.definitions(folders).await))
    }

    fn forget_aborted(&mut self, decision: &Decision) {
        if decision.effects.contains(&Effect::Abort) {
            // What has come back meanwhile answers questions that were taken back.
            self.landed.clear();
        }
    }

    /// Goes back to what is durable.
    async fn reload(&mut self, tree_left: u32) -> Result<(), Gone> {
        let bell = Arc::clone(&self.bell);
        *self = Self::load(&self.inner, self.lease, None, bell).await?;
        self.tree_left = tree_left;
        Ok(())
    }

    fn receive(&mut self, lines: Vec<QueueLine>) {
        for line in lines {
            self.seen = self.seen.max(line.number);
            self.mail.push_back(Letter { number: line.number, item: line.item });
        }
    }

    async fn next_input(&mut self) -> Result<Input, Gone> {
        // What a tool came to is recorded, whatever else has arrived. An answer is taken only if nobody has taken
        // the question back: the queue is read first.
        if let Some(input) = self.landed.pop_front_if(|input| !is_answer(input)) {
            return Ok(input);
        }
        let has_landed = !self.landed.is_empty();
        if self.inner.stopping.is_cancelled() && !has_landed {
            return self.let_go().await;
        }
        let deadline = self.state.wake_at().map(|at| self.until(at));
        let hold = self.held.as_ref().map(|(_, until)| until.saturating_duration_since(Instant::now()));
        let holds = hold.is_some_and(|hold| deadline.is_none_or(|deadline| hold <= deadline));
        tokio::select! {
            biased;
            () = self.bell.notified() => self.read_queue().await,
            () = std::future::ready(()), if has_landed => Ok(self.landed.pop_front().expect("it has landed")),
            Some(input) = self.flights.next(), if !self.flights.is_empty() => Ok(self.landed(input)),
            () = sleep(if holds { hold } else { deadline }) => Ok(if holds { Input::Mail } else { Input::Tick }),
        }
    }

    fn until(&self, at: Timestamp) -> Duration {
        at.since(self.inner.store.now())
    }

    async fn read_queue(&mut self) -> Result<Input, Gone> {
        if !self.inner.roster.knows(self.lease) {
            return Err(Gone::Fenced);
        }
        let lines = self.inner.store.lines(self.lease.thread, self.seen).await?;
        self.receive(lines);
        Ok(Input::Mail)
    }

    fn landed(&mut self, (input, repeatable): (Input, bool)) -> Input {
        if !repeatable {
            self.unrepeatable -= 1;
        }
        input
    }

    /// The process is ending: waits for what cannot be repeated, then gives the thread back.
    async fn let_go(&mut self) -> Result<Input, Gone> {
        if self.unrepeatable > 0 {
            let next = tokio::time::timeout(self.inner.grace(), self.flights.next()).await;
            if let Ok(Some(input)) = next {
                return Ok(self.landed(input));
            }
        }
        if let Some((held, _)) = self.held.take() {
            self.commit(held, ThreadStatus::Running).await.map_err(Gone::from)?;
        }
        self.inner.store.release(self.lease).await?;
        self.inner.hub.announce(self.root, self.lease.thread, ThreadStatus::Ready);
        Err(Gone::Released)
    }
}

fn is_answer(input: &Input) -> bool {
    matches!(input, Input::Answered(_) | Input::Advised { .. })
}

/// Sleeps for that long, or for good.
async fn sleep(wait: Option<Duration>) {
    match wait {
        Some(wait) => tokio::time::sleep(wait).await,
        None => std::future::pending().await,
    }
}
