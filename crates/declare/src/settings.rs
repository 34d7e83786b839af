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
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// In the order in which they count.
    pub(crate) subagents: Vec<Declared<Solo>>,
    /// Where `[agents.<name>]` is, by name. A variable can set it too, and has no place.
    pub(crate) agents: BTreeMap<String, Place>,
}

pub(crate) fn read(wishes: &Wishes) -> Settled {
    let mut settled = Settled::default();
    for (file, text) in &wishes.files {
        let Ok(root) = toml::parse(text) else { continue };
        for (id, node) in tables(&root, "subagents") {
            // A declaration is taken whole from one file: what one says of a server must not meet what another says.
            settled.subagents.push(agentscope::settled(id, node, Faults::new(file)));
        }
        for (name, node) in tables(&root, "agents") {
            settled.agents.insert(name.clone(), Faults::new(file).place(node.spot));
        }
    }
    settled
}

fn tables<'a>(root: &'a Node, key: &str) -> impl Iterator<Item = &'a (String, Node)> {
    let entries = match root.field(key).map(|node| &node.tree) {
        Some(Tree::Object(entries)) => entries.as_slice(),
        _ => &[],
    };
    entries.iter().filter(|(_, node)| matches!(node.tree, Tree::Object(_)))
}
