//! Agents that another server runs, by the task protocol of AgentScope: submit, listen, look, fetch, cancel.
//!
//! Where the server has an event stream it says when to look; where it has none, or it breaks, the task is looked at now
//! and then. A task's id is given, so that repeating a request after a crash finds what was begun. A server that cannot be reached
//! for a moment delays a task and does not fail it.

mod ear;
mod wire;

use crate::model::Watch;
use crate::model::http::Http;
use ear::{Ear, Heard};
use entourage_model::{ModelAnswer, Name, RemoteTask, Secret};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{OnceLock, PoisonError, RwLock};
use std::time::Duration;
use tokio::time::Instant;
use wire::{Answered, Refused, State, Trial};

pub(crate) use wire::expand;

/// How long a server may be out of reach before its task counts as failed.
const UNREACHABLE_MAX: Duration = Duration::from_secs(60);
/// The same for one that is there, and answers that it has failed: waiting mends that less often.
const FAULTY_MAX: Duration = Duration::from_secs(15);
/// The same for one that has not taken the task yet: whoever waits for it wants to know soon.
const UNTAKEN_MAX: Duration = Duration::from_secs(12);
/// The first pause between two looks; each is twice the one before, up to the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);
const REQUEST_TIME: Duration = Duration::from_secs(180);
/// How long a server that says a task has succeeded is waited for to give its result.
const FETCH_SECONDS: u64 = 120;
/// How long a server may take to begin a stream.
const OPEN_TIME: Duration = Duration::from_secs(10);
/// How long a stream is trusted to tell everything.
const LOOK_TIME: Duration = Duration::from_secs(15);

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

    /// Has the task done, and returns what came of it or why there is nothing. Whoever looks on is told what the agent
    /// says meanwhile. Dropping the future leaves the task to its server: only `cancel` ends it.
    pub async fn ask(&self, task: &RemoteTask, watch: &dyn Watch) -> Result<ModelAnswer, String> {
        if !task.resumed || !self.is_known(task, watch).await? {
            self.submit(task, watch).await?;
        }
        let (mut ear, mut trouble, mut questions) = (Ear::default(), Trouble::default(), Questions::default());
        let mut pause = PAUSE_FIRST;
        loop {
            match self.look(task).await {
                Ok(State::Done(result)) => {
                    let text = match result {
                        Some(text) => Ok(text),
                        None => self.fetch(task, watch).await?,
                    };
                    return Ok(text.map_or_else(cancelled, |text| questions.answer(text)));
                }
                Ok(State::Failed(why)) => return Err(failure(&why)),
                Ok(State::Cancelled) => return Ok(cancelled(Cancelled)),
                Ok(State::AtWork) => {
                    trouble = Trouble::default();
                    questions.answered = None;
                }
                Ok(State::Asks(calls)) => {
                    trouble = Trouble::default();
                    self.deny(task, calls, &mut questions).await;
                }
                Err(Refused::Lasting(why)) => return Err(why),
                Err(Refused::Passing(why, trial)) => {
                    ear.close();
                    trouble.again(why, trial, pause, watch)?;
                }
            }
            if trouble.since.is_some() {
                // A stream that goes on says nothing of whether the state can be read.
                tokio::time::sleep(pause).await;
            } else {
                self.until_news(task, &mut ear, pause, watch).await;
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Whether the server has heard of the task.
    async fn is_known(&self, task: &RemoteTask, watch: &dyn Watch) -> Result<bool, String> {
        let (mut pause, mut trouble) = (PAUSE_FIRST, Trouble::default());
        loop {
            match self.call(task, Method::GET, "", None).await {
                Ok(answered) => return Ok(!answered.is_unknown()),
                Err(Refused::Lasting(why)) => return Err(why),
                Err(Refused::Passing(why, trial)) => trouble.again(why, trial, pause, watch)?,
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Nobody here can allow anything, so that what the task asks for is denied, once for each pause.
    async fn deny(&self, task: &RemoteTask, calls: Vec<String>, questions: &mut Questions) {
        if questions.answered.as_ref() == Some(&calls) {
            return;
        }
        let decisions: Vec<_> = calls.iter().map(|call| json!({ "toolCallId": call, "approved": false })).collect();
        match self.call(task, Method::POST, "resume", Some(json!({ "decisions": decisions }))).await {
            Ok(answered) => {
                questions.answered = Some(calls);
                questions.denied += u32::from(answered.status.is_success());
            }
            Err(Refused::Lasting(_)) => questions.answered = Some(calls),
            Err(Refused::Passing(..)) => {}
        }
    }

    /// Tells the server that the task is to end, for as long as a server may be out of reach.
    pub async fn cancel(&self, task: &RemoteTask) {
        let (mut pause, mut trouble) = (PAUSE_FIRST, Trouble::default());
        loop {
            match self.call(task, Method::POST, "cancel", None).await {
                Ok(_) | Err(Refused::Lasting(_)) => return,
                Err(Refused::Passing(why, trial)) => {
                    tracing::warn!(task = task.id, "a remote task is not cancelled yet: {why}");
                    if trouble.again(why, trial, pause, &()).is_err() {
                        return;
                    }
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Waits until it is worth while to look again: something was heard, or the time has come.
    async fn until_news(&self, task: &RemoteTask, ear: &mut Ear, pause: Duration, watch: &dyn Watch) {
        if !ear.is_deaf && !ear.is_open() {
            let opened = tokio::time::timeout(OPEN_TIME, self.listen(task, ear.lines.after)).await;
            ear.open(opened.unwrap_or_else(|_| Err(Refused::Passing("no stream in time".to_owned(), Trial::Reach))));
        }
        if !ear.is_open() {
            return tokio::time::sleep(pause).await;
        }
        let listened = async {
            loop {
                match ear.next().await {
                    Some(Heard::Text(text)) => watch.delta(&text),
                    Some(Heard::News) => return true,
                    None => return false,
                }
            }
        };
        // Whatever a stream does not tell is found by looking all the same.
        if !tokio::time::timeout(LOOK_TIME, listened).await.unwrap_or(true) {
            tokio::time::sleep(pause).await;
        }
    }

    /// The server's answer to a request for what happens behind this event.
    async fn listen(&self, task: &RemoteTask, after: u64) -> Result<Response, Refused> {
        let request = self.request(task, Method::GET, "events")?.header("accept", "text/event-stream");
        let request = if after > 0 { request.header("last-event-id", after) } else { request };
        wire::started(request.send().await, task.remote.host())
    }

    async fn submit(&self, task: &RemoteTask, watch: &dyn Watch) -> Result<(), String> {
        let mut trouble = Trouble { patience: UNTAKEN_MAX, ..Trouble::default() };
        let (mut pause, mut context) = (PAUSE_FIRST, Some(wire::context(task)));
        loop {
            let mut body = json!({ "task_id": task.id, "agent_id": task.agent.plain(), "input": task.input });
            if let Some(context) = &context {
                body["context"] = context.clone();
            }
            match self.call(task, Method::POST, "", Some(body)).await {
                // It has ended already: the next look says how.
                Ok(Answered { status: StatusCode::CONFLICT, .. }) => return Ok(()),
                // Older servers understand texts only. Whom the rules were not told would not keep them.
                Ok(Answered { status: StatusCode::BAD_REQUEST, .. }) if context.is_some() => {
                    if !task.denied.is_empty() {
                        return Err("the server does not take the rules about denied tools (HTTP 400)".to_owned());
                    }
                    context = None;
                    continue;
                }
                Ok(answered) => {
                    answered.insist()?;
                    return match answered.state() {
                        State::Failed(why) => Err(failure(&why)),
                        State::AtWork | State::Asks(_) | State::Done(_) | State::Cancelled => Ok(()),
                    };
                }
                Err(Refused::Lasting(why)) => return Err(why),
                Err(Refused::Passing(why, trial)) => trouble.again(why, trial, pause, watch)?,
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

    /// The result, from a server that does not give it with the state. One that gives none has none to give.
    async fn fetch(&self, task: &RemoteTask, watch: &dyn Watch) -> Result<Result<String, Cancelled>, String> {
        let (mut pause, mut trouble) = (PAUSE_FIRST, Trouble::default());
        let query = format!("wait?timeout_seconds={FETCH_SECONDS}");
        let answered = loop {
            match self.call(task, Method::GET, &query, None).await {
                Ok(answered) => break answered,
                Err(Refused::Lasting(why)) => return Err(why),
                Err(Refused::Passing(why, trial)) => trouble.again(why, trial, pause, watch)?,
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        };
        answered.insist()?;
        match answered.state() {
            State::Done(result) => Ok(Ok(result.unwrap_or_default())),
            State::Failed(why) => Err(failure(&why)),
            State::Cancelled => Ok(Err(Cancelled)),
            State::AtWork | State::Asks(_) => Err("the remote agent gave no result".to_owned()),
        }
    }

    /// One request and its answer.
    async fn call(
        &self,
        task: &RemoteTask,
        method: Method,
        rest: &str,
        body: Option<Value>,
    ) -> Result<Answered, Refused> {
        // The longest time that a server is told to take for an answer, and a while more.
        let mut request = self.request(task, method, rest)?.timeout(REQUEST_TIME);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        Answered::read(request.send().await, task.remote.host()).await
    }

    /// A request about the task, or for all of them where it is new, with the agent's headers.
    fn request(&self, task: &RemoteTask, method: Method, rest: &str) -> Result<RequestBuilder, Refused> {
        let is_submission = method == Method::POST && rest.is_empty();
        let url = wire::address(&task.remote.url, (!is_submission).then_some(task.id.as_str()), rest);
        let url: Url = url.parse().map_err(|_| Refused::Lasting("the agent's `url` is no address".to_owned()))?;
        let unreachable = |why| Refused::Lasting(format!("`{}` {why}", task.remote.host()));
        let mut request = self.http.open(&url).map_err(unreachable)?.request(method, url);
        for (name, value) in self.headers_of(task)? {
            request = request.header(name, value.reveal());
        }
        Ok(request)
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

fn failure(why: &str) -> String {
    format!("the remote agent failed: {why}")
}

/// The server has ended the task without a result.
#[derive(Clone, Copy, Debug)]
struct Cancelled;

fn cancelled(_: Cancelled) -> ModelAnswer {
    ModelAnswer { text: "the remote agent was cancelled".to_owned(), cancelled: true, ..ModelAnswer::default() }
}

/// What a task wanted to be allowed.
#[derive(Debug, Default)]
struct Questions {
    /// The calls of the current pause, once they are denied. Others are another pause, also when nobody saw the task at
    /// work between the two.
    answered: Option<Vec<String>>,
    denied: u32,
}

impl Questions {
    fn answer(&self, text: String) -> ModelAnswer {
        let times = if self.denied == 1 { "once" } else { "more than once" };
        let note =
            format!("the remote agent asked {times} for tool calls to be confirmed, which was denied automatically");
        ModelAnswer { text, note: (self.denied > 0).then_some(note), ..ModelAnswer::default() }
    }
}

/// Since when a server cannot be asked, and how often it was tried.
#[derive(Debug)]
struct Trouble {
    since: Option<Instant>,
    /// Since when it answers with failures of its own, without a break.
    faulty_since: Option<Instant>,
    attempts: u32,
    patience: Duration,
}

impl Default for Trouble {
    fn default() -> Self {
        Self { since: None, faulty_since: None, attempts: 0, patience: UNREACHABLE_MAX }
    }
}

impl Trouble {
    /// Says that another try follows, unless there were enough.
    fn again(&mut self, why: String, trial: Trial, pause: Duration, watch: &dyn Watch) -> Result<(), String> {
        let now = Instant::now();
        self.faulty_since = match trial {
            Trial::Reach => None,
            Trial::Fault => self.faulty_since.or(Some(now)),
        };
        let is_over = |since: Option<Instant>, patience| since.is_some_and(|since| now - since > patience);
        if is_over(self.since, self.patience) || is_over(self.faulty_since, FAULTY_MAX) {
            return Err(why);
        }
        self.since = self.since.or(Some(now));
        self.attempts += 1;
        watch.retrying(self.attempts + 1, pause, &why);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries once a second; the second in which it is given up.
    async fn given_up(trial: impl Fn(u64) -> Trial) -> u64 {
        let mut trouble = Trouble::default();
        let mut second = 0;
        while trouble.again(String::new(), trial(second), PAUSE_FIRST, &()).is_ok() {
            tokio::time::advance(Duration::from_secs(1)).await;
            second += 1;
        }
        second
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_fails_for_good_is_given_up_before_one_that_is_away() {
        assert_eq!(given_up(|_| Trial::Fault).await, 16);
        assert_eq!(given_up(|_| Trial::Reach).await, 61);
        // One that comes back unwell is given its time.
        assert_eq!(given_up(|second| if second < 30 { Trial::Reach } else { Trial::Fault }).await, 46);
    }
}
