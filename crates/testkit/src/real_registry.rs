//! A real registry on loopback: Debian's `docker-registry`, on a free port, with a folder of its own.

use crate::fake_registry::USERNAME;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// [`crate::fake_registry::PASSWORD`] as `htpasswd -B` hashes it.
const HASH: &str = "$2b$05$entourageentourageent.i.w5VtPsIM/HO4SdUspYUGln99nyhzq";
const PROGRAMS: [&str; 2] = ["docker-registry", "registry"];
/// How it says that it is ready, and where.
const READY: &str = "msg=\"listening on ";
/// A server at `127.0.0.2`, which is this machine and not one of its names, in the word of nobody's authority. Whoever
/// has the key can be a registry or a database for tests.
pub(crate) const CERTIFICATE: &str = include_str!("real_registry/server.pem");
pub(crate) const KEY: &str = include_str!("real_registry/server.key");
pub(crate) const AUTHORITY: &str = include_str!("real_registry/ca.pem");

/// Whom the registry answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Everybody,
    /// [`USERNAME`] with the password of the fake one.
    Alice,
}

/// A running registry. Dropping it ends the process.
#[derive(Debug)]
pub struct RealRegistry {
    folder: TempDir,
    process: Child,
    host: String,
}

impl RealRegistry {
    /// In plain HTTP. Fails with the name of what is missing if the program is not installed.
    pub fn start(access: Access) -> Self {
        Self::start_at("addr: '127.0.0.1:0'", access)
    }

    /// In TLS, at an address that is not spoken to otherwise. Whoever is to believe it trusts [`Self::authority`].
    pub fn start_encrypted(access: Access) -> Self {
        Self::start_at("addr: '127.0.0.2:0', tls: {certificate: '{}/server.pem', key: '{}/server.key'}", access)
    }

    /// `{}` in `place` is the registry's folder.
    fn start_at(place: &str, access: Access) -> Self {
        let folder = TempDir::with_prefix("entourage-registry-").expect("temporary folders can be made");
        let path = |name: &str| folder.path().join(name).display().to_string();
        for (name, text) in [("server.pem", CERTIFICATE), ("server.key", KEY), ("ca.pem", AUTHORITY)] {
            write(&path(name), text);
        }
        let place = place.replace("{}", &folder.path().display().to_string());
        let mut config = format!(
            "version: 0.1\nlog: {{level: info}}\nstorage:\n  filesystem: {{rootdirectory: '{}'}}\n\
             http: {{{place}, secret: test}}\n",
            path("data")
        );
        if access == Access::Alice {
            write(&path("htpasswd"), &format!("{USERNAME}:{HASH}\n"));
            config += &format!("auth:\n  htpasswd: {{realm: test, path: '{}'}}\n", path("htpasswd"));
        }
        write(&path("config.yml"), &config);
        let mut process = spawn(&path("config.yml"));
        let log = BufReader::new(process.stderr.take().expect("its log is a pipe"));
        let mut lines = log.lines().map_while(Result::ok);
        let host = lines.find_map(|line| {
            let (_, rest) = line.split_once(READY)?;
            rest.split_once(['"', ',']).map(|(host, _)| host.to_owned())
        });
        // It goes on to write, and must not be stopped by a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { folder, process, host: host.expect("the registry says where it listens before it ends") }
    }

    /// The host of references, with its port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The certificate that vouches for an encrypted one.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Where the registry keeps its blobs, for whoever spoils one.
    pub fn blob_path(&self, digest: &str) -> PathBuf {
        let hex = digest.trim_start_matches("sha256:");
        let blobs = self.folder.path().join("data/docker/registry/v2/blobs/sha256");
        blobs.join(&hex[..2]).join(hex).join("data")
    }
}

impl Drop for RealRegistry {
    fn drop(&mut self) {
        // One that has ended already is as good.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place where tests start a registry")]
fn spawn(config: &str) -> Child {
    for program in PROGRAMS {
        let mut command = Command::new(program);
        command.args(["serve", config]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        if let Ok(process) = command.spawn() {
            return process;
        }
    }
    unreachable!("no registry program is here: `cargo x setup` says how to get Debian's package `docker-registry`")
}

#[expect(clippy::disallowed_methods, reason = "a test writes what the registry then reads")]
fn write(path: &str, text: &str) {
    std::fs::write(path, text).expect("a temporary folder can be written to");
}
