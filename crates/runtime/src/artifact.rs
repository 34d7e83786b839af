//! Which bundle a thread was started from: its team knows.

use crate::runtime::{Runtime, RuntimeError};
use entourage_model::Digest;
use entourage_store::{Store, StoreError, ThreadRow};
use serde::Deserialize;
use std::collections::BTreeMap;

/// As much of a stored team as is needed here.
#[derive(Deserialize)]
struct Origin {
    #[serde(default)]
    artifact: Option<Digest>,
}

/// Lets each row name the bundle that its thread was started from. Where that is none, the team's own digest stays.
pub async fn name_artifacts(store: &dyn Store, rows: &mut [ThreadRow]) -> Result<(), StoreError> {
    let mut known = BTreeMap::new();
    for row in rows {
        let artifact = match known.get(&row.bundle) {
            Some(artifact) => *artifact,
            None => {
                let team = store.blob(row.bundle).await?;
                // A team that cannot be read is told of when the thread goes on.
                let origin: Option<Origin> = team.and_then(|bytes| serde_json::from_slice(&bytes).ok());
                let artifact = origin.and_then(|origin| origin.artifact);
                known.insert(row.bundle, artifact);
                artifact
            }
        };
        row.bundle = artifact.unwrap_or(row.bundle);
    }
    Ok(())
}

impl Runtime {
    /// See [`name_artifacts`].
    pub async fn name_artifacts(&self, rows: &mut [ThreadRow]) -> Result<(), RuntimeError> {
        Ok(name_artifacts(&*self.inner.store, rows).await?)
    }
}
