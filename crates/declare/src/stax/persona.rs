//! Who an agent is: `definePersona()`.

use super::source::Source;
use super::{name, prompt::Persona, spec_version};
use crate::faults::{Faults, quoted};
use crate::fields::{Fields, Shape};
use crate::tree::Node;
use entourage_model::Report;
use serde_json::Value;

const STYLES: [(&str, ()); 5] = [("direct", ()), ("diplomatic", ()), ("academic", ()), ("casual", ()), ("formal", ())];
const VERBOSITIES: [(&str, ()); 5] =
    [("minimal", ()), ("concise", ()), ("balanced", ()), ("detailed", ()), ("verbose", ())];
const COMMENTS: [(&str, ()); 4] = [("none", ()), ("minimal", ()), ("moderate", ()), ("thorough", ())];

/// Absent: reported.
pub(super) fn read(source: &Source<'_>, path: &str, faults: &mut Faults) -> Option<Persona> {
    let mut own = Faults::new(path);
    let node = source.definition(path, &mut own);
    let persona = node.and_then(|node| persona(&node, &mut own));
    faults.reports.append(&mut own.reports);
    persona
}

fn persona(node: &Node, faults: &mut Faults) -> Option<Persona> {
    let mut fields = Fields::of(node, "", faults)?;
    if let Some(said) = fields.require_name("name").filter(|said| !name::is_valid(said.value.as_str())) {
        let what = format!("{} is no name of a persona: {}", quoted(said.value.as_str()), name::RULE);
        fields.report_at(said.spot, Report::error("D058", what).hint(name::hint(said.value.as_str())));
    }
    let is_whole = fields.require_name("displayName").is_some() & fields.require_name("role").is_some();
    spec_version(&mut fields);
    fields.keep("background", Shape::Text);
    fields.keep("values", Shape::Texts);
    fields.keep("preferences", Shape::Map);
    section(&mut fields, "expertise", |inner| texts(inner, &["primary", "secondary", "learning"]));
    section(&mut fields, "personality", |inner| {
        texts(inner, &["traits"]);
        inner.choice("communicationStyle", &STYLES);
        inner.choice("verbosity", &VERBOSITIES);
    });
    section(&mut fields, "voice", |inner| {
        inner.keep("tone", Shape::Text);
        inner.choice("codeComments", &COMMENTS);
        texts(inner, &["patterns", "avoid"]);
    });
    section(&mut fields, "boundaries", |inner| texts(inner, &["willNot", "always", "escalates"]));
    fields.finish();
    let Value::Object(verbatim) = node.value() else { return None };
    is_whole.then_some(Persona { verbatim })
}

fn section(fields: &mut Fields<'_>, key: &'static str, read: impl FnOnce(&mut Fields<'_>)) {
    let Some(node) = fields.node(key) else { return };
    if let Some(mut inner) = fields.within(node, key) {
        read(&mut inner);
        inner.finish();
    }
}

fn texts(fields: &mut Fields<'_>, keys: &[&'static str]) {
    for key in keys {
        fields.keep(key, Shape::Texts);
    }
}
