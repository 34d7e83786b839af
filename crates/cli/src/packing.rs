//! This project as it is packed, and whoever brings the packages that it depends on.

use crate::bundle_source;
use crate::invocation::Invocation;
use crate::project::Project;
use entourage_bundle::{Bundle, Change, Descriptor, Fault, Fetch, Layout, OpenFile, ProjectFiles, Reference};
use entourage_model::Digest;
use serde_json::{Value, json};
use std::io;

impl ProjectFiles for Project {
    fn open(&self, path: &str) -> io::Result<OpenFile> {
        let file = self.open_file(path)?;
        let meta = file.metadata()?;
        Ok(OpenFile { size: meta.len(), is_executable: is_executable(&meta), bytes: Box::new(file) })
    }

    fn nameless(&self, folder: &str) -> io::Result<Vec<String>> {
        self.nameless_entries(folder)
    }
}

#[cfg(unix)]
fn is_executable(meta: &std::fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(meta) & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    false
}

/// Fetches packages from registries. It waits for them, and so is to be used where waiting is allowed.
pub(crate) struct Registries<'a>(pub(crate) &'a Invocation);

impl Fetch for Registries<'_> {
    fn fetch<'a>(&self, layout: &'a Layout, reference: &Reference) -> Result<(Digest, Change<'a>), Fault> {
        bundle_source::fetch(self.0, layout, reference).map(|fetched| (fetched.artifact.digest, fetched.change))
    }
}

/// A descriptor as scripts read it.
pub(crate) fn descriptor_json(descriptor: &Descriptor) -> Value {
    json!({
        "media_type": descriptor.media_type,
        "digest": descriptor.digest,
        "size": descriptor.size,
        "annotations": descriptor.annotations,
    })
}

/// A line for people: what an artifact is and where it is from.
pub(crate) fn heading(bundle: &Bundle) -> String {
    format!("{} {} {}\n{}", bundle.kind.word(), bundle.name, bundle.version.escape_debug(), bundle.digest)
}
