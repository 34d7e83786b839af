//! The keys that a strict format knows: others are reported when they are read, and never written to it.

use crate::faults::{Faults, did_you_mean, quoted};
use crate::tree::{Node, Tree};
use entourage_model::Report;
use serde_json::Value;

/// What a value may hold.
#[derive(Debug)]
pub(super) enum Shape {
    /// The format's reader looks no further, or anything goes.
    Any,
    /// An object with these keys.
    Keys(&'static [(&'static str, &'static Shape)]),
    /// An object whose keys are names that the author chose.
    Named(&'static Shape),
    List(&'static Shape),
}

/// Warns about every key that the format does not know.
pub(super) fn check(node: &Node, path: &str, shape: &Shape, faults: &mut Faults) {
    match (&node.tree, shape) {
        (Tree::Object(entries), Shape::Keys(known)) => {
            for (key, node) in entries {
                let path = join(path, key);
                match known.iter().find(|(name, _)| name == key) {
                    Some((_, shape)) => check(node, &path, shape, faults),
                    None => {
                        let what = format!("the field {} is unknown and has no effect", quoted(&path));
                        let hint = did_you_mean(key, known.iter().map(|(name, _)| *name));
                        faults.push(node.spot, Report { hint, ..Report::warning("D007", what) });
                    }
                }
            }
        }
        (Tree::Object(entries), Shape::Named(shape)) => {
            entries.iter().for_each(|(key, node)| check(node, &join(path, key), shape, faults));
        }
        (Tree::List(items), Shape::List(shape)) => items.iter().for_each(|item| check(item, path, shape, faults)),
        _ => {}
    }
}

/// Takes out every key that the format does not know, and gives their paths.
pub(super) fn prune(value: &mut Value, path: &str, shape: &Shape) -> Vec<String> {
    let mut lost = Vec::new();
    match (value, shape) {
        (Value::Object(entries), Shape::Keys(known)) => {
            entries.retain(|key, value| {
                let path = join(path, key);
                match known.iter().find(|(name, _)| name == key) {
                    Some((_, shape)) => {
                        lost.extend(prune(value, &path, shape));
                        true
                    }
                    None => {
                        lost.push(path);
                        false
                    }
                }
            });
        }
        (Value::Object(entries), Shape::Named(shape)) => {
            entries.iter_mut().for_each(|(key, value)| lost.extend(prune(value, &join(path, key), shape)));
        }
        (Value::Array(items), Shape::List(shape)) => {
            items.iter_mut().for_each(|item| lost.extend(prune(item, path, shape)));
        }
        _ => {}
    }
    lost
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
