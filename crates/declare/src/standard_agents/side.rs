//! One side of an agent definition: a model with a prompt, a person, or code.

use super::{child, relationship};
use crate::draft::{BindingDraft, SideDraft};
use crate::fields::{Fields, Shape};
use crate::tree::{Node, Tree};
use entourage_model::Report;

/// Who sits on a side.
pub(super) enum Seat {
    Model(Box<SideDraft>),
    Person,
}

/// What a side is, by the one of these that it has.
const BACKINGS: [&str; 3] = ["prompt", "human", "handler"];

/// What only a model's side can have.
const MODEL_FIELDS: [&str; 9] = [
    "stopOnResponse",
    "stopTool",
    "stopToolResponseProperty",
    "manualStopCondition",
    "maxSteps",
    "sessionStop",
    "sessionFail",
    "sessionStatus",
    "subagents",
];

/// Absent: reported.
pub(super) fn read(fields: &mut Fields<'_>, key: &'static str, node: &Node) -> Option<Seat> {
    if !matches!(node.tree, Tree::Object(_)) {
        return fields.wrong(key, "an object such as `{ prompt: … }`", node);
    }
    let mut inner = fields.within(node, key)?;
    let backings: Vec<_> = BACKINGS.into_iter().filter_map(|backing| Some((backing, inner.spot(backing)?))).collect();
    match backings.as_slice() {
        [(first, _), (second, spot), ..] => {
            let what = format!("`{key}` has `{first}` and `{second}`, of which a side has but one");
            inner.report_at(*spot, Report::error("D029", what).hint("remove one of them"));
            None
        }
        [("human", _)] => {
            let seat = person(&mut inner);
            let rest = inner.finish();
            fields.keep_rest(key, rest);
            seat
        }
        [("handler", _)] => {
            handler(inner);
            None
        }
        _ => Some(Seat::Model(Box::new(model(inner, key)))),
    }
}

fn model(mut fields: Fields<'_>, key: &'static str) -> SideDraft {
    let prompt = fields.require_name("prompt");
    let subagents = relationship::read_all(&mut fields);
    if let Some(node) = fields.node("manualStopCondition") {
        child::unsupported(&mut fields, "manualStopCondition", node);
        fields.keep("manualStopCondition", Shape::Any);
    }
    SideDraft {
        key,
        prompt,
        label: fields.text("label"),
        stop_on_response: fields.flag("stopOnResponse").unwrap_or(true),
        stop_tool: fields.name("stopTool"),
        stop_tool_response_property: fields.text("stopToolResponseProperty"),
        steps_max: fields.count("maxSteps"),
        session_stop: binding(&mut fields, "sessionStop"),
        session_fail: binding(&mut fields, "sessionFail"),
        session_status: binding(&mut fields, "sessionStatus"),
        subagents,
        extra: fields.finish(),
    }
}

fn person(fields: &mut Fields<'_>) -> Option<Seat> {
    let node = fields.node("human")?;
    fields.keep("label", Shape::Text);
    for key in MODEL_FIELDS {
        let Some(spot) = fields.spot(key) else { continue };
        let what = format!("`{}` has no effect: the side is a person's", fields.path(key));
        fields.report_at(spot, Report::warning("D008", what).hint("remove it, or give the side a `prompt`"));
        fields.keep(key, Shape::Any);
    }
    fields.keep("human", Shape::Any);
    match node.tree {
        Tree::Flag(true) => Some(Seat::Person),
        _ => fields.wrong("human", "`true`", node),
    }
}

/// Its shape is looked at, so that everything that is wrong with it is said at once.
fn handler(mut fields: Fields<'_>) {
    let name = fields.name("handler");
    fields.text("label");
    relationship::read_all(&mut fields);
    for key in MODEL_FIELDS.into_iter().filter(|key| *key != "subagents") {
        let Some(spot) = fields.spot(key) else { continue };
        let what = format!("`{}` is not for a side with `handler`", fields.path(key));
        fields.report_at(spot, Report::error("D029", what).hint("remove it"));
    }
    if let Some(name) = name {
        let what = format!("`{}` makes the side code, which is not supported", fields.path("handler"));
        fields.report_at(name.spot, Report::error("D030", what).hint("give the side a `prompt`"));
    }
    fields.finish();
}

/// A tool's name, or an object that also maps arguments of the call.
fn binding(fields: &mut Fields<'_>, key: &'static str) -> Option<BindingDraft> {
    let node = fields.node(key)?;
    if let Tree::Text(_) = node.tree {
        let tool = fields.name_of(key, node)?;
        return Some(BindingDraft { tool, message_property: None, attachments_property: None });
    }
    let Tree::Object(_) = node.tree else { return fields.wrong(key, "a tool's name or an object", node) };
    let mut inner = fields.within(node, key)?;
    let tool = inner.require_name("name");
    let message_property = inner.text("messageProperty");
    let attachments_property = inner.text("attachmentsProperty");
    let rest = inner.finish();
    fields.keep_rest(key, rest);
    Some(BindingDraft { tool: tool?, message_property, attachments_property })
}
