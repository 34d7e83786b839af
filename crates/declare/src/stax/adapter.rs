//! What a definition says about the runtime it was made for.

use crate::faults::quoted;
use crate::fields::{Fields, Shape};
use crate::tree::{Node, Tree};
use entourage_model::Report;

const IMPORT_MODES: [(&str, ()); 4] = [("filesystem", ()), ("api", ()), ("bundle", ()), ("object-map", ())];
const FIDELITIES: [(&str, ()); 4] =
    [("byte-exact", ()), ("schema-exact", ()), ("best-effort", ()), ("unsupported", ())];

const TARGET_KINDS: [(&str, ()); 6] =
    [("file", ()), ("directory", ()), ("setting", ()), ("api", ()), ("bundle", ()), ("object", ())];
const TARGET_SCOPES: [(&str, ()); 7] = [
    ("user", ()),
    ("project", ()),
    ("workspace", ()),
    ("local", ()),
    ("remote", ()),
    ("account", ()),
    ("organization", ()),
];

/// How a runtime may have a part of an agent.
const TOLD: [(&str, ()); 3] = [("native", ()), ("embedded", ()), ("unsupported", ())];
const TRANSLATED: [(&str, ()); 3] = [("native", ()), ("translated", ()), ("unsupported", ())];
const TOLD_OR_TRANSLATED: [(&str, ()); 4] = [("native", ()), ("embedded", ()), ("translated", ()), ("unsupported", ())];
const GIVEN: [(&str, ()); 2] = [("native", ()), ("consumer-only", ())];

const FEATURES: [(&str, &[(&str, ())]); 11] = [
    ("prompt", &TOLD),
    ("persona", &TOLD),
    ("rules", &TOLD_OR_TRANSLATED),
    ("skills", &TRANSLATED),
    ("mcp", &TRANSLATED),
    ("surfaces", &TOLD_OR_TRANSLATED),
    ("secrets", &GIVEN),
    ("subagents", &TRANSLATED),
    ("instructionTree", &TRANSLATED),
    ("toolPermissions", &TRANSLATED),
    ("modelConfig", &TRANSLATED),
];

/// Looks at `adapter` and `adapterFallback`.
pub(super) fn check(fields: &mut Fields<'_>) {
    if let Some(node) = fields.require("adapter") {
        adapter(fields, "adapter", node);
    }
    for (index, node) in fields.list("adapterFallback").unwrap_or_default().iter().enumerate() {
        adapter(fields, &format!("adapterFallback[{index}]"), node);
    }
}

fn adapter(fields: &mut Fields<'_>, path: &str, node: &Node) {
    let Some(mut inner) = fields.within(node, path) else { return };
    let kind = inner.require_name("type");
    inner.require_name("runtime");
    let version = inner.require_name("adapterVersion");
    if let Some(version) = version.filter(|version| semver::Version::parse(version.value.as_str()).is_err()) {
        let what = format!("`{path}.adapterVersion` is `{}`, which is no semantic version", version.value);
        inner.report_at(version.spot, Report::error("D062", what).hint("three numbers, as in `1.0.0`"));
    }
    let import_mode = inner.choice("importMode", &IMPORT_MODES);
    let fidelity = inner.choice("fidelity", &FIDELITIES);
    for key in ["runtimeVersionRange", "model"] {
        inner.keep(key, Shape::Text);
    }
    inner.keep("config", Shape::Map);
    features(&mut inner);
    model_params(&mut inner);
    let targets = inner.list("targets");
    for (index, node) in targets.unwrap_or_default().iter().enumerate() {
        target(&mut inner, index, node);
    }
    let complete = import_mode.is_some() && fidelity.is_some() && targets.is_some_and(|targets| !targets.is_empty());
    if kind.is_some_and(|kind| kind.value.as_str() == "generic") && !complete {
        let what = format!("`{path}` is generic and says too little for another runtime to use it");
        let hint = "give `importMode`, `fidelity` and at least one of `targets`";
        inner.report(node, Report::warning("D066", what).hint(hint));
    }
    inner.finish();
}

fn features(fields: &mut Fields<'_>) {
    let Some(node) = fields.node("features") else { return };
    let Some(mut inner) = fields.within(node, "features") else { return };
    for (key, words) in FEATURES {
        inner.choice(key, words);
    }
    inner.flag("exactMode");
    inner.finish();
}

/// Keys that every runtime can take over as they are.
fn model_params(fields: &mut Fields<'_>) {
    fields.keep("modelParams", Shape::Map);
    let Some(Node { tree: Tree::Object(entries), .. }) = fields.node("modelParams") else { return };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    for (key, node) in entries.iter().filter(|(key, _)| key.is_empty() || !key.chars().all(is_plain)) {
        let what = format!("{} has the key {}, which is no parameter's name", fields.named("modelParams"), quoted(key));
        fields.report(node, Report::error("D077", what).hint("a name has letters, digits, `_` and `-`"));
    }
}

fn target(fields: &mut Fields<'_>, index: usize, node: &Node) {
    let Some(mut inner) = fields.within(node, &format!("targets[{index}]")) else { return };
    inner.choice("kind", &TARGET_KINDS);
    inner.advise("kind", "say what the target is, such as `file`");
    inner.choice("scope", &TARGET_SCOPES);
    for key in ["path", "description", "mediaType"] {
        inner.keep(key, Shape::Text);
    }
    inner.advise("path", "say where the target lies");
    inner.keep("exact", Shape::Flag);
    inner.finish();
}
