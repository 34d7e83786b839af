//! A transaction pooler before a PostgreSQL: Debian's `pgbouncer`, which gives every transaction another session.

use super::programs::{Servant, psql, system_program};
use super::server::{free_port, private_folder};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const START: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

/// A running pooler. Dropping it ends it.
#[derive(Debug)]
pub struct Pooler {
    _folder: TempDir,
    process: Child,
    url: String,
}

impl Pooler {
    /// Before the database of this URL. It keeps a few sessions there and hands them around.
    pub fn before(url: &str) -> Self {
        let rest = url.strip_prefix("postgres://postgres@").expect("the URL of a test's server");
        let (server, database) = rest.split_once('/').expect("it names a database");
        let (host, server_port) = server.split_once(':').expect("it names a port");
        let servant = Servant::find();
        let folder = private_folder(&std::env::temp_dir(), servant);
        let port = free_port();
        let settings = format!(
            "[databases]\n* = host={host} port={server_port} user=postgres\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = transaction\ndefault_pool_size = 3\nmax_client_conn = 400\n"
        );
        let path = folder.path().join("pgbouncer.ini");
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path).expect("the folder is ours");
        file.write_all(settings.as_bytes()).expect("the folder has room");
        let mut pgbouncer = system_program("pgbouncer", servant);
        pgbouncer.arg("--quiet").arg(&path).current_dir(folder.path());
        pgbouncer.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = pgbouncer.spawn().expect("`cargo x setup` says how to get Debian's package `pgbouncer`");
        let pooler = Self { _folder: folder, process, url: format!("postgres://postgres@127.0.0.1:{port}/{database}") };
        let begin = Instant::now();
        while psql(&pooler.url, "SELECT 1").is_err() {
            assert!(begin.elapsed() < START, "pgbouncer answers within {START:?}");
            std::thread::sleep(PAUSE);
        }
        pooler
    }

    /// Of the same database, through the pooler.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs a statement in the session that was used last, and returns what it prints, without headings.
    pub fn run(&self, sql: &str) -> String {
        psql(&self.url, sql).expect("the statement runs")
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // One that has ended already is as good.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
