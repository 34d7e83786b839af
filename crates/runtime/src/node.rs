//! This process as the store knows it: a membership that heartbeats keep, and what follows when it is lost.
//!
//! Others take a node's threads once it has not been heard of for its life. A node that cannot make itself heard
//! therefore stops first, a margin earlier: its actors are dropped, nothing outside is begun any more, and it joins
//! anew under another id as soon as the store answers.

use crate::runtime::Inner;
use entourage_model::{Ids, NodeId, ThreadId, Timestamp};
use entourage_store::{Lease, Store, StoreError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Heartbeats in a life.
const BEATS: u32 = 3;
/// The part of a life, at its end, in which nothing is begun any more: 3 of 15 seconds.
const MARGIN: u32 = 5;
/// How long a node waits before it asks a store again that did not answer, as a part of its life.
const PAUSE: u32 = 15;

#[derive(Debug)]
pub(crate) struct Node {
    life: Duration,
    /// Whether others can take our threads.
    is_shared: bool,
    membership: Mutex<Membership>,
    /// Rung when the store has said that this node may be dead.
    doubt: Notify,
}

/// One registration of this process.
#[derive(Clone, Debug)]
struct Membership {
    id: NodeId,
    /// When it began, or when the machine woke up that has slept since, by the store's clock.
    since: Timestamp,
    /// When that clock was last looked at.
    looked: Timestamp,
    /// When the last heartbeat was sent that the store took.
    heard: Instant,
    /// Cancelled when it is lost: every actor under it ends.
    over: CancellationToken,
}

impl Membership {
    fn new(id: NodeId, since: Timestamp, heard: Instant) -> Self {
        Self { id, since, looked: since, heard, over: CancellationToken::new() }
    }
}

impl Node {
    /// Announces this process to the store.
    pub(crate) async fn join(store: &dyn Store) -> Result<Self, StoreError> {
        let (id, heard) = (fresh_id(store), Instant::now());
        store.register(id).await?;
        let membership = Mutex::new(Membership::new(id, store.now(), heard));
        Ok(Self { life: store.node_life(), is_shared: store.is_shared(), membership, doubt: Notify::new() })
    }

    fn membership(&self) -> MutexGuard<'_, Membership> {
        // Nothing that holds this lock can panic half way.
        self.membership.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn id(&self) -> NodeId {
        self.membership().id
    }

    /// Since when this node has been here without a break. What is older was left by others, or by this process before it
    /// lost the store or its machine slept: heartbeats look more often than once in a life.
    pub(crate) fn awake_since(&self, now: Timestamp) -> Timestamp {
        let mut membership = self.membership();
        if now.since(membership.looked) > self.life {
            membership.since = now;
        }
        membership.looked = now;
        membership.since
    }

    /// What tells the actors of this membership to end; nothing if it is over already.
    pub(crate) fn over(&self, id: NodeId) -> Option<CancellationToken> {
        let membership = self.membership();
        (membership.id == id && !membership.over.is_cancelled()).then(|| membership.over.clone())
    }

    /// Whether whoever holds a lease of this membership may begin something outside.
    pub(crate) fn may_act(&self, id: NodeId) -> bool {
        self.over(id).is_some() && self.stop_at().is_none_or(|stop| Instant::now() < stop)
    }

    /// Whether threads may be taken up.
    pub(crate) fn is_member(&self) -> bool {
        self.may_act(self.id())
    }

    /// When this node has to stop unless it is heard before; never, where nobody else is.
    fn stop_at(&self) -> Option<Instant> {
        self.is_shared.then(|| self.membership().heard + self.life - self.life / MARGIN)
    }

    /// The store has said something that a living node would not be told.
    pub(crate) fn doubt(&self) {
        self.doubt.notify_one();
    }

    fn heard(&self, id: NodeId, sent: Instant) {
        let mut membership = self.membership();
        if membership.id == id {
            membership.heard = sent;
        }
    }

    /// Stops everything that works under the present membership.
    fn stop(&self) {
        self.membership().over.cancel();
    }

    /// Returns the id that it had before.
    fn renew(&self, membership: Membership) -> NodeId {
        std::mem::replace(&mut *self.membership(), membership).id
    }
}

/// Says that this node lives, and gives back what dead nodes held, until the runtime has ended.
pub(crate) async fn beat(inner: Arc<Inner>) {
    let life = inner.node.life;
    let mut unclaimed = HashMap::new();
    let mut wait = life / BEATS;
    loop {
        tokio::select! {
            () = inner.ended.cancelled() => return,
            () = inner.node.doubt.notified() => {}
            () = tokio::time::sleep(wait) => {}
        }
        inner.node.awake_since(inner.store.now());
        wait = if be_heard(&inner).await {
            sweep(&inner).await;
            release_unknown(&inner, &mut unclaimed).await;
            life / BEATS
        } else {
            life / PAUSE
        };
    }
}

/// One heartbeat; returns whether the store knows this node now.
async fn be_heard(inner: &Inner) -> bool {
    let node = &inner.node;
    let (id, sent) = (node.id(), Instant::now());
    if node.over(id).is_none() {
        return rejoin(inner).await;
    }
    let late = async {
        match node.stop_at() {
            Some(stop) => tokio::time::sleep_until(stop).await,
            None => std::future::pending().await,
        }
    };
    let answer = tokio::select! {
        biased;
        answer = inner.store.heartbeat(id) => Some(answer),
        () = late => None,
    };
    match answer {
        Some(Ok(())) => {
            node.heard(id, sent);
            return true;
        }
        Some(Err(StoreError::NodeDead)) => return rejoin(inner).await,
        Some(Err(error)) => {
            tracing::error!(%error, "no heartbeat");
            inner.trouble(&error);
        }
        None => {}
    }
    if !node.may_act(id) {
        tracing::error!("the store has not heard of this node for too long: its work is stopped");
        node.stop();
    }
    false
}

/// Begins anew under another id: what this node held is no longer its own.
async fn rejoin(inner: &Inner) -> bool {
    inner.node.stop();
    let (id, sent) = (fresh_id(&*inner.store), Instant::now());
    let joined = tokio::time::timeout(inner.node.life / BEATS, inner.store.register(id)).await;
    match joined {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            tracing::error!(%error, "this node cannot join again");
            return false;
        }
        Err(_) => return false,
    }
    let former = inner.node.renew(Membership::new(id, inner.store.now(), sent));
    // A store that was restored from a copy may tell another story under the same numbers.
    inner.cache.clear();
    tracing::warn!(%former, %id, "others took this node for dead; it goes on under another id");
    if let Err(error) = inner.store.retire(former).await {
        tracing::warn!(%error, "what this node held stays with its former id until others sweep it");
    }
    inner.room.notify_one();
    true
}

async fn sweep(inner: &Inner) {
    match inner.store.sweep().await {
        Ok(0) => {}
        Ok(swept) => {
            tracing::info!(swept, "threads of dead nodes are ready again");
            inner.room.notify_one();
        }
        Err(error) => tracing::error!(%error, "no sweep"),
    }
}

/// Gives back what the store says this node holds and nobody here works on: the answer that brought it was lost.
/// Whoever is on its way is not there yet, so it takes two looks.
async fn release_unknown(inner: &Inner, unclaimed: &mut HashMap<ThreadId, Lease>) {
    let held = match inner.store.held(inner.node.id()).await {
        Ok(held) => held,
        Err(error) => return tracing::error!(%error, "what this node holds cannot be read"),
    };
    let mut found = HashMap::new();
    for lease in held.into_iter().filter(|lease| !inner.roster.knows(*lease)) {
        if unclaimed.get(&lease.thread) == Some(&lease) {
            tracing::warn!(thread = %lease.thread, "nobody here works on a thread that this node holds; it is given back");
            if let Err(error) = inner.store.release(lease).await {
                tracing::error!(%error, "it could not be given back");
            }
        } else {
            found.insert(lease.thread, lease);
        }
    }
    *unclaimed = found;
}

fn fresh_id(store: &dyn Store) -> NodeId {
    Ids::new(store.now(), fastrand::u64(..)).node()
}
