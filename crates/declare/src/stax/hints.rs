//! What a definition wishes of whatever it runs in. Nobody is bound by it; it is checked and kept.

use crate::fields::{Fields, Shape};

const ISOLATIONS: [(&str, ()); 4] = [("process", ()), ("container", ()), ("gvisor", ()), ("microvm", ())];
const NETWORK_MODES: [(&str, ()); 3] = [("none", ()), ("restricted", ()), ("full", ())];

/// Looks at `hints`.
pub(super) fn check(fields: &mut Fields<'_>) {
    let Some(node) = fields.node("hints") else { return };
    fields.keep_value("hints", node.value());
    let Some(mut hints) = fields.within(node, "hints") else { return };
    hints.choice("isolation", &ISOLATIONS);
    section(&mut hints, "capabilities", |inner| {
        for key in ["shell", "processes", "docker"] {
            inner.keep(key, Shape::Flag);
        }
        reach(inner);
    });
    reach(&mut hints);
    hints.finish();
}

/// What may be reached: a capability, which authors write beside the others and among them.
fn reach(fields: &mut Fields<'_>) {
    section(fields, "network", |inner| {
        if inner.require("mode").is_some() {
            inner.choice("mode", &NETWORK_MODES);
        }
        inner.keep("allowlist", Shape::Texts);
    });
    section(fields, "filesystem", |inner| {
        inner.keep("workspace", Shape::Text);
        inner.keep("writable", Shape::Texts);
        inner.keep("denyRead", Shape::Texts);
    });
}

fn section(fields: &mut Fields<'_>, key: &'static str, read: impl FnOnce(&mut Fields<'_>)) {
    let Some(node) = fields.node(key) else { return };
    if let Some(mut inner) = fields.within(node, key) {
        read(&mut inner);
        inner.finish();
    }
}
