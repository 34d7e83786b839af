//! One conversation with a server.

use super::process::Process;
use super::{ServerSettings, Shared};
use crate::remote::expand;
use entourage_mcp::Conversation;
use entourage_model::{ServerAddress, ServerValue};
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Dropping it ends the conversation, and the command with everything that it started.
#[derive(Debug)]
pub(super) struct Connection {
    conversation: Conversation,
    process: Option<Process>,
    begun: Instant,
    used: Mutex<Instant>,
    users: AtomicUsize,
}

/// How long a server may be silent after one of its calls was taken back.
const STIR: Duration = Duration::from_secs(5);

/// Somebody uses the connection: it is not let go.
#[derive(Debug)]
pub(super) struct InUse<'a>(&'a Connection);

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        self.0.touch();
        self.0.users.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Connection {
    /// Starts or reaches the server and introduces us. Why that failed completes "the server …".
    pub(super) async fn open(address: &ServerAddress, shared: &Shared) -> Result<Self, String> {
        match address {
            ServerAddress::Command { command, args, env } => {
                let settings = &shared.settings;
                let variables = filled(env, settings.lookup)?;
                let mut process = Process::start(command, args, variables, settings)
                    .map_err(|fault| format!("cannot be started: `{command}`: {fault}"))?;
                let pipes = process.pipes().ok_or_else(|| "has no pipes".to_owned())?;
                match introduce(Conversation::over_pipes(pipes, settings.message_bytes_max), settings).await {
                    Ok(conversation) => Ok(Self::new(conversation, Some(process))),
                    Err(why) => Err(process.explain_start(&why).await),
                }
            }
            ServerAddress::Url { url, headers } => {
                let settings = &shared.settings;
                let address: Url = url.parse().map_err(|_| "has a `url` that is no address".to_owned())?;
                if !matches!(address.scheme(), "http" | "https") {
                    return Err(format!("cannot be reached by `{}`: only http and https", address.scheme()));
                }
                let mut named = HashMap::new();
                for (name, value) in filled(headers, settings.lookup)? {
                    let header = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(&value));
                    let (Ok(name), Ok(mut value)) = header else {
                        return Err(format!("cannot be reached: the header `{name}` is none"));
                    };
                    value.set_sensitive(true);
                    named.insert(name, value);
                }
                let client = shared.http.open(&address)?.clone();
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str()).custom_headers(named);
                let begun = Conversation::over_http(client, config, settings.message_bytes_max);
                let conversation = introduce(begun, settings).await?;
                Ok(Self::new(conversation, None))
            }
        }
    }

    fn new(conversation: Conversation, process: Option<Process>) -> Self {
        let now = Instant::now();
        Self { conversation, process, begun: now, used: Mutex::new(now), users: AtomicUsize::new(0) }
    }

    pub(super) fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    pub(super) fn in_use(&self) -> InUse<'_> {
        self.users.fetch_add(1, Ordering::AcqRel);
        self.touch();
        InUse(self)
    }

    pub(super) fn is_in_use(&self) -> bool {
        self.users.load(Ordering::Acquire) > 0
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Nothing while somebody uses it.
    pub(super) fn unused_for(&self) -> Duration {
        let used = *self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_in_use() { Duration::ZERO } else { used.elapsed() }
    }

    pub(super) fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.conversation.is_closed()
    }

    pub(super) async fn tools_changed(&self) {
        self.conversation.tools_changed().await;
    }

    /// Waits until the conversation is over. Notices it a moment late.
    pub(super) async fn closed(&self) {
        while !self.is_closed() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Ends a server that a call was taken back from and that hears nothing since: it would keep everybody waiting.
    pub(super) async fn stir(&self) {
        if tokio::time::timeout(STIR, self.conversation.ping()).await.is_err() {
            tracing::warn!("an MCP server did not stop a call that was taken back, and is ended");
            self.close().await;
        }
    }

    /// The reason, with what the server last wrote for people.
    pub(super) async fn explain(&self, why: &str) -> String {
        match &self.process {
            Some(process) if self.is_closed() => process.explain(why).await,
            Some(_) | None => why.to_owned(),
        }
    }

    /// Ends the conversation in order, and then what is left of the process.
    pub(super) async fn close(&self) {
        self.conversation.close().await;
        if let Some(process) = &self.process {
            process.end().await;
        }
    }
}

/// What the server is given, with what the environment holds in its place.
fn filled(
    values: &BTreeMap<String, ServerValue>,
    lookup: fn(&str) -> Option<String>,
) -> Result<Vec<(String, String)>, String> {
    let fill = |value: &ServerValue| match value {
        ServerValue::Plain(text) => Ok(Some(text.reveal().to_owned())),
        ServerValue::Template(text) => expand(text.reveal(), lookup).map(Some),
        ServerValue::Wanted { secret, variable, required } => match lookup(variable) {
            None if *required => Err(format!("it needs the secret `{secret}`: set the variable `{variable}`")),
            found => Ok(found),
        },
    };
    let filled = values.iter().filter_map(|(name, value)| match fill(value) {
        Ok(value) => Some(Ok((name.clone(), value?))),
        Err(why) => Some(Err(format!("cannot be started: {why}"))),
    });
    filled.collect()
}

async fn introduce(
    begun: impl Future<Output = Result<Conversation, String>>,
    settings: &ServerSettings,
) -> Result<Conversation, String> {
    match tokio::time::timeout(settings.start_time_max, begun).await {
        Ok(Ok(conversation)) => Ok(conversation),
        Ok(Err(fault)) => Err(format!("cannot be used: {fault}")),
        Err(_) => Err(format!("did not answer within {} seconds", settings.start_time_max.as_secs_f64())),
    }
}
