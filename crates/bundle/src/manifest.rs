//! The manifest: the one document that names everything of an artifact, and whose digest is the artifact's.

use crate::canonical::{KeyOrder, canonical};
use crate::descriptor::{Annotations, Descriptor};
use crate::fault::Fault;
use crate::media::{self, ArtifactKind, LayerForm, LayerKind};
use entourage_model::{Digest, mark_halves};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A manifest is a list of names; a larger one is none.
pub const MANIFEST_BYTES_MAX: u64 = 4 << 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    pub schema_version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    pub config: Descriptor,
    #[serde(default)]
    pub layers: Vec<Descriptor>,
    /// What this artifact is about, if it is attached to another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Descriptor>,
    #[serde(default, skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
}

impl Manifest {
    pub fn new(artifact_type: &str, config: Descriptor, layers: Vec<Descriptor>) -> Self {
        Self {
            schema_version: 2,
            media_type: Some(media::MANIFEST.to_owned()),
            artifact_type: Some(artifact_type.to_owned()),
            config,
            layers,
            subject: None,
            annotations: Annotations::new(),
        }
    }

    /// The bytes that we write. Its keys and annotations sort alike in both orders unless an author's key is outside
    /// of the basic plane, and those are never here.
    pub fn to_bytes(&self) -> Vec<u8> {
        let value = serde_json::to_value(self).expect("a manifest has only text keys");
        canonical(&value, KeyOrder::Utf8)
    }

    /// Reads bytes whose digest was checked. Any manifest of OCI is taken; [`Self::kind`] asks for stax.
    pub fn parse(bytes: &[u8], digest: Digest) -> Result<Self, Fault> {
        let refuse = |reason: String| Fault::BadManifest { digest, reason };
        let malformed = |fault: String| refuse(format!("its manifest is malformed: {fault}"));
        let text = str::from_utf8(bytes).map_err(|fault| malformed(fault.to_string()))?;
        let manifest: Self = serde_json::from_str(&mark_halves(text)).map_err(|fault| malformed(fault.to_string()))?;
        if manifest.schema_version != 2 {
            return Err(refuse(format!("its manifest has `schemaVersion` {}", manifest.schema_version)));
        }
        match manifest.media_type.as_deref() {
            None | Some(media::MANIFEST) => Ok(manifest),
            Some(other) => Err(refuse(format!("its manifest is of the type `{other}`"))),
        }
    }

    /// What the artifact is. Everything that the manifest alone can tell is checked: the types, and that no kind of
    /// layer is there twice.
    pub fn kind(&self, digest: Digest) -> Result<ArtifactKind, Fault> {
        let refuse = |reason: String| Err(Fault::BadManifest { digest, reason });
        // Programs that know no `artifactType` say nothing; the config tells.
        let kind = match self.artifact_type.as_deref() {
            None => ArtifactKind::Agent,
            Some(text) => match ArtifactKind::of_artifact_type(text) {
                Some(kind) => kind,
                None => return refuse(format!("it is of the type `{text}`, which is neither an agent nor a package")),
            },
        };
        if self.config.media_type != media::CONFIG {
            return refuse(format!("its config is of the type `{}`", self.config.media_type));
        }
        let mut seen = BTreeSet::new();
        match self.layers.iter().find(|layer| layer.media_type != media::EMPTY && !seen.insert(&layer.media_type)) {
            Some(layer) => refuse(format!("it has two layers of the type `{}`", layer.media_type)),
            None => Ok(kind),
        }
    }

    pub fn layer(&self, kind: LayerKind) -> Option<&Descriptor> {
        self.layers.iter().find(|layer| layer.media_type == kind.media_type())
    }

    /// How many bytes the blobs have that are no archives: they are as large as they will ever be.
    pub(crate) fn plain_size(&self) -> u64 {
        let is_archive = |blob: &&Descriptor| {
            LayerKind::of_media_type(&blob.media_type).is_some_and(|kind| kind.form() == LayerForm::Archive)
        };
        self.blobs().filter(|blob| !is_archive(blob)).map(|blob| blob.size).sum()
    }

    /// Config and layers: the blobs that must travel with the manifest.
    pub fn blobs(&self) -> impl Iterator<Item = &Descriptor> {
        std::iter::once(&self.config).chain(&self.layers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare() -> Manifest {
        Manifest::new(ArtifactKind::Agent.artifact_type(), Descriptor::of(media::CONFIG, b"{}"), Vec::new())
    }

    fn check(bytes: &[u8]) -> Result<ArtifactKind, String> {
        let digest = Digest::of(bytes);
        let read = Manifest::parse(bytes, digest).and_then(|manifest| manifest.kind(digest));
        read.map_err(|fault| fault.into_reports().remove(0).what)
    }

    #[test]
    fn a_manifest_is_read_as_it_is_written() {
        let mut manifest = bare();
        manifest.layers.push(Descriptor::of(LayerKind::Prompt.media_type(), b"Hello."));
        manifest.annotations.insert(media::TITLE.to_owned(), "a".to_owned());
        let bytes = manifest.to_bytes();
        assert_eq!(Manifest::parse(&bytes, Digest::of(&bytes)).ok(), Some(manifest));
        assert!(bytes.starts_with(br#"{"annotations":{"org.opencontainers.image.title":"a"},"artifactType":"#));
    }

    #[test]
    fn what_is_no_manifest_of_ours_is_refused() {
        let twice = Descriptor::of(LayerKind::Prompt.media_type(), b"Hello.");
        let cases = [
            (Manifest { schema_version: 1, ..bare() }, "`schemaVersion` 1"),
            (Manifest { media_type: Some(media::INDEX.to_owned()), ..bare() }, "is of the type"),
            (Manifest { artifact_type: Some("application/x".to_owned()), ..bare() }, "neither an agent nor a package"),
            (Manifest { config: Descriptor::empty(), ..bare() }, "its config is of the type"),
            (Manifest { layers: vec![twice.clone(), twice], ..bare() }, "two layers of the type"),
        ];
        for (manifest, expected) in cases {
            let what = check(&manifest.to_bytes()).expect_err(expected);
            assert!(what.contains(expected), "{what}");
        }
        let bytes = bare().to_bytes();
        check(&bytes[..bytes.len() - 3]).expect_err("cut short");
        let text = String::from_utf8(bytes).expect("it is UTF-8");
        let doubled = text.replace(r#""layers":[]"#, r#""layers":[],"layers":[]"#);
        check(doubled.as_bytes()).expect_err("a key that is there twice");
        let escaping = text.replacen("sha256:", "sha256:../", 1);
        check(escaping.as_bytes()).expect_err("a digest that is a path");
    }
}
