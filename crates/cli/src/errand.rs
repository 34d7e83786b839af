//! Waiting for threads at work: shown while they work, and left in order when somebody presses Ctrl-C.

use crate::declarations;
use crate::failure::{Exit, Failure};
use crate::interrupt::Interrupts;
use crate::invocation::Invocation;
use crate::live::{Live, Show};
use crate::servers;
use crate::source::Source as _;
use crate::storage::Storage;
use crate::workbench::{self, Equipment, Workbench};
use entourage_model::{Report, ThreadId};
use entourage_outside::model::ModelSettings;
use entourage_runtime::RuntimeError;
use std::time::Duration;

/// Every run has its own limit; nobody needs a second one here.
pub(crate) const PATIENCE: Duration = Duration::MAX;

/// A workbench somebody waits at.
pub(crate) struct Errand<'a> {
    invocation: &'a Invocation,
    pub(crate) bench: Workbench,
    interrupts: Interrupts,
    /// Somebody has interrupted it: nothing is worked on any more.
    is_leaving: bool,
}

impl<'a> Errand<'a> {
    /// Opens the threads of a store for work.
    pub(crate) async fn open(
        invocation: &'a Invocation,
        storage: Storage,
        models: ModelSettings,
    ) -> Result<Self, Failure> {
        let settings = &invocation.settings;
        let equipment = Equipment {
            models,
            tools: workbench::tools(invocation),
            servers: servers::open(invocation)?,
            limits: settings.limits.clone(),
            variables: settings.variables.clone(),
            remotes: declarations::remotes(invocation),
            reach: workbench::reach(invocation),
            task_files: settings.task_files,
        };
        let bench = Workbench::open(&invocation.project, storage, equipment).await?;
        let interrupts = Interrupts::listen().map_err(|fault| {
            Failure::new(Exit::File, Report::error("C027", format!("signals cannot be listened to: {fault}")))
        })?;
        Ok(Self { invocation, bench, interrupts, is_leaving: false })
    }

    /// A view of the tree of `root`, as much of it as is `shown`.
    pub(crate) fn live(&self, root: ThreadId, shown: Show) -> Live {
        Live::new(&self.bench.runtime, &self.invocation.screen, root, shown)
    }

    /// Waits for `work`, with the tree that it is about in view.
    pub(crate) async fn wait<T>(
        &mut self,
        mut live: Live,
        work: impl Future<Output = Result<T, RuntimeError>>,
    ) -> Result<T, Failure> {
        tokio::pin!(work);
        let ended = tokio::select! {
            biased;
            ended = &mut work => Some(ended),
            () = self.interrupts.next() => None,
            () = live.follow() => None,
            () = std::future::ready(()), if self.is_leaving => None,
        };
        live.finish().await;
        let ended = match ended {
            Some(ended) => ended,
            None if self.is_finished_on_leaving(live.root).await? => work.await,
            None => return Err(self.interrupted(live.root).await),
        };
        ended.map_err(|error| self.bench.refused(&error))
    }

    /// Lets go of the work, which gives calls that must not be repeated a little time: that may have been all that was
    /// left to do. Whoever does not want to wait for it interrupts again: nothing is lost by it.
    async fn is_finished_on_leaving(&mut self, root: ThreadId) -> Result<bool, Failure> {
        if !std::mem::replace(&mut self.is_leaving, true) {
            self.invocation.screen.note("stopping; Ctrl-C again to stop at once");
        }
        tokio::select! {
            () = self.bench.runtime.shutdown() => Ok(self.bench.unfinished(Some(root)).await?.is_empty()),
            () = self.interrupts.next() => Ok(false),
        }
    }

    async fn interrupted(&mut self, root: ThreadId) -> Failure {
        tokio::select! {
            () = self.bench.storage().close() => {}
            () = self.interrupts.next() => {}
        }
        let report = Report::error("C026", "interrupted before the work was finished; nothing is lost");
        let hint = format!("`entourage resume {root}` goes on where it stopped");
        Failure::new(Exit::Cancelled, report.hint(hint))
    }
}
