//! MCP servers, whose tools our models may call: started when first needed, shared by every thread of this process, and let
//! go when nobody has used them for a while.
//!
//! What a server's tools look like is kept when it is let go, so that decisions about them need no connection.

mod connection;
mod content;
mod process;
mod slot;
mod tool;

use crate::model::http::Http;
use crate::tool::{Caller, Output};
use entourage_model::{Name, Served, ServerAddress, ServerEntry, ServerKey, ToolSpec};
use slot::Slot;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Every server that may be used, as the declarations have it at the moment.
pub type Book = BTreeMap<ServerKey, ServerAddress>;

/// How servers are started and kept.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// The working folder of commands.
    pub folder: PathBuf,
    /// Reads a variable of the environment.
    pub lookup: fn(&str) -> Option<String>,
    /// How long a server may take until it has told its tools.
    pub start_time_max: Duration,
    /// How long a server that nobody uses is kept.
    pub idle_time_max: Duration,
    /// How long nobody tries again after a server failed; each time twice as long, up to the longest.
    pub pause_first: Duration,
    pub pause_max: Duration,
    /// The longest message of a server. Whoever sends more is ended.
    pub message_bytes_max: usize,
}

impl ServerSettings {
    pub fn new(folder: PathBuf, lookup: fn(&str) -> Option<String>) -> Self {
        Self {
            folder,
            lookup,
            start_time_max: Duration::from_secs(10),
            idle_time_max: Duration::from_secs(300),
            pause_first: Duration::from_secs(1),
            pause_max: Duration::from_secs(60),
            message_bytes_max: 16 << 20,
        }
    }
}

/// The servers of this process. Clones share them; [`Self::close`] ends them all.
#[derive(Clone)]
pub struct Servers {
    shared: Arc<Shared>,
}

struct Shared {
    settings: ServerSettings,
    /// Read when a server is about to be started.
    book: Box<dyn Fn() -> Book + Send + Sync>,
    http: Http,
    slots: Mutex<HashMap<ServerKey, Arc<Slot>>>,
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Servers")
    }
}

impl Servers {
    pub fn new(settings: ServerSettings, book: impl Fn() -> Book + Send + Sync + 'static) -> Self {
        let shared = Shared { settings, book: Box::new(book), http: Http::new(), slots: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    /// There are none.
    pub fn none() -> Self {
        Self::new(ServerSettings::new(PathBuf::new(), |_| None), Book::new)
    }

    /// Whether whoever uses the server knows what there is to know: its tools, or that it has to do without them.
    pub fn is_settled(&self, entry: &ServerEntry) -> bool {
        self.find(&entry.key).is_some_and(|slot| slot.has_tools() || (!entry.required && slot.fault().is_some()))
    }

    /// Starts the server if it is not there. Why it cannot be used is a sentence that names it.
    pub async fn ready(&self, key: &ServerKey) -> Result<(), String> {
        self.slot(key).connection(self).await.map(drop)
    }

    /// Calls a tool by the name that models have for it. Every way that this can go is an output.
    pub async fn call(
        &self,
        key: &ServerKey,
        (tool, raw_arguments): (&Name, &str),
        caller: Caller,
        time_max: Duration,
    ) -> Output {
        let slot = self.slot(key);
        if slot.toolbox().is_none()
            && let Err(why) = slot.connection(self).await
        {
            return Output::error(why);
        }
        match slot.toolbox() {
            Some(toolbox) => toolbox.call(tool, raw_arguments, caller, time_max).await,
            None => Output::error(format!("the MCP server `{key}` has no tools")),
        }
    }

    /// Ends every server, and everything that its commands have started.
    pub async fn close(&self) {
        let slots = std::mem::take(&mut *self.slots());
        futures::future::join_all(slots.into_values().map(|slot| async move { slot.close().await })).await;
    }

    /// How many servers are connected right now.
    pub fn connected(&self) -> usize {
        self.slots().values().filter(|slot| slot.is_connected()).count()
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, HashMap<ServerKey, Arc<Slot>>> {
        self.shared.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, key: &ServerKey) -> Option<Arc<Slot>> {
        self.slots().get(key).cloned()
    }

    fn slot(&self, key: &ServerKey) -> Arc<Slot> {
        Arc::clone(self.slots().entry(key.clone()).or_insert_with(|| Arc::new(Slot::new(key.clone()))))
    }

    /// How the server is reached now. Reading declarations may take a moment.
    async fn address(&self, key: &ServerKey) -> Result<ServerAddress, String> {
        let (shared, wanted) = (Arc::clone(&self.shared), key.clone());
        let found = tokio::task::spawn_blocking(move || (shared.book)().remove(&wanted)).await;
        found.ok().flatten().ok_or_else(|| format!("there is no MCP server `{key}`, or it is not allowed to start"))
    }
}

impl Served for Servers {
    fn tools(&self, server: &ServerKey) -> Option<Arc<BTreeMap<Name, Arc<ToolSpec>>>> {
        self.find(server)?.specs()
    }

    fn fault(&self, server: &ServerKey) -> Option<String> {
        self.find(server)?.fault()
    }
}
