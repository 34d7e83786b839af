//! What both shapes say about a child in the same words.

use crate::fields::Fields;
use crate::tree::{Node, Tree};
use entourage_model::{Communication, Immediate, Report};
use serde_json::Map;

pub(super) const COMMUNICATIONS: [(&str, Communication); 2] =
    [("implicit", Communication::Implicit), ("explicit", Communication::Explicit)];

/// What to do about something that is kept and has no effect.
pub(super) const IDLE: &str = "leave it for other runtimes if the agent can do without it here, or remove it";

/// Whether the child is started by itself, and the variables that are handed on to it: a list of its own, or one that
/// belongs to `immediate`.
pub(super) fn immediate(fields: &mut Fields<'_>) -> (Option<Immediate>, Vec<String>) {
    let mut scoped = fields.texts("scopedEnv").unwrap_or_default();
    let Some(node) = fields.node("immediate") else { return (None, scoped) };
    let mut rest = Map::new();
    let immediate = match &node.tree {
        Tree::Flag(false) => return (None, scoped),
        Tree::Flag(true) => Some(Immediate::default()),
        Tree::Object(_) => fields.within(node, "immediate").map(|mut inner| {
            let name_env = inner.text("nameEnv");
            let description_env = inner.text("descriptionEnv");
            for name in inner.texts("scopedEnv").unwrap_or_default() {
                if !scoped.contains(&name) {
                    scoped.push(name);
                }
            }
            rest = inner.finish();
            Immediate { name_env, description_env }
        }),
        _ => fields.wrong("immediate", "`true`, `false` or an object", node),
    };
    fields.keep_rest("immediate", rest);
    (immediate, scoped)
}

/// The variable that switches the child on.
pub(super) fn optional(fields: &mut Fields<'_>) -> Option<String> {
    Some(fields.name("optional")?.value.to_string())
}

/// Says that a field of the other shape stands where it would mean something else, or nothing.
pub(super) fn misplaced(fields: &mut Fields<'_>, key: &'static str, why: &str, hint: &str) {
    let Some(spot) = fields.spot(key) else { return };
    let report = Report::error("D021", format!("`{}` is not for here: {why}", fields.path(key)));
    fields.report_at(spot, report.hint(hint));
}

pub(super) fn unsupported(fields: &mut Fields<'_>, key: &str, node: &Node) {
    let report = Report::warning("D009", format!("`{key}` is not supported yet and has no effect"));
    fields.report(node, report.hint(IDLE));
}
