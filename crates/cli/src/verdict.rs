//! What a thread's work came to: the document of `run --json`, the text on stdout, the exit code.

use crate::advice;
use crate::failure::{Exit, Failure};
use crate::invocation::Invocation;
use crate::source::Source;
use crate::tree::Tree;
use entourage_model::{Name, Report, RunId, RunStatus, ThreadId, ThreadStatus, Usage};
use entourage_store::{RunEnd, RunFilter, RunRow};
use serde::Serialize;
use std::iter;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Verdict {
    pub(crate) thread_id: ThreadId,
    pub(crate) run_id: Option<RunId>,
    pub(crate) status: Status,
    pub(crate) result: Option<String>,
    pub(crate) error: Option<String>,
    /// What the work has cost: of the thread and everything below it.
    pub(crate) usage: Usage,
    pub(crate) children: Vec<ChildVerdict>,
    #[serde(skip)]
    pub(crate) agent: Name,
}

/// What was done before a verdict was asked for, and so which run it may name.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// This run, and whatever woke the thread after it.
    Run(Option<RunId>),
    /// What was unfinished, or said to a thread. Messages from people make no run: one is named if what is shown is its
    /// own result, and never the one whose result somebody was given before.
    Rest { given: Option<RunId> },
}

impl Work {
    /// For a thread that is about to work on.
    pub(crate) async fn rest(source: &dyn Source, thread: ThreadId) -> Result<Self, Failure> {
        let given = last_run(source, thread).await?.filter(|run| run.delivered_at.is_some());
        Ok(Self::Rest { given: given.map(|run| run.id) })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Done,
    Failed,
    Cancelled,
    Terminated,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ChildVerdict {
    thread_id: ThreadId,
    agent: Name,
    name: Option<String>,
    status: ThreadStatus,
    children: Vec<ChildVerdict>,
}

impl Verdict {
    /// Reads what became of a thread. Its last session counts, which may be a later one than that of its first run:
    /// children in the background wake it again. Nothing for a thread that is not there.
    pub(crate) async fn read(source: &dyn Source, thread: ThreadId, work: Work) -> Result<Option<Self>, Failure> {
        let Some(row) = source.thread(thread).await? else { return Ok(None) };
        let tree = Tree::read(source, row.root).await?;
        let run = last_run(source, thread).await?;
        let end = source.last_end(thread).await?;
        let (status, result, error) = match (&end, &run) {
            _ if row.status == ThreadStatus::Terminated => {
                (Status::Terminated, None, Some("the thread was terminated".to_owned()))
            }
            (Some(end), _) => words(RunEnd::from(end)),
            (None, Some(run)) => words(end_of(run)),
            (None, None) => (Status::Done, None, None),
        };
        let run_id = match work {
            Work::Run(run) => run,
            Work::Rest { given } => {
                let is_own = |run: &RunRow| end.as_ref().is_none_or(|end| RunEnd::from(end) == end_of(run));
                run.filter(|run| given.as_ref() != Some(&run.id) && is_own(run)).map(|run| run.id)
            }
        };
        let children = ChildVerdict::below(&tree, thread);
        let usage = iter::once(row.usage).chain(tree.below(thread).iter().map(|child| child.usage)).sum();
        Ok(Some(Self { thread_id: row.id, run_id, status, result, error, usage, children, agent: row.agent }))
    }

    /// Prints it, and notes that whoever asked was given the result.
    pub(crate) async fn deliver(&self, invocation: &Invocation, source: &dyn Source) -> Result<(), Failure> {
        self.print(invocation);
        self.stamp(invocation, source).await
    }

    /// Prints the final text, or the document.
    pub(crate) fn print(&self, invocation: &Invocation) {
        if invocation.is_json() {
            invocation.screen.json(self);
        } else if let Some(result) = &self.result {
            invocation.screen.data(result);
        }
    }

    /// Notes that whoever asked was given the result, unless it did not come to stdout.
    pub(crate) async fn stamp(&self, invocation: &Invocation, source: &dyn Source) -> Result<(), Failure> {
        let Some(run) = self.run_id.as_ref().filter(|_| invocation.screen.is_delivered()) else { return Ok(()) };
        source.mark_delivered(run).await
    }

    /// Well, or why not and with which exit code.
    pub(crate) fn outcome(&self, invocation: &Invocation) -> Result<(), Failure> {
        let error = self.error.as_deref().unwrap_or_default();
        match self.status {
            Status::Done => {
                if let Some(limit) = &self.error {
                    invocation.screen.note(&format!("{} stopped at a limit: {limit}", self.agent));
                }
                Ok(())
            }
            Status::Failed => {
                let report = Report::error("C024", format!("agent `{}` failed: {error}", self.agent));
                Err(Failure::new(Exit::AgentFailed, report.hint(advice::for_failure(error, self.thread_id))))
            }
            Status::Cancelled | Status::Terminated => {
                let report = Report::error("C025", format!("agent `{}` did not finish: {error}", self.agent));
                Err(Failure::new(Exit::Cancelled, report))
            }
        }
    }
}

impl ChildVerdict {
    /// The threads below this one, each with those below it.
    pub(crate) fn below(tree: &Tree, parent: ThreadId) -> Vec<Self> {
        let children = tree.children(parent).map(|row| Self {
            thread_id: row.id,
            agent: row.agent.clone(),
            name: Tree::given_name(row).map(str::to_owned),
            status: row.status,
            children: Self::below(tree, row.id),
        });
        children.collect()
    }
}

/// The newest run of a thread.
async fn last_run(source: &dyn Source, thread: ThreadId) -> Result<Option<RunRow>, Failure> {
    let filter = RunFilter { thread: Some(thread), ..RunFilter::default() };
    Ok(source.runs(&filter, 1).await?.pop())
}

fn end_of(run: &RunRow) -> RunEnd<'_> {
    RunEnd { status: run.status, result: run.result.as_deref(), error: run.error.as_deref() }
}

fn words(end: RunEnd<'_>) -> (Status, Option<String>, Option<String>) {
    let status = match end.status {
        RunStatus::Done => Status::Done,
        RunStatus::Cancelled => Status::Cancelled,
        // A run that has not ended although nobody works on it is one that cannot be worked on.
        RunStatus::Failed | RunStatus::Pending | RunStatus::Running | RunStatus::Interrupted => Status::Failed,
    };
    (status, end.result.map(str::to_owned), end.error.map(str::to_owned))
}
