//! What settings files declare: the agents under `[subagents.<id>]`, and where they speak of agents by name.
//!
//! That a file is TOML, and its tables are tables, is told by whoever reads the other settings.

use crate::Wishes;
use crate::agentscope;
use crate::draft::Declared;
use crate::faults::Faults;
use crate::solo::Solo;
use crate::toml;
use crate::tree::{Node, Tree};
use entourage_model::Place;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// In the order in which they count.
    pub(crate) subagents: Vec<Declared<Solo>>,
    /// Where `[agents.<name>]` is, by name. A variable can set it too, and has no place.
    pub(crate) agents: BTreeMap<String, Place>,
}

/// Whose word a declaration is that no file holds.
const VARIABLES: &str = "ENTOURAGE_SUBAGENTS_*";

pub(crate) fn read(wishes: &Wishes) -> Settled {
    let (mut agents, mut subagents) = (BTreeMap::new(), Vec::new());
    for (file, text) in &wishes.files {
        let Ok(root) = toml::parse(text) else { continue };
        // A declaration is taken whole from one file: what one says of a server must not meet what another says.
        subagents.extend(tables(&root, "subagents").map(|(id, node)| (file.as_str(), id.clone(), node.clone())));
        for (name, node) in tables(&root, "agents") {
            agents.insert(name.clone(), Faults::new(file).place(node.spot));
        }
    }
    for (id, keys) in &wishes.subagents {
        match subagents.iter_mut().rfind(|(_, known, _)| known == id) {
            Some((_, _, node)) => overlay(node, keys),
            None => subagents.push((VARIABLES, id.clone(), Node::without_place(keys))),
        }
    }
    let settled = subagents.iter().map(|(file, id, node)| agentscope::settled(id, node, Faults::new(*file)));
    Settled { subagents: settled.collect(), agents }
}

/// Lays keys over a table. What is laid there has the place of what it is laid over, or else of the table.
fn overlay(node: &mut Node, keys: &Value) {
    let (Tree::Object(entries), Value::Object(keys)) = (&mut node.tree, keys) else {
        node.tree = Node::without_place(keys).tree;
        return;
    };
    for (key, value) in keys {
        match entries.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => overlay(known, value),
            None => entries.push((key.clone(), Node { spot: node.spot, ..Node::without_place(value) })),
        }
    }
}

fn tables<'a>(root: &'a Node, key: &str) -> impl Iterator<Item = &'a (String, Node)> {
    let entries = match root.field(key).map(|node| &node.tree) {
        Some(Tree::Object(entries)) => entries.as_slice(),
        _ => &[],
    };
    entries.iter().filter(|(_, node)| matches!(node.tree, Tree::Object(_)))
}
