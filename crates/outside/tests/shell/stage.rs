//! A workspace with something to protect around it, and a shell in one of the sandboxes.

use async_trait::async_trait;
use entourage_model::{CallId, Ids, Name, Timestamp};
use entourage_outside::sandbox::SandboxWish;
use entourage_outside::tool::{Attendant, Caller, Output, ShellSettings, Stream, Toolbox};
use entourage_outside::workspace::Workspace;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(crate) const SECRET: &str = "SECRET-7c1f";
/// Among the variables of the test's own process, whoever runs it.
pub(crate) const OWN_VARIABLE: &str = "CARGO_MANIFEST_DIR";

/// Every way to run a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Bubblewrap,
    Landlock,
    /// On a kernel that gives us no namespaces.
    LandlockAlone,
    Nothing,
}

pub(crate) const SANDBOXES: [Way; 3] = [Way::Bubblewrap, Way::Landlock, Way::LandlockAlone];
pub(crate) const WAYS: [Way; 4] = [Way::Bubblewrap, Way::Landlock, Way::LandlockAlone, Way::Nothing];

#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) around: TempDir,
    toolbox: Toolbox,
    pub(crate) caller: Caller,
    pub(crate) seen: Arc<Seen>,
    pub(crate) time_max: Duration,
}

/// An attendant that remembers everything.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) shown: Mutex<Vec<(Stream, String)>>,
    pub(crate) kept: Mutex<Vec<(String, String)>>,
}

#[async_trait]
impl Attendant for Seen {
    fn show(&self, stream: Stream, text: &str) {
        self.shown.lock().unwrap().push((stream, text.to_owned()));
    }

    async fn keep(&self, name: &str, bytes: Vec<u8>) -> Option<String> {
        let path = format!("/outputs/{name}");
        self.kept.lock().unwrap().push((path.clone(), String::from_utf8(bytes).unwrap()));
        Some(path)
    }

    async fn file(&self, path: &str) -> Option<Vec<u8>> {
        let kept = self.kept.lock().unwrap();
        kept.iter().find(|(known, _)| known == path).map(|(_, text)| text.clone().into_bytes())
    }
}

impl Stage {
    /// The workspace is `ws`; its folder `.own` is closed.
    pub(crate) fn new(way: Way) -> Self {
        Self::with(way, |_| {})
    }

    pub(crate) fn with(way: Way, change: impl FnOnce(&mut ShellSettings)) -> Self {
        Self::of(way, ".own", change)
    }

    /// Another folder of the workspace is closed, in the place of `.own`.
    pub(crate) fn closing(way: Way, closed: &str) -> Self {
        Self::of(way, closed, |_| {})
    }

    fn of(way: Way, closed: &str, change: impl FnOnce(&mut ShellSettings)) -> Self {
        let around = tempfile::tempdir().unwrap();
        let root = around.path().join("ws");
        fs::create_dir_all(root.join(closed)).unwrap();
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir_all(around.path().join("home/.ssh")).unwrap();
        for path in ["secret.txt", &format!("ws/{closed}/token"), "home/.ssh/id"] {
            fs::write(around.path().join(path), SECRET).unwrap();
        }
        fs::write(root.join("src/lib.rs"), "inside").unwrap();
        let home = around.path().join("home").to_str().unwrap().to_owned();
        let mut settings = ShellSettings::new(256 << 20, |name| match name {
            "HOME" => Some(home.clone()),
            "OPENAI_API_KEY" => Some(SECRET.to_owned()),
            "PATH" => std::env::var("PATH").ok(),
            _ => None,
        });
        settings.keeper = keeper(way, around.path());
        settings.sandbox = match way {
            Way::Bubblewrap => SandboxWish::Bubblewrap,
            Way::Landlock | Way::LandlockAlone => SandboxWish::Landlock,
            Way::Nothing => SandboxWish::None,
        };
        change(&mut settings);
        let seen = Arc::new(Seen::default());
        let caller = Caller {
            thread: Ids::new(Timestamp(0), 1).thread(),
            call: CallId::from("call_1"),
            key: "the key".to_owned(),
            workspace: Arc::new(Workspace::open(&root).unwrap().without(&root.join(closed))),
            output_bytes_max: 64 << 10,
            attendant: Some(Arc::clone(&seen) as Arc<dyn Attendant>),
        };
        let toolbox = Toolbox::builtin().with_shell(settings);
        Self { around, toolbox, caller, seen, time_max: Duration::from_secs(30) }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.around.path().join("ws").join(path)
    }

    /// Whether this way works here; if not, it says why, and there is nothing to test.
    pub(crate) async fn works(&self) -> bool {
        let output = self.run("true").await;
        let works = !output.text.contains("there is no sandbox");
        if !works {
            println!("not tested here: {}", output.text);
        }
        works
    }

    pub(crate) async fn run(&self, command: &str) -> Output {
        self.call("shell", &json!({ "command": command })).await
    }

    pub(crate) async fn call(&self, tool: &str, arguments: &serde_json::Value) -> Output {
        self.toolbox.call(&Name::from(tool), &arguments.to_string(), self.caller.clone(), self.time_max).await
    }
}

/// The keeper; for [`Way::LandlockAlone`] one that says that there are no namespaces.
fn keeper(way: Way, folder: &Path) -> PathBuf {
    let keeper = PathBuf::from(env!("CARGO_BIN_EXE_keeper"));
    if way != Way::LandlockAlone {
        return keeper;
    }
    let script = folder.join("keeper.sh");
    let text = format!("#!/bin/sh\n[ \"$2\" = probe ] && exit 1\nexec '{}' \"$@\"\n", keeper.display());
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    script
}

/// A word that no other process has among its arguments.
pub(crate) fn mark() -> String {
    format!("300.{:09}", fastrand::u64(..1_000_000_000))
}

/// The processes that have the word among their arguments, wherever they are; the test itself is none of them.
pub(crate) fn marked(mark: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(mark)).collect()
}

/// Waits until the number of such processes is as it should be; gives up after five seconds.
pub(crate) async fn until_marked(mark: &str, is_right: impl Fn(usize) -> bool) -> Vec<String> {
    let start = Instant::now();
    loop {
        let found = marked(mark);
        if is_right(found.len()) || start.elapsed() > Duration::from_secs(5) {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
