//! Runs of the `dex` dialect as they are read from the store: their events, their results, and the one document that
//! tells of a run.

mod document;
mod event;

pub(crate) use document::{RESULT_BYTES_MAX, Window, document};
pub(crate) use event::shown as shown_event;

use crate::runtime::{Inner, RuntimeError};
use entourage_engine::{ThreadState, apply, dex_envelope, dex_word, profile_id};
use entourage_model::{RunId, RunStatus, Team};
use entourage_store::{JournalReader, RunRow, StoredEvent};
use serde_json::Value;
use std::sync::Arc;

/// How the ids of this dialect's runs begin.
const PREFIX: &str = "subrun_";

pub(crate) fn is_dex(run: &RunId) -> bool {
    run.as_str().starts_with(PREFIX)
}

/// A run with everything that its thread's journal says about it.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) row: RunRow,
    team: Arc<Team>,
    state: ThreadState,
    pub(crate) journal: Vec<StoredEvent>,
}

impl Record {
    /// Nothing for a run that is not there, or not of this dialect.
    pub(crate) async fn read(inner: &Inner, run: &RunId) -> Result<Option<Self>, RuntimeError> {
        if !is_dex(run) {
            return Ok(None);
        }
        // The row first: what it says of the ending, the journal says too.
        let Some(row) = inner.store.run(run).await? else { return Ok(None) };
        let mut reader = JournalReader::of_thread(&*inner.store, row.thread);
        let Some(first) = reader.next().await? else { return Ok(None) };
        let Some(mut state) = ThreadState::born(&first.event) else { return Ok(None) };
        let mut journal = vec![first];
        while let Some(stored) = reader.next().await? {
            apply(&mut state, &stored.event);
            journal.push(stored);
        }
        let team = inner.teams.load(state.started.bundle).await?;
        Ok(Some(Self { row, team, state, journal }))
    }

    pub(crate) fn profile(&self) -> &str {
        profile_id(&self.state.started.agent)
    }

    pub(crate) fn word(&self) -> &'static str {
        dex_word(self.row.status)
    }

    /// The envelope; nothing while the run has not ended.
    pub(crate) fn result(&self) -> Option<Value> {
        let status = self.row.status;
        match status {
            RunStatus::Pending | RunStatus::Running | RunStatus::Interrupted => None,
            // It was made when the run ended.
            RunStatus::Done => serde_json::from_str(self.row.result.as_deref()?).ok(),
            RunStatus::Failed | RunStatus::Cancelled => {
                let why = self.row.error.as_deref().unwrap_or_default();
                Some(dex_envelope(&self.team, &self.state, (&self.row.id, status), why))
            }
        }
    }

    /// What happened, an object for each event.
    pub(crate) fn events(&self) -> impl Iterator<Item = Value> {
        self.journal.iter().map(|stored| shown_event(&stored.event, stored.seq))
    }
}
