//! The local store: an OCI layout, which is a folder with `oci-layout`, `index.json` and `blobs/sha256`.
//!
//! What changes it is a [`Change`]: blobs are staged in files beside, and moved to their places, blobs before the index,
//! when all of it is there. A change that is dropped leaves nothing behind.

mod blob;
mod change;
mod index;

pub use blob::BlobReader;
use change::Beside;
pub use change::{BlobWriter, Change, Staged};
pub use index::{Index, LATEST_BUILD};

use crate::descriptor::Descriptor;
use crate::fault::Fault;
use crate::manifest::{MANIFEST_BYTES_MAX, Manifest};
use crate::media;
use crate::reference::Reference;
use cap_std::fs::Dir;
use entourage_model::Digest;
use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

const MARKER: &str = "oci-layout";
const MARKER_TEXT: &str = r#"{"imageLayoutVersion":"1.0.0"}"#;
const INDEX: &str = "index.json";
const BLOBS: &str = "blobs/sha256";

/// More artifacts than anybody has; a larger index is none.
const INDEX_BYTES_MAX: u64 = 64 << 20;

/// Where blobs are read from. Everything that is read is checked against its descriptor, by whoever reads it.
pub trait Blobs {
    /// The blob's bytes, to be checked while they pass. A missing one is [`Fault::Absent`].
    fn open(&self, descriptor: &Descriptor) -> Result<BlobReader, Fault>;

    /// The whole blob, once its size and digest are found right. One above `bytes_max` is refused unread.
    fn read(&self, descriptor: &Descriptor, bytes_max: u64) -> Result<Vec<u8>, Fault> {
        if descriptor.size > bytes_max {
            let reason = format!("it has {} bytes, and may have {bytes_max}", descriptor.size);
            return Err(Fault::Tampered { digest: descriptor.digest, reason });
        }
        self.open(descriptor)?.into_bytes()
    }

    /// The size of a stored blob, which was not looked into.
    fn size(&self, digest: Digest) -> Option<u64>;

    /// The descriptor of a manifest that is stored under this digest.
    fn manifest(&self, digest: Digest) -> Result<Descriptor, Fault> {
        let size = self.size(digest).ok_or(Fault::Absent(digest))?;
        if size > MANIFEST_BYTES_MAX {
            return Err(Fault::BadManifest { digest, reason: format!("its manifest has {size} bytes") });
        }
        Ok(Descriptor::new(media::MANIFEST, digest, size))
    }
}

/// What a person means by naming an artifact, or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The latest build.
    Latest,
    Digest(Digest),
    Reference(Reference),
}

impl Target {
    /// A reference or a bare digest; nothing is the latest build.
    pub fn parse(text: Option<&str>) -> Result<Self, Fault> {
        match text {
            None => Ok(Self::Latest),
            Some(text) => match text.parse() {
                Ok(digest) => Ok(Self::Digest(digest)),
                Err(_) => text.parse().map(Self::Reference),
            },
        }
    }
}

#[derive(Debug)]
pub struct Layout {
    dir: Dir,
    path: PathBuf,
}

impl Layout {
    /// A layout that is there.
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let dir = Dir::open_ambient_dir(path, cap_std::ambient_authority()).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => Fault::bad_layout(path, "there is no such folder"),
            _ => Fault::Machine { doing: format!("opening `{}`", path.display()), cause },
        })?;
        let layout = Self { dir, path: path.to_owned() };
        let marker = layout
            .bounded(MARKER, INDEX_BYTES_MAX)?
            .ok_or_else(|| Fault::bad_layout(path, "it has no `oci-layout`"))?;
        let version = serde_json::from_slice::<serde_json::Value>(&marker).ok();
        match version.as_ref().and_then(|marker| marker.get("imageLayoutVersion")?.as_str()) {
            Some("1.0.0") => Ok(layout),
            _ => Err(Fault::bad_layout(path, "its `oci-layout` is not of version 1.0.0")),
        }
    }

    /// The same, made if there is none. What a process has left in it that was killed is removed.
    pub fn create(path: &Path) -> Result<Self, Fault> {
        let fault = || Fault::machine(format!("making `{}`", path.display()));
        let authority = cap_std::ambient_authority();
        Dir::create_ambient_dir_all(path, authority).map_err(fault())?;
        let dir = Dir::open_ambient_dir(path, authority).map_err(fault())?;
        dir.create_dir_all(BLOBS).map_err(fault())?;
        change::sweep(&dir);
        if !dir.exists(MARKER) {
            // Moved there whole: another process may be looking for it.
            let mut marker = Beside::create(&dir).map_err(fault())?;
            let mut file = marker.file.take().expect("it was just made");
            file.write_all(MARKER_TEXT.as_bytes()).map_err(fault())?;
            marker.move_to(MARKER).map_err(fault())?;
        }
        Self::open(path)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn index(&self) -> Result<Index, Fault> {
        match self.bounded(INDEX, INDEX_BYTES_MAX)? {
            Some(bytes) => Index::parse(&bytes).map_err(|reason| Fault::bad_layout(&self.path, reason)),
            None => Ok(Index::default()),
        }
    }

    /// The manifest that is meant. Absent: it is not here.
    pub fn resolve(&self, target: &Target) -> Result<Option<Descriptor>, Fault> {
        let index = self.index()?;
        Ok(match target {
            Target::Latest => index.latest().cloned(),
            Target::Digest(digest) => index.of_digest(*digest).cloned(),
            Target::Reference(reference) => match reference.digest {
                Some(digest) => index.of_digest(digest).cloned(),
                None => index.of_name(&reference.tagged_name()).cloned(),
            },
        })
    }

    /// The same, where its absence is a fault.
    pub fn find(&self, target: &Target) -> Result<Descriptor, Fault> {
        self.resolve(target)?.ok_or_else(|| match target {
            Target::Latest => Fault::NothingBuilt,
            Target::Digest(digest) => Fault::Absent(*digest),
            Target::Reference(reference) => Fault::Unknown(reference.clone()),
        })
    }

    /// The latest build. Absent: there is none.
    pub fn latest(&self) -> Result<Option<Descriptor>, Fault> {
        self.resolve(&Target::Latest)
    }

    /// The blobs that other repositories of a registry are known to hold: what was pushed to them, or pulled from them.
    pub fn held_elsewhere(&self, reference: &Reference) -> Result<BTreeMap<Digest, String>, Fault> {
        let mut held = BTreeMap::new();
        for entry in self.index()?.manifests {
            let Some(known) = index::names(&entry).and_then(|name| name.parse::<Reference>().ok()) else { continue };
            if known.host != reference.host || known.repository == reference.repository {
                continue;
            }
            // One that cannot be read is of no use here, and whoever needs it is told.
            let Ok(bytes) = self.read(&entry, MANIFEST_BYTES_MAX) else { continue };
            let Ok(manifest) = Manifest::parse(&bytes, entry.digest) else { continue };
            held.extend(manifest.blobs().map(|blob| (blob.digest, known.repository.clone())));
        }
        Ok(held)
    }

    /// Begins to change the layout.
    pub fn begin(&self) -> Change<'_> {
        Change::new(self)
    }

    /// Lets a stored manifest be known by this reference.
    pub fn tag(&self, reference: &Reference, manifest: &Descriptor) -> Result<(), Fault> {
        let mut change = self.begin();
        change.tag(manifest, reference.tagged_name());
        change.commit()
    }

    fn bounded(&self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, Fault> {
        let doing = || format!("reading `{}`", self.path.join(name).display());
        let file = match self.dir.open(name) {
            Ok(file) => file,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(Fault::Machine { doing: doing(), cause }),
        };
        let mut bytes = Vec::new();
        file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(Fault::machine(doing()))?;
        if bytes.len() as u64 > bytes_max {
            return Err(Fault::bad_layout(&self.path, format!("`{name}` is too large")));
        }
        Ok(Some(bytes))
    }

    /// Where a blob lies. The digest is checked in its type: it is no path to elsewhere.
    fn blob_path(digest: Digest) -> String {
        let text = digest.to_string();
        format!("{BLOBS}/{}", text.trim_start_matches("sha256:"))
    }
}

impl Blobs for Layout {
    fn open(&self, descriptor: &Descriptor) -> Result<BlobReader, Fault> {
        BlobReader::open(&self.dir, &Self::blob_path(descriptor.digest), descriptor)
    }

    fn size(&self, digest: Digest) -> Option<u64> {
        let meta = self.dir.symlink_metadata(Self::blob_path(digest)).ok()?;
        meta.is_file().then(|| meta.len())
    }
}
