//! The config: what an artifact says of itself beside its layers.

use super::{BytesOf, Order, spec_version};
use crate::bundle::PackageEntry;
use crate::canonical::canonical;
use crate::definition::{ABOUT, ADAPTER, ADAPTER_KEYS};
use crate::lock::Lock;
use crate::media::{ArtifactKind, LayerKind};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

pub(super) fn bytes(order: &Order<'_>, kind: ArtifactKind, packages: &[PackageEntry], lock: &Lock) -> Vec<u8> {
    let definition = &order.parcel.definition;
    let mut config = match order.bytes_of {
        BytesOf::Specification => without_layers(definition),
        // It drops whatever else an author says.
        BytesOf::ReferenceProgram => {
            let mut config = only(definition, &ABOUT);
            if let Some(Value::Object(adapter)) = definition.get(ADAPTER) {
                config.insert(ADAPTER.to_owned(), only(adapter, &ADAPTER_KEYS).into());
            }
            config
        }
    };
    config.insert("kind".to_owned(), kind.word().into());
    config.insert("specVersion".to_owned(), spec_version(order).into());
    if !packages.is_empty() && order.bytes_of == BytesOf::Specification {
        config.insert(LayerKind::Packages.key().to_owned(), resolved(packages, lock));
    }
    canonical(&Value::Object(config), order.bytes_of.key_order())
}

/// Every package that it depends on, whoever uses it: those that it names itself, then those that these depend on.
fn resolved(packages: &[PackageEntry], lock: &Lock) -> Value {
    let direct: BTreeSet<_> = packages.iter().map(|entry| entry.text.as_str()).collect();
    let further = lock.packages.keys().map(String::as_str).filter(|text| !direct.contains(text));
    let said = packages.iter().map(|entry| entry.text.as_str()).chain(further).map(|text| {
        let mut said = json!({ "ref": text, "digest": lock.digest(text) });
        let dependencies = lock.packages.get(text).map(|locked| locked.dependencies.as_slice()).unwrap_or_default();
        if !dependencies.is_empty() {
            said["dependencies"] = dependencies.into();
        }
        said
    });
    said.collect()
}

/// Whatever is a layer is not said twice.
fn without_layers(definition: &Map<String, Value>) -> Map<String, Value> {
    let is_layer = |key: &str| LayerKind::ALL.into_iter().any(|kind| kind.key() == key);
    definition.iter().filter(|(key, _)| !is_layer(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn only(map: &Map<String, Value>, keys: &[&str]) -> Map<String, Value> {
    let entries = keys.iter().filter_map(|key| Some(((*key).to_owned(), map.get(*key)?.clone())));
    entries.collect()
}
