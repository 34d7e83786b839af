//! What a root thread's work came to: the document of `run --json`, the text on stdout, the exit code.

use crate::advice;
use crate::failure::{Exit, Failure};
use crate::invocation::Invocation;
use crate::source::Source;
use crate::tree::Tree;
use entourage_model::{Name, Report, RunId, RunStatus, ThreadId, ThreadStatus, Usage};
use entourage_store::{RunEnd, RunFilter};
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Verdict {
    pub(crate) thread_id: ThreadId,
    pub(crate) run_id: Option<RunId>,
    pub(crate) status: Status,
    pub(crate) result: Option<String>,
    pub(crate) error: Option<String>,
    /// Of the root thread alone.
    pub(crate) usage: Usage,
    pub(crate) children: Vec<ChildVerdict>,
    #[serde(skip)]
    pub(crate) agent: Name,
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
    /// Reads what became of a root. Its last session counts, which may be a later one than that of its first run:
    /// children in the background wake it again. Nothing for a thread that is not there.
    pub(crate) async fn read(source: &dyn Source, root: ThreadId) -> Result<Option<Self>, Failure> {
        let Some(row) = source.thread(root).await? else { return Ok(None) };
        let tree = Tree::read(source, root).await?;
        let filter = RunFilter { thread: Some(root), ..RunFilter::default() };
        let run = source.runs(&filter, 1).await?.pop();
        let end = source.last_end(root).await?;
        let (status, result, error) = match (&end, &run) {
            _ if row.status == ThreadStatus::Terminated => {
                (Status::Terminated, None, Some("the thread was terminated".to_owned()))
            }
            (Some(end), _) => words(RunEnd::from(end)),
            (None, Some(run)) => {
                words(RunEnd { status: run.status, result: run.result.as_deref(), error: run.error.as_deref() })
            }
            (None, None) => (Status::Done, None, None),
        };
        let run_id = run.map(|run| run.id);
        let children = ChildVerdict::below(&tree, root);
        Ok(Some(Self { thread_id: root, run_id, status, result, error, usage: row.usage, children, agent: row.agent }))
    }

    /// Prints the final text, or the document.
    pub(crate) fn print(&self, invocation: &Invocation) {
        if invocation.is_json() {
            invocation.screen.json(self);
        } else if let Some(result) = &self.result {
            invocation.screen.data(result);
        }
    }

    /// Notes that whoever asked was given the result.
    pub(crate) async fn stamp(&self, source: &dyn Source) -> Result<(), Failure> {
        let Some(run) = &self.run_id else { return Ok(()) };
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

fn words(end: RunEnd<'_>) -> (Status, Option<String>, Option<String>) {
    let status = match end.status {
        RunStatus::Done => Status::Done,
        RunStatus::Cancelled => Status::Cancelled,
        // A run that has not ended although nobody works on it is one that cannot be worked on.
        RunStatus::Failed | RunStatus::Pending | RunStatus::Running | RunStatus::Interrupted => Status::Failed,
    };
    (status, end.result.map(str::to_owned), end.error.map(str::to_owned))
}
