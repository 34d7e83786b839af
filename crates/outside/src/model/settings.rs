//! What the models' door is told once: where the providers are, their keys, and how patient to be with them.

use super::endpoint::Endpoint;
use super::script::{Script, ScriptReader};
use entourage_model::{Limits, ModelRef, Secret};
use std::collections::BTreeMap;
use std::time::Duration;

const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";
const ANTHROPIC_BASE_URL: &str = "https://api.anthropic.com";
const GEMINI_BASE_URL: &str = "https://generativelanguage.googleapis.com";
const OLLAMA_BASE_URL: &str = "http://127.0.0.1:11434";
const OLLAMA_PORT: u16 = 11434;

#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// Asked at `{base_url}/chat/completions`.
    pub openai: ProviderSettings,
    /// Asked at `{base_url}/v1/messages`; a base that already ends in `/v1` is taken as it is.
    pub anthropic: ProviderSettings,
    /// Asked below `{base_url}/v1beta`; a base that already ends in a version is taken as it is.
    pub gemini: ProviderSettings,
    /// Asked at `{base_url}/api/chat`.
    pub ollama: ProviderSettings,
    pub limits: ModelLimits,
    /// Asked in place of whatever a request names.
    pub override_model: Option<ModelRef>,
    /// Asked by requests that name no model.
    pub default_model: Option<ModelRef>,
    /// Known to `script:NAME` without a file; such a name hides a file of that name.
    pub scripts: BTreeMap<String, Script>,
    pub script_reader: ScriptReader,
}

impl ModelSettings {
    /// The providers' usual variables, from wherever `variable` finds them. An empty one counts as absent.
    pub fn from_lookup(variable: impl Fn(&str) -> Option<String>) -> Self {
        let find = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let provider = |base: &str, key: &str, default: &str| ProviderSettings {
            api_key: find(key).map(Secret::new),
            ..ProviderSettings::at(find(base).unwrap_or_else(|| default.to_owned()))
        };
        let ollama = find("OLLAMA_BASE_URL").or_else(|| find("OLLAMA_HOST")).map(|host| ollama_base_url(&host));
        Self {
            openai: provider("OPENAI_BASE_URL", "OPENAI_API_KEY", OPENAI_BASE_URL),
            anthropic: provider("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", ANTHROPIC_BASE_URL),
            gemini: provider("GEMINI_BASE_URL", "GEMINI_API_KEY", GEMINI_BASE_URL),
            ollama: ProviderSettings::at(ollama.unwrap_or_else(|| OLLAMA_BASE_URL.to_owned())),
            limits: ModelLimits::default(),
            override_model: None,
            default_model: None,
            scripts: BTreeMap::new(),
            script_reader: ScriptReader::default(),
        }
    }
}

impl Default for ModelSettings {
    /// The providers' own addresses, and no keys.
    fn default() -> Self {
        Self::from_lookup(|_| None)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderSettings {
    pub base_url: String,
    pub api_key: Option<Secret>,
    /// Whether answers are asked for in pieces. Either form is understood, whatever was asked for.
    pub stream: bool,
    /// Requests in flight at once. Absent: 64, or 1,024 to a provider on this machine.
    pub concurrency_max: Option<usize>,
}

impl ProviderSettings {
    /// A provider at this address, without a key.
    pub fn at(base_url: impl Into<String>) -> Self {
        Self { base_url: base_url.into(), api_key: None, stream: true, concurrency_max: None }
    }

    /// Whether its base URL is one that can be asked.
    pub fn has_address(&self) -> bool {
        Endpoint::parse(&self.base_url).is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelLimits {
    /// From sending a request to the first byte of the answer's body.
    pub first_byte: Duration,
    /// Between two pieces of an answer.
    pub stall: Duration,
    /// Requests to one model, the first included; at least one is made.
    pub attempts: u32,
    pub backoff: Backoff,
}

impl Default for ModelLimits {
    fn default() -> Self {
        Self::from(&Limits::default())
    }
}

impl From<&Limits> for ModelLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            first_byte: Duration::from_secs(limits.first_byte_seconds),
            stall: Duration::from_secs(limits.stall_seconds),
            attempts: limits.model_attempts,
            backoff: Backoff::default(),
        }
    }
}

/// How the waits between requests to one model grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    pub base: Duration,
    pub max: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { base: Duration::from_millis(500), max: Duration::from_secs(20) }
    }
}

impl Backoff {
    /// The wait after this many failed requests: any length up to the bound, which doubles. `random` is below 1.
    pub(super) fn wait(self, failed: u32, random: f64) -> Duration {
        let doublings = failed.saturating_sub(1).min(31);
        self.base.saturating_mul(1 << doublings).min(self.max).mul_f64(random)
    }
}

/// `OLLAMA_HOST` is what the server listens on: often without a scheme or port, or every address of the machine.
fn ollama_base_url(host: &str) -> String {
    if host.contains("://") {
        return host.to_owned();
    }
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok() => (name, port.to_owned()),
        _ => (host, OLLAMA_PORT.to_string()),
    };
    let name = if name.is_empty() || name == "0.0.0.0" { "127.0.0.1" } else { name };
    format!("http://{name}:{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_come_from_the_usual_variables() {
        let settings = ModelSettings::from_lookup(|name| match name {
            "OPENAI_BASE_URL" => Some("http://127.0.0.1:9/v1".to_owned()),
            "OPENAI_API_KEY" => Some("key\n".to_owned()),
            "ANTHROPIC_API_KEY" => Some(" ".to_owned()),
            _ => None,
        });
        assert_eq!(settings.openai.base_url, "http://127.0.0.1:9/v1");
        assert_eq!(settings.openai.api_key, Some(Secret::new("key")));
        assert_eq!(settings.anthropic, ProviderSettings::at(ANTHROPIC_BASE_URL));
        assert_eq!(settings.ollama.base_url, OLLAMA_BASE_URL);
    }

    #[test]
    fn what_ollama_listens_on_becomes_an_address() {
        for (host, base_url) in [
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:4000", "http://127.0.0.1:4000"),
            (":4000", "http://127.0.0.1:4000"),
            ("box", "http://box:11434"),
            ("https://box/ollama", "https://box/ollama"),
        ] {
            let settings = ModelSettings::from_lookup(|name| (name == "OLLAMA_HOST").then(|| host.to_owned()));
            assert_eq!(settings.ollama.base_url, base_url);
        }
    }

    #[test]
    fn waits_double_up_to_their_maximum() {
        let bounds = (0..9).map(|failed| Backoff::default().wait(failed, 1.0).as_millis());
        assert_eq!(bounds.collect::<Vec<_>>(), [500, 500, 1000, 2000, 4000, 8000, 16000, 20000, 20000]);
        assert_eq!(Backoff::default().wait(u32::MAX, 1.0), Duration::from_secs(20));
        assert_eq!(Backoff::default().wait(3, 0.0), Duration::ZERO);
    }
}
