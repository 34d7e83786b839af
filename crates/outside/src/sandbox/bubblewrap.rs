//! The box that bubblewrap builds: namespaces of its own for files, processes and the network.

use super::{Confinement, Plan, shell_line};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whatever the command leaves behind is gone with its namespace.
const ALWAYS: [&str; 5] = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"];

/// The first `bwrap` in the search path that works. One that lies in the workspace is somebody else's.
pub(super) fn find(search_path: &str, workspace: &Path) -> Result<Confinement, String> {
    let program = std::env::split_paths(search_path)
        .filter(|folder| folder.is_absolute())
        .filter_map(|folder| std::fs::canonicalize(folder.join("bwrap")).ok())
        .find(|program| !program.starts_with(workspace))
        .ok_or("`bwrap` is not installed")?;
    if works(&program) {
        Ok(Confinement::Bubblewrap { program })
    } else {
        Err("`bwrap` cannot make namespaces here".to_owned())
    }
}

#[expect(clippy::disallowed_methods, reason = "a probe that ends at once and runs nothing of anybody's")]
fn works(program: &Path) -> bool {
    let mut probe = Command::new(program);
    probe.args(ALWAYS).args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"]);
    probe.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// Its arguments for this command.
pub(super) fn arguments(plan: &Plan, command: &str) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ALWAYS.map(OsString::from).into();
    let mut add = |words: &[&dyn AsRef<std::ffi::OsStr>]| {
        arguments.extend(words.iter().map(|word| word.as_ref().to_owned()));
    };
    if plan.network {
        add(&[&"--share-net"]);
    }
    add(&[&"--dev", &"/dev", &"--proc", &"/proc", &"--tmpfs", &"/tmp"]);
    if let Some(home) = plan.home.as_deref().filter(|home| *home != Path::new("/")) {
        add(&[&"--tmpfs", &home]);
    }
    for path in &plan.readable {
        add(&[&"--ro-bind-try", path, path]);
    }
    add(&[&"--bind", &plan.workspace, &plan.workspace]);
    if let Some(closed) = hidden(plan) {
        add(&[&"--tmpfs", &closed, &"--remount-ro", &closed]);
    }
    add(&[&"--chdir", &plan.workspace, &"--", &shell_line::SHELL]);
    arguments.extend(shell_line::arguments(plan, command).map(OsString::from));
    arguments
}

/// The program's own folder, where it could be seen. A folder that is not there is not made either.
fn hidden(plan: &Plan) -> Option<&PathBuf> {
    let seen = |closed: &&PathBuf| {
        closed.starts_with(&plan.workspace) || plan.readable.iter().any(|path| closed.starts_with(path))
    };
    plan.closed.as_ref().filter(seen).filter(|closed| closed.is_dir())
}
