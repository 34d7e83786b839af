//! The project's threads, opened for work: the store, and a runtime that has taken nothing up yet.

use crate::environment;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::key_file;
use crate::project::Project;
use crate::settings::Trust;
use crate::storage::Storage;
use entourage_model::{Limits, ModelRef, Report, ThreadId, Variables};
use entourage_outside::mcp::Servers;
use entourage_outside::model::{ModelSettings, Models, Reply, Rule, Script};
use entourage_outside::remote::Remotes;
use entourage_outside::sandbox::SandboxWish;
use entourage_outside::tool::{ShellSettings, Toolbox};
use entourage_outside::workspace::{Reach, Workspace};
use entourage_runtime::{Parts, Runtime, RuntimeError};
use entourage_store::{Page, Store, ThreadFilter, ThreadRow, all_threads};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many threads may be at work at once in this process.
const SLOTS: usize = 512;

/// A runtime over a store. `close` ends both.
#[derive(Debug)]
pub(crate) struct Workbench {
    pub(crate) runtime: Runtime,
    storage: Storage,
}

/// What a workbench needs beside the project.
#[derive(Debug)]
pub(crate) struct Equipment {
    pub(crate) models: ModelSettings,
    pub(crate) tools: Toolbox,
    pub(crate) servers: Servers,
    pub(crate) limits: Limits,
    pub(crate) variables: Variables,
    pub(crate) remotes: Remotes,
    /// Where the project's agents may have their folders.
    pub(crate) reach: Reach,
    /// Whether AgentScope's tasks are shown as files in the project.
    pub(crate) task_files: bool,
}

impl Workbench {
    pub(crate) async fn open(project: &Project, storage: Storage, equipment: Equipment) -> Result<Self, Failure> {
        let workspace =
            Workspace::open(&project.root).map_err(|fault| Failure::usage(Report::error("C002", fault.to_string())))?;
        key_file::agree(project, &storage).await?;
        let vault = key_file::vault(project);
        let parts = Parts {
            store: Arc::clone(&storage.store),
            models: Models::new(equipment.models),
            tools: equipment.tools,
            servers: equipment.servers,
            // The token and the keys in the data folder are nobody's business, be it a tool's.
            workspace: Arc::new(workspace.without(&project.data).reaching(equipment.reach)),
            limits: equipment.limits,
            variables: equipment.variables,
            remotes: equipment.remotes,
            vault,
            slots: SLOTS,
            data: Some(project.data.clone()),
            task_files: equipment.task_files.then(|| project.root.clone()),
        };
        match Runtime::start(parts).await {
            Ok(runtime) => Ok(Self { runtime, storage }),
            Err(error) => Err(Failure::of_runtime(&error, &storage.place)),
        }
    }

    fn store(&self) -> &dyn Store {
        &*self.storage.store
    }

    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Threads in which something is left to do: of one tree, or of all.
    pub(crate) async fn unfinished(&self, root: Option<ThreadId>) -> Result<Vec<ThreadRow>, Failure> {
        let filter = ThreadFilter { root, unsettled: true, ..ThreadFilter::default() };
        all_threads(self.store(), &filter).await.map_err(|error| self.storage.refused(&error))
    }

    /// At most so many of all of them, newest first.
    pub(crate) async fn some_unfinished(&self, limit: usize) -> Result<Vec<ThreadRow>, Failure> {
        let filter = ThreadFilter { unsettled: true, ..ThreadFilter::default() };
        let rows = self.store().threads(&filter, Page { after: None, limit }).await;
        rows.map_err(|error| self.storage.refused(&error))
    }

    pub(crate) fn refused(&self, error: &RuntimeError) -> Failure {
        Failure::of_runtime(error, &self.storage.place)
    }

    /// Ends the work in order: what is not finished is ready for the next process.
    pub(crate) async fn close(&self) {
        self.runtime.shutdown().await;
        self.storage.store.close().await;
    }
}

/// A project that nobody trusts keeps to its own folder, and to folders elsewhere that are meant for agents.
pub(crate) fn reach(invocation: &Invocation) -> Reach {
    match invocation.settings.trust {
        Trust::User => Reach::Anywhere,
        Trust::Nobody => Reach::Definitions,
    }
}

/// The tools of this process, with commands as the settings want them. Whoever switches their sandbox off is warned.
pub(crate) fn tools(invocation: &Invocation) -> Toolbox {
    let settings = &invocation.settings;
    let shell = ShellSettings {
        sandbox: settings.shell.sandbox(),
        network: settings.shell.network,
        ..ShellSettings::new(settings.limits.shell_bytes, environment::variable)
    };
    if shell.sandbox == SandboxWish::None {
        let what = "commands of agents run without a sandbox: they may do whatever you may";
        let hint = "remove `sandbox = \"none\"` from `[shell]`, and `ENTOURAGE_SHELL_SANDBOX` from the environment";
        invocation.screen.report(&Report::warning("T002", what).hint(hint));
    }
    Toolbox::builtin().with_shell(shell)
}

/// Models that never answer. A command that only ends things must not pay for what its ending wakes up: such a
/// thread waits here until the process ends, and is then ready for whoever resumes it.
pub(crate) fn silent_models() -> ModelSettings {
    const NAME: &str = "silence";
    let hush = Rule { reply: Reply { delay_ms: u64::MAX, ..Reply::default() }, ..Rule::default() };
    ModelSettings {
        override_model: ModelRef::parse(&format!("script:{NAME}")),
        scripts: BTreeMap::from([(NAME.to_owned(), Script { rules: vec![hush] })]),
        ..ModelSettings::default()
    }
}
