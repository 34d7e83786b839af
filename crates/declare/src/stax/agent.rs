//! The primary agent: `defineAgent()` of stax, with everything that it names.

use super::parcel::{NamedPackage, Parcel, ParcelKind};
use super::paths::Paths;
use super::source::Source;
use super::subagents::said;
use super::{Stax, adapter, hints, mcp, name, prompt, spec_version, subagents};
use crate::draft::Declared;
use crate::exchange::stax_model;
use crate::faults::{Faults, quoted};
use crate::fields::{Fields, Shape};
use crate::files;
use crate::format::Format;
use crate::solo::{Said, ServerSecret, Solo};
use crate::tree::{At, Node, Spot, Tree};
use entourage_model::{Name, Report};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Reads the definition in the file `entry`.
pub(super) fn read(source: &mut Source<'_>, entry: &str) -> Stax {
    let mut faults = Faults::new(entry);
    let stem = At { value: Name::from("agent"), spot: Spot::START };
    let mut parcel = Parcel::new(ParcelKind::Agent, entry);
    let node = source.definition(entry, &mut faults);
    if node.is_none() && faults.reports.is_empty() {
        // A link that leads nowhere is an entry all the same.
        faults.reports.push(files::unreadable(entry, &io::ErrorKind::NotFound.into()));
    }
    let read = node.and_then(|node| definition(source, &node, &mut parcel, &mut faults));
    let (name, draft, subagents) = read.unwrap_or((stem, None, Vec::new()));
    let (claimed, luggage) = (std::mem::take(&mut source.claimed), std::mem::take(&mut source.luggage));
    luggage.missed().into_iter().for_each(|report| faults.push(Spot::START, report));
    Stax { primary: Declared { name, faults, draft }, subagents, claimed, luggage, parcel }
}

type Read = (At<Name>, Option<Solo>, Vec<Declared<Solo>>);

fn definition(source: &mut Source<'_>, node: &Node, parcel: &mut Parcel, faults: &mut Faults) -> Option<Read> {
    let mut fields = Fields::of(node, "", faults)?;
    let mut solo = Solo::new(Format::Stax, "");
    let name = fields.require_name("name");
    let version = fields.require_name("version");
    solo.description = said(&mut fields, "description", |fields| Some(fields.name("description")?.value.to_string()));
    adapter::check(&mut fields);
    solo.tags = said(&mut fields, "tags", |fields| fields.texts("tags"));
    solo.model = adapter_model(node);
    spec_version(&mut fields);
    for key in ["author", "license", "url"] {
        fields.keep(key, Shape::Text);
    }
    hints::check(&mut fields);
    let paths = Paths::read(&mut fields, ParcelKind::Agent);
    let secrets = secrets(&mut fields);
    workspace_sources(&mut fields);
    let packages = fields.names("packages");
    let rest = fields.finish();
    let rest = rest.into_iter().filter(|(key, _)| key != "specVersion");
    solo.rest = rest.map(|(key, value)| Said { key, spot: node.spot, value }).collect();
    solo.verbatim = if let Value::Object(map) = node.value() { map } else { Map::new() };
    check_identity(name.as_ref(), version.as_ref(), solo.tags.as_ref(), faults);
    parcel.definition.clone_from(&solo.verbatim);
    parcel.packages = placed(packages, faults);
    let parts = paths.follow(source, &secrets, parcel, faults);
    solo.body = prompt::compose(&parts);
    solo.servers = parts.servers;
    // Their own places are in another file.
    let children = callable_by(subagents::PRIMARY, &parts.subagents).into_iter();
    solo.children = parts.subagents_at.map(|spot| Said {
        key: "subagents".to_owned(),
        spot,
        value: children.map(|child| At { spot, ..child }).collect(),
    });
    let name = name.unwrap_or(At { value: Name::from("agent"), spot: node.spot });
    Some((name, Some(solo), with_children(parts.subagents)))
}

/// What is kept of a primary agent; it was checked when it was read.
pub(super) fn reread(node: &Node, body: &str) -> Option<Solo> {
    let Value::Object(verbatim) = node.value() else { return None };
    let mut solo = Solo::new(Format::Stax, body);
    solo.description = node.field("description").and_then(|said| match &said.tree {
        Tree::Text(text) => Some(Said { key: "description".to_owned(), spot: said.spot, value: text.clone() }),
        _ => None,
    });
    solo.model = adapter_model(node);
    // An imported agent has the document itself in place of the path.
    solo.servers = node.field("mcp").filter(|mcp| matches!(mcp.tree, Tree::Object(_))).and_then(|mcp| {
        let key = "mcp".to_owned();
        Some(Said { key, spot: mcp.spot, value: mcp::kept(mcp)? })
    });
    let mut said = vec!["name", "version", "description", "adapter", "hints", "specVersion", "prompt"];
    said.extend(solo.servers.as_ref().map(|_| "mcp"));
    let rest = verbatim.iter().filter(|(key, _)| !said.contains(&key.as_str()));
    solo.rest = rest.map(|(key, value)| Said { key: key.clone(), spot: node.spot, value: value.clone() }).collect();
    solo.verbatim = verbatim;
    Some(solo)
}

/// The subagents that `caller` may start. One that says nothing about it is the root's.
fn callable_by(caller: &str, subagents: &[Declared<Solo>]) -> Vec<At<Name>> {
    let is_allowed = |declared: &&Declared<Solo>| {
        let handoff = declared.draft.as_ref().and_then(|draft| draft.handoff.as_ref());
        match handoff.and_then(|handoff| handoff.value.allowed_from.as_ref()) {
            Some(callers) => callers.iter().any(|allowed| allowed == caller),
            None => caller == subagents::PRIMARY,
        }
    };
    subagents.iter().filter(is_allowed).map(|declared| declared.name.clone()).collect()
}

/// A subagent has as children those that name it among their callers.
fn with_children(mut subagents: Vec<Declared<Solo>>) -> Vec<Declared<Solo>> {
    let children: Vec<_> =
        subagents.iter().map(|declared| callable_by(declared.name.value.as_str(), &subagents)).collect();
    for (declared, value) in subagents.iter_mut().zip(children) {
        if let Some(draft) = declared.draft.as_mut().filter(|_| !value.is_empty()) {
            draft.children = Some(Said { key: "handoff.allowedFrom".to_owned(), spot: declared.name.spot, value });
        }
    }
    subagents
}

pub(super) fn check_identity(
    name: Option<&At<Name>>,
    version: Option<&At<Name>>,
    tags: Option<&Said<Vec<String>>>,
    faults: &mut Faults,
) {
    if let Some(At { value, spot }) = name.filter(|name| !name::is_valid(name.value.as_str())) {
        let what = format!("{} is no name of an agent: {}", quoted(value.as_str()), name::RULE);
        faults.push(*spot, Report::error("D058", what).hint(name::hint(value.as_str())));
    }
    if let Some(At { value, spot }) = version.filter(|version| semver::Version::parse(version.value.as_str()).is_err())
    {
        let what = format!("`version` is {}, which is no semantic version", quoted(value.as_str()));
        faults.push(*spot, Report::error("D062", what).hint("three numbers, as in `1.0.0`"));
    }
    let mut seen = BTreeSet::new();
    for tag in tags.iter().flat_map(|tags| &tags.value).filter(|tag| !seen.insert(*tag)) {
        let spot = tags.map_or(Spot::START, |tags| tags.spot);
        faults.push(spot, Report::error("D063", format!("the tag {} is there twice", quoted(tag))).hint("remove one"));
    }
}

/// The model that the adapter was made for.
fn adapter_model(node: &Node) -> Option<Said<crate::solo::ModelWish>> {
    let adapter = node.field("adapter")?;
    let model = adapter.field("model")?;
    let Tree::Text(text) = &model.tree else { return None };
    Some(Said { key: "adapter.model".to_owned(), spot: model.spot, value: stax_model(text) })
}

const SECRET_KINDS: [(&str, ()); 7] = [
    ("api-key", ()),
    ("token", ()),
    ("password", ()),
    ("certificate", ()),
    ("connection-string", ()),
    ("url", ()),
    ("opaque", ()),
];

/// The secrets that are declared, by key.
pub(super) type Secrets = BTreeMap<String, ServerSecret>;

/// Reads them. Values are never stored.
pub(super) fn secrets(fields: &mut Fields<'_>) -> Secrets {
    let mut secrets = Secrets::new();
    for (index, node) in fields.list("secrets").unwrap_or_default().iter().enumerate() {
        let Some(mut inner) = fields.within(node, &format!("secrets[{index}]")) else { continue };
        let key = inner.require_name("key");
        let required = inner.require("required").and_then(|_| inner.flag("required"));
        inner.choice("kind", &SECRET_KINDS);
        inner.keep("description", Shape::Text);
        let exposed = inner.text_map("exposeAs").and_then(|mut exposed| exposed.remove("env"));
        if let Some(node) = inner.node("value") {
            let report = Report::error("D064", "a secret's value is never written down in a definition");
            inner.report(node, report.hint("remove `value`; whoever runs the agent gives it"));
        }
        inner.finish();
        let Some(key) = key.map(|key| key.value.to_string()) else { continue };
        let variable = exposed.unwrap_or_else(|| key.clone());
        let secret = ServerSecret { key: key.clone(), variable, required: required.unwrap_or(true) };
        if secrets.insert(key.clone(), secret).is_some() {
            let what = format!("the secret {} is declared twice", quoted(&key));
            fields.report(node, Report::error("D063", what).hint("remove one"));
        }
    }
    secrets
}

fn workspace_sources(fields: &mut Fields<'_>) {
    let (mut ids, mut mounts) = (BTreeSet::new(), BTreeSet::new());
    for (index, node) in fields.list("workspaceSources").unwrap_or_default().iter().enumerate() {
        let Some(mut inner) = fields.within(node, &format!("workspaceSources[{index}]")) else { continue };
        let id = inner.require_name("id").map(|id| id.value.to_string());
        inner.require_name("ref");
        let mount = inner.require_name("mountPath").map(|mount| mount.value.to_string());
        inner.flag("writable");
        inner.flag("required");
        inner.keep("subpath", Shape::Text);
        inner.finish();
        if let Some(mount) = mount.as_ref().filter(|mount| !mount.starts_with('/')) {
            let what = format!("`workspaceSources[{index}].mountPath` is {}, which is not absolute", quoted(mount));
            fields.report(node, Report::error("D065", what).hint("begin it with `/`"));
        }
        let doubles = [("id", id, &mut ids), ("mountPath", mount, &mut mounts)];
        for (key, value, seen) in doubles.into_iter().filter_map(|(key, value, seen)| Some((key, value?, seen))) {
            if !seen.insert(value.clone()) {
                let what = format!("two `workspaceSources` have the same `{key}`, {}", quoted(&value));
                fields.report(node, Report::error("D063", what).hint("change one of them"));
            }
        }
    }
}

/// The packages that are named, each with its file.
pub(super) fn placed(packages: Vec<At<Name>>, faults: &Faults) -> Vec<NamedPackage> {
    let named = |At { value, spot }: At<Name>| NamedPackage { text: value.to_string(), place: faults.place(spot) };
    packages.into_iter().map(named).collect()
}
