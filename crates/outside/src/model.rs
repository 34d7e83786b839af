//! Model providers behind one door: which models a request is put to, in which order, and how often.
//!
//! A request travels: [`Models::ask`] chooses the models → `limiter` says when → a `provider` asks once → its answer,
//! or a failed attempt that says whether another is worth it. `complaint` reads what a provider objects to.

mod call;
mod complaint;
mod direct;
mod endpoint;
mod failure;
pub(crate) mod http;
mod incoming;
mod limiter;
mod openai;
mod provider;
mod quick_ack;
mod retry_after;
mod script;
mod settings;
mod vendor;
mod watch;

use self::endpoint::{Endpoint, Place};
use self::failure::{FailedAttempt, Retry};
use self::http::Http;
use self::limiter::Limiter;
use self::openai::OpenAi;
use self::provider::Provider;
use self::script::Scripts;
use self::vendor::{Vendor, VendorKind};
use entourage_model::{ModelAnswer, ModelRef, ModelRequest, Secret};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use self::failure::{FailureKind, ModelFailure};
pub use self::script::{BadScript, Reply, Rule, Script, ScriptReader, ScriptedCall};
pub use self::settings::{Backoff, ModelLimits, ModelSettings, ProviderSettings};
pub use self::watch::Watch;

/// A provider that wants to be left alone for longer counts as one that cannot answer, and is left alone for so long.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);
/// Requests in flight to one remote provider, unless the settings say otherwise.
const CONCURRENCY_MAX: usize = 64;
/// The same for a provider on this machine.
const LOCAL_CONCURRENCY_MAX: usize = 1024;

/// Every model there is. Shared by all threads, so that its limits hold for all of them together.
pub struct Models {
    desks: BTreeMap<&'static str, Desk>,
    limits: ModelLimits,
    override_model: Option<ModelRef>,
    default_model: Option<ModelRef>,
}

/// One provider with one key, and the gate that all its calls pass.
struct Desk {
    /// Or why nobody can be asked here.
    provider: Result<Box<dyn Provider>, FailedAttempt>,
    limiter: Limiter,
    /// Absent for a provider on no network.
    host: Option<String>,
    key: Option<Secret>,
}

impl Models {
    /// Opens no connection: a provider that nobody asks costs nothing.
    pub fn new(settings: ModelSettings) -> Self {
        let http = Arc::new(Http::new());
        let limits = settings.limits;
        let vendor = |kind: VendorKind, provider: &ProviderSettings| {
            let http = Arc::clone(&http);
            let need = if kind == VendorKind::Ollama { KeyNeed::Never } else { KeyNeed::Remote };
            Desk::new(provider, need, |endpoint| Box::new(Vendor::new(kind, endpoint, provider, limits, http)))
        };
        let openai = Desk::new(&settings.openai, KeyNeed::Remote, |endpoint| {
            Box::new(OpenAi::new(endpoint, &settings.openai, limits, Arc::clone(&http)))
        });
        let scripts = Scripts::new(settings.scripts, settings.script_reader);
        let desks = BTreeMap::from([
            ("openai", openai),
            ("anthropic", vendor(VendorKind::Anthropic, &settings.anthropic)),
            ("gemini", vendor(VendorKind::Gemini, &settings.gemini)),
            ("ollama", vendor(VendorKind::Ollama, &settings.ollama)),
            ("script", Desk::offline(Box::new(scripts))),
        ]);
        Self { desks, limits, override_model: settings.override_model, default_model: settings.default_model }
    }

    /// Asks the request's models in order, each as often as the limits allow, until one answers. Dropping the future
    /// closes the connection and frees its place.
    pub async fn ask(&self, request: &ModelRequest, watch: &dyn Watch) -> Result<ModelAnswer, ModelFailure> {
        let mut asking = Asking { request, watch, requests: 0 };
        let mut failure = None;
        for model in self.models_for(request) {
            if let Some(earlier) = &failure {
                let ModelFailure { message, .. } = earlier;
                watch.retrying(asking.requests + 1, Duration::ZERO, message);
            }
            match self.ask_model(&mut asking, model).await {
                Ok(answer) => return Ok(answer),
                Err(failed) => failure = Some(self.add_failure(failure, model, &failed, asking.requests)),
            }
        }
        Err(failure.unwrap_or_else(|| no_model(request)))
    }

    fn models_for<'a>(&'a self, request: &'a ModelRequest) -> &'a [ModelRef] {
        match (&self.override_model, &self.default_model) {
            (Some(model), _) => std::slice::from_ref(model),
            (None, Some(model)) if request.models.is_empty() => std::slice::from_ref(model),
            (None, _) => &request.models,
        }
    }

    async fn ask_model(&self, asking: &mut Asking<'_>, model: &ModelRef) -> Result<ModelAnswer, FailedAttempt> {
        let desk = self.desks.get(model.provider()).ok_or_else(|| unknown_provider(&self.desks))?;
        let provider = desk.provider.as_ref().map_err(FailedAttempt::clone)?;
        let mut tried = 0;
        loop {
            let slot = desk.limiter.enter(asking.request.is_root).await;
            asking.requests += 1;
            tried += 1;
            let asked = provider.ask(asking.request, model.model(), asking.watch).await.and_then(not_empty);
            drop(slot);
            let failed = match asked {
                Ok(answer) => return Ok(answer),
                Err(failed) => failed,
            };
            let Some(wait) = self.wait_after(&failed, tried, &desk.limiter) else { return Err(failed) };
            let why = desk.describe(model, &failed);
            tracing::debug!(%model, attempt = asking.requests, ?wait, why, "asking again");
            asking.watch.retrying(asking.requests + 1, wait, &why);
            tokio::time::sleep(wait).await;
        }
    }

    /// How long to wait before asking the same model again; `None` to ask it no more. What one call is told to wait,
    /// all calls of that desk wait.
    fn wait_after(&self, failed: &FailedAttempt, tried: u32, limiter: &Limiter) -> Option<Duration> {
        let Retry::Later(wish) = failed.retry else { return None };
        let wish = wish.unwrap_or_default();
        limiter.close_for(wish.min(RETRY_AFTER_MAX));
        if wish > RETRY_AFTER_MAX {
            return None;
        }
        let backoff = self.limits.backoff.wait(tried, fastrand::f64());
        (tried < self.limits.attempts).then_some(wish + backoff)
    }

    fn add_failure(
        &self,
        earlier: Option<ModelFailure>,
        model: &ModelRef,
        failed: &FailedAttempt,
        attempts: u32,
    ) -> ModelFailure {
        let described = match self.desks.get(model.provider()) {
            Some(desk) => desk.describe(model, failed),
            None => format!("`{model}` {}", failed.why),
        };
        let message = match earlier {
            Some(earlier) => format!("{}; {described}", earlier.message),
            None => described,
        };
        ModelFailure { kind: failed.kind, message, attempts, status: failed.status }
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// One call of [`Models::ask`] on its way.
struct Asking<'a> {
    request: &'a ModelRequest,
    watch: &'a dyn Watch,
    /// Made so far, over all models.
    requests: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyNeed {
    Never,
    /// Unless the provider is on this machine.
    Remote,
}

impl Desk {
    fn new(settings: &ProviderSettings, need: KeyNeed, open: impl FnOnce(&Endpoint) -> Box<dyn Provider>) -> Self {
        let Some(endpoint) = Endpoint::parse(&settings.base_url) else {
            let why = "cannot be asked: its base URL is no http or https address";
            let fault = FailedAttempt::lasting(FailureKind::BadRequest, why);
            return Self { provider: Err(fault), limiter: Limiter::new(None), host: None, key: None };
        };
        let is_remote = endpoint.place == Place::Remote;
        let provider = if need == KeyNeed::Remote && is_remote && settings.api_key.is_none() {
            Err(FailedAttempt::lasting(FailureKind::MissingKey, "was not asked: there is no key for it"))
        } else {
            Ok(open(&endpoint))
        };
        let usual = if is_remote { CONCURRENCY_MAX } else { LOCAL_CONCURRENCY_MAX };
        let limiter = Limiter::new(Some(settings.concurrency_max.unwrap_or(usual)));
        Self { provider, limiter, host: Some(endpoint.host), key: settings.api_key.clone() }
    }

    fn offline(provider: Box<dyn Provider>) -> Self {
        Self { provider: Ok(provider), limiter: Limiter::new(None), host: None, key: None }
    }

    /// A sentence for people. Providers like to quote a key that they refuse; it is taken out.
    fn describe(&self, model: &ModelRef, failed: &FailedAttempt) -> String {
        let mut why = failed.why.clone();
        if let Some(key) = self.key.as_ref().map(Secret::reveal).filter(|key| !key.is_empty()) {
            why = why.replace(key, "…");
        }
        if failed.kind == FailureKind::MissingKey {
            // Whoever reads it may be far from the command line, which gives advice of its own.
            why = format!("{why} (`{}_API_KEY` is not set)", model.provider().to_uppercase());
        }
        if let Some(wait) = failed.retry_after().filter(|wait| *wait > RETRY_AFTER_MAX) {
            why = format!("{why}, and wants no request for {} s", wait.as_secs());
        }
        match &self.host {
            Some(host) => format!("`{model}` at `{host}` {why}"),
            None => format!("`{model}` {why}"),
        }
    }
}

fn not_empty(answer: ModelAnswer) -> Result<ModelAnswer, FailedAttempt> {
    if answer.calls.is_empty() && answer.text.trim().is_empty() {
        return Err(FailedAttempt::passing(FailureKind::Empty, "answered with neither text nor calls"));
    }
    Ok(answer)
}

fn unknown_provider(desks: &BTreeMap<&'static str, Desk>) -> FailedAttempt {
    let known = desks.keys().map(|name| format!("`{name}:`")).collect::<Vec<_>>().join(", ");
    FailedAttempt::lasting(FailureKind::UnknownProvider, format!("names no provider; known are {known}"))
}

fn no_model(request: &ModelRequest) -> ModelFailure {
    let message = format!("agent `{}` names no model, and the settings have none", request.agent);
    ModelFailure { kind: FailureKind::NoModel, message, attempts: 0, status: None }
}
