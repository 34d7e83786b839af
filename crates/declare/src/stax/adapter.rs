//! What a definition says about the runtime it was made for.

use crate::fields::{Fields, Shape};
use crate::tree::Node;
use entourage_model::Report;

const IMPORT_MODES: [(&str, ()); 4] = [("filesystem", ()), ("api", ()), ("bundle", ()), ("object-map", ())];
const FIDELITIES: [(&str, ()); 4] =
    [("byte-exact", ()), ("schema-exact", ()), ("best-effort", ()), ("unsupported", ())];

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
    for key in ["config", "features", "modelParams"] {
        inner.keep(key, Shape::Map);
    }
    let targets = inner.list("targets");
    let complete = import_mode.is_some() && fidelity.is_some() && targets.is_some_and(|targets| !targets.is_empty());
    if kind.is_some_and(|kind| kind.value.as_str() == "generic") && !complete {
        let what = format!("`{path}` is generic and says too little for another runtime to use it");
        let hint = "give `importMode`, `fidelity` and at least one of `targets`";
        inner.report(node, Report::warning("D066", what).hint(hint));
    }
    inner.finish();
}
