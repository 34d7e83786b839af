//! An artifact that was read: every blob of it was checked before any of it is believed.

mod files;
mod layers;

pub use files::Wanted;
pub(crate) use files::{PartFile, Parts};

use crate::archive::{Entry, EntryKind, read_archive};
use crate::descriptor::Descriptor;
use crate::fault::Fault;
use crate::layout::Blobs;
use crate::lock::Lock;
use crate::manifest::{MANIFEST_BYTES_MAX, Manifest};
use crate::media::{self, ArtifactKind, LayerForm, LayerKind};
use crate::reference::Reference;
use entourage_declare::unknown_spec_version;
use entourage_model::{Digest, Place, Report};
use serde_json::{Map, Value};
use std::io::Read;

/// A config is a page of facts; a larger one is none.
const CONFIG_BYTES_MAX: u64 = 4 << 20;

/// What an artifact says. The files of its archives stay in the layout, see [`Bundle::archive`].
#[derive(Clone, Debug)]
pub struct Bundle {
    pub digest: Digest,
    pub manifest: Manifest,
    pub kind: ArtifactKind,
    pub name: String,
    pub version: String,
    pub config: Map<String, Value>,
    pub prompt: Option<String>,
    pub persona: Option<Map<String, Value>>,
    pub mcp: Option<Map<String, Value>>,
    /// The whole document: `agents`, and whatever else it says.
    pub subagents: Option<Map<String, Value>>,
    pub secrets: Vec<Value>,
    pub packages: Vec<PackageEntry>,
    /// Which artifact each reference to a package meant when it was built, as far as it says so.
    pub lock: Lock,
}

/// A package that an artifact depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageEntry {
    /// As the author wrote it.
    pub text: String,
    pub reference: Reference,
    /// Absent: whoever built the artifact did not look.
    pub digest: Option<Digest>,
}

impl Bundle {
    /// Reads an artifact and looks into all of it: types, sizes, digests, the shape of every document and every entry
    /// of every archive. Together its blobs have at most `bytes_max` bytes, packed and unpacked.
    pub fn open(blobs: &dyn Blobs, digest: Digest, bytes_max: u64) -> Result<Self, Fault> {
        let bytes = blobs.read(&blobs.manifest(digest)?, MANIFEST_BYTES_MAX)?;
        let manifest = Manifest::parse(&bytes, digest)?;
        let kind = manifest.kind(digest)?;
        let refuse = |reason: String| Fault::BadManifest { digest, reason };
        let size = manifest.blobs().try_fold(0_u64, |sum, blob| sum.checked_add(blob.size));
        if size.is_none_or(|size| size > bytes_max) {
            return Err(refuse(format!("it has more than {bytes_max} bytes")));
        }
        let config = layers::object(&blobs.read(&manifest.config, CONFIG_BYTES_MAX)?)
            .map_err(|reason| refuse(format!("its config {reason}")))?;
        let text = |key: &str| match config.get(key) {
            Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
            _ => Err(refuse(format!("its config has no `{key}`"))),
        };
        let (name, version) = (text("name")?, text("version")?);
        if !entourage_declare::is_agent_name(&name) {
            return Err(refuse("its `name` is no name of an agent".to_owned()));
        }
        let mut bundle = Self {
            digest,
            kind,
            name,
            version,
            config,
            prompt: None,
            persona: None,
            mcp: None,
            subagents: None,
            secrets: Vec::new(),
            packages: Vec::new(),
            lock: Lock::default(),
            manifest,
        };
        let mut left = bytes_max - bundle.manifest.plain_size();
        for layer in bundle.manifest.layers.clone() {
            bundle.take(blobs, &layer, &mut left)?;
        }
        bundle.lock = layers::lock(&bundle.config, &bundle.packages);
        Ok(bundle)
    }

    /// Looks into a layer. What an archive unpacks to is taken from what is `left` for all of them.
    fn take(&mut self, blobs: &dyn Blobs, layer: &Descriptor, left: &mut u64) -> Result<(), Fault> {
        let Some(kind) = LayerKind::of_media_type(&layer.media_type) else {
            // Nobody here reads it, but it travels with the artifact.
            return blobs.open(layer)?.finish();
        };
        if kind.form() == LayerForm::Archive {
            let mut unpacked = 0;
            self.archive_within(blobs, kind, kind.bytes_max().min(*left), &mut |entry, _| {
                if let EntryKind::File { size, .. } = entry.kind {
                    unpacked += size;
                }
                Ok(())
            })?;
            *left -= unpacked;
            return Ok(());
        }
        let bytes = blobs.read(layer, kind.bytes_max())?;
        let refuse = |reason: String| Fault::BadLayer { media_type: layer.media_type.clone(), reason };
        layers::take(self, kind, &bytes).map_err(refuse)
    }

    /// Gives every entry of an archive to `visit`. An artifact without that layer has none. It is checked again: the
    /// layout may have changed since. Whatever `visit` did before a fault is to be undone.
    pub fn archive(
        &self,
        blobs: &dyn Blobs,
        kind: LayerKind,
        visit: &mut dyn FnMut(&Entry, &mut dyn Read) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.archive_within(blobs, kind, kind.bytes_max(), visit)
    }

    fn archive_within(
        &self,
        blobs: &dyn Blobs,
        kind: LayerKind,
        bytes_max: u64,
        visit: &mut dyn FnMut(&Entry, &mut dyn Read) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let Some(layer) = self.manifest.layer(kind) else { return Ok(()) };
        let mut blob = blobs.open(layer)?;
        let read = read_archive(&mut blob, &layer.media_type, bytes_max, visit);
        // A damaged archive is first of all a blob with another digest.
        blob.finish()?;
        read
    }

    /// The types of layers that travel with it and that nobody here can read.
    pub fn unknown_layers(&self) -> impl Iterator<Item = &str> {
        let types = self.manifest.layers.iter().map(|layer| layer.media_type.as_str());
        types.filter(|media_type| *media_type != media::EMPTY && LayerKind::of_media_type(media_type).is_none())
    }

    /// What it says that may mean something else than is understood here.
    pub fn doubts(&self) -> Vec<Report> {
        let documents = [
            ("agent.json".to_owned(), Some(&self.config)),
            (LayerKind::Persona.path(), self.persona.as_ref()),
            (LayerKind::Mcp.path(), self.mcp.as_ref()),
            (LayerKind::Subagents.path(), self.subagents.as_ref()),
        ];
        let doubt = |(path, document): (String, Option<&Map<String, Value>>)| {
            let report = unknown_spec_version(document?.get("specVersion")?.as_str()?)?;
            Some(report.at(Place::file(path)))
        };
        documents.into_iter().filter_map(doubt).collect()
    }

    /// Its subagents, by name.
    pub fn agents(&self) -> impl Iterator<Item = (&str, &Map<String, Value>)> {
        let agents = self.subagents.as_ref().and_then(|document| document.get("agents")?.as_object());
        agents.into_iter().flatten().filter_map(|(name, agent)| Some((name.as_str(), agent.as_object()?)))
    }

    /// A word of the adapter that the agent was made for, as in `type`. A package has none.
    pub fn adapter(&self, key: &str) -> Option<&str> {
        self.config.get("adapter")?.get(key)?.as_str()
    }
}
