//! The layers that are one document each.

use super::{BytesOf, Order, spec_version};
use crate::bundle::PackageEntry;
use crate::canonical::canonical;
use crate::descriptor::Descriptor;
use crate::fault::Fault;
use crate::layout::Change;
use crate::lock::Lock;
use crate::media::{self, LayerKind};
use entourage_model::{Place, Report};
use serde_json::{Value, json};

/// Writes a layer that is no folder. Absent: the project has nothing for it.
pub(super) fn write(
    order: &Order<'_>,
    kind: LayerKind,
    packages: &[PackageEntry],
    lock: &Lock,
    change: &mut Change<'_>,
) -> Result<Option<Descriptor>, Fault> {
    let parcel = &order.parcel;
    let packed = match kind {
        LayerKind::Prompt => parcel.prompt.as_ref().map(|text| text.clone().into_bytes()),
        LayerKind::Packages => (!packages.is_empty()).then(|| bytes(order, &listed(order, packages, lock))),
        LayerKind::Persona
        | LayerKind::Mcp
        | LayerKind::Subagents
        | LayerKind::Secrets
        | LayerKind::Knowledge
        | LayerKind::Rules
        | LayerKind::Skills
        | LayerKind::InstructionTree
        | LayerKind::Surfaces
        | LayerKind::Memory => document(order, kind).map(|document| bytes(order, &document)),
    };
    let Some(packed) = packed else { return Ok(None) };
    let mut layer = change.put(kind.media_type(), &packed)?;
    annotate(order, kind, count(order, kind), &mut layer);
    Ok(Some(layer))
}

/// Layers that are too large for their kind are faults of the author's.
pub(super) fn check_sizes(order: &Order<'_>, reports: &mut Vec<Report>) {
    for kind in [LayerKind::Prompt, LayerKind::Persona, LayerKind::Mcp, LayerKind::Secrets, LayerKind::Subagents] {
        let size = match kind {
            LayerKind::Prompt => order.parcel.prompt.as_ref().map(String::len),
            _ => document(order, kind).map(|document| bytes(order, &document).len()),
        };
        if let Some(size) = size.filter(|size| *size as u64 > kind.bytes_max()) {
            reports.push(too_large(kind, size as u64).at(Place::file(&order.parcel.entry)));
        }
    }
}

pub(super) fn too_large(kind: LayerKind, size: u64) -> Report {
    let what = format!("`{}` has {size} bytes, and may have {}", kind.key(), kind.bytes_max());
    Report::error("B012", what).hint("pack less; `.staxignore` names what is left out")
}

/// What people and registries read of a layer. The reference program says nothing.
pub(super) fn annotate(order: &Order<'_>, kind: LayerKind, count: Option<usize>, layer: &mut Descriptor) {
    if order.bytes_of == BytesOf::ReferenceProgram {
        return;
    }
    let title = match kind.form() {
        media::LayerForm::Archive => format!("{}.tar.gz", kind.path()),
        media::LayerForm::Json | media::LayerForm::Markdown => kind.path(),
    };
    layer.annotations.insert(media::TITLE.to_owned(), title);
    if let Some((key, count)) = kind.count_annotation().zip(count) {
        layer.annotations.insert(key.to_owned(), count.to_string());
    }
    if kind == LayerKind::Memory {
        layer.annotations.insert("dev.stax.memory.snapshot".to_owned(), "seed".to_owned());
    }
    let persona = order.parcel.persona.as_ref().and_then(|persona| persona.get("name")?.as_str());
    if let Some(name) = persona.filter(|_| kind == LayerKind::Persona) {
        layer.annotations.insert("dev.stax.persona.name".to_owned(), name.to_owned());
    }
}

/// The names of a document's entries, sorted.
pub(super) fn names(document: Option<&Value>, key: &str) -> Vec<String> {
    let entries = document.and_then(|document| document.get(key)?.as_object());
    let mut names: Vec<_> = entries.into_iter().flatten().map(|(name, _)| name.clone()).collect();
    names.sort();
    names
}

fn count(order: &Order<'_>, kind: LayerKind) -> Option<usize> {
    match kind {
        LayerKind::Subagents => Some(names(order.parcel.subagents.as_ref(), "agents").len()),
        LayerKind::Mcp => Some(names(order.parcel.mcp.as_ref(), "servers").len()),
        _ => None,
    }
}

/// A layer's document as it is packed.
fn document(order: &Order<'_>, kind: LayerKind) -> Option<Value> {
    let parcel = &order.parcel;
    let document = match kind {
        LayerKind::Persona => parcel.persona.clone()?,
        LayerKind::Mcp => parcel.mcp.clone()?,
        LayerKind::Subagents => parcel.subagents.clone()?,
        LayerKind::Secrets => {
            let secrets = parcel.definition.get(kind.key())?.as_array().filter(|secrets| !secrets.is_empty())?;
            match order.bytes_of {
                BytesOf::Specification => json!({ "secrets": secrets }),
                BytesOf::ReferenceProgram => return Some(secrets.clone().into()),
            }
        }
        _ => return None,
    };
    Some(with_version(order, document))
}

/// The version of the specification is said where the author did not.
fn with_version(order: &Order<'_>, mut document: Value) -> Value {
    if let Value::Object(entries) = &mut document
        && order.bytes_of == BytesOf::Specification
        && !entries.contains_key("specVersion")
    {
        entries.insert("specVersion".to_owned(), spec_version(order).into());
    }
    document
}

fn listed(order: &Order<'_>, packages: &[PackageEntry], lock: &Lock) -> Value {
    let package = |entry: &PackageEntry| match order.bytes_of {
        BytesOf::Specification => {
            json!({ "ref": entry.text, "kind": "package", "digest": lock.digest(&entry.text) })
        }
        BytesOf::ReferenceProgram => json!({ "ref": entry.text, "kind": "package" }),
    };
    json!({ "specVersion": spec_version(order), "packages": packages.iter().map(package).collect::<Value>() })
}

fn bytes(order: &Order<'_>, document: &Value) -> Vec<u8> {
    canonical(document, order.bytes_of.key_order())
}
