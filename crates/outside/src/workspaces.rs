//! The folders that the threads of a project work in.

use crate::workspace::{PathFault, Reach, Workspace};
use std::path::Path;
use std::sync::Arc;

/// What a definition folder says of its agent.
const DEFINITION: &str = "AGENTS.md";
const DEFINITION_BYTES_MAX: u64 = 8 << 20;

/// The project's folder, and those that belong to single agents.
#[derive(Clone, Debug)]
pub struct Workspaces {
    project: Arc<Workspace>,
}

impl Workspaces {
    pub fn new(project: Arc<Workspace>) -> Self {
        Self { project }
    }

    /// The project's own folder.
    pub fn project(&self) -> &Arc<Workspace> {
        &self.project
    }

    /// Opens the folder of a thread, as [`WorkspaceWish::root`](entourage_model::WorkspaceWish::root) names it. One
    /// beneath the project is made if it is not there. It blocks for a moment.
    pub fn root(&self, root: Option<&str>) -> Result<Arc<Workspace>, PathFault> {
        let Some(root) = root else { return Ok(Arc::clone(&self.project)) };
        match self.project.beneath(root) {
            Err(fault @ PathFault::Outside { .. }) if Path::new(root).is_absolute() => {
                let elsewhere = Workspace::open(Path::new(root))?.elsewhere(&self.project);
                let is_open = match self.project.reach() {
                    Reach::Anywhere => true,
                    Reach::Definitions => elsewhere.file(DEFINITION).is_ok(),
                };
                if is_open { Ok(Arc::new(elsewhere)) } else { Err(fault) }
            }
            found => found.map(Arc::new),
        }
    }

    /// The prompt in a definition folder, as it is now. Nothing if the folder has none.
    pub fn definition(&self, folder: &str) -> Result<Option<String>, PathFault> {
        let file = format!("{}/{DEFINITION}", folder.trim_end_matches('/'));
        let text = match self.project.read_text(&file, DEFINITION_BYTES_MAX) {
            Err(PathFault::Outside { .. }) if Path::new(folder).is_absolute() => Workspace::open(Path::new(folder))
                .and_then(|elsewhere| elsewhere.elsewhere(&self.project).read_text(DEFINITION, DEFINITION_BYTES_MAX)),
            text => text,
        };
        match text {
            Ok(text) => Ok(Some(text)),
            Err(PathFault::NotFound { .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}
