//! Giving a child the variables that it waits for, or taking the request for them back.

use crate::runtime::{Runtime, RuntimeError};
use crate::spawn::Queued;
use entourage_engine::{ThreadState, has_room};
use entourage_model::{Event, Ids, Item, RequestId, ThreadId, VariableValue, VariablesRequest};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How long whoever gives variables, or takes a request back, waits until the thread has taken that.
const TAKING: Duration = Duration::from_secs(10);
/// Notices are hints; another process may do the work. So the queue is read again now and then.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// More happens on no thread while one line waits.
const PAGE: usize = 1000;

/// What became of variables that were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// The child is started.
    Started(ThreadId),
    /// These are still missing; the request is as it was.
    Missing(Vec<String>),
    /// There is no such request, or not any more.
    Unknown,
    /// A limit does not let the child start now; the request is as it was.
    Full,
}

impl Runtime {
    /// What a child of the thread waits for; nothing for a request that is unknown, used or over.
    pub async fn request(&self, thread: ThreadId, id: RequestId) -> Result<Option<VariablesRequest>, RuntimeError> {
        Ok(self.asked(thread, id).await?.map(|(request, _)| request))
    }

    /// Starts the child that waits. Of several who give variables for one request, one is told that it started; whoever
    /// repeats a key is told what its first call came to.
    pub async fn give(
        &self,
        thread: ThreadId,
        id: RequestId,
        given: BTreeMap<String, String>,
        key: Option<String>,
    ) -> Result<Given, RuntimeError> {
        match self.asked(thread, id).await? {
            Some((request, state)) => {
                if let Some(refused) = self.refused(&request, &state, &given).await? {
                    return Ok(refused);
                }
            }
            // Only a key can tell that the request was there, and used by this very call.
            None if key.is_none() => return Ok(Given::Unknown),
            None => {}
        }
        let item = self.given(id, given)?;
        let first = match self.bring(thread, item.clone(), key).await {
            Ok(first) => first,
            Err(RuntimeError::Terminated) => return Ok(Given::Unknown),
            Err(error) => return Err(error),
        };
        let Item::Variables { child, .. } = first.unwrap_or(item) else { return Err(RuntimeError::KeyConflict) };
        if self.thread(child).await?.is_some() {
            return Ok(Given::Started(child));
        }
        Ok(if self.asked(thread, id).await?.is_some() { Given::Full } else { Given::Unknown })
    }

    /// Takes a request back, so that its child does not start any more. Returns whether it did: not for one that is
    /// unknown, used or over.
    pub async fn withdraw(&self, thread: ThreadId, id: RequestId) -> Result<bool, RuntimeError> {
        let Some((_, state)) = self.asked(thread, id).await? else { return Ok(false) };
        match self.bring(thread, Item::CloseRequest { request: id }, None).await {
            Ok(_) => {}
            Err(RuntimeError::Terminated) => return Ok(false),
            Err(error) => return Err(error),
        }
        // Whoever gave the variables in the same moment may have been first.
        let since = self.journal(thread, state.seq, PAGE).await?;
        let is_used =
            |event: &Event| matches!(event, Event::RequestClosed { request, child: Some(_) } if *request == id);
        Ok(!since.iter().any(|stored| is_used(&stored.event)))
    }

    /// Puts a line into the thread's queue and waits until it is taken. Gives what first came with the same key.
    async fn bring(&self, thread: ThreadId, item: Item, key: Option<String>) -> Result<Option<Item>, RuntimeError> {
        let root = self.thread(thread).await?.ok_or(RuntimeError::NoThread(thread))?.root;
        // From here on every commit of the thread is told of.
        let mut watcher = self.watch(root);
        let Queued { number, first } = self.queue_line(thread, (item, None), key).await?;
        let over = tokio::time::sleep(TAKING);
        tokio::pin!(over);
        while self.waits(thread, number).await? {
            tokio::select! {
                () = watcher.committed(thread) => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
                () = &mut over => return Err(RuntimeError::Broken("the thread takes nothing from its queue".to_owned())),
            }
        }
        Ok(first)
    }

    async fn asked(
        &self,
        thread: ThreadId,
        id: RequestId,
    ) -> Result<Option<(VariablesRequest, Arc<ThreadState>)>, RuntimeError> {
        let Some(state) = self.state(thread).await? else { return Ok(None) };
        let request = state.requests.get(&id).filter(|request| request.until > self.inner.store.now()).cloned();
        Ok(request.map(|request| (request, state)))
    }

    /// What keeps the child from starting, as far as it can be told without asking its parent.
    async fn refused(
        &self,
        request: &VariablesRequest,
        state: &ThreadState,
        given: &BTreeMap<String, String>,
    ) -> Result<Option<Given>, RuntimeError> {
        let is_missing = |name: &&String| given.get(*name).is_none_or(|value| value.is_empty());
        let missing: Vec<_> = request.missing.iter().filter(is_missing).cloned().collect();
        if !missing.is_empty() {
            return Ok(Some(Given::Missing(missing)));
        }
        let team = self.inner.teams.load(state.started.bundle).await?;
        let world = self.inner.world(&team, self.inner.limits.children_total);
        Ok((!has_room(&world, state, &request.entry)).then_some(Given::Full))
    }

    /// The line that brings the values.
    fn given(&self, request: RequestId, given: BTreeMap<String, String>) -> Result<Item, RuntimeError> {
        let child = Ids::new(self.inner.store.now(), fastrand::u64(..)).thread();
        let text = serde_json::to_vec(&given).expect("texts can be written as JSON");
        let fingerprint = Some(self.inner.vault.fingerprint(&text).map_err(RuntimeError::Broken)?);
        let secrets = given.into_iter().map(|(name, value)| (name, VariableValue::secret(value))).collect();
        let variables = self.inner.vault.seal_all(secrets).map_err(RuntimeError::Broken)?;
        Ok(Item::Variables { request, child, variables, fingerprint })
    }

    /// Whether the line still lies in the thread's queue.
    async fn waits(&self, thread: ThreadId, number: u64) -> Result<bool, RuntimeError> {
        let lines = self.inner.store.lines(thread, number.saturating_sub(1)).await?;
        Ok(lines.first().is_some_and(|line| line.number == number))
    }
}
