//! A model definition → draft.

use super::{Definition, Named, child};
use crate::draft::ModelDraft;
use crate::exchange::PROVIDERS;
use crate::faults::{meant_or, quoted};
use crate::fields::{Fields, Shape};
use crate::tree::Tree;
use entourage_model::{Program, Report};
use std::sync::Arc;

/// Providers that have packages of their own, whose models nobody asks here.
const ELSEWHERE: [&str; 7] = ["groq", "openrouter", "cerebras", "xai", "cloudflare", "mistral", "deepseek"];

impl Definition for ModelDraft {
    const FOLDER: &'static str = "agents/models";
    const NAMED: Named = Named::ByField("name");

    fn read(mut fields: Fields<'_>, _: Option<Arc<Program>>) -> Self {
        for key in ["inputPrice", "outputPrice", "cachedPrice"] {
            fields.keep(key, Shape::Amount);
        }
        capabilities(&mut fields);
        for (key, shape) in [("includedProviders", Shape::Texts), ("providerTools", Shape::Any)] {
            fields.keep(key, shape);
            if let Some(node) = fields.node(key) {
                child::unsupported(&mut fields, key, node);
            }
        }
        Self {
            provider: provider(&mut fields),
            model: fields.require_name("model").map(|model| model.value.to_string()),
            fallbacks: fields.names("fallbacks"),
            provider_options: fields.object("providerOptions").unwrap_or_default(),
            extra: fields.finish(),
        }
    }
}

/// A name; the factories that come with entourage read as theirs.
fn provider(fields: &mut Fields<'_>) -> Option<String> {
    let node = fields.require("provider")?;
    match &node.tree {
        Tree::Text(text) if !text.trim().is_empty() && !text.contains(':') => {
            if let Some(report) = stranger(&format!("{} is", fields.named("provider")), text) {
                fields.report(node, report);
            }
            Some(text.clone())
        }
        _ => fields.wrong("provider", "a provider's name, or one of `@standardagents/…`", node),
    }
}

/// What is said of a provider that is not known here, and that `subject` ends before. One that only other runtimes know
/// is no slip of the pen.
pub(crate) fn stranger(subject: &str, provider: &str) -> Option<Report> {
    if PROVIDERS.contains(&provider) {
        return None;
    }
    let what = format!("{subject} {}, which is no provider here", quoted(provider));
    let hint = meant_or(provider, PROVIDERS, &format!("providers are {}", PROVIDERS.map(quoted).join(", ")));
    let is_elsewhere = ELSEWHERE.contains(&provider);
    let report = if is_elsewhere { Report::warning("D096", what) } else { Report::error("D131", what) };
    Some(report.hint(hint))
}

fn capabilities(fields: &mut Fields<'_>) {
    let Some(node) = fields.node("capabilities") else { return };
    let Some(mut inner) = fields.within(node, "capabilities") else { return };
    for key in ["supportsImages", "supportsToolCalls", "supportsStreaming", "supportsJsonMode"] {
        inner.keep(key, Shape::Flag);
    }
    for key in ["maxContextTokens", "maxOutputTokens"] {
        inner.keep(key, Shape::Amount);
    }
    inner.keep("reasoningLevels", Shape::Any);
    // Every model is asked by streaming, and given its tools.
    for key in ["supportsToolCalls", "supportsStreaming"] {
        if let Some(node) = inner.node(key).filter(|node| matches!(node.tree, Tree::Flag(false))) {
            child::unsupported(&mut inner, &format!("capabilities.{key}: false"), node);
        }
    }
    let rest = inner.finish();
    fields.keep_rest("capabilities", rest);
}
