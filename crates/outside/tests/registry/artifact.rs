//! A small artifact, a layout, and how both look from the outside.

use entourage_bundle::{ArtifactKind, Descriptor, Fault, LayerKind, Layout, Manifest, Reference, names};
use entourage_model::Digest;
use entourage_outside::registry::{Freight, Patience, Registry, RegistrySettings};
use entourage_testkit::FakeRegistry;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

pub(crate) const CONFIG: &[u8] = br#"{"kind":"agent","name":"a"}"#;
pub(crate) const PROMPT: &[u8] = b"You are a test, and a patient one.";
pub(crate) const BYTES_MAX: u64 = 1 << 20;

pub(crate) fn manifest() -> Manifest {
    let prompt = Descriptor::of(LayerKind::Prompt.media_type(), PROMPT);
    Manifest::new(ArtifactKind::Agent.artifact_type(), Descriptor::of(names::CONFIG, CONFIG), vec![prompt])
}

/// The artifact in a registry, as `t/a:1`.
pub(crate) fn publish(registry: &FakeRegistry, manifest: &Manifest) -> Digest {
    registry.put_blob(CONFIG);
    registry.put_blob(PROMPT);
    registry.put_manifest("t/a", "1", names::MANIFEST, manifest.to_bytes())
}

pub(crate) fn reference(registry: &FakeRegistry, rest: &str) -> Reference {
    format!("{}/{rest}", registry.host()).parse().unwrap()
}

/// Somebody who asks again at once.
pub(crate) fn client() -> Registry {
    Registry::new(settings())
}

pub(crate) fn settings() -> RegistrySettings {
    let patience = Patience { attempts_max: 3, first_pause: Duration::from_micros(100) };
    RegistrySettings { patience, ..RegistrySettings::default() }
}

pub(crate) struct Local {
    folder: TempDir,
    pub(crate) layout: Layout,
}

impl Local {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::create(&folder.path().join("oci")).unwrap();
        Self { folder, layout }
    }

    /// With the artifact as its latest build.
    pub(crate) fn with_artifact() -> (Self, Descriptor) {
        let local = Self::new();
        let mut change = local.layout.begin();
        change.put(names::CONFIG, CONFIG).unwrap();
        change.put(LayerKind::Prompt.media_type(), PROMPT).unwrap();
        let artifact = change.put(names::MANIFEST, &manifest().to_bytes()).unwrap();
        change.mark_latest(&artifact);
        change.commit().unwrap();
        (local, artifact)
    }

    /// What is sent from here, where nothing is known of other repositories.
    pub(crate) fn freight(&self) -> Freight<'_> {
        static NOTHING: BTreeMap<Digest, String> = BTreeMap::new();
        Freight { blobs: &self.layout, elsewhere: &NOTHING }
    }

    /// Every file and what it holds.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        collect(self.folder.path(), self.folder.path(), &mut found);
        found
    }

    pub(crate) fn path_of(&self, digest: Digest) -> std::path::PathBuf {
        self.layout.path().join("blobs/sha256").join(digest.to_string().trim_start_matches("sha256:"))
    }

    /// Fetches and keeps.
    pub(crate) async fn pull(&self, client: &Registry, reference: &Reference) -> Result<Descriptor, Fault> {
        let mut change = self.layout.begin();
        let artifact = client.fetch(reference, &mut change, BYTES_MAX).await?;
        change.tag(&artifact, reference.tagged_name());
        change.commit()?;
        Ok(artifact)
    }
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, found);
        } else {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            found.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

/// The exit code and what people read.
pub(crate) fn told<T: std::fmt::Debug>(outcome: Result<T, Fault>) -> (u8, String) {
    let fault = outcome.expect_err("it must be refused");
    let exit = fault.exit() as u8;
    let reports: Vec<_> = fault.into_reports().iter().map(ToString::to_string).collect();
    (exit, reports.join("\n"))
}
