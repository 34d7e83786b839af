//! What dialects show on disk: projections of the store, written behind the commit that they tell of, and made good
//! after a crash. The store is the truth; a file that cannot be written is told of in the log and costs nobody a run.
//!
//! Of each dex run: `runs/<run>/request.json`, which never changes, `status.json`, which is replaced whole, and
//! `events.jsonl`, which grows. Of each assignment: `assignments/<id>.json`. Of the tasks of each thread, where that is wanted:
//! `agents/<agent>/tasks/<session>.json` in the project.

mod assignment;
mod folder;
mod run;
mod task;

pub(crate) use folder::Folder;

use crate::dex;
use crate::runtime::{Inner, RuntimeError};
use entourage_engine::{Decision, ThreadState};
use entourage_model::{Dialect, Event, RunId, RunStatus, TaskItem, Write};
use entourage_store::{Page, RunFilter};
use futures::stream::{self, StreamExt as _};
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use task::TaskList;

/// Runs that are looked at together when a process starts.
const PAGE: usize = 200;
/// The files of how many runs one decision writes at once.
const HANDS: usize = 8;
/// What the ids of AgentScope's runs begin with.
const TASK: &str = "task_";

#[derive(Debug)]
pub(crate) struct Mirror {
    /// Nothing is shown without one.
    folder: Option<Folder>,
    /// The project, where tasks are shown in it.
    tasks: Option<Folder>,
    /// How far the files of runs at work have come. An entry goes with the end of its run.
    runs: Mutex<HashMap<RunId, Arc<tokio::sync::Mutex<Shown>>>>,
}

/// How far a run's files have come; at first nobody knows.
#[derive(Debug, Default)]
struct Shown {
    /// The number of the last event that was looked at.
    seq: Option<u64>,
    status: Option<RunStatus>,
}

/// What a decision changes of that which is shown.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    runs: Vec<RunId>,
    items: Vec<TaskItem>,
    tasks: Option<TaskList>,
}

/// What was shown of threads that are gone.
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    pub(crate) runs: Vec<RunId>,
    assignments: Vec<String>,
    /// The files of tasks.
    tasks: Vec<String>,
}

impl Hidden {
    pub(crate) fn add(&mut self, state: &ThreadState) {
        let assigned = state.tasks.iter().filter_map(|item| Some(item.assignment.as_ref()?.id.clone()));
        self.assignments.extend(assigned);
        self.tasks.extend(task::files_of(state));
    }
}

impl Mirror {
    pub(crate) fn new(data: Option<PathBuf>, tasks: Option<PathBuf>) -> Self {
        Self { folder: data.map(Folder::new), tasks: tasks.map(Folder::new), runs: Mutex::default() }
    }

    /// What of this decision is to be shown once it is durable.
    pub(crate) fn touched(&self, state: &ThreadState, decision: &Decision) -> Touched {
        let is_told = self.tasks.is_some() && decision.events.iter().any(task::is_told);
        let tasks = if is_told { TaskList::of(state) } else { None };
        if self.folder.is_none() {
            return Touched { tasks, ..Touched::default() };
        }
        let mut runs: Vec<RunId> = decision.writes.iter().filter_map(run_of).filter(dex::is_dex).collect();
        if state.started.dialect == Some(Dialect::Dex) && !decision.events.is_empty() {
            let asks = state.session.iter().flat_map(|session| &session.asks);
            runs.extend(asks.map(|ask| ask.run.clone()).filter(dex::is_dex));
        }
        runs.sort();
        runs.dedup();
        Touched { runs, items: decision.events.iter().filter_map(item_of).collect(), tasks }
    }

    fn entry(&self, run: &RunId) -> Arc<tokio::sync::Mutex<Shown>> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(runs.entry(run.clone()).or_default())
    }

    /// Unless somebody else looks at it, who will forget it then: no two may write the files of one run.
    fn forget(&self, run: &RunId) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if runs.get(run).is_some_and(|entry| Arc::strong_count(entry) <= 2) {
            runs.remove(run);
        }
    }
}

impl Touched {
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.items.is_empty() && self.tasks.is_none()
    }
}

impl Inner {
    /// Shows what has become durable.
    pub(crate) async fn show(&self, touched: Touched) {
        stream::iter(&touched.runs).for_each_concurrent(HANDS, |run| self.show_run(run)).await;
        self.show_assignments(touched.items).await;
        if let Some(list) = touched.tasks {
            self.show_tasks(list).await;
        }
    }

    async fn show_tasks(&self, list: TaskList) {
        let Some(folder) = self.mirror.tasks.clone() else { return };
        if let Err(error) = task::write(self, folder, list).await {
            tracing::warn!(%error, "the file of a thread's tasks could not be written");
        }
    }

    /// The same for every thread that has tasks.
    async fn mend_tasks(&self) -> Result<(), RuntimeError> {
        let mut after = None;
        let mut parents = BTreeSet::new();
        while self.mirror.tasks.is_some() && !self.stopping.is_cancelled() {
            let page = self.store.runs(&RunFilter::default(), Page { after, limit: PAGE }).await?;
            let tasks = page.iter().filter(|row| row.id.as_str().starts_with(TASK));
            parents.extend(tasks.filter_map(|row| row.parent));
            after = page.last().filter(|_| page.len() == PAGE).map(|row| row.id.clone());
            if after.is_none() {
                break;
            }
        }
        for parent in parents {
            if let Some(list) = self.fold(parent).await?.as_ref().and_then(TaskList::of) {
                self.show_tasks(list).await;
            }
        }
        Ok(())
    }

    /// Brings the files of a run up to what the store says.
    async fn show_run(&self, run: &RunId) {
        let Some(folder) = self.mirror.folder.clone() else { return };
        let entry = self.mirror.entry(run);
        let mut shown = entry.lock().await;
        let caught_up = run::catch_up(self, folder, run, &mut shown).await;
        if let Err(error) = &caught_up {
            tracing::warn!(%run, %error, "the files of a run could not be written");
        }
        if caught_up.is_err() || shown.status.is_some_and(RunStatus::is_terminal) {
            self.mirror.forget(run);
        }
    }

    /// Shows these entries of a task list, as far as they are assigned to somebody.
    pub(crate) async fn show_assignments(&self, items: Vec<TaskItem>) {
        let Some(folder) = self.mirror.folder.clone().filter(|_| !items.is_empty()) else { return };
        let written = blocking(move || items.iter().try_for_each(|item| assignment::write(&folder, item))).await;
        if let Err(error) = written {
            tracing::warn!(%error, "the file of an assignment could not be written");
        }
    }

    /// Makes good what a process that died could not write any more.
    pub(crate) async fn mend_mirror(&self) -> Result<(), RuntimeError> {
        self.mend_tasks().await?;
        let Some(folder) = self.mirror.folder.clone() else { return Ok(()) };
        let mut after = None;
        loop {
            let page = self.store.runs(&RunFilter::default(), Page { after, limit: PAGE }).await?;
            for row in page.iter().filter(|row| dex::is_dex(&row.id)) {
                let (folder, id, status) = (folder.clone(), row.id.clone(), row.status);
                let is_whole = blocking(move || run::is_whole(&folder, &id, status)).await;
                if !is_whole.unwrap_or(false) {
                    self.show_run(&row.id).await;
                }
            }
            after = page.last().filter(|_| page.len() == PAGE).map(|row| row.id.clone());
            if after.is_none() || self.stopping.is_cancelled() {
                return Ok(());
            }
        }
    }

    /// Takes away what was shown of threads that are gone.
    pub(crate) async fn hide(&self, Hidden { runs, assignments, tasks }: Hidden) {
        let (data, project) = (self.mirror.folder.clone(), self.mirror.tasks.clone());
        let removed = blocking(move || {
            if let Some(folder) = data {
                runs.iter().try_for_each(|run| folder.remove(&run::folder_of(run)))?;
                assignments.iter().try_for_each(|id| folder.remove_file(&assignment::file_of(id)))?;
            }
            project.map_or(Ok(()), |folder| tasks.iter().try_for_each(|file| folder.remove_file(file)))
        });
        if let Err(error) = removed.await {
            tracing::warn!(%error, "the files of deleted threads could not be removed");
        }
    }
}

/// The run whose row a write changes.
fn run_of(write: &Write) -> Option<RunId> {
    match write {
        Write::Spawn(new) => new.run.as_ref().map(|run| run.id.clone()),
        Write::NewRun(run) => Some(run.id.clone()),
        Write::StartRun { run } | Write::InterruptRun { run } | Write::EndRun { run, .. } => Some(run.clone()),
        Write::CancelRun { .. }
        | Write::Deliver { .. }
        | Write::DeliveredRun { .. }
        | Write::PutFile { .. }
        | Write::SetAgent { .. }
        | Write::RemoveFile { .. } => None,
    }
}

fn item_of(event: &Event) -> Option<TaskItem> {
    if let Event::TaskSaved(item) = event { Some((**item).clone()) } else { None }
}

/// Does what blocks on a thread that may.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
