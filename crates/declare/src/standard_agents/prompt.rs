//! A prompt definition → draft.

use super::tool_entry;
use crate::draft::{PartDraft, PromptDraft};
use crate::fields::{Fields, Shape};
use crate::tree::Tree;
use entourage_model::{ModelRef, Reasoning, ToolChoice};
use serde_json::Value;

const TOOL_CHOICES: [(&str, ToolChoice); 3] =
    [("auto", ToolChoice::Auto), ("none", ToolChoice::None), ("required", ToolChoice::Required)];

/// Reads all but the name.
pub(super) fn read(mut fields: Fields<'_>) -> PromptDraft {
    let parts = parts(&mut fields);
    let reasoning = reasoning(&mut fields);
    let tools = tool_entry::read_all(&mut fields);
    fields.keep("toolDescription", Shape::Text);
    fields.keep("exposeAsTool", Shape::Flag);
    fields.keep("env", Shape::TextMap);
    fields.keep("hooks", Shape::Texts);
    fields.keep("variables", Shape::Any);
    fields.keep("recentImageThreshold", Shape::Any);
    PromptDraft {
        parts,
        model: model(&mut fields),
        include_chat: fields.flag("includeChat").unwrap_or_default(),
        include_past_tools: fields.flag("includePastTools").unwrap_or_default(),
        parallel_tool_calls: fields.flag("parallelToolCalls"),
        tool_choice: fields.choice("toolChoice", &TOOL_CHOICES).unwrap_or_default(),
        required_schema: required_schema(&mut fields),
        reasoning,
        tools,
        extra: fields.finish(),
    }
}

/// The parts are kept beside the text that they make, which no longer shows them.
fn parts(fields: &mut Fields<'_>) -> Vec<PartDraft> {
    let Some(node) = fields.require("prompt") else { return Vec::new() };
    match &node.tree {
        Tree::Text(text) => vec![PartDraft::Text(text.clone())],
        Tree::List(items) => {
            fields.keep_value("prompt", node.value());
            let part = |(index, item)| part(fields.within(item, &format!("prompt[{index}]"))?);
            items.iter().enumerate().filter_map(part).collect()
        }
        _ => fields.wrong("prompt", "a string or an array of parts", node).unwrap_or_default(),
    }
}

#[derive(Clone, Copy)]
enum PartKind {
    Text,
    Include,
    Env,
}

fn part(mut fields: Fields<'_>) -> Option<PartDraft> {
    let kinds = [("text", PartKind::Text), ("include", PartKind::Include), ("env", PartKind::Env)];
    fields.require("type")?;
    let part = match fields.choice("type", &kinds)? {
        PartKind::Text => fields.require("content").and_then(|_| fields.text("content")).map(PartDraft::Text),
        PartKind::Include => fields.require_name("prompt").map(PartDraft::Include),
        PartKind::Env => {
            // A variable that is not set renders empty, and so far none is.
            fields.name("property");
            None
        }
    };
    // The whole part is kept by whoever reads the list.
    fields.finish();
    part
}

fn model(fields: &mut Fields<'_>) -> Option<ModelRef> {
    let node = fields.node("model")?;
    let Tree::Text(text) = &node.tree else { return fields.wrong("model", "`provider:model`", node) };
    ModelRef::parse(text).or_else(|| fields.wrong("model", "`provider:model`", node))
}

fn required_schema(fields: &mut Fields<'_>) -> Option<Value> {
    let node = fields.node("requiredSchema")?;
    let Tree::Object(_) = node.tree else {
        return fields.wrong("requiredSchema", "an object that is a JSON Schema", node);
    };
    Some(node.value())
}

fn reasoning(fields: &mut Fields<'_>) -> Option<Reasoning> {
    let node = fields.node("reasoning")?;
    let mut inner = fields.within(node, "reasoning")?;
    let reasoning = Reasoning {
        effort: inner.name("effort").map(|effort| effort.value.to_string()),
        tokens_max: inner.count("maxTokens"),
    };
    inner.keep("exclude", Shape::Flag);
    inner.keep("include", Shape::Flag);
    let rest = inner.finish();
    fields.keep_rest("reasoning", rest);
    Some(reasoning)
}
