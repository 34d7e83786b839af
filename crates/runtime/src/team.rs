//! The teams that threads pin: kept in the store by digest, and once in memory.

use crate::runtime::RuntimeError;
use entourage_model::{Body as _, Digest, Team};
use entourage_store::Store;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug)]
pub(crate) struct Teams {
    store: Arc<dyn Store>,
    known: Mutex<HashMap<Digest, Arc<Team>>>,
    /// The team that was kept last: many threads in a row are started from the same one.
    last: Mutex<Option<(Arc<Team>, Digest)>>,
}

impl Teams {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, known: Mutex::default(), last: Mutex::default() }
    }

    /// Keeps a team for good, so that a thread started from it can always go on.
    pub(crate) async fn keep(&self, team: &Arc<Team>) -> Result<Digest, RuntimeError> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, digest)) = last.filter(|(last, _)| Arc::ptr_eq(last, team)) {
            return Ok(digest);
        }
        let bytes = team.to_json().map_err(|fault| RuntimeError::Journal(fault.to_string()))?;
        let digest = Digest::of(bytes.as_bytes());
        if self.find(digest).is_none() {
            self.store.put_blob(digest, bytes.as_bytes()).await?;
            self.remember(digest, Arc::clone(team));
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((Arc::clone(team), digest));
        Ok(digest)
    }

    pub(crate) async fn load(&self, digest: Digest) -> Result<Arc<Team>, RuntimeError> {
        if let Some(team) = self.find(digest) {
            return Ok(team);
        }
        let missing = || RuntimeError::Journal(format!("the bundle {digest} is missing"));
        let bytes = self.store.blob(digest).await?.ok_or_else(missing)?;
        let team = Team::from_json(&bytes).map_err(|fault| RuntimeError::Journal(fault.to_string()))?;
        let team = Arc::new(team);
        self.remember(digest, Arc::clone(&team));
        Ok(team)
    }

    fn find(&self, digest: Digest) -> Option<Arc<Team>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&digest).cloned()
    }

    fn remember(&self, digest: Digest, team: Arc<Team>) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(digest, team);
    }
}
