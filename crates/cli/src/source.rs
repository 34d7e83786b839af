//! What commands read of threads and runs: from the store, or from the server that holds it.

use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::project::Project;
use crate::remote_server::{self, RemoteServer};
use crate::storage::Storage;
use crate::token_file;
use crate::transcript::{self, Audience, Numbered};
use async_trait::async_trait;
use entourage_model::{Ending, Event, RunId, ThreadId, Timestamp};
use entourage_store::{JournalReader, Page, RunFilter, RunRow, ThreadFilter, ThreadRow};
use std::collections::HashMap;
use std::fmt::Debug;

/// Both kinds give the same rows, so that whoever shows them need not know which it is.
#[async_trait]
pub(crate) trait Source: Debug + Send + Sync {
    /// Nothing for a thread that is not there.
    async fn thread(&self, id: ThreadId) -> Result<Option<ThreadRow>, Failure>;

    /// Newest first, at most so many.
    async fn threads(&self, filter: &ThreadFilter, limit: usize) -> Result<Vec<ThreadRow>, Failure>;

    /// Nothing for a run that is not there. Its result stays unread.
    async fn run(&self, id: &RunId) -> Result<Option<RunRow>, Failure>;

    /// Newest first, at most so many.
    async fn runs(&self, filter: &RunFilter, limit: usize) -> Result<Vec<RunRow>, Failure>;

    /// The messages of a thread in order; none for a thread that is not there.
    async fn messages(&self, thread: ThreadId, audience: Audience) -> Result<Vec<Numbered>, Failure>;

    /// When each child was started, as the parent's journal tells: ids of one moment have no order.
    async fn starting_order(&self, parent: ThreadId) -> Result<HashMap<ThreadId, u64>, Failure>;

    /// How the thread's last session ended, if one has.
    async fn last_end(&self, thread: ThreadId) -> Result<Option<Ending>, Failure>;

    /// Notes that somebody was given the run's result; repeating it changes nothing.
    async fn mark_delivered(&self, run: &RunId) -> Result<(), Failure>;

    fn now(&self) -> Timestamp;

    async fn close(&self);
}

/// Who has the threads of a project.
#[derive(Debug)]
pub(crate) enum Holder {
    /// This process, from now on.
    Store(Storage),
    Server(RemoteServer),
}

impl Holder {
    /// The store, or the server that has it locked. A `server.json` that a killed server left is not even read,
    /// because the store is free then.
    pub(crate) async fn look(invocation: &Invocation) -> Result<Self, Failure> {
        match Storage::look(invocation).await {
            Ok(storage) => Ok(Self::Store(storage)),
            Err(failure) if failure.is_locked() => {
                let server = RemoteServer::find(&invocation.project).await.map(Self::Server);
                server.ok_or_else(|| unanswered(failure, &invocation.project))
            }
            Err(failure) => Err(failure),
        }
    }

    pub(crate) fn source(&self) -> &dyn Source {
        match self {
            Self::Store(storage) => storage,
            Self::Server(server) => server,
        }
    }
}

/// The store for work of this process's own, which no server can do for it. Where one has the store, its address is told.
pub(crate) async fn alone(invocation: &Invocation, opened: Result<Storage, Failure>) -> Result<Storage, Failure> {
    let Err(mut failure) = opened else { return opened };
    if failure.is_locked()
        && let Some(address) = remote_server::address(&invocation.project).await
    {
        let hint = format!(
            "the server at http://{address} works on it: it goes on with what is unfinished by itself, and starts threads by its page and `POST /threads`; another folder is given by `--data DIR`"
        );
        failure.reports.iter_mut().for_each(|report| report.hint = Some(hint.clone()));
    }
    Err(failure)
}

/// Why nobody answers for a store that is locked. Commands come as the owner, whom a file of tokens may leave out.
pub(crate) fn unanswered(mut failure: Failure, project: &Project) -> Failure {
    if token_file::exists(project) && token_file::own(project).is_none() {
        let hint = "the file `token` of the data folder has no token of the owner, with which a command could ask the server: add one, and start the server again";
        failure.reports.iter_mut().for_each(|report| report.hint = Some(hint.to_owned()));
    }
    failure
}

#[async_trait]
impl Source for Storage {
    async fn thread(&self, id: ThreadId) -> Result<Option<ThreadRow>, Failure> {
        let mut row = self.store.thread(id).await.map_err(|error| self.refused(&error))?;
        let named = entourage_runtime::name_artifacts(&*self.store, row.as_mut_slice()).await;
        named.map_err(|error| self.refused(&error))?;
        Ok(row)
    }

    async fn threads(&self, filter: &ThreadFilter, limit: usize) -> Result<Vec<ThreadRow>, Failure> {
        let rows = self.store.threads(filter, Page { after: None, limit }).await;
        let mut rows = rows.map_err(|error| self.refused(&error))?;
        let named = entourage_runtime::name_artifacts(&*self.store, &mut rows).await;
        named.map_err(|error| self.refused(&error))?;
        Ok(rows)
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRow>, Failure> {
        self.store.run(id).await.map_err(|error| self.refused(&error))
    }

    async fn runs(&self, filter: &RunFilter, limit: usize) -> Result<Vec<RunRow>, Failure> {
        self.store.runs(filter, Page { after: None, limit }).await.map_err(|error| self.refused(&error))
    }

    async fn messages(&self, thread: ThreadId, audience: Audience) -> Result<Vec<Numbered>, Failure> {
        transcript::read(&*self.store, thread, audience).await.map_err(|error| self.refused(&error))
    }

    async fn starting_order(&self, parent: ThreadId) -> Result<HashMap<ThreadId, u64>, Failure> {
        let mut journal = JournalReader::of_thread(&*self.store, parent);
        let mut order = HashMap::new();
        while let Some(stored) = journal.next().await.map_err(|error| self.refused(&error))? {
            if let Event::ChildStarted(link) = stored.event {
                order.insert(link.thread, stored.seq);
            }
        }
        Ok(order)
    }

    async fn last_end(&self, thread: ThreadId) -> Result<Option<Ending>, Failure> {
        let mut journal = JournalReader::of_thread(&*self.store, thread);
        let mut last = None;
        while let Some(stored) = journal.next().await.map_err(|error| self.refused(&error))? {
            if let Event::SessionEnded(end) = stored.event {
                last = Some(end.ending);
            }
        }
        Ok(last)
    }

    async fn mark_delivered(&self, run: &RunId) -> Result<(), Failure> {
        self.store.mark_delivered(run).await.map_err(|error| self.refused(&error))
    }

    fn now(&self) -> Timestamp {
        self.store.now()
    }

    async fn close(&self) {
        self.store.close().await;
    }
}
