//! Runs: pending, running, ended once, delivered once.

use super::table::Tables;
use crate::row::{Page, RunEnd, RunFilter, RunRow};
use entourage_model::{Ending, NewRun, RunId, RunStatus, Timestamp};
use std::cmp::Reverse;

impl Tables {
    pub(super) fn new_run(&mut self, new: NewRun, now: Timestamp) {
        self.runs.entry(new.id.clone()).or_insert_with(|| RunRow {
            id: new.id,
            thread: new.thread,
            parent: new.parent,
            agent: new.agent,
            request: new.request,
            status: if new.begun { RunStatus::Running } else { RunStatus::Pending },
            result: None,
            error: None,
            created_at: now,
            started_at: new.begun.then_some(now),
            ended_at: None,
            delivered_at: None,
            cancel_requested: false,
        });
    }

    pub(super) fn start_run(&mut self, id: &RunId, now: Timestamp) {
        let waits = |run: &&mut RunRow| matches!(run.status, RunStatus::Pending | RunStatus::Interrupted);
        if let Some(run) = self.runs.get_mut(id).filter(waits) {
            run.status = RunStatus::Running;
            run.started_at.get_or_insert(now);
        }
    }

    pub(super) fn interrupt_run(&mut self, id: &RunId) {
        if let Some(run) = self.runs.get_mut(id).filter(|run| run.status == RunStatus::Running) {
            run.status = RunStatus::Interrupted;
        }
    }

    pub(super) fn end_run(&mut self, id: &RunId, ending: &Ending, now: Timestamp) {
        if let Some(run) = self.runs.get_mut(id).filter(|run| !run.status.is_terminal()) {
            let end = RunEnd::from(ending);
            run.status = end.status;
            run.result = end.result.map(str::to_owned);
            run.error = end.error.map(str::to_owned);
            run.ended_at = Some(now);
        }
    }

    pub(super) fn mark_delivered(&mut self, id: &RunId, now: Timestamp) {
        if let Some(run) = self.runs.get_mut(id) {
            run.delivered_at.get_or_insert(now);
        }
    }

    pub(super) fn request_cancel(&mut self, id: &RunId) -> Option<RunRow> {
        let run = self.runs.get_mut(id)?;
        run.cancel_requested |= !run.status.is_terminal();
        Some(run.clone())
    }

    pub(super) fn list_runs(&self, filter: &RunFilter, page: &Page<RunId>) -> Vec<RunRow> {
        let age = |run: &RunRow| Reverse((run.created_at, run.id.clone()));
        let after = match &page.after {
            None => None,
            Some(id) => match self.runs.get(id) {
                Some(run) => Some(age(run)),
                // The run was deleted meanwhile: nobody knows what lay behind it.
                None => return Vec::new(),
            },
        };
        let mut found: Vec<&RunRow> = self.runs.values().filter(|run| matches(filter, run)).collect();
        found.sort_by_key(|run| age(run));
        let behind = found.into_iter().filter(|run| after.as_ref().is_none_or(|after| age(run) > *after));
        behind.take(page.limit).cloned().collect()
    }
}

fn matches(filter: &RunFilter, run: &RunRow) -> bool {
    filter.thread.is_none_or(|thread| run.thread == thread)
        && filter.parent.is_none_or(|parent| run.parent == Some(parent))
        && filter.status.is_none_or(|status| run.status == status)
        && (!filter.unread || (run.status.is_terminal() && run.delivered_at.is_none()))
}
