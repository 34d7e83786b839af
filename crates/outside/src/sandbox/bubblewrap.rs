//! The box that bubblewrap builds: namespaces of its own for files, processes and the network.

use super::git::{self, Hold, How, above_closed};
use super::{Confinement, Plan, shell_line};
use rustix::io::{FdFlags, fcntl_setfd};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whatever the command leaves behind is gone with its namespace.
const ALWAYS: [&str; 5] = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"];

/// What it is started with.
#[derive(Debug, Default)]
pub(super) struct Start {
    pub(super) arguments: Vec<OsString>,
    /// Named among the arguments by their numbers: they stay open until it has started.
    pub(super) opened: Vec<OwnedFd>,
}

/// The first `bwrap` in the search path that works. One that lies in the workspace is somebody else's.
pub(super) fn find(search_path: &str, workspace: &Path) -> Result<Confinement, String> {
    let program = std::env::split_paths(search_path)
        .filter(|folder| folder.is_absolute())
        .filter_map(|folder| std::fs::canonicalize(folder.join("bwrap")).ok())
        .find(|program| !program.starts_with(workspace))
        .ok_or("`bwrap` is not installed")?;
    let binds_opened = works(&program, &["--ro-bind-fd", "0", "/dev/probe"]);
    if binds_opened || works(&program, &[]) {
        Ok(Confinement::Bubblewrap { program, binds_opened })
    } else {
        Err("`bwrap` cannot make namespaces here".to_owned())
    }
}

#[expect(clippy::disallowed_methods, reason = "a probe that ends at once and runs nothing of anybody's")]
fn works(program: &Path, also: &[&str]) -> bool {
    let mut probe = Command::new(program);
    probe.args(ALWAYS).args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]).args(also).arg("true");
    let input = git::open(Path::new("/"), Path::new("")).map_or_else(|_| Stdio::null(), Stdio::from);
    probe.env_clear().stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// How it is started for this command.
pub(super) fn start(plan: &Plan, binds_opened: bool, command: &str) -> io::Result<Start> {
    let mut start = Start { arguments: ALWAYS.map(OsString::from).into(), opened: Vec::new() };
    if plan.network {
        start.add(&[&"--share-net"]);
    }
    start.add(&[&"--dev", &"/dev", &"--proc", &"/proc", &"--tmpfs", &"/tmp"]);
    if let Some(home) = plan.home.as_deref().filter(|home| *home != Path::new("/")) {
        start.add(&[&"--tmpfs", &home]);
    }
    for path in &plan.readable {
        start.add(&[&"--ro-bind-try", path, path]);
    }
    start.add(&[&"--bind", &plan.workspace, &plan.workspace]);
    if binds_opened {
        start.hold(plan)?;
    } else {
        start.hide_git(&plan.workspace);
    }
    if let Some(closed) = hidden(plan) {
        start.add(&[&"--tmpfs", &closed, &"--remount-ro", &closed]);
    }
    start.add(&[&"--chdir", &plan.workspace, &"--", &shell_line::SHELL]);
    start.arguments.extend(shell_line::arguments(plan, command).map(OsString::from));
    Ok(start)
}

impl Start {
    fn add(&mut self, words: &[&dyn AsRef<OsStr>]) {
        self.arguments.extend(words.iter().map(|word| word.as_ref().to_owned()));
    }

    fn hold(&mut self, plan: &Plan) -> io::Result<()> {
        let workspace = &plan.workspace;
        for Hold { path, how } in git::holds(workspace)?.into_iter().chain(above_closed(plan)) {
            let opened = git::open(workspace, &path)?;
            fcntl_setfd(&opened, FdFlags::empty())?;
            let word = match how {
                How::Pinned => "--bind-fd",
                How::ReadOnly => "--ro-bind-fd",
            };
            self.add(&[&word, &opened.as_raw_fd().to_string(), &workspace.join(path)]);
            self.opened.push(opened);
        }
        Ok(())
    }

    /// An older bubblewrap binds by path only, and behind a path a command that is running already could put a link to
    /// anywhere. So it shows nothing of the repository.
    fn hide_git(&mut self, workspace: &Path) {
        for path in git::repository(workspace) {
            let path = workspace.join(path);
            if path.is_dir() {
                self.add(&[&"--tmpfs", &path, &"--remount-ro", &path]);
            } else {
                self.add(&[&"--ro-bind", &"/dev/null", &path]);
            }
        }
    }
}

/// The program's own folder, where it could be seen. A folder that is not there is not made either.
fn hidden(plan: &Plan) -> Option<&PathBuf> {
    let seen = |closed: &&PathBuf| {
        closed.starts_with(&plan.workspace) || plan.readable.iter().any(|path| closed.starts_with(path))
    };
    plan.closed.as_ref().filter(seen).filter(|closed| closed.is_dir())
}
