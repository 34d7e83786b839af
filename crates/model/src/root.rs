//! Where a thread's tools work: decided from what its agent wishes and where its caller works, and never again.

use crate::{Name, WorkspaceMode, WorkspaceWish};

impl WorkspaceWish {
    /// The folder for a new thread of the agent that wishes this, relative to the project or absolute. Nothing is the
    /// project's own folder.
    ///
    /// | definition folder | mode | works in | prompt |
    /// |---|---|---|---|
    /// | yes | isolated | that folder | its `AGENTS.md` |
    /// | yes | shared | the project | its `AGENTS.md` |
    /// | no | isolated | `agents/<id>/workspace` | the declaration's body |
    /// | no | shared | the project | the declaration's body |
    pub fn root(&self, agent: &Name) -> Option<String> {
        match (self.mode, &self.path) {
            (WorkspaceMode::Shared, _) => None,
            (WorkspaceMode::Isolated, Some(path)) => Some(path.clone()),
            (WorkspaceMode::Isolated, None) => {
                // An agent whose name another one has is called `<format>/<id>`.
                let id = agent.as_str().rsplit('/').next().unwrap_or_default();
                Some(format!("agents/{id}/workspace"))
            }
        }
    }
}
