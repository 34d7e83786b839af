//! The subagents, in files that `declare` writes as it would for an export.

use super::adapter::{Adapter, Subagents};
use super::loss::{Loss, unsaid};
use super::plan::Plan;
use super::source::Source;
use crate::Fault;
use entourage_declare::delegate;
use serde_json::Value;
use std::collections::BTreeMap;

/// The field of a loss that is the whole subagent.
const ALL: &str = "subagent";

pub(super) fn add(source: &Source<'_>, plan: &mut Plan) -> Result<(), Fault> {
    let written = delegate(source.files, plan.adapter.format()).map_err(Fault::Authored)?;
    let names = || written.agents.iter().map(|(name, _)| name.as_str());
    if source.leaves_out("writeAgents") {
        let reason = "the definition says `writeAgents: false`";
        plan.losses.extend(names().map(|name| Loss::of(name, ALL, reason)));
        let all = names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        if !all.is_empty() {
            plan.warn("B086", format!("{reason}, and so nobody can call {all}"), "remove it to have them written");
        }
        return Ok(());
    }
    if let Subagents::Instead(reason) = plan.adapter.shape().subagents {
        plan.losses.extend(names().map(|name| Loss::of(name, ALL, reason)));
        let all = names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        if !all.is_empty() {
            let what = format!("{} has no subagents, and so not {all}", plan.adapter.title());
            plan.warn("B086", what, "their texts are written for people; another harness can call them");
        }
    }
    let losses = written.losses.iter().map(|loss| {
        let reason = reason(source, plan.adapter, &loss.agent, &loss.field);
        Loss::of(&loss.agent, loss.field.as_str(), reason)
    });
    plan.losses.extend(losses);
    // These harnesses have no folder for them, where a name could be that of another part of the bundle.
    let folder = if matches!(plan.adapter, Adapter::Openclaw | Adapter::Generic) { "subagents/" } else { "" };
    let mut places = BTreeMap::new();
    for (path, text) in written.files {
        let place = place(&format!("{folder}{path}"), plan);
        plan.write(&place, text);
        places.insert(path, place);
    }
    for (name, path) in &written.agents {
        plan.translate(format!("subagents.{name}"), places.get(path).unwrap_or(path));
    }
    Ok(())
}

/// In Windsurf a skill is a workflow, too, and may have the subagent's name.
fn place(path: &str, plan: &Plan) -> String {
    match path.strip_suffix(".md") {
        Some(stem) if plan.adapter == Adapter::Windsurf => {
            let others = (2..).map(|number| format!("{stem}-subagent-{number}.md"));
            plan.free([path.to_owned(), format!("{stem}-subagent.md")].into_iter().chain(others))
        }
        _ => path.to_owned(),
    }
}

fn reason(source: &Source<'_>, adapter: Adapter, name: &str, field: &str) -> String {
    let definition = || source.parcel.subagents.as_ref()?.get("agents")?.get(name);
    match field {
        "model" => match definition().and_then(|definition| definition.get("model")).and_then(Value::as_str) {
            Some(model) => format!("{} cannot name the model `{model}`", adapter.title()),
            None => format!("{} cannot name the model", adapter.title()),
        },
        "body" => format!("{} refuses instructions that long", adapter.title()),
        _ => unsaid(adapter),
    }
}
