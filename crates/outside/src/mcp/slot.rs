//! The place of one server in this process: its connection while there is one, and what is known of it otherwise.

use super::connection::Connection;
use super::tool::{self, Tools};
use super::{ServerSettings, Servers};
use crate::tool::Toolbox;
use entourage_model::{Name, ServerKey, ToolSpec};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A connection that lasted longer than this was a good one: what failed before it is forgotten.
const GOOD_LIFE: Duration = Duration::from_secs(60);
/// Whoever comes this shortly before the next try waits for it.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Slot {
    pub(super) key: ServerKey,
    known: Mutex<Known>,
    /// Held by whoever starts the server: the others wait for it.
    starting: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Known {
    connection: Option<Arc<Connection>>,
    /// As the server last told them.
    tools: Option<Arc<Tools>>,
    failed: Option<Failed>,
}

#[derive(Clone, Debug)]
struct Failed {
    why: String,
    times: u32,
    /// Nobody tries again before.
    until: Instant,
}

impl Slot {
    pub(super) fn new(key: ServerKey) -> Self {
        Self { key, known: Mutex::default(), starting: tokio::sync::Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Nothing that holds this lock can panic half way.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn specs(&self) -> Option<Arc<BTreeMap<Name, Arc<ToolSpec>>>> {
        self.known().tools.as_ref().map(|tools| Arc::clone(&tools.specs))
    }

    pub(super) fn toolbox(&self) -> Option<Arc<Toolbox>> {
        self.known().tools.as_ref().map(|tools| Arc::clone(&tools.toolbox))
    }

    /// Whether its tools are known and nothing has happened since that speaks against it.
    pub(super) fn has_tools(&self) -> bool {
        let known = self.known();
        let is_broken = known.connection.as_ref().is_some_and(|connection| connection.is_closed());
        known.tools.is_some() && known.failed.is_none() && !is_broken
    }

    /// Why the server cannot be used for now.
    pub(super) fn fault(&self) -> Option<String> {
        let known = self.known();
        known.failed.as_ref().filter(|failed| failed.until > Instant::now()).map(|failed| failed.why.clone())
    }

    pub(super) fn is_connected(&self) -> bool {
        self.known().connection.as_ref().is_some_and(|connection| !connection.is_closed())
    }

    fn live(&self) -> Option<Arc<Connection>> {
        self.known().connection.as_ref().filter(|connection| !connection.is_closed()).cloned()
    }

    /// The connection, made if there is none.
    pub(super) async fn connection(self: &Arc<Self>, servers: &Servers) -> Result<Arc<Connection>, String> {
        if let Some(connection) = self.live() {
            return Ok(connection);
        }
        let _starting = self.starting.lock().await;
        if let Some(connection) = self.live() {
            return Ok(connection);
        }
        let settings = &servers.shared.settings;
        self.bury(settings).await;
        let failed = self.known().failed.clone();
        if let Some(Failed { why, until, .. }) = failed {
            let wait = until.saturating_duration_since(Instant::now());
            if wait > PATIENCE {
                return Err(why);
            }
            tokio::time::sleep(wait).await;
        }
        match self.start(servers).await {
            Ok((connection, tools)) => {
                let connection = Arc::new(connection);
                {
                    let mut known = self.known();
                    known.connection = Some(Arc::clone(&connection));
                    known.tools = Some(Arc::new(tools));
                    known.failed = None;
                }
                tokio::spawn(attend(Arc::downgrade(self), Arc::clone(&connection), servers.clone()));
                Ok(connection)
            }
            Err(why) => {
                let why = format!("the MCP server `{}` {why}", self.key);
                tracing::warn!("{why}");
                self.fail(why.clone(), settings);
                Err(why)
            }
        }
    }

    async fn start(self: &Arc<Self>, servers: &Servers) -> Result<(Connection, Tools), String> {
        let address = servers.address(&self.key).await.map_err(|_| "is not declared, or not allowed".to_owned())?;
        let time_max = servers.shared.settings.start_time_max;
        let connection = Connection::open(&address, &servers.shared).await?;
        match tokio::time::timeout(time_max, tool::read(&connection, servers, self)).await {
            Ok(Ok(tools)) => Ok((connection, tools)),
            Ok(Err(why)) => Err(connection.explain(&why).await),
            Err(_) => Err(format!("did not tell its tools within {} seconds", time_max.as_secs())),
        }
    }

    fn fail(&self, why: String, settings: &ServerSettings) {
        let mut known = self.known();
        let times = known.failed.as_ref().map_or(0, |failed| failed.times);
        let pause = settings.pause_first.saturating_mul(1 << times.min(16)).min(settings.pause_max);
        known.failed = Some(Failed { why, times: times + 1, until: Instant::now() + pause });
    }

    /// A connection that broke is a failure, unless it was a good one.
    async fn bury(&self, settings: &ServerSettings) {
        let dead = self.known().connection.take_if(|connection| connection.is_closed());
        let Some(dead) = dead else { return };
        dead.close().await;
        if dead.age() < GOOD_LIFE {
            let why = dead.explain("ended by itself").await;
            self.fail(format!("the MCP server `{}` {why}", self.key), settings);
        } else {
            self.known().failed = None;
        }
    }

    pub(super) fn learn(&self, tools: Tools) {
        self.known().tools = Some(Arc::new(tools));
    }

    /// Ends the server. What is known of its tools stays.
    pub(super) async fn close(&self) {
        let connection = self.known().connection.take();
        if let Some(connection) = connection {
            connection.close().await;
        }
    }

    /// The same, if this is still its connection and nobody uses it.
    async fn let_go(&self, connection: &Arc<Connection>) {
        let is_current =
            |known: &Known| known.connection.as_ref().is_some_and(|current| Arc::ptr_eq(current, connection));
        {
            let mut known = self.known();
            if !is_current(&known) || connection.is_in_use() {
                return;
            }
            known.connection = None;
        }
        connection.close().await;
    }
}

/// Reads the tools again whenever the server says that they have changed, and lets it go when nobody has used it for a
/// while. Ends with the connection.
async fn attend(slot: std::sync::Weak<Slot>, connection: Arc<Connection>, servers: Servers) {
    let settings = servers.shared.settings.clone();
    let idle = settings.idle_time_max;
    loop {
        let wait = idle.saturating_sub(connection.unused_for()).max(Duration::from_millis(10));
        tokio::select! {
            () = connection.closed() => return,
            () = connection.tools_changed() => {
                let Some(slot) = slot.upgrade() else { return };
                match tokio::time::timeout(settings.start_time_max, tool::read(&connection, &servers, &slot)).await {
                    Ok(Ok(tools)) => slot.learn(tools),
                    Ok(Err(why)) => tracing::warn!("the MCP server `{}` does not tell its tools again: {why}", slot.key),
                    Err(_) => tracing::warn!("the MCP server `{}` does not tell its tools again in time", slot.key),
                }
            }
            () = tokio::time::sleep(wait) => {
                let Some(slot) = slot.upgrade() else { return };
                if connection.unused_for() >= idle {
                    slot.let_go(&connection).await;
                }
            }
        }
    }
}
