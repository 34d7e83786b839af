//! Giving a child the variables that it waits for.

use crate::runtime::{Runtime, RuntimeError};
use entourage_model::{Ids, Item, RequestId, ThreadId, VariableValue, VariablesRequest};
use std::collections::BTreeMap;

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
        let state = self.state(thread).await?;
        let request = state.and_then(|mut state| state.requests.remove(&id));
        Ok(request.filter(|request| request.until > self.inner.store.now()))
    }

    /// Starts the child that waits. Of several who give variables for one request, one is told that it started.
    pub async fn give(
        &self,
        thread: ThreadId,
        id: RequestId,
        given: BTreeMap<String, String>,
    ) -> Result<Given, RuntimeError> {
        let Some(request) = self.request(thread, id).await? else { return Ok(Given::Unknown) };
        let is_missing = |name: &&String| given.get(*name).is_none_or(|value| value.is_empty());
        let missing: Vec<_> = request.missing.iter().filter(is_missing).cloned().collect();
        if !missing.is_empty() {
            return Ok(Given::Missing(missing));
        }
        let child = Ids::new(self.inner.store.now(), fastrand::u64(..)).thread();
        let secrets = given.into_iter().map(|(name, value)| (name, VariableValue::secret(value))).collect();
        let variables = self.inner.vault.seal_all(secrets).map_err(RuntimeError::Broken)?;
        match self.queue(thread, Item::Variables { request: id, child, variables }, None).await {
            Ok(_) => {}
            Err(RuntimeError::Terminated) => return Ok(Given::Unknown),
            Err(error) => return Err(error),
        }
        if !self.until_closed(thread, id).await? {
            return Ok(Given::Full);
        }
        let started = self.thread(child).await?.is_some();
        Ok(if started { Given::Started(child) } else { Given::Unknown })
    }
}
