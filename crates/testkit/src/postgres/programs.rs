//! The programs of PostgreSQL: where they lie, as whom they run.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MISSING: &str = "no PostgreSQL is here: `cargo x setup` says how to get Debian's package `postgresql`";
/// Where Debian puts what only a server needs, a folder for each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// Who the server runs as when we are root, which it refuses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Servant {
    pub(super) user: u32,
    pub(super) group: u32,
}

impl Servant {
    /// Nobody in particular, when we are somebody ordinary ourselves.
    pub(super) fn find() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let users = read("/etc/passwd").expect("the system knows its users");
        let found = ["postgres", "nobody"].into_iter().find_map(|name| Self::of(&users, name));
        Some(found.expect("a system has a user `nobody`"))
    }

    fn of(users: &str, name: &str) -> Option<Self> {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some(Self { user: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
    }
}

/// A program of the server, which does not lie where programs are looked for; the newest version counts.
pub(super) fn server_program(name: &str, servant: Option<Servant>) -> Command {
    let mut command = command(&newest(name).unwrap_or_else(|| PathBuf::from(name)));
    if let Some(Servant { user, group }) = servant {
        command.uid(user).gid(group);
    }
    command
}

/// A program that lies where those lie that only a system needs, which not everybody looks through.
pub(super) fn system_program(name: &str, servant: Option<Servant>) -> Command {
    let path = Path::new("/usr/sbin").join(name);
    let mut command = command(if path.exists() { &path } else { Path::new(name) });
    if let Some(Servant { user, group }) = servant {
        command.uid(user).gid(group);
    }
    command
}

fn newest(name: &str) -> Option<PathBuf> {
    let versions = Path::new(VERSIONS).read_dir().ok()?.flatten();
    let version = |path: &Path| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let folder = versions.map(|entry| entry.path()).max_by_key(|path| version(path))?;
    Some(folder.join("bin").join(name)).filter(|program| program.exists())
}

/// Runs a program to its end; what it printed, or what it complained of.
pub(super) fn finish(mut command: Command) -> io::Result<String> {
    let output = command.stdin(Stdio::null()).output().map_err(|fault| match fault.kind() {
        io::ErrorKind::NotFound => io::Error::other(MISSING),
        _ => fault,
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(io::Error::other(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))))
}

/// Runs statements at this URL, each by itself, and returns what they print, without headings.
pub(super) fn psql(url: &str, sql: &str) -> io::Result<String> {
    let mut command = server_program("psql", None);
    command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql]);
    finish(command)
}

#[expect(clippy::disallowed_methods, reason = "the one place where tests start a PostgreSQL")]
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    // What the caller's environment says of another server is not meant for this one.
    for name in ["PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGPASSWORD", "PGOPTIONS", "PGSERVICE"] {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C.UTF-8");
    command
}

#[expect(clippy::disallowed_methods, reason = "the list of users has one place")]
fn read(path: &str) -> io::Result<String> {
    std::fs::read_to_string(path)
}
