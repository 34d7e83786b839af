//! The index: which manifests the layout holds, and the names they go by.

use crate::canonical::{KeyOrder, canonical};
use crate::descriptor::{Annotations, Descriptor};
use crate::media;
use entourage_model::Digest;
use serde::{Deserialize, Serialize};

/// Marks the manifest that was built last: what is meant when nobody names one.
pub const LATEST_BUILD: &str = "dev.entourage.latest-build";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Index {
    schema_version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    /// A manifest with several names is there once for each.
    pub manifests: Vec<Descriptor>,
    #[serde(default, skip_serializing_if = "Annotations::is_empty")]
    annotations: Annotations,
}

impl Default for Index {
    fn default() -> Self {
        Self {
            schema_version: 2,
            media_type: Some(media::INDEX.to_owned()),
            manifests: Vec::new(),
            annotations: Annotations::new(),
        }
    }
}

impl Index {
    /// Also a registry's list of what is attached to an artifact.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let index: Self = serde_json::from_slice(bytes).map_err(|fault| format!("its `index.json`: {fault}"))?;
        match index.schema_version {
            2 => Ok(index),
            other => Err(format!("its `index.json` has `schemaVersion` {other}")),
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        canonical(&serde_json::to_value(self).expect("an index has only text keys"), KeyOrder::Utf8)
    }

    pub fn latest(&self) -> Option<&Descriptor> {
        self.manifests.iter().find(|manifest| manifest.annotations.contains_key(LATEST_BUILD))
    }

    pub fn of_digest(&self, digest: Digest) -> Option<&Descriptor> {
        self.manifests.iter().find(|manifest| manifest.digest == digest)
    }

    pub fn of_name(&self, name: &str) -> Option<&Descriptor> {
        self.manifests.iter().find(|manifest| names(manifest) == Some(name))
    }

    /// The manifest is there, under no new name.
    pub(super) fn add(&mut self, manifest: &Descriptor) {
        if self.of_digest(manifest.digest).is_none() {
            self.manifests.push(bare(manifest));
        }
    }

    /// The name means this manifest from now on; the one that had it stays, without it.
    pub(super) fn tag(&mut self, manifest: &Descriptor, name: &str) {
        self.free(|annotations| annotations.get(media::REF_NAME).is_some_and(|said| said == name), media::REF_NAME);
        let nameless =
            self.manifests.iter_mut().find(|entry| entry.digest == manifest.digest && names(entry).is_none());
        let annotation = (media::REF_NAME.to_owned(), name.to_owned());
        match nameless {
            Some(entry) => drop(entry.annotations.insert(annotation.0, annotation.1)),
            None => {
                let mut entry = bare(manifest);
                entry.annotations.extend([annotation]);
                self.manifests.push(entry);
            }
        }
    }

    pub(super) fn mark_latest(&mut self, manifest: &Descriptor) {
        self.free(|annotations| annotations.contains_key(LATEST_BUILD), LATEST_BUILD);
        self.add(manifest);
        let entry = self.manifests.iter_mut().find(|entry| entry.digest == manifest.digest);
        entry.expect("it was added").annotations.insert(LATEST_BUILD.to_owned(), "true".to_owned());
    }

    /// Takes an annotation from those that have it. An entry that says nothing more than another does is dropped.
    fn free(&mut self, is_meant: impl Fn(&Annotations) -> bool, key: &str) {
        for entry in &mut self.manifests {
            if is_meant(&entry.annotations) {
                entry.annotations.remove(key);
            }
        }
        let all = self.manifests.clone();
        let mut at = 0;
        self.manifests.retain(|entry| {
            at += 1;
            let others = all.iter().enumerate().filter(|(index, _)| index + 1 != at).map(|(_, other)| other);
            let is_empty = entry.annotations.is_empty();
            !is_empty || !others.into_iter().any(|other| other.digest == entry.digest)
        });
    }
}

pub(super) fn names(manifest: &Descriptor) -> Option<&str> {
    manifest.annotations.get(media::REF_NAME).map(String::as_str)
}

/// The descriptor as the index needs it: what was annotated elsewhere means nothing here.
fn bare(manifest: &Descriptor) -> Descriptor {
    Descriptor { annotations: Annotations::new(), ..manifest.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(text: &str) -> Descriptor {
        Descriptor::of(media::MANIFEST, text.as_bytes())
    }

    #[test]
    fn a_name_moves_and_leaves_its_old_manifest_behind() {
        let (one, two) = (manifest("1"), manifest("2"));
        let mut index = Index::default();
        index.tag(&one, "h/a:1");
        index.tag(&one, "h/a:latest");
        index.tag(&two, "h/a:latest");
        assert_eq!(index.of_name("h/a:latest").map(|found| found.digest), Some(two.digest));
        assert_eq!(index.of_name("h/a:1").map(|found| found.digest), Some(one.digest));
        index.tag(&two, "h/a:1");
        assert!(index.of_digest(one.digest).is_some(), "it can still be asked for by its digest");
        assert_eq!(index.manifests.len(), 3);
        let bytes = index.to_bytes();
        assert_eq!(Index::parse(&bytes), Ok(index));
    }

    #[test]
    fn the_latest_build_is_one() {
        let (one, two) = (manifest("1"), manifest("2"));
        let mut index = Index::default();
        index.mark_latest(&one);
        index.mark_latest(&two);
        index.tag(&one, "h/a:1");
        assert_eq!(index.latest().map(|found| found.digest), Some(two.digest));
        index.mark_latest(&one);
        assert_eq!(index.latest().map(|found| found.digest), Some(one.digest));
        assert_eq!(index.manifests.len(), 2);
    }
}
