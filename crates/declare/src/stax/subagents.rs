//! `subagents.ts|json`: the delegates that travel with the primary agent.

use super::source::{Source, Wanted};
use super::{carried, name, path, spec_version};
use crate::draft::Declared;
use crate::exchange::stax_model;
use crate::faults::{Faults, did_you_mean, quoted};
use crate::fields::Fields;
use crate::format::Format;
use crate::solo::{Handoff, Invocation, ReturnMode, Said, Solo};
use crate::tree::{At, Node, Tree};
use crate::typescript;
use entourage_model::{Name, Report};
use serde_json::{Map, Value};

pub(super) const INVOCATIONS: [(&str, Invocation); 3] =
    [("manual", Invocation::Manual), ("delegate", Invocation::Delegate), ("automatic", Invocation::Automatic)];

const RETURN_MODES: [(&str, ReturnMode); 3] =
    [("report", ReturnMode::Report), ("patch", ReturnMode::Patch), ("continue", ReturnMode::Continue)];

/// The word for the bundle's root in `allowedFrom`.
pub(super) const PRIMARY: &str = "primary";

/// What a file of subagents holds.
#[derive(Debug, Default)]
pub(super) struct Bundle {
    pub(super) agents: Vec<Declared<Solo>>,
    /// The whole document in its compiled form, if every subagent has one.
    pub(super) document: Option<Value>,
}

/// The subagents of the file at `path`. What is wrong beyond a single one of them goes to `faults`.
pub(super) fn read(source: &mut Source<'_>, path: &str, faults: &mut Faults) -> Bundle {
    let mut own = Faults::new(path);
    let node = source.definition(path, &mut own);
    let entries = node.as_ref().and_then(|node| entries(node, &mut own)).unwrap_or_default();
    let mut agents: Vec<_> = entries.iter().map(|(name, node)| subagent(source, path, name, node)).collect();
    agents.iter_mut().for_each(|declared| refuse_double(declared, &mut own));
    faults.reports.append(&mut own.reports);
    check_callers(&mut agents);
    let document = node.and_then(|node| document(&node, &agents));
    Bundle { agents, document }
}

/// Everything that the file says, with the compiled subagents in their places.
fn document(node: &Node, agents: &[Declared<Solo>]) -> Option<Value> {
    let Value::Object(mut document) = node.value() else { return None };
    let compiled = |declared: &Declared<Solo>| {
        Some((declared.name.value.to_string(), Value::Object(declared.draft.as_ref()?.verbatim.clone())))
    };
    let agents = agents.iter().map(compiled).collect::<Option<Map<_, _>>>()?;
    document.insert("agents".to_owned(), Value::Object(agents));
    Some(Value::Object(document))
}

/// A subagent that is there twice is an error of its own, where any other key would be worth a warning of the file's.
fn refuse_double(declared: &mut Declared<Solo>, file: &mut Faults) {
    let place = declared.place(declared.name.spot);
    let is_double = |report: &mut Report| report.code.0 == typescript::DOUBLE && report.place.as_ref() == Some(&place);
    for Report { hint, .. } in file.reports.extract_if(.., is_double) {
        let what = format!("the subagent {} is declared twice", quoted(declared.name.value.as_str()));
        declared.faults.push(declared.name.spot, Report { hint, ..Report::error(typescript::DOUBLE, what) });
    }
}

fn entries(node: &Node, faults: &mut Faults) -> Option<Vec<(String, Node)>> {
    let mut fields = Fields::of(node, "", faults)?;
    spec_version(&mut fields);
    let agents = fields.require("agents");
    let entries = agents.and_then(|agents| match &agents.tree {
        Tree::Object(entries) if entries.is_empty() => {
            let report = Report::error("D057", "`agents` is empty: a bundle of subagents has at least one");
            fields.report(agents, report.hint("add one, or remove `subagents` from the agent"));
            None
        }
        Tree::Object(entries) => Some(entries.clone()),
        _ => fields.wrong("agents", "an object", agents),
    });
    fields.finish();
    entries
}

fn subagent(source: &mut Source<'_>, path: &str, key: &str, node: &Node) -> Declared<Solo> {
    let mut faults = Faults::new(path);
    if !name::is_valid(key) {
        let report = Report::error("D058", format!("{} is no name of a subagent: {}", quoted(key), name::RULE));
        faults.push(node.spot, report.hint(name::hint(key)));
    }
    if key == PRIMARY {
        let what = format!("a subagent is called {}, which is the word for the bundle's root", quoted(key));
        let hint = "give it another name: in `handoff.allowedFrom` the word means the root, and never this subagent";
        faults.push(node.spot, Report::warning("D073", what).hint(hint));
    }
    let draft = definition(source, key, node, &mut faults);
    Declared { name: At { value: Name::from(key), spot: node.spot }, faults, draft }
}

fn definition(source: &mut Source<'_>, key: &str, node: &Node, faults: &mut Faults) -> Option<Solo> {
    let prefix = format!("agents.{key}");
    let (mut solo, instructions) = fields(node, &prefix, faults)?;
    solo.body = compile(source, &prefix, instructions?, faults)?;
    // What is kept is the compiled form: the path means nothing elsewhere.
    solo.verbatim.insert("instructions".to_owned(), solo.body.clone().into());
    carried::limit(&mut solo, key);
    Some(solo)
}

/// A subagent in its compiled form, where the instructions are the text itself.
pub(super) fn compiled(node: &Node, faults: &mut Faults) -> Option<Solo> {
    let (mut solo, instructions) = fields(node, "", faults)?;
    solo.body = instructions?.value;
    Some(solo)
}

/// All but the text, and what is said about that.
fn fields(node: &Node, prefix: &str, faults: &mut Faults) -> Option<(Solo, Option<Said<String>>)> {
    let mut fields = Fields::of(node, prefix, faults)?;
    let mut solo = Solo::new(Format::Stax, "");
    solo.description = required_text(&mut fields, "description");
    let instructions = required_text(&mut fields, "instructions");
    solo.invocation = said(&mut fields, "invocation", |fields| fields.choice("invocation", &INVOCATIONS));
    solo.model = said(&mut fields, "model", |fields| fields.text("model").map(|text| stax_model(&text)));
    solo.tags = said(&mut fields, "tags", |fields| fields.texts("tags"));
    solo.metadata = said(&mut fields, "metadata", |fields| fields.text_map("metadata"));
    solo.handoff = said(&mut fields, "handoff", handoff);
    for nested in ["subagents", "agents"] {
        if let Some(node) = fields.node(nested) {
            let what = format!("`{prefix}.{nested}`: a subagent cannot have subagents of its own");
            fields.report(node, Report::error("D059", what).hint("move them beside it, into `agents`"));
        }
    }
    solo.rest = fields.finish().into_iter().map(|(key, value)| Said { key, spot: node.spot, value }).collect();
    if let Value::Object(verbatim) = node.value() {
        solo.verbatim = verbatim;
    }
    Some((solo, instructions))
}

/// The text of the instructions. In TypeScript they are always a path; in JSON they may be the text itself.
fn compile(source: &mut Source<'_>, prefix: &str, said: Said<String>, faults: &mut Faults) -> Option<String> {
    let is_text = faults.file.ends_with(".json") && !path::is_meant_as_path(&said.value);
    if is_text {
        return Some(said.value);
    }
    let at = At { value: said.value, spot: said.spot };
    let key = format!("{prefix}.instructions");
    let is_inside = path::resolve(&faults.file, &at.value).is_some();
    if is_inside && !path::is_markdown(&at.value) {
        let what = format!("`{key}` is {}, which is no Markdown file", quoted(&at.value));
        faults.push(at.spot, Report::error("D060", what).hint("name a file that ends in `.md` or `.markdown`"));
        return None;
    }
    let path = source.locate(&at, &key, Wanted::File, faults)?;
    source.claimed.insert(path.clone());
    let text = source.text(&path, at.spot, faults)?;
    if text.is_empty() {
        let what = format!("`{key}` is {}, which is empty", quoted(&at.value));
        faults.push(at.spot, Report::error("D060", what).hint("say what the subagent is to do"));
        return None;
    }
    Some(text)
}

pub(super) fn handoff(fields: &mut Fields<'_>) -> Option<Handoff> {
    let node = fields.node("handoff")?;
    let mut inner = fields.within(node, "handoff")?;
    let handoff =
        Handoff { allowed_from: inner.texts("allowedFrom"), return_mode: inner.choice("returnMode", &RETURN_MODES) };
    inner.finish();
    Some(handoff)
}

/// A caller that does not exist would make the subagent silently unreachable.
fn check_callers(subagents: &mut [Declared<Solo>]) {
    let names: Vec<_> = subagents.iter().map(|declared| declared.name.value.clone()).collect();
    let known = || names.iter().map(|name| name.as_str()).chain([PRIMARY]);
    for declared in subagents {
        let Some(handoff) = declared.draft.as_ref().and_then(|draft| draft.handoff.as_ref()) else { continue };
        let callers = handoff.value.allowed_from.iter().flatten();
        let unknown: Vec<_> = callers.filter(|caller| !known().any(|name| name == caller.as_str())).cloned().collect();
        for caller in unknown {
            let what = format!(
                "`handoff.allowedFrom` of `{}` names {}, which is no agent of this bundle",
                declared.name.value,
                quoted(&caller)
            );
            let hint = did_you_mean(&caller, known());
            declared.faults.push(handoff.spot, Report { hint, ..Report::warning("D061", what) });
        }
    }
}

/// A text that must be there and say something.
fn required_text(fields: &mut Fields<'_>, key: &'static str) -> Option<Said<String>> {
    let text = fields.require_name(key)?;
    Some(Said { key: key.to_owned(), spot: text.spot, value: text.value.to_string() })
}

/// What `read` makes of `key`, with its place.
pub(super) fn said<T>(
    fields: &mut Fields<'_>,
    key: &'static str,
    read: impl FnOnce(&mut Fields<'_>) -> Option<T>,
) -> Option<Said<T>> {
    let spot = fields.node(key)?.spot;
    Some(Said { key: key.to_owned(), spot, value: read(fields)? })
}
