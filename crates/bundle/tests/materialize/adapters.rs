//! Which adapter a bundle is materialised with.

use crate::kit::{bundle, planned, told};
use entourage_bundle::materialize::{Adapter, plan, refuse};
use serde_json::{Value, json};

fn config(kind: &str, runtime: &str, version: &str) -> Value {
    json!({ "type": kind, "runtime": runtime, "adapterVersion": version, "config": {}, "features": {} })
}

/// The adapter that is chosen, or why none is.
fn chosen(own: &Value, fallbacks: &[Value], wish: Option<Adapter>) -> String {
    let files = bundle("codex", &json!({ "adapter": own, "adapterFallback": fallbacks }), &[]);
    plan(&files, wish).map_or_else(told, |plan| plan.adapter.name().to_owned())
}

#[test]
fn every_adapter_has_a_name() {
    let names = Adapter::ALL.map(Adapter::name);
    let expected =
        ["claude-code", "codex", "cursor", "github-copilot", "opencode", "gemini", "windsurf", "openclaw", "generic"];
    assert_eq!(names, expected);
    for adapter in Adapter::ALL {
        assert_eq!(Adapter::of_name(adapter.name()), Some(adapter));
    }
    assert_eq!(Adapter::of_name("goose"), None);
}

#[test]
fn the_first_that_can_be_used_is_taken() {
    let (codex, old) = (config("codex", "codex", "1.9.0"), config("codex", "codex", "2.0.0"));
    let (strange, elsewhere) = (config("goose", "goose", "1.0.0"), config("cursor", "zed", "1.0.0"));
    let cursor = config("cursor", "cursor", "1.0.0");
    let refused = |tried: &str| format!("5: [B070] none of the bundle's adapters can be used here; tried were {tried}");
    assert_eq!(chosen(&codex, std::slice::from_ref(&cursor), None), "codex");
    assert_eq!(chosen(&old, &[strange.clone(), cursor.clone()], None), "cursor");
    assert_eq!(
        chosen(&old, &[strange, elsewhere], None),
        refused("`codex` 2.0.0, `goose` 1.0.0, `cursor` 1.0.0 for `zed`")
    );
    // One that is asked for needs no part in the definition, but one that is there must fit.
    assert_eq!(chosen(&codex, &[], Some(Adapter::Gemini)), "gemini");
    assert_eq!(chosen(&old, std::slice::from_ref(&cursor), Some(Adapter::Cursor)), "cursor");
    assert_eq!(chosen(&old, &[cursor], Some(Adapter::Codex)), refused("`codex` 2.0.0"));
    assert_eq!(chosen(&old, &[codex], Some(Adapter::Codex)), "codex");
}

#[test]
fn what_a_bundle_leaves_open_is_told_of() {
    let codes = |keys: &Value, adapter| {
        let mut plan = planned(&bundle("codex", keys, &[]), adapter);
        let mut codes: Vec<_> = plan.warnings.iter().map(|report| report.code.0).collect();
        plan.warn_unless_promised();
        assert!(plan.is_exact(), "{keys}");
        codes.extend(plan.warnings.iter().skip(codes.len()).map(|report| report.code.0));
        codes
    };
    let promised = json!({ "adapter": { "features": { "exactMode": true } } });
    assert_eq!(codes(&promised, Adapter::Codex), [""; 0]);
    // Whoever does not insist on exactness is not told.
    assert_eq!(codes(&json!({}), Adapter::Codex), ["B072"]);
    assert_eq!(codes(&json!({}), Adapter::Cursor), [""; 0]);
    assert_eq!(codes(&json!({ "specVersion": "2.0.0" }), Adapter::Cursor), ["D072"]);
    // What nobody knows is a loss or kept, and said once.
    assert_eq!(codes(&json!({ "hints": { "x-more": 1 } }), Adapter::Cursor), [""; 0]);
}

#[test]
fn nobody_can_promise_that_the_generic_one_is_exact() {
    let files = bundle("codex", &json!({}), &[]);
    let fault = told(refuse(&planned(&files, Adapter::Generic)).expect("it is refused"));
    assert!(fault.starts_with("5: [B072] the `generic` adapter is never exact"), "{fault}");
    assert!(refuse(&planned(&files, Adapter::Codex)).is_none());
    let files = bundle("codex", &json!({ "adapter": { "features": { "exactMode": false } } }), &[]);
    assert!(told(refuse(&planned(&files, Adapter::Codex)).expect("it is refused")).contains("`exactMode: false`"));
    assert!(refuse(&planned(&files, Adapter::Cursor)).is_none());
}
