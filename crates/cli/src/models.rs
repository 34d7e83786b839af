//! Which models this call can ask: the providers' variables, the settings, and `--model`.

use crate::environment;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::project::{Project, RELATIVE, read_outside};
use crate::settings::{Provider, Settings, Trust};
use entourage_declare::{FILE_BYTES_MAX, Files as _};
use entourage_model::{ModelRef, Place, Report};
use entourage_outside::model::{ModelLimits, ModelSettings, ProviderSettings, Script, ScriptReader};
use std::path::Path;

pub(crate) const SCRIPT: &str = "script";
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
    // Named by hand, so that it lies where the person is and not where the project is; in a variable or the person's own
    // settings, which hold in any folder, if it is a whole path.
    let chosen = Some(&invocation.settings.model);
    let chosen =
        chosen.filter(|model| invocation.settings.model_trust == Trust::User && Path::new(model.model()).is_absolute());
    let by_hand = settings.override_model.iter().chain(chosen).filter(|model| model.provider() == SCRIPT);
    for script in by_hand {
        settings.scripts.insert(script.model().to_owned(), script_outside(script.model())?);
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
    let bytes = read_outside(&environment::current_folder().join(file), FILE_BYTES_MAX);
    let text = bytes.map_err(|fault| fault.to_string()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = text.map_err(|fault| Failure::usage(unreadable(file, &fault).hint(RELATIVE)))?;
    script(file, &text).map_err(Failure::usage)
}

/// The project whose files settings and declarations name as scripts: they lie beneath it.
pub(crate) fn script_folder(invocation: &Invocation) -> Result<Project, Failure> {
    Project::open(Some(&invocation.project.root), None)
}

/// A script that settings or declarations name.
pub(crate) fn script_inside(project: &Project, file: &str) -> Result<Script, Report> {
    let hint = "scripts that settings and declarations name lie in the project, and paths are relative to it";
    let text = read_inside(project, file).map_err(|fault| unreadable(file, &fault).hint(hint))?;
    script(file, &text)
}

fn script_reader(invocation: &Invocation) -> Result<ScriptReader, Failure> {
    let project = script_folder(invocation)?;
    Ok(ScriptReader::new(move |name| read_inside(&project, name)))
}

fn read_inside(project: &Project, file: &str) -> Result<String, String> {
    // A whole path may lead there as well.
    let path = Path::new(file);
    let path = path.strip_prefix(&project.root).unwrap_or(path);
    let bytes = project.read(&path.to_string_lossy()).map_err(|fault| fault.to_string())?;
    String::from_utf8(bytes).map_err(|fault| fault.to_string())
}

fn unreadable(file: &str, fault: &str) -> Report {
    Report::error("C011", format!("the script cannot be read: {fault}")).at(Place::file(file))
}

fn script(file: &str, text: &str) -> Result<Script, Report> {
    Script::parse(text).map_err(|fault| {
        let cause = std::error::Error::source(&fault).and_then(|cause| cause.downcast_ref::<serde_json::Error>());
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let place = cause.map(|cause| Place::at(file, number(cause.line()), number(cause.column())));
        let report = Report::error("C011", fault.to_string()).at(place.unwrap_or_else(|| Place::file(file)));
        report.hint("a script is JSON as in `{ \"rules\": [ { \"reply\": { \"text\": \"Hello\" } } ] }`")
    })
}

/// The variable that holds the key of a provider, if it wants one.
pub(crate) fn key_variable(provider: &str) -> Option<&'static str> {
    PROVIDERS.into_iter().find(|(name, _)| *name == provider).and_then(|(_, variable)| variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_cannot_be_is_refused_with_what_was_probably_meant() {
        let said = |text| parse(text).unwrap_err().reports[0].to_string();
        assert!(said("gpt-5").ends_with("hint: perhaps `openai:gpt-5` or `ollama:gpt-5`"), "{}", said("gpt-5"));
        assert!(said("olama:x").ends_with("hint: did you mean `ollama:x`?"), "{}", said("olama:x"));
        assert!(said("nobody:x").contains("known are `openai:`"), "{}", said("nobody:x"));
    }
}
