//! A throw-away project and the binary in it. This is all that the tests know of the outside.

use entourage_testkit::FakeModel;
use entourage_testkit::any_store::is_postgres;
use entourage_testkit::postgres::Schema;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use tempfile::TempDir;

/// Rules that answer whatever is said.
pub(crate) const ECHO: &str = r#"{ "rules": [ { "reply": { "text": "I heard: {{last}}" } } ] }"#;

pub(crate) struct Project {
    folder: TempDir,
    variables: Vec<(String, String)>,
    /// Where its threads are, unless a test says otherwise; without one they are in its folder.
    schema: Option<Schema>,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Project {
    /// An empty folder, and a home of its own.
    pub(crate) fn new() -> Self {
        let folder = TempDir::with_prefix("entourage-").unwrap();
        Self { folder, variables: Vec::new(), schema: is_postgres().then(Schema::new) }
    }

    /// With `script.json`, which answers whatever is said.
    pub(crate) fn with_echo() -> Self {
        Self::new().file("script.json", ECHO)
    }

    /// Keeps its threads in its folder, whichever store the tests run on: for what is about the folder itself.
    pub(crate) fn in_folder(self) -> Self {
        Self { schema: None, ..self }
    }

    #[expect(clippy::disallowed_methods, reason = "a test writes what the binary then reads")]
    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// The text of a file that the binary wrote.
    #[expect(clippy::disallowed_methods, reason = "a test reads what the binary wrote")]
    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap()
    }

    /// Every file below a folder that the binary wrote to, with its content.
    #[expect(clippy::disallowed_methods, reason = "a test reads what the binary wrote")]
    pub(crate) fn kept(&self, folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let (mut unread, mut files) = (vec![self.path().join(folder)], Vec::new());
        while let Some(path) = unread.pop() {
            if path.is_dir() {
                unread.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            } else {
                files.push((path.clone(), std::fs::read(path).unwrap()));
            }
        }
        files
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Asks this fake model in place of OpenAI's.
    pub(crate) fn with_model(self, model: &FakeModel) -> Self {
        self.variable("OPENAI_BASE_URL", model.url()).variable("OPENAI_API_KEY", "test-key")
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The binary in this folder, with no variables but those that were given.
    #[expect(clippy::disallowed_methods, reason = "the one place where these tests start the binary")]
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_entourage"));
        command.args(arguments).current_dir(self.path()).env_clear().env("HOME", self.path().join("home"));
        command.envs(self.schema.iter().map(|schema| ("ENTOURAGE_STORE", schema.url())));
        command.envs(self.variables.iter().map(|(name, value)| (name, value))).stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn say(&self, arguments: &[&str]) -> Said {
        self.command(arguments).output().unwrap().into()
    }

    /// Runs a command that must end well and print one document.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let said = self.say(&[&["--json"], arguments].concat());
        assert_eq!(said.code, Some(0), "{said:?}");
        said.document()
    }

    /// Starts a command and leaves it running.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The id of the only root thread.
    pub(crate) fn root(&self) -> String {
        let threads = self.json(&["threads", "--roots"]);
        let roots = threads["threads"].as_array().unwrap();
        assert_eq!(roots.len(), 1, "{threads}");
        roots[0]["thread_id"].as_str().unwrap().to_owned()
    }
}

impl Said {
    pub(crate) fn document(&self) -> Value {
        let document = serde_json::from_str(&self.stdout);
        assert!(document.is_ok(), "not one document: {self:?}");
        document.unwrap()
    }

    /// The exit code, and that these words were said on stderr.
    #[track_caller]
    pub(crate) fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` is not in {self:?}");
        }
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let said = Self { code: code(output.status), stdout: text(output.stdout), stderr: text(output.stderr) };
        assert!(!said.stderr.contains("panicked at"), "{said:?}");
        said
    }
}

fn code(status: ExitStatus) -> Option<i32> {
    status.code()
}

/// Sends a signal to a process that was started by `Project::start`.
pub(crate) fn signal(child: &Child, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
}

/// How a started process ended.
pub(crate) fn ending(child: Child) -> Said {
    child.wait_with_output().unwrap().into()
}
