//! What people set: the user's file, the project's file, variables; later wins. Flags are laid over it by the commands.

mod file;
mod known;
mod variable;

pub(crate) use variable::PREFIX;

use entourage_model::{Limits, ModelRef, Report};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// What declarations that name no model use when nobody set one.
const MODEL: &str = "openai:gpt-5";

/// One settings file, as text.
#[derive(Clone, Debug)]
pub(crate) struct SettingsFile {
    /// As people know it.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) trust: Trust,
}

/// Whose word a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The user's own, or a project that the user trusts.
    User,
    /// A project that somebody else may have written: it may not send keys elsewhere.
    Nobody,
}

/// Settings that later code takes as they are. Tables that no command uses yet are checked and not kept.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) model: ModelRef,
    pub(crate) limits: Limits,
    pub(crate) providers: BTreeMap<String, Provider>,
}

/// What is set about one provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Provider {
    pub(crate) base_url: Option<String>,
    pub(crate) stream: Option<bool>,
    pub(crate) concurrency: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Self::of(&Table::new())
    }
}

impl Settings {
    /// Reads the files in order, then the variables. What is at fault is reported and counts as not set.
    pub(crate) fn load(files: &[SettingsFile], variables: &[(String, String)]) -> (Self, Vec<Report>) {
        let mut merged = Table::new();
        let mut reports = Vec::new();
        for SettingsFile { name, text, trust } in files {
            let (mut table, faults) = file::read(name, text);
            reports.extend(faults);
            if *trust == Trust::Nobody {
                reports.extend(distrust(&mut table, name));
            }
            merge(&mut merged, table);
        }
        for (name, text) in variables {
            match variable::read(name, text) {
                Ok(table) => merge(&mut merged, table),
                Err(fault) => reports.push(fault),
            }
        }
        (Self::of(&merged), reports)
    }

    fn of(table: &Table) -> Self {
        let model = table.get("model").and_then(Value::as_str).and_then(ModelRef::parse);
        Self {
            model: model.unwrap_or_else(|| ModelRef::parse(MODEL).expect("the default names provider and model")),
            limits: part(table, "limits"),
            providers: part(table, "providers"),
        }
    }
}

/// The values of a checked table fit their type; whatever was left out has its default.
fn part<'de, T: Deserialize<'de> + Default>(table: &Table, name: &str) -> T {
    table.get(name).cloned().and_then(|value| T::deserialize(value).ok()).unwrap_or_default()
}

/// Takes away what a project's own file may not say before the user trusts the project.
fn distrust(table: &mut Table, name: &str) -> Vec<Report> {
    let Some(Value::Table(providers)) = table.get_mut("providers") else { return Vec::new() };
    let mut reports = Vec::new();
    for (provider, settings) in providers {
        let Value::Table(settings) = settings else { continue };
        if settings.remove("base_url").is_some() {
            let what = format!(
                "`providers.{provider}.base_url` is ignored: a project may not point a provider elsewhere before it is trusted"
            );
            let report = Report::warning("C007", what).at(entourage_model::Place::file(name));
            reports.push(report.hint("if you trust this project, add `--trust`"));
        }
    }
    reports
}

/// Lays `over` over `under`: tables key by key, everything else as a whole.
fn merge(under: &mut Table, over: Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(Value::Table(under)), Value::Table(over)) => merge(under, over),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests;
