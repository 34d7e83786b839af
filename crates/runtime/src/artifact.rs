//! Which bundle a thread was started from: its team knows.

use crate::runtime::{Runtime, RuntimeError};
use entourage_model::Digest;
use entourage_store::{Store, StoreError, ThreadRow};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

/// More are read again.
const KEPT_MAX: usize = 1024;

/// As much of a stored team as is needed here.
#[derive(Deserialize)]
struct Origin {
    #[serde(default)]
    artifact: Option<Digest>,
}

/// The bundles of teams that were asked for already. What a digest stands for never changes.
#[derive(Debug, Default)]
pub(crate) struct Artifacts(Mutex<HashMap<Digest, Option<Digest>>>);

impl Artifacts {
    fn find(&self, team: Digest) -> Option<Option<Digest>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&team).copied()
    }

    fn keep(&self, team: Digest, artifact: Option<Digest>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(team, artifact);
    }
}

/// Lets each row name the bundle that its thread was started from. Where that is none, the team's own digest stays.
pub async fn name_artifacts(store: &dyn Store, rows: &mut [ThreadRow]) -> Result<(), StoreError> {
    let mut known = BTreeMap::new();
    for row in rows {
        let artifact = match known.get(&row.bundle) {
            Some(artifact) => *artifact,
            None => {
                let artifact = read(store, row.bundle).await?;
                known.insert(row.bundle, artifact);
                artifact
            }
        };
        row.bundle = artifact.unwrap_or(row.bundle);
    }
    Ok(())
}

async fn read(store: &dyn Store, team: Digest) -> Result<Option<Digest>, StoreError> {
    let team = store.blob(team).await?;
    // A team that cannot be read is told of when the thread goes on.
    let origin: Option<Origin> = team.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    Ok(origin.and_then(|origin| origin.artifact))
}

impl Runtime {
    /// See [`name_artifacts`].
    pub async fn name_artifacts(&self, rows: &mut [ThreadRow]) -> Result<(), RuntimeError> {
        for row in rows {
            let artifact = match self.inner.artifacts.find(row.bundle) {
                Some(artifact) => artifact,
                None => {
                    let artifact = read(&*self.inner.store, row.bundle).await?;
                    self.inner.artifacts.keep(row.bundle, artifact);
                    artifact
                }
            };
            row.bundle = artifact.unwrap_or(row.bundle);
        }
        Ok(())
    }
}
