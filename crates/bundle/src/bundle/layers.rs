//! The documents of an artifact: each in the shape that whoever uses it relies on.

use super::{Bundle, PackageEntry};
use crate::lock::{Lock, Locked};
use crate::media::LayerKind;
use crate::reference::Reference;
use entourage_declare::JSON_DEPTH_MAX;
use entourage_model::mark_halves;
use serde_json::{Map, Value};

/// Takes a layer that is no archive.
pub(super) fn take(bundle: &mut Bundle, kind: LayerKind, bytes: &[u8]) -> Result<(), String> {
    match kind {
        LayerKind::Prompt => {
            let text = String::from_utf8(bytes.to_vec()).map_err(|_| "it is not UTF-8 text".to_owned())?;
            bundle.prompt = Some(text);
        }
        LayerKind::Persona => bundle.persona = Some(object(bytes)?),
        LayerKind::Mcp => bundle.mcp = Some(servers(bytes)?),
        LayerKind::Subagents => bundle.subagents = Some(subagents(bytes)?),
        LayerKind::Secrets => bundle.secrets = listed(bytes, "secrets")?,
        LayerKind::Packages => {
            bundle.packages = listed(bytes, "packages")?.iter().map(package).collect::<Result<_, _>>()?;
        }
        LayerKind::Knowledge
        | LayerKind::Rules
        | LayerKind::Skills
        | LayerKind::InstructionTree
        | LayerKind::Surfaces
        | LayerKind::Memory => {}
    }
    Ok(())
}

pub(super) fn object(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    match parsed(bytes) {
        Ok(value) if is_deeper(&value, JSON_DEPTH_MAX) => {
            Err(format!("has values that are nested more than {JSON_DEPTH_MAX} deep"))
        }
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("is no object".to_owned()),
        Err(fault) => Err(format!("is malformed: {fault}")),
    }
}

/// The reference program's texts may have half a character in them.
fn parsed(bytes: &[u8]) -> Result<Value, String> {
    let text = str::from_utf8(bytes).map_err(|fault| fault.to_string())?;
    serde_json::from_str(&mark_halves(text)).map_err(|fault| fault.to_string())
}

/// Whoever uses the documents reads them like a project's, which could not be deeper.
fn is_deeper(value: &Value, levels: usize) -> bool {
    let Some(left) = levels.checked_sub(1) else { return true };
    match value {
        Value::Array(items) => items.iter().any(|item| is_deeper(item, left)),
        Value::Object(entries) => entries.values().any(|entry| is_deeper(entry, left)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn servers(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    let document = object(bytes)?;
    match document.get("servers") {
        Some(Value::Object(servers)) if servers.values().all(Value::is_object) => Ok(document),
        _ => Err("its `servers` are no objects by name".to_owned()),
    }
}

/// Names become files in many places, so that none may be more than a name.
fn subagents(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    let document = object(bytes)?;
    let Some(Value::Object(agents)) = document.get("agents") else {
        return Err("its `agents` are no objects by name".to_owned());
    };
    for (name, agent) in agents {
        if !entourage_declare::is_agent_name(name) {
            return Err(format!("`{}` is no name of a subagent", name.escape_debug()));
        }
        for key in ["description", "instructions"] {
            if agent.get(key).and_then(Value::as_str).is_none_or(str::is_empty) {
                return Err(format!("the subagent `{name}` has no `{key}`"));
            }
        }
    }
    Ok(document)
}

/// The list under `key`; the reference program writes the list alone.
fn listed(bytes: &[u8], key: &str) -> Result<Vec<Value>, String> {
    let items = match parsed(bytes) {
        Ok(Value::Array(items)) => Some(items),
        Ok(Value::Object(mut document)) => match document.remove(key) {
            Some(Value::Array(items)) => Some(items),
            _ => None,
        },
        Ok(_) => None,
        Err(fault) => return Err(format!("it is malformed: {fault}")),
    };
    let items = items.filter(|items| items.iter().all(Value::is_object));
    items.ok_or_else(|| format!("its `{key}` are no list of objects"))
}

fn package(item: &Value) -> Result<PackageEntry, String> {
    let text = item.get("ref").and_then(Value::as_str).ok_or("a package has no `ref`")?;
    let reference = text.parse().map_err(|_| format!("`{}` is no reference", text.escape_debug()))?;
    let digest = match item.get("digest") {
        None => None,
        Some(digest) => {
            let digest = digest.as_str().and_then(|digest| digest.parse().ok());
            Some(digest.ok_or_else(|| format!("the digest of `{text}` is none"))?)
        }
    };
    Ok(PackageEntry { text: text.to_owned(), reference, digest })
}

/// What the config says of packages. Others may say something else there, which counts for nothing; and the layer, which
/// everybody reads, counts before it.
pub(super) fn lock(config: &Map<String, Value>, packages: &[PackageEntry]) -> Lock {
    let listed = config.get(LayerKind::Packages.key()).and_then(Value::as_array);
    let said = listed.into_iter().flatten().filter_map(|item| {
        let text = item.get("ref")?.as_str()?;
        text.parse::<Reference>().ok()?;
        Some((text.to_owned(), serde_json::from_value::<Locked>(item.clone()).ok()?))
    });
    let mut lock = Lock { packages: said.collect() };
    for (text, digest) in packages.iter().filter_map(|entry| Some((&entry.text, entry.digest?))) {
        let locked = lock.packages.entry(text.clone());
        locked.or_insert_with(|| Locked { digest, dependencies: Vec::new() }).digest = digest;
    }
    lock
}
