//! The PostgreSQL that tests share: started once everything is built, stopped when the tests have ended.

use crate::{failure::Failure, step::program};
use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Stdio},
};

/// What tests read the server's URL from; `testkit` knows it by the same name.
pub(crate) const VARIABLE: &str = "ENTOURAGE_TEST_POSTGRES";

/// A running server. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Postgres {
    process: Child,
    pub(crate) url: String,
}

impl Postgres {
    /// `testkit` knows how: its program lies beside this one, and works in a folder there.
    pub(crate) fn start(target: &Path) -> Result<Self, Failure> {
        let starter = target.join("postgres");
        let folder = target.with_file_name("postgres");
        let command = [starter.to_string_lossy(), "--folder".into(), folder.to_string_lossy()];
        let failed = |fault: String| {
            Failure::new(format!("PostgreSQL for the tests does not start: {fault}"))
                .hint("`cargo x setup` installs it, or says what to install")
        };
        let spawned = program(&command).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = spawned.map_err(|fault| failed(format!("`{}`: {fault}", starter.display())))?;
        let mut url = String::new();
        let read = process.stdout.take().map(|output| BufReader::new(output).read_line(&mut url));
        match read {
            Some(Ok(1..)) => Ok(Self { process, url: url.trim().to_owned() }),
            _ => Err(failed(format!("it ended without a word ({:?})", process.wait()))),
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // It ends when its input does, and takes its folder along.
        drop(self.process.stdin.take());
        _ = self.process.wait();
    }
}
