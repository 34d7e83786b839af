//! `cargo x fuzz-api`: a fuzzing client that nobody here wrote reads the API's own document and tries everything.

use crate::{
    failure::Failure,
    step::{Step, program},
    test::target_folder,
};
use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Stdio},
};

/// Pinned, so that a red run is ours.
const CLIENT: &str = "schemathesis==4.32.5";
/// Rules that answer whatever is said, so that threads work and rest.
const SCRIPT: &str = r#"{ "rules": [ { "reply": { "text": "I heard: {{last}}" } } ] }"#;
/// What the document alone cannot tell: which agents, files and cursors exist. And a body that is not JSON is refused for
/// every POST before the route is looked at.
const CHECKS_LEFT_OUT: &str = "positive_data_acceptance,unsupported_method";
/// Streams stay open, and what MCP refuses is that protocol's; the tests of both are elsewhere.
const PATHS_LEFT_OUT: &str = "/(events|mcp)$";
const EXAMPLES: &str = "12";

/// Whether the client can be had decides if there is anything to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Must,
    /// Part of the gate, which has built the binary: without Python or its registry it is left out, and said so.
    IfPossible,
}

pub(crate) fn run(root: &Path, need: Need) -> Result<(), Failure> {
    let folder = target_folder()?;
    let client = match install(&folder) {
        Ok(client) => client,
        Err(failure) if need == Need::IfPossible => {
            eprintln!("note: the API is not fuzzed: {}", failure.what);
            return Ok(());
        }
        Err(failure) => return Err(failure),
    };
    if need == Need::Must {
        // As the gate builds: for the binary alone cargo would choose other features and build what it shares once more.
        Step::new("build", "cargo build --workspace --bins --tests").run(root)?;
    }
    let mut server = Server::start(&folder)?;
    let tried = Step { command: server.attack(&client), ..Step::new("API fuzzing", "") }.run(&server.project);
    server.end();
    tried.map(drop)
}

/// The client in an environment of its own beneath the target folder.
fn install(target: &Path) -> Result<PathBuf, Failure> {
    let environment = target.join("fuzz-api/python");
    let client = environment.join("bin/schemathesis");
    let version = CLIENT.rsplit('=').next().unwrap_or_default();
    let found = program(&[client.to_string_lossy().as_ref(), "--version"]).output();
    if found.is_ok_and(|found| String::from_utf8_lossy(&found.stdout).contains(version)) {
        return Ok(client);
    }
    let (folder, pip) = (environment.to_string_lossy(), environment.join("bin/pip"));
    let steps = [
        vec!["python3", "-m", "venv", &folder],
        vec![pip.to_str().unwrap_or("pip"), "install", "--quiet", "--disable-pip-version-check", CLIENT],
    ];
    for command in steps {
        let step =
            Step { command: command.into_iter().map(str::to_owned).collect(), ..Step::new("fuzzing client", "") };
        step.run(target).map_err(|failure| failure.hint("it needs `python3-venv` and Python's package registry"))?;
    }
    Ok(client)
}

/// The program's server in a fresh project.
struct Server {
    process: Child,
    project: PathBuf,
    address: String,
}

impl Server {
    fn start(target: &Path) -> Result<Self, Failure> {
        let project = target.join("fuzz-api/project");
        let laid = fs::remove_dir_all(&project).or(Ok(()));
        let laid = laid.and_then(|()| fs::create_dir_all(&project));
        laid.and_then(|()| fs::write(project.join("script.json"), SCRIPT))
            .map_err(|fault: std::io::Error| Failure::new(format!("no project to serve: {fault}")))?;
        let binary = target.join("entourage");
        let words = [binary.to_str().unwrap_or_default(), "--model", "script:script.json", "serve"];
        let mut process = program(&[&words[..], &["--listen", "127.0.0.1:0"]].concat())
            .current_dir(&project)
            .env("HOME", &project)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|fault| Failure::new(format!("the server does not start: {fault}")))?;
        let mut link = String::new();
        let output = process.stdout.take().expect("its output is ours");
        let read = BufReader::new(output).read_line(&mut link);
        let address = link.strip_prefix("http://").and_then(|rest| rest.split('/').next()).map(str::to_owned);
        match (read, address) {
            (Ok(_), Some(address)) => Ok(Self { process, project, address }),
            _ => {
                _ = process.kill();
                Err(Failure::new(format!("the server gave no link but {link:?}")))
            }
        }
    }

    fn attack(&self, client: &Path) -> Vec<String> {
        let token = fs::read_to_string(self.project.join(".entourage/token")).unwrap_or_default();
        let (url, header) =
            (format!("http://{}/openapi.json", self.address), format!("Authorization: Bearer {}", token.trim()));
        let words = [
            client.to_str().unwrap_or_default(),
            "run",
            &url,
            "--header",
            &header,
            "--checks",
            "all",
            "--exclude-checks",
            CHECKS_LEFT_OUT,
            "--exclude-path-regex",
            PATHS_LEFT_OUT,
            "--max-examples",
            EXAMPLES,
            "--request-timeout",
            "20",
            "--seed",
            "1",
            // A machine that is busy, or a path that few texts fit, is no fault of the API.
            "--suppress-health-check",
            "all",
            "--no-color",
            "--warnings",
            "off",
        ];
        words.into_iter().map(str::to_owned).collect()
    }

    fn end(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
