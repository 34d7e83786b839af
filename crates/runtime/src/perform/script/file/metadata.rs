//! What a tool says about a file beside its content.
//!
//! It lies among the thread's values, under a key that no tool can ask for, so that it becomes durable with the file and
//! goes where the thread goes. A copy that another thread gets is a file of its own, about which nothing was said.

use super::super::desk::Desk;
use entourage_engine::World;
use entourage_model::Act;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Begins the keys that belong to files.
const FILES: &str = "\0file:";

/// A key under which tools keep values of their own.
pub(in super::super) fn own_key(key: String) -> Result<String, String> {
    if key.starts_with('\0') { Err("the key of a value begins with a NUL".to_owned()) } else { Ok(key) }
}

/// What was said about the file at a path, where anything was.
pub(in super::super) fn find<'v>(values: &'v BTreeMap<String, Value>, path: &str) -> Option<&'v Value> {
    values.get(&format!("{FILES}{path}"))
}

impl Desk {
    /// Says this about the file at a path, in place of what was said before.
    pub(super) fn describe(
        &mut self,
        world: &World<'_>,
        path: &str,
        metadata: Option<Map<String, Value>>,
    ) -> Result<(), String> {
        let metadata = metadata.filter(|metadata| !metadata.is_empty());
        if metadata.is_none() && find(&self.state.values, path).is_none() {
            return Ok(());
        }
        let value = metadata.map_or(Value::Null, Value::Object);
        self.act(world, Act::SetValue { key: format!("{FILES}{path}"), value })
    }

    /// Takes away what was said about the file at a path.
    pub(super) fn take_description(
        &mut self,
        world: &World<'_>,
        path: &str,
    ) -> Result<Option<Map<String, Value>>, String> {
        let said = find(&self.state.values, path).and_then(Value::as_object).cloned();
        self.describe(world, path, None)?;
        Ok(said)
    }
}
