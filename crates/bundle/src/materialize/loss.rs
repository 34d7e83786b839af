//! What a target cannot hold.

use super::Plan;
use super::adapter::Adapter;
use crate::{Exit, Fault};
use entourage_model::Report;
use serde::Serialize;

/// Something that a bundle says and that no file of the target does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Loss {
    /// Absent: the main agent's.
    pub subagent: Option<String>,
    /// As the bundle spells it, nested as `a.b`.
    pub field: String,
    pub reason: String,
}

impl Loss {
    /// One of the main agent.
    pub(super) fn main(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { subagent: None, field: field.into(), reason: reason.into() }
    }

    pub(super) fn of(subagent: &str, field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { subagent: Some(subagent.to_owned()), field: field.into(), reason: reason.into() }
    }
}

/// Why a target holds nothing of a field.
pub(super) fn unsaid(adapter: Adapter) -> String {
    format!("{} has no word for it", adapter.title())
}

/// Why a plan is not an exact one, where one is asked for. Absent: it is.
pub fn refuse(plan: &Plan) -> Option<Fault> {
    let mut reports: Vec<_> = plan.inexact.iter().cloned().collect();
    reports.extend(plan.losses.iter().map(|Loss { subagent, field, reason }| {
        let whose = subagent.as_ref().map_or_else(|| "the main agent".to_owned(), |name| format!("`{name}`"));
        Report::error("B071", format!("`{field}` of {whose} is lost in `{}`: {reason}", plan.adapter))
    }));
    let last = reports.last_mut()?;
    *last = last.clone().hint("nothing was written; without `--exact` everything else is");
    Some(Fault::Told { exit: Exit::Unfaithful, reports })
}
