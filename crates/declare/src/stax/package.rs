//! A package: `definePackage()`, which is what several agents share.

use super::agent::{check_identity, placed, secrets};
use super::luggage::Luggage;
use super::parcel::{Parcel, ParcelKind};
use super::paths::Paths;
use super::source::Source;
use super::subagents::said;
use super::{Stax, spec_version};
use crate::draft::Declared;
use crate::faults::Faults;
use crate::fields::{Fields, Shape};
use crate::solo::Solo;
use crate::tree::{At, Node, Spot};
use entourage_model::Name;
use serde_json::Value;

/// Reads the definition in the file `entry`. What it says about itself is judged; it is no agent.
pub(super) fn read(source: &mut Source<'_>, entry: &str) -> Stax {
    let mut faults = Faults::new(entry);
    let mut parcel = Parcel::new(ParcelKind::Package, entry);
    let node = source.definition(entry, &mut faults);
    let subagents = node.and_then(|node| definition(source, &node, &mut parcel, &mut faults)).unwrap_or_default();
    let name = At { value: Name::from("package"), spot: Spot::START };
    let primary = Declared { name, faults, draft: None };
    let luggage = Luggage::default();
    Stax { primary, subagents, claimed: std::mem::take(&mut source.claimed), luggage, parcel }
}

fn definition(
    source: &mut Source<'_>,
    node: &Node,
    parcel: &mut Parcel,
    faults: &mut Faults,
) -> Option<Vec<Declared<Solo>>> {
    let mut fields = Fields::of(node, "", faults)?;
    let name = fields.require_name("name");
    let version = fields.require_name("version");
    let tags = said(&mut fields, "tags", |fields| fields.texts("tags"));
    spec_version(&mut fields);
    for key in ["description", "author", "license", "url"] {
        fields.keep(key, Shape::Text);
    }
    let paths = Paths::read(&mut fields, ParcelKind::Package);
    let secrets = secrets(&mut fields);
    let packages = fields.names("packages");
    fields.finish();
    check_identity(name.as_ref(), version.as_ref(), tags.as_ref(), faults);
    if let Value::Object(definition) = node.value() {
        parcel.definition = definition;
    }
    parcel.packages = placed(packages, faults);
    Some(paths.follow(source, &secrets, parcel, faults).subagents)
}
