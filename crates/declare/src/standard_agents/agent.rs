//! An agent definition → draft.

use super::FORMAT;
use crate::draft::{AgentDraft, BindingDraft, SideDraft};
use crate::fields::{Fields, Shape};
use crate::tree::{Node, Tree};
use entourage_model::{Kind, Report};

const KINDS: [(&str, Kind); 2] = [("ai_human", Kind::AiHuman), ("dual_ai", Kind::DualAi)];

/// Reads all but the name.
pub(super) fn read(mut fields: Fields<'_>) -> AgentDraft {
    let kind = fields.choice("type", &KINDS).unwrap_or_default();
    let side_a = fields.require("sideA").and_then(|node| side(&mut fields, "sideA", node));
    let side_b = side_b(&mut fields, kind);
    for key in ["icon", "packageName", "version", "license"] {
        fields.keep(key, Shape::Text);
    }
    fields.keep("author", Shape::Any);
    fields.keep("env", Shape::TextMap);
    fields.keep("hooks", Shape::Texts);
    AgentDraft {
        format: FORMAT,
        kind,
        title: fields.text("title"),
        description: fields.text("description").unwrap_or_default(),
        side_a,
        side_b,
        session_turns_max: fields.count("maxSessionTurns"),
        expose_as_tool: fields.flag("exposeAsTool").unwrap_or_default(),
        tool_description: fields.text("toolDescription"),
        extra: fields.finish(),
    }
}

fn side_b(fields: &mut Fields<'_>, kind: Kind) -> Option<SideDraft> {
    match (kind, fields.node("sideB")) {
        (Kind::DualAi, Some(node)) => side(fields, "sideB", node),
        (Kind::DualAi, None) => {
            let report = Report::error("D005", "`sideB` is missing, which an agent of type `dual_ai` must have");
            // Only `type` can have asked for it.
            let asked = fields.node("type")?;
            fields.report(asked, report.hint("add `sideB`"));
            None
        }
        (Kind::AiHuman, Some(node)) => {
            let report =
                Report::warning("D008", "`sideB` has no effect: side B of an agent of type `ai_human` is a person");
            fields.report(node, report.hint("remove it, or set `type` to `dual_ai`"));
            fields.keep_value("sideB", node.value());
            None
        }
        (Kind::AiHuman, None) => None,
    }
}

fn side(fields: &mut Fields<'_>, key: &'static str, node: &Node) -> Option<SideDraft> {
    let mut fields = fields.within(node, key)?;
    let prompt = fields.require_name("prompt");
    Some(SideDraft {
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
        extra: fields.finish(),
    })
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
