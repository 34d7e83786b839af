//! Databases of a real PostgreSQL for tests: each test has its own.
//!
//! `cargo x test` starts one server for all tests and names it in a variable. A test that is run by itself starts one
//! for itself; where that cannot be done it fails, and says what is missing.

mod pooler;
mod programs;
mod schema;
mod server;

pub use pooler::Pooler;
pub use schema::Schema;
pub use server::{Server, Stop};

use programs::psql;
use std::sync::atomic::{AtomicU32, Ordering};

/// Names the server that tests share, as a URL of its database `postgres`.
pub const VARIABLE: &str = "ENTOURAGE_TEST_POSTGRES";

/// A fresh database. Dropping it removes it, with every connection that is still open.
#[derive(Debug)]
pub struct Database {
    url: String,
    name: String,
    /// Where the database is managed from.
    main: String,
    /// Ends with the database, if nobody shares it.
    _server: Option<Server>,
}

impl Database {
    /// On the server that tests share, else on one that is started for it.
    pub fn new() -> Self {
        match shared() {
            Some(main) => Self::on(&main, None),
            None => {
                let server = Server::start();
                let main = server.url().to_owned();
                Self::on(&main, Some(server))
            }
        }
    }

    /// On a server whose database `postgres` has this URL.
    pub fn at(main: &str) -> Self {
        Self::on(main, None)
    }

    fn on(main: &str, server: Option<Server>) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}_{:08x}", std::process::id(), fastrand::u32(..));
        psql(main, &format!("CREATE DATABASE {name}")).expect("a test can make a database");
        let (address, _) = main.rsplit_once('/').expect("the URL names a database");
        Self { url: format!("{address}/{name}"), name, main: main.to_owned(), _server: server }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs a statement in it and returns what it prints, without headings.
    pub fn run(&self, sql: &str) -> String {
        psql(&self.url, sql).expect("the statement runs")
    }

    /// Cuts every connection to it but the one that does so; returns how many. A server that is not there has none.
    pub fn cut_connections(&self) -> usize {
        let sql = format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE datname = '{}' AND pid <> pg_backend_pid()",
            self.name
        );
        psql(&self.main, &sql).ok().and_then(|count| count.trim().parse().ok()).unwrap_or(0)
    }
}

impl Default for Database {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // A server that is gone took its databases along.
        _ = psql(&self.main, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
    }
}

#[expect(clippy::disallowed_methods, reason = "the one variable that tests are told of the server by")]
fn shared() -> Option<String> {
    std::env::var(VARIABLE).ok().filter(|url| !url.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_has_a_database_of_its_own_on_a_durable_server() {
        let (one, other) = (Database::new(), Database::new());
        one.run("CREATE TABLE notes (text TEXT)");
        assert_eq!(other.run("SELECT count(*) FROM pg_tables WHERE tablename = 'notes'").trim(), "0");
        assert_eq!(one.run("SHOW fsync").trim(), "on");
        let (main, name) = (one.main.clone(), one.name.clone());
        drop(one);
        if shared().is_some() {
            let left = psql(&main, &format!("SELECT count(*) FROM pg_database WHERE datname = '{name}'"));
            assert_eq!(left.expect("the server goes on").trim(), "0", "it was removed");
        }
    }

    #[test]
    fn a_server_that_was_stopped_at_once_keeps_what_was_durable() {
        let mut server = Server::start();
        let database = Database::at(server.url());
        database.run("CREATE TABLE notes (text TEXT)");
        database.run("INSERT INTO notes VALUES ('kept')");
        server.stop(Stop::Immediate);
        assert_eq!(database.cut_connections(), 0, "nobody answers");
        server.run();
        assert_eq!(database.run("SELECT text FROM notes").trim(), "kept");
    }
}
