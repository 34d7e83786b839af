//! What two artifacts do not have in common.

use crate::bundle::Bundle;
use crate::descriptor::Descriptor;
use entourage_model::Digest;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// From the first to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Added,
    Removed,
    Changed,
}

/// Only what differs is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    pub equal: bool,
    /// What the artifact says of itself beside its layers.
    pub config: Option<ChangeKind>,
    /// In the order of layers.
    pub layers: Vec<LayerChange>,
    /// By name.
    pub subagents: Vec<SubagentChange>,
    /// By reference, those that packages depend on included: one whose tag has moved is another one.
    pub packages: Vec<PackageChange>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayerChange {
    pub media_type: String,
    pub change: ChangeKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SubagentChange {
    pub name: String,
    pub change: ChangeKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PackageChange {
    #[serde(rename = "ref")]
    pub reference: String,
    pub change: ChangeKind,
}

pub fn diff(one: &Bundle, other: &Bundle) -> Difference {
    let layers = |bundle: &Bundle| -> Vec<(String, _)> {
        bundle.manifest.layers.iter().map(|layer: &Descriptor| (layer.media_type.clone(), layer.digest)).collect()
    };
    let subagents =
        |bundle: &Bundle| bundle.agents().map(|(name, agent)| (name.to_owned(), agent.clone())).collect::<Vec<_>>();
    let layers = changes(layers(one), layers(other));
    let mut subagents = changes(subagents(one), subagents(other));
    subagents.sort_by(|a, b| a.0.cmp(&b.0));
    let mut packages = changes(packages(one), packages(other));
    packages.sort_by(|a, b| a.0.cmp(&b.0));
    Difference {
        equal: one.digest == other.digest,
        config: (one.manifest.config.digest != other.manifest.config.digest).then_some(ChangeKind::Changed),
        layers: layers.into_iter().map(|(media_type, change)| LayerChange { media_type, change }).collect(),
        subagents: subagents.into_iter().map(|(name, change)| SubagentChange { name, change }).collect(),
        packages: packages.into_iter().map(|(reference, change)| PackageChange { reference, change }).collect(),
    }
}

/// Absent: whoever built the artifact did not look which one it is.
fn packages(bundle: &Bundle) -> Vec<(String, Option<Digest>)> {
    let named = bundle.packages.iter().map(|entry| &entry.text);
    let all: BTreeSet<_> = named.chain(bundle.lock.packages.keys()).collect();
    all.into_iter().map(|text| (text.clone(), bundle.lock.digest(text))).collect()
}

/// Those of the second in its order, then what only the first has.
fn changes<T: PartialEq>(one: Vec<(String, T)>, other: Vec<(String, T)>) -> Vec<(String, ChangeKind)> {
    let mut left: BTreeMap<_, _> = one.into_iter().collect();
    let mut changes = Vec::new();
    for (name, value) in other {
        match left.remove(&name) {
            None => changes.push((name, ChangeKind::Added)),
            Some(before) if before != value => changes.push((name, ChangeKind::Changed)),
            Some(_) => {}
        }
    }
    changes.extend(left.into_keys().map(|name| (name, ChangeKind::Removed)));
    changes
}
