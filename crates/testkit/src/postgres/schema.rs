//! Tables of its own in a database that all stores of one test share: much cheaper than a database for each.

use super::Database;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

thread_local! {
    /// One for all stores of a test, which has a thread of its own. Removed when that ends.
    static DATABASE: Arc<Database> = Arc::new(Database::new());
}

/// The name of tables that nobody else uses; the first store that is opened there makes them.
#[derive(Debug)]
pub struct Schema {
    url: String,
    /// Goes with the last who uses it.
    _database: Arc<Database>,
}

impl Schema {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let database = DATABASE.with(Arc::clone);
        let url = format!("{}?schema=s{}", database.url(), NUMBER.fetch_add(1, Ordering::Relaxed));
        Self { url, _database: database }
    }

    /// As a store is opened by.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Default for Schema {
    fn default() -> Self {
        Self::new()
    }
}
