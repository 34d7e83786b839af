//! Which adapter a bundle is materialised with, and what its definition says for that one.

use super::adapter::Adapter;
use crate::{Exit, Fault};
use entourage_model::Report;
use serde_json::{Map, Value};

/// The major version of adapters that is understood here.
const MAJOR: &str = "1";

/// An adapter, and its part of the definition.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) adapter: Adapter,
    /// Absent: the definition was made for others only.
    pub(super) own: Option<Map<String, Value>>,
}

/// The one that was wished for; else the definition's own, else the first of its fallbacks that can be used.
pub(super) fn choose(definition: &Map<String, Value>, wish: Option<Adapter>) -> Result<Choice, Fault> {
    let fallbacks = definition.get("adapterFallback").and_then(Value::as_array).into_iter().flatten();
    let configured = definition.get("adapter").into_iter().chain(fallbacks).filter_map(Value::as_object);
    let fitting: Vec<_> =
        configured.filter(|config| wish.is_none_or(|wish| text(config, "type") == wish.name())).collect();
    match (fitting.iter().find_map(|config| Some((usable(config)?, *config))), wish) {
        (Some((adapter, config)), _) => Ok(Choice { adapter, own: Some(config.clone()) }),
        // Nothing was made for it, so that nothing is in its way.
        (None, Some(adapter)) if fitting.is_empty() => Ok(Choice { adapter, own: None }),
        (None, _) => Err(unusable(&fitting)),
    }
}

/// Absent: another runtime, or a version of the adapter that may mean something else.
fn usable(config: &Map<String, Value>) -> Option<Adapter> {
    let adapter = Adapter::of_name(text(config, "type"))?;
    let runs = adapter == Adapter::Generic || text(config, "runtime") == adapter.name();
    let major = text(config, "adapterVersion").split('.').next();
    (runs && major == Some(MAJOR)).then_some(adapter)
}

fn text<'a>(config: &'a Map<String, Value>, key: &str) -> &'a str {
    config.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn unusable(tried: &[&Map<String, Value>]) -> Fault {
    let names = tried.iter().map(|config| {
        let (kind, runtime, version) = (text(config, "type"), text(config, "runtime"), text(config, "adapterVersion"));
        if kind == runtime { format!("`{kind}` {version}") } else { format!("`{kind}` {version} for `{runtime}`") }
    });
    let names = names.collect::<Vec<_>>().join(", ");
    let known = Adapter::ALL.map(Adapter::name).join(", ");
    let what = format!("none of the bundle's adapters can be used here; tried were {names}");
    let hint =
        format!("those of version {MAJOR} are {known}; `--adapter NAME` takes one that the bundle does not name");
    Fault::new(Exit::Unfaithful, Report::error("B070", what).hint(hint))
}
