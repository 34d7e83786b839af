//! Servers that a test can look at from outside.

use async_trait::async_trait;
use entourage_model::{
    CallId, Ids, Name, Secret, Served as _, ServerAddress, ServerKey, ServerValue, Timestamp, ToolStatus,
};
use entourage_outside::mcp::{Book, ServerSettings, Servers};
use entourage_outside::tool::{Attendant, Caller, Output, Stream};
use entourage_outside::workspace::Workspace;
use entourage_testkit::sly_server;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

pub(crate) const TIME_MAX: Duration = Duration::from_secs(20);

/// One server, called `sly`, in a folder of its own.
pub(crate) struct Stage {
    pub(crate) folder: TempDir,
    pub(crate) servers: Servers,
    pub(crate) kept: Arc<Keeper>,
}

impl Stage {
    pub(crate) fn new(mode: &str) -> Self {
        Self::with(mode, |_| {})
    }

    pub(crate) fn with(mode: &str, change: impl Fn(&mut ServerSettings)) -> Self {
        let folder = TempDir::new().unwrap();
        let log = folder.path().join("log").display().to_string();
        let env = BTreeMap::from([("GIVEN".to_owned(), ServerValue::Template(Secret::new("<${TOKEN}>")))]);
        let address = ServerAddress::Command { command: "sh".to_owned(), args: sly_server::arguments(mode, &log), env };
        Self::at(folder, address, change)
    }

    pub(crate) fn at(folder: TempDir, address: ServerAddress, change: impl Fn(&mut ServerSettings)) -> Self {
        let lookup = |name: &str| match name {
            "PATH" => Some("/usr/local/bin:/usr/bin:/bin".to_owned()),
            "HOME" => Some("/nowhere".to_owned()),
            "TOKEN" => Some("t0k".to_owned()),
            _ => None,
        };
        let mut settings = ServerSettings::new(folder.path().canonicalize().unwrap(), lookup);
        settings.pause_first = Duration::from_millis(50);
        change(&mut settings);
        let book = Book::from([(key(), address)]);
        Self { folder, servers: Servers::new(settings, move || book.clone()), kept: Arc::default() }
    }

    pub(crate) fn caller(&self) -> Caller {
        let mut ids = Ids::new(Timestamp(0), 1);
        Caller {
            thread: ids.thread(),
            call: CallId::from("c"),
            key: "k".to_owned(),
            workspace: Arc::new(Workspace::open(self.folder.path()).unwrap()),
            output_bytes_max: 64 << 10,
            attendant: Some(Arc::clone(&self.kept) as Arc<dyn Attendant>),
        }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: &str) -> Output {
        let name = Name::from(tool);
        self.servers.call(&key(), (&name, arguments), self.caller(), TIME_MAX).await
    }

    /// Calls a tool that has to succeed.
    pub(crate) async fn done(&self, tool: &str, arguments: &str) -> String {
        let output = self.call(tool, arguments).await;
        assert_eq!(output.status, ToolStatus::Success, "{}", output.text);
        output.text
    }

    pub(crate) async fn failed(&self, tool: &str, arguments: &str) -> String {
        let output = self.call(tool, arguments).await;
        assert_eq!(output.status, ToolStatus::Error, "{}", output.text);
        output.text
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.servers.tools(&key()).iter().flat_map(|tools| tools.keys().map(ToString::to_string)).collect()
    }

    /// What the server has noted.
    #[expect(clippy::disallowed_methods, reason = "a test reads what the server wrote")]
    pub(crate) fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The processes that were started, as far as they are still there.
    pub(crate) fn alive(&self) -> Vec<String> {
        let is_process = |line: &String| line.parse::<u32>().is_ok();
        let is_there = |id: &String| std::path::Path::new("/proc").join(id).exists();
        self.log().into_iter().filter(is_process).filter(is_there).collect()
    }
}

pub(crate) fn key() -> ServerKey {
    ServerKey::settled("sly")
}

/// Waits until something is so; a test that waits in vain is ended from outside.
pub(crate) async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::task::yield_now().await;
    }
}

/// Keeps files as a thread would.
#[derive(Debug, Default)]
pub(crate) struct Keeper(pub(crate) Mutex<Vec<(String, Vec<u8>)>>);

#[async_trait]
impl Attendant for Keeper {
    fn show(&self, _stream: Stream, _text: &str) {}

    async fn keep(&self, name: &str, bytes: Vec<u8>) -> Option<String> {
        self.0.lock().unwrap().push((name.to_owned(), bytes));
        Some(format!("/outputs/{name}"))
    }

    async fn file(&self, _path: &str) -> Option<Vec<u8>> {
        None
    }
}
