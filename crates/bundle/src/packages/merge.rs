//! How packages lie beneath an artifact: whole entries replace each other, nothing is mixed.

use crate::bundle::{PartFile, Parts};
use crate::media::LayerKind;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

type Archive = BTreeMap<String, PartFile>;

/// Adds what `parts` does not have itself.
pub(super) fn beneath(parts: &mut Parts, package: Parts) {
    entries(&mut parts.mcp, package.mcp, "servers");
    entries(&mut parts.subagents, package.subagents, "agents");
    let key = |secret: &Value| secret.get("key").cloned();
    let own: Vec<_> = parts.secrets.iter().map(key).collect();
    parts.secrets.extend(package.secrets.into_iter().filter(|secret| !own.contains(&key(secret))));
    for (kind, files) in package.archives {
        let own = parts.archives.entry(kind).or_default();
        match kind {
            LayerKind::Skills => by(own, files, |path, _| top(path).to_owned()),
            LayerKind::Rules => rules(own, files),
            // Whoever reads them looks for them by the names of their files.
            LayerKind::Surfaces => by(own, files, |path, _| base(path).to_owned()),
            LayerKind::Knowledge | LayerKind::InstructionTree => by(own, files, |path, _| path.to_owned()),
            // A package remembers nothing, and the others are no archives.
            LayerKind::Memory
            | LayerKind::Mcp
            | LayerKind::Secrets
            | LayerKind::Packages
            | LayerKind::Prompt
            | LayerKind::Persona
            | LayerKind::Subagents => {}
        }
    }
}

/// Documents with entries by name.
fn entries(own: &mut Option<Map<String, Value>>, package: Option<Map<String, Value>>, key: &str) {
    let Some(package) = package else { return };
    let Some(document) = own else {
        *own = Some(package);
        return;
    };
    let Some(Value::Object(theirs)) = package.get(key) else { return };
    if let Some(Value::Object(ours)) = document.get_mut(key) {
        for (name, value) in theirs {
            if !ours.contains_key(name) {
                ours.insert(name.clone(), value.clone());
            }
        }
    }
}

/// Takes the files whose key nobody above has.
fn by(own: &mut Archive, files: Archive, key: impl Fn(&str, &PartFile) -> String) {
    let taken: BTreeSet<_> = own.iter().map(|(path, file)| key(path, file)).collect();
    own.extend(files.into_iter().filter(|(path, file)| !taken.contains(&key(path, file))));
}

/// A rule is what it calls itself, else where it lies. Two that only lie at the same place are both kept.
fn rules(own: &mut Archive, files: Archive) {
    let id = |path: &str, file: &PartFile| {
        str::from_utf8(&file.bytes).ok().and_then(entourage_declare::rule_id).unwrap_or_else(|| path.to_owned())
    };
    let taken: BTreeSet<_> = own.iter().map(|(path, file)| id(path, file)).collect();
    for (path, file) in files {
        if taken.contains(&id(&path, &file)) {
            continue;
        }
        let mut place = path;
        while own.contains_key(&place) {
            place = format!("package/{place}");
        }
        own.insert(place, file);
    }
}

fn top(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
