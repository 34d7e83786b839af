//! Looking up what the store knows and a thread does not: results of runs that its children have ended.

use super::{Flight, Place, dex};
use crate::dex::{RESULT_BYTES_MAX, Window};
use crate::runtime::{Inner, RuntimeError};
use entourage_engine::{Input, Look, Seen, agent_id, task_output};
use entourage_model::{Act, Outcome, RunId, ToolCall};
use entourage_store::StoreError;
use futures::FutureExt as _;
use std::sync::Arc;

/// What was found out.
pub(super) struct Found {
    pub(super) outcome: Outcome,
    pub(super) text: String,
    pub(super) acts: Vec<Act>,
}

impl Found {
    pub(super) fn nothing(text: String) -> Self {
        Self { outcome: Outcome::Failed, text, acts: Vec::new() }
    }
}

/// Changes nothing by itself: that a result was read becomes durable with the end of the call.
pub(crate) fn look(inner: &Arc<Inner>, place: Place, call: ToolCall, look: Look) -> Flight {
    let inner = Arc::clone(inner);
    async move {
        let found = match look {
            Look::Output { run, from } => output(&inner, place, &run, from).await.map_err(RuntimeError::from),
            Look::Run { run, after, from } => {
                let window = Window { after, from, result_bytes_max: RESULT_BYTES_MAX };
                dex::run(&inner, place.thread, &run, window).await
            }
            Look::Joined { tasks } => dex::joined(&inner, place.thread, tasks).await,
        };
        let found = found.unwrap_or_else(|fault| Found::nothing(format!("Error: the store cannot be read: {fault}")));
        let Found { outcome, text, acts } = found;
        let ended = Input::ToolEnded { call: call.id, outcome, text, attachments: Vec::new(), acts, facts: Vec::new() };
        (ended, true)
    }
    .boxed()
}

/// The result of a run that this thread asked for. Other threads' runs are none of its business.
async fn output(inner: &Inner, place: Place, run: &RunId, from: usize) -> Result<Found, StoreError> {
    let row = inner.store.run(run).await?;
    let Some(row) = row.filter(|row| row.parent == Some(place.thread)) else {
        return Ok(Found::nothing(format!("Error: unknown task_id `{run}`; task_list shows all of them")));
    };
    let seen = Seen {
        run,
        agent: agent_id(&row.agent),
        status: row.status,
        result: row.result.as_deref(),
        error: row.error.as_deref(),
        created_at: row.created_at,
    };
    let acts = if row.status.is_terminal() { vec![Act::ReadRun { run: run.clone() }] } else { Vec::new() };
    Ok(Found { outcome: Outcome::Done, text: task_output(&seen, from), acts })
}
