//! Which models this call can ask: the providers' variables, the settings, and `--model`.

use crate::environment;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::project::read_outside;
use crate::settings::{Provider, Settings};
use entourage_declare::{FILE_BYTES_MAX, Files as _};
use entourage_model::{Agent, ModelRef, Place, Report};
use entourage_outside::model::{ModelLimits, ModelSettings, ProviderSettings, Script, ScriptReader};
use std::collections::BTreeMap;
use std::path::Path;

const SCRIPT: &str = "script";
/// Each with the variable that holds its key.
const PROVIDERS: [(&str, Option<&str>); 5] = [
    ("openai", Some("OPENAI_API_KEY")),
    ("anthropic", Some("ANTHROPIC_API_KEY")),
    ("gemini", Some("GEMINI_API_KEY")),
    ("ollama", None),
    (SCRIPT, None),
];

/// The models of this call.
pub(crate) fn settings(invocation: &Invocation) -> Result<ModelSettings, Failure> {
    let mut settings = ModelSettings::from_lookup(environment::variable);
    for (name, provider) in [
        ("openai", &mut settings.openai),
        ("anthropic", &mut settings.anthropic),
        ("gemini", &mut settings.gemini),
        ("ollama", &mut settings.ollama),
    ] {
        if let Some(set) = invocation.settings.providers.get(name) {
            overlay(provider, set, name);
        }
    }
    settings.limits = ModelLimits::from(&invocation.settings.limits);
    settings.override_model = invocation.options.model.as_deref().map(parse).transpose()?;
    if let Some(report) = unknown_provider(&invocation.settings) {
        return Err(Failure::usage(report));
    }
    settings.default_model = Some(invocation.settings.model.clone());
    if let Some(script) = settings.override_model.as_ref().filter(|model| model.provider() == SCRIPT) {
        // Named by hand, so that it lies where the person is and not where the project is.
        settings.scripts = BTreeMap::from([(script.model().to_owned(), script_outside(script.model())?)]);
    }
    settings.script_reader = script_reader(invocation)?;
    Ok(settings)
}

/// A provider's own variable is nearer to the person than any file.
fn overlay(provider: &mut ProviderSettings, set: &Provider, name: &str) {
    let variable = format!("{}_BASE_URL", name.to_ascii_uppercase());
    if let (Some(base_url), None) = (&set.base_url, environment::variable(&variable)) {
        provider.base_url.clone_from(base_url);
    }
    provider.stream = set.stream.unwrap_or(provider.stream);
    provider.concurrency_max = set.concurrency.or(provider.concurrency_max);
}

fn parse(text: &str) -> Result<ModelRef, Failure> {
    let model = ModelRef::parse(text).ok_or_else(|| {
        let report = Report::error("C008", format!("`{text}` is no model: it must be `provider:model`"));
        Failure::usage(report.hint(format!("perhaps `openai:{text}` or `ollama:{text}`")))
    })?;
    match unknown(&model) {
        Some(report) => Err(Failure::usage(report)),
        None => Ok(model),
    }
}

/// Why the model of the settings cannot be asked: nobody knows its provider.
pub(crate) fn unknown_provider(settings: &Settings) -> Option<Report> {
    let report = unknown(&settings.model)?;
    Some(Report { place: settings.model_place.clone(), ..report })
}

fn unknown(model: &ModelRef) -> Option<Report> {
    let names = PROVIDERS.map(|(name, _)| name);
    if names.contains(&model.provider()) {
        return None;
    }
    let what = format!("model `{model}` names the provider `{}`, which nobody knows", model.provider());
    let hint = match entourage_model::meant(model.provider(), names) {
        Some(nearest) => format!("did you mean `{nearest}:{}`?", model.model()),
        None => format!("known are {}", names.map(|name| format!("`{name}:`")).join(", ")),
    };
    Some(Report::error("C008", what).hint(hint))
}

fn script_outside(file: &str) -> Result<Script, Failure> {
    let bytes = read_outside(&environment::current_folder().join(file), FILE_BYTES_MAX).map_err(|fault| {
        Failure::usage(Report::error("C011", format!("the script cannot be read: {fault}")).at(Place::file(file)))
    })?;
    Script::parse(&String::from_utf8_lossy(&bytes))
        .map_err(|fault| Failure::usage(Report::error("C011", fault.to_string()).at(Place::file(file))))
}

/// Scripts that declarations and settings name lie beneath the project.
fn script_reader(invocation: &Invocation) -> Result<ScriptReader, Failure> {
    let project = crate::project::Project::open(Some(&invocation.project.root), None)?;
    Ok(ScriptReader::new(move |name| {
        let bytes = project.read(&Path::new(name).to_string_lossy()).map_err(|fault| fault.to_string())?;
        String::from_utf8(bytes).map_err(|fault| fault.to_string())
    }))
}

/// Fails when no model of a side of this agent could be asked, before anything is written down for it.
pub(crate) fn insist_on_keys(settings: &ModelSettings, agent: &Agent) -> Result<(), Failure> {
    for side in [Some(&agent.side_a), agent.side_b.as_ref()].into_iter().flatten() {
        let own: Vec<_> = side.prompt.model.iter().chain(&side.prompt.fallbacks).collect();
        let models = match (&settings.override_model, &settings.default_model) {
            (Some(model), _) => vec![model],
            (None, Some(model)) if own.is_empty() => vec![model],
            (None, _) => own,
        };
        let missing: Vec<_> = models.iter().filter_map(|model| missing_key(settings, model)).collect();
        if let (Some(report), true) = (missing.first(), missing.len() == models.len()) {
            return Err(Failure::usage(report.clone()));
        }
    }
    Ok(())
}

/// Why the model cannot be asked: its provider is elsewhere and wants a key that nobody set.
fn missing_key(settings: &ModelSettings, model: &ModelRef) -> Option<Report> {
    let provider = match model.provider() {
        "openai" => &settings.openai,
        "anthropic" => &settings.anthropic,
        "gemini" => &settings.gemini,
        _ => return None,
    };
    if provider.api_key.is_some() || is_here(&provider.base_url) {
        return None;
    }
    let (_, variable) = PROVIDERS.into_iter().find(|(name, _)| *name == model.provider())?;
    let variable = variable?;
    let report = Report::error("C009", format!("there is no key for `{model}`: the variable `{variable}` is not set"));
    Some(report.hint(format!(
        "set `{variable}`, choose a model that needs none (`--model ollama:qwen3`), or see `entourage demo`"
    )))
}

/// Whether an address is on this machine, where nobody asks for a key.
fn is_here(base_url: &str) -> bool {
    let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    match host.parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_told_from_others() {
        for here in ["http://127.0.0.1:1/v1", "http://[::1]:1", "http://localhost", "http://u:p@localhost:1/x"] {
            assert!(is_here(here), "{here}");
        }
        for there in ["https://api.openai.com/v1", "http://10.0.0.1", "http://localhost.example.com", ""] {
            assert!(!is_here(there), "{there}");
        }
    }

    #[test]
    fn a_model_that_cannot_be_is_refused_with_what_was_probably_meant() {
        let said = |text| parse(text).unwrap_err().reports[0].to_string();
        assert!(said("gpt-5").ends_with("hint: perhaps `openai:gpt-5` or `ollama:gpt-5`"), "{}", said("gpt-5"));
        assert!(said("olama:x").ends_with("hint: did you mean `ollama:x`?"), "{}", said("olama:x"));
        assert!(said("nobody:x").contains("known are `openai:`"), "{}", said("nobody:x"));
    }
}
