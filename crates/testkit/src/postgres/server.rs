//! A PostgreSQL on loopback with a folder of its own, run by an ordinary user, durable as in earnest.

use super::programs::{Servant, finish, psql, server_program};
use crate::real_registry::{AUTHORITY, CERTIFICATE, KEY};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{OpenOptions, Permissions, create_dir_all, set_permissions};
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a server may take until it answers, recovery after a crash included.
const START: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

/// How a server is told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Connections are cut, what is durable is tidied up.
    Fast,
    /// Everything is dropped at once: the next start has to recover.
    Immediate,
}

/// A running server. Dropping it ends the processes and removes the folder.
#[derive(Debug)]
pub struct Server {
    folder: TempDir,
    port: u16,
    url: String,
    servant: Option<Servant>,
    /// Beside the usual ones; they count more.
    settings: Vec<String>,
    process: Option<Child>,
}

impl Server {
    /// In the system's folder for temporary files. Fails with the name of what is missing.
    pub fn start() -> Self {
        Self::start_in(&std::env::temp_dir())
    }

    /// In a folder of its own below this one.
    pub fn start_in(parent: &Path) -> Self {
        Self::make(parent).running()
    }

    /// With settings such as `fsync=off`.
    pub fn start_with(settings: &[&str]) -> Self {
        let mut server = Self::make(&std::env::temp_dir());
        server.settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        server.running()
    }

    /// One that talks over TLS alone, at `127.0.0.2`, which its certificate is for, and at `127.0.0.1`, which it is not
    /// for. Whoever is to believe it trusts [`Self::authority`].
    pub fn start_encrypted() -> Self {
        let mut server = Self::make(&std::env::temp_dir());
        let folder = server.folder.path().display();
        server.settings = vec![
            "ssl=on".to_owned(),
            "listen_addresses=127.0.0.1,127.0.0.2".to_owned(),
            format!("ssl_cert_file={folder}/server.pem"),
            format!("ssl_key_file={folder}/server.key"),
        ];
        server.write("server.pem", CERTIFICATE);
        server.write("server.key", KEY);
        server.write("ca.pem", AUTHORITY);
        server.write("data/pg_hba.conf", "hostssl all all 127.0.0.0/8 trust\n");
        server.running()
    }

    /// The certificate that vouches for an encrypted one.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// A standby of this one: it copies what happens here and takes no writes.
    pub fn standby(&self) -> Self {
        let folder = private_folder(&std::env::temp_dir(), self.servant);
        let mut copy = server_program("pg_basebackup", self.servant);
        copy.args(["--dbname", &self.url, "--write-recovery-conf", "--checkpoint=fast", "--pgdata"]);
        copy.arg(folder.path().join("data")).current_dir(folder.path());
        finish(copy).expect("a server can be copied");
        Self::at(folder, self.servant).running()
    }

    /// Makes a standby the primary.
    pub fn promote(&self) {
        psql(&self.url, "SELECT pg_promote()").expect("a standby can be promoted");
    }

    fn make(parent: &Path) -> Self {
        create_dir_all(parent).expect("the parent folder can be made");
        let servant = Servant::find();
        let folder = private_folder(parent, servant);
        let mut initdb = server_program("initdb", servant);
        initdb.arg("--pgdata").arg(folder.path().join("data"));
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]);
        initdb.current_dir(folder.path());
        finish(initdb).expect("a cluster can be made");
        Self::at(folder, servant)
    }

    fn at(folder: TempDir, servant: Option<Servant>) -> Self {
        let port = free_port();
        let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
        Self { folder, port, url, servant, settings: Vec::new(), process: None }
    }

    fn running(mut self) -> Self {
        self.run();
        self
    }

    /// A file of the server's own, which nobody else can read.
    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
        let written = file.as_mut().map(|file| file.write_all(text.as_bytes()));
        assert!(matches!(written, Ok(Ok(()))), "our own folder can be written to: {written:?}");
        if let Some(Servant { user, group }) = self.servant {
            chown(&path, Some(user), Some(group)).expect("root can give a file away");
        }
    }

    /// Of the database `postgres`.
    pub fn url(&self) -> &str {
        &self.url
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Starts the process, and waits until it answers. One that could not be started yet is tried again: the
    /// processes of a server that was killed may take a moment to go.
    pub fn run(&mut self) {
        let begin = Instant::now();
        while begin.elapsed() < START {
            if self.process.as_mut().is_none_or(|process| !matches!(process.try_wait(), Ok(None))) {
                self.process = Some(self.spawn());
            }
            if psql(&self.url, "SELECT 1").is_ok() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
        unreachable!("PostgreSQL does not answer; its log is `{}`", self.log().display());
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn spawn(&self) -> Child {
        let mut postgres = server_program("postgres", self.servant);
        postgres.arg("-D").arg(self.data()).args(["-p", &self.port.to_string()]);
        let usual = [
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "fsync=on",
            "synchronous_commit=on",
            "max_connections=400",
            "shared_buffers=64MB",
            // A server that waits for the machine must not take a test's life.
            "checkpoint_timeout=30min",
        ];
        // The last one counts.
        for setting in usual.into_iter().chain(self.settings.iter().map(String::as_str)) {
            postgres.args(["-c", setting]);
        }
        let log = OpenOptions::new().create(true).append(true).open(self.log()).expect("it can have a log");
        let errors = log.try_clone().expect("a log has two writers");
        postgres.current_dir(self.folder.path()).stdin(Stdio::null()).stdout(log).stderr(errors);
        postgres.spawn().expect("PostgreSQL starts")
    }

    /// Ends the process and waits for its end.
    pub fn stop(&mut self, stop: Stop) {
        let Some(mut process) = self.process.take() else { return };
        let signal = match stop {
            Stop::Fast => Signal::INT,
            Stop::Immediate => Signal::QUIT,
        };
        if let Some(pid) = i32::try_from(process.id()).ok().and_then(Pid::from_raw) {
            // One that has ended already is as good.
            _ = kill_process(pid, signal);
        }
        _ = process.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop(Stop::Immediate);
    }
}

/// A folder that only the server can look into. Where the parent is closed to it, the system's temporary folder
/// serves.
pub(super) fn private_folder(parent: &Path, servant: Option<Servant>) -> TempDir {
    const PREFIX: &str = "postgres-";
    let make = |parent: &Path| {
        let folder = TempDir::with_prefix_in(PREFIX, parent).expect("a folder for the server can be made");
        set_permissions(folder.path(), Permissions::from_mode(0o700)).expect("our own folder can be closed");
        if let Some(Servant { user, group }) = servant {
            chown(folder.path(), Some(user), Some(group)).expect("root can give a folder away");
        }
        folder
    };
    let folder = make(parent);
    let mut probe = server_program("postgres", servant);
    probe.arg("--version").current_dir(folder.path());
    if finish(probe).is_ok() { folder } else { make(&std::env::temp_dir()) }
}

pub(super) fn free_port() -> u16 {
    let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port of loopback is free");
    door.local_addr().expect("it has an address").port()
}
