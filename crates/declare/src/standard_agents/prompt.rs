//! A prompt definition → draft.

use super::{Definition, Named, child, part, tool_entry, variable};
use crate::draft::PromptDraft;
use crate::fields::{Fields, Shape};
use crate::tree::{Spot, Tree};
use entourage_model::{Program, Reasoning, ToolChoice};
use serde_json::Value;
use std::sync::Arc;

impl Definition for PromptDraft {
    const FOLDER: &'static str = "agents/prompts";
    const NAMED: Named = Named::ByField("name");

    fn read(mut fields: Fields<'_>, _: Option<Arc<Program>>) -> Self {
        let parts = part::read_all(&mut fields);
        let (reasoning, budget) = reasoning(&mut fields).unzip();
        let tools = tool_entry::read_all(&mut fields);
        let (tool_choice, only_tool) = tool_choice(&mut fields);
        fields.keep("exposeAsTool", Shape::Flag);
        let threshold = fields.node("recentImageThreshold");
        if let Some(node) = threshold.filter(|node| matches!(node.tree, Tree::Number(_))) {
            child::unsupported(&mut fields, "recentImageThreshold", node);
        }
        fields.keep("recentImageThreshold", Shape::Amount);
        let tool_description = fields.text("toolDescription");
        if let Some(text) = &tool_description {
            fields.keep_value("toolDescription", Value::from(text.as_str()));
        }
        Self {
            parts,
            model: fields.name("model"),
            tool_description,
            include_chat: fields.flag("includeChat").unwrap_or_default(),
            include_past_tools: fields.flag("includePastTools").unwrap_or_default(),
            parallel_tool_calls: fields.flag("parallelToolCalls"),
            tool_choice,
            only_tool,
            required_schema: required_schema(&mut fields),
            reasoning,
            budget: budget.flatten(),
            env: fields.text_map("env").unwrap_or_default(),
            variables: variable::read_all(&mut fields),
            hooks: fields.names("hooks"),
            tools,
            extra: fields.finish(),
        }
    }
}

/// Where it is `function`, it means the prompt's only tool, which then must be called.
fn tool_choice(fields: &mut Fields<'_>) -> (ToolChoice, Option<Spot>) {
    let choices = [
        ("auto", (ToolChoice::Auto, false)),
        ("none", (ToolChoice::None, false)),
        ("required", (ToolChoice::Required, false)),
        ("function", (ToolChoice::Required, true)),
    ];
    let (choice, is_only) = fields.choice("toolChoice", &choices).unwrap_or_default();
    (choice, fields.spot("toolChoice").filter(|_| is_only))
}

/// What a caller's arguments are compared with, so that it must be about an object.
fn required_schema(fields: &mut Fields<'_>) -> Option<Value> {
    let node = fields.node("requiredSchema")?;
    let schema = node.value();
    // Something must say that it is a schema: other keys mean nothing to one.
    let says = |key: &str| schema.get(key).is_some();
    let is_about_object = match schema.get("type") {
        Some(kind) => kind == "object",
        None => ["properties", "anyOf", "allOf", "oneOf", "$ref"].into_iter().any(says),
    };
    let is_schema = matches!(node.tree, Tree::Object(_)) && is_about_object;
    if !is_schema {
        return fields.wrong("requiredSchema", "the JSON Schema of an object, such as `z.object({ … })`", node);
    }
    Some(schema)
}

/// What is said of thinking, and where it says how long that may be.
///
/// What a model thinks is kept by nobody: that is what `exclude` asks for, and what stands against `include`.
fn reasoning(fields: &mut Fields<'_>) -> Option<(Reasoning, Option<Spot>)> {
    let node = fields.node("reasoning")?;
    let mut inner = fields.within(node, "reasoning")?;
    let reasoning = Reasoning {
        effort: inner.name("effort").map(|effort| effort.value.to_string()),
        tokens_max: inner.count("maxTokens"),
    };
    let budget = inner.spot("maxTokens");
    inner.keep("exclude", Shape::Flag);
    if let Some(node) = inner.node("include").filter(|node| matches!(node.tree, Tree::Flag(true))) {
        child::unsupported(&mut inner, "reasoning.include", node);
    }
    inner.keep("include", Shape::Flag);
    let rest = inner.finish();
    fields.keep_rest("reasoning", rest);
    Some((reasoning, budget))
}
