//! Agents that another server runs, by the task protocol of AgentScope: submit, look, fetch, cancel.
//!
//! A task's id is given, so that repeating a request after a crash finds what was begun. A server that cannot be reached
//! for a moment delays a task and does not fail it.

mod wire;

use crate::model::http::Http;
use entourage_model::{Name, RemoteTask, Secret};
use reqwest::{Method, StatusCode, Url};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};
use wire::{Answered, Refused, State};

pub(crate) use wire::expand;

/// How long a server may be out of reach before its task counts as failed.
const UNREACHABLE_MAX: Duration = Duration::from_secs(60);
/// The first pause between two looks; each is twice the one before, up to the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);
const REQUEST_TIME: Duration = Duration::from_secs(120);
/// How long a server that says a task has succeeded is waited for to give its result.
const FETCH_SECONDS: u64 = 120;

/// What is sent with every request to an agent's server: values that a settings file writes out.
pub type Headers = BTreeMap<Name, BTreeMap<String, Secret>>;

/// Every server that runs agents for this process.
pub struct Remotes {
    http: Http,
    /// Read when the first remote agent is asked, and again for one that is new since.
    source: Box<dyn Fn() -> Headers + Send + Sync>,
    /// Reads a variable of the environment.
    lookup: fn(&str) -> Option<String>,
    headers: OnceLock<RwLock<Headers>>,
}

impl fmt::Debug for Remotes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Remotes")
    }
}

impl Remotes {
    pub fn new(source: impl Fn() -> Headers + Send + Sync + 'static, lookup: fn(&str) -> Option<String>) -> Self {
        Self { http: Http::new(), source: Box::new(source), lookup, headers: OnceLock::new() }
    }

    /// No server needs anything but its address.
    pub fn plain() -> Self {
        Self::new(Headers::new, |_| None)
    }

    /// Has the task done, and returns its result or why there is none. Dropping the future leaves the task to its
    /// server: only `cancel` ends it.
    pub async fn ask(&self, task: &RemoteTask) -> Result<String, String> {
        self.submit(task).await?;
        let (mut pause, mut lost, mut denied) = (PAUSE_FIRST, None, false);
        loop {
            match self.look(task).await {
                Ok(State::Done(Some(result))) => return Ok(result),
                Ok(State::Done(None)) => return self.fetch(task).await,
                Ok(State::Failed(why)) => return Err(format!("the remote agent failed: {why}")),
                Ok(State::Cancelled) => return Err("the remote agent was cancelled".to_owned()),
                Ok(State::AtWork) => lost = None,
                Ok(State::Asks) => {
                    lost = None;
                    // Nobody here can allow anything, so that it is denied, once for each pause.
                    if !std::mem::replace(&mut denied, true) {
                        self.call(task, Method::POST, "resume", Some(json!({ "decisions": [] }))).await.ok();
                    }
                }
                Err(Refused::Lasting(why)) => return Err(why),
                Err(Refused::Passing(why)) => {
                    let since = *lost.get_or_insert_with(Instant::now);
                    if since.elapsed() > UNREACHABLE_MAX {
                        return Err(why);
                    }
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Tells the server that the task is to end; a few times where it cannot be reached.
    pub async fn cancel(&self, task: &RemoteTask) {
        let mut pause = PAUSE_FIRST;
        for _ in 0..6 {
            match self.call(task, Method::POST, "cancel", None).await {
                Ok(_) | Err(Refused::Lasting(_)) => return,
                Err(Refused::Passing(why)) => {
                    tracing::warn!(task = task.id, "a remote task is not cancelled yet: {why}")
                }
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
    }

    async fn submit(&self, task: &RemoteTask) -> Result<(), String> {
        let (mut pause, begun, mut context) = (PAUSE_FIRST, Instant::now(), Some(wire::context(task)));
        loop {
            let mut body = json!({ "task_id": task.id, "agent_id": task.agent, "input": task.input });
            if let Some(context) = &context {
                body["context"] = context.clone();
            }
            match self.call(task, Method::POST, "", Some(body)).await {
                // It has ended already: the next look says how.
                Ok(Answered { status: StatusCode::CONFLICT, .. }) => return Ok(()),
                // Older servers understand texts only.
                Ok(Answered { status: StatusCode::BAD_REQUEST, .. }) if context.is_some() => {
                    context = None;
                    continue;
                }
                Ok(answered) => {
                    answered.insist()?;
                    return match answered.state() {
                        State::Failed(why) => Err(format!("the remote agent failed: {why}")),
                        State::AtWork | State::Asks | State::Done(_) | State::Cancelled => Ok(()),
                    };
                }
                Err(Refused::Lasting(why)) => return Err(why),
                Err(Refused::Passing(why)) if begun.elapsed() > UNREACHABLE_MAX => return Err(why),
                Err(Refused::Passing(_)) => {}
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    async fn look(&self, task: &RemoteTask) -> Result<State, Refused> {
        let answered = self.call(task, Method::GET, "", None).await?;
        answered.insist().map_err(Refused::Lasting)?;
        Ok(answered.state())
    }

    async fn fetch(&self, task: &RemoteTask) -> Result<String, String> {
        let query = format!("wait?timeout_seconds={FETCH_SECONDS}");
        let answered = self.call(task, Method::GET, &query, None).await.map_err(Refused::text)?;
        answered.insist()?;
        match answered.state() {
            State::Done(result) => Ok(result.unwrap_or_default()),
            State::Failed(why) => Err(format!("the remote agent failed: {why}")),
            State::Cancelled => Err("the remote agent was cancelled".to_owned()),
            State::AtWork | State::Asks => Err("the remote agent gave no result".to_owned()),
        }
    }

    /// One request, with the agent's headers.
    async fn call(
        &self,
        task: &RemoteTask,
        method: Method,
        rest: &str,
        body: Option<Value>,
    ) -> Result<Answered, Refused> {
        let is_submission = body.is_some() && rest.is_empty();
        let url = wire::address(&task.remote.url, (!is_submission).then_some(task.id.as_str()), rest);
        let url: Url = url.parse().map_err(|_| Refused::Lasting("the agent's `url` is no address".to_owned()))?;
        let unreachable = |why| Refused::Lasting(format!("`{}` {why}", task.remote.host()));
        let client = self.http.open(&url).map_err(unreachable)?;
        let mut request = client.request(method, url).timeout(REQUEST_TIME);
        for (name, value) in self.headers_of(task)? {
            request = request.header(name, value.reveal());
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        Answered::read(request.send().await, task.remote.host()).await
    }

    /// What the settings write out, and what they take from the environment.
    fn headers_of(&self, task: &RemoteTask) -> Result<Vec<(String, Secret)>, Refused> {
        let kept = self.headers.get_or_init(|| RwLock::new((self.source)()));
        let is_known = kept.read().unwrap_or_else(PoisonError::into_inner).contains_key(&task.agent);
        if !is_known {
            *kept.write().unwrap_or_else(PoisonError::into_inner) = (self.source)();
        }
        let kept = kept.read().unwrap_or_else(PoisonError::into_inner);
        let written = kept.get(&task.agent).into_iter().flatten().map(|(name, value)| (name.clone(), value.clone()));
        let mut headers: Vec<_> = written.collect();
        for (name, template) in &task.remote.headers {
            let value = wire::expand(template, self.lookup).map_err(Refused::Lasting)?;
            headers.push((name.clone(), Secret::new(value)));
        }
        Ok(headers)
    }
}
