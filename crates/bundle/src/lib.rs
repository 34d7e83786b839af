//! Agents and their subagents as OCI artifacts: packing, the local store, and reading what others packed.
//!
//! Nothing here opens a socket: what is missing is asked of whoever has a registry. Read the modules in this order.

mod fault;

mod definition;
mod descriptor;
mod manifest;
mod media;
mod reference;

mod archive;
mod canonical;
mod layout;

mod bundle;
mod knowledge;
mod lock;
mod packages;

mod diff;
mod extract;

mod build;
mod ignore;
mod sources;

pub mod materialize;
pub mod signature;

pub use archive::{ArchiveStyle, ArchiveWriter, ENTRIES_MAX, Entry, EntryKind, read_archive};
pub use build::{Built, BytesOf, Draft, Order, build, package_reference};
pub use bundle::{Bundle, PackageEntry, Wanted};
pub use canonical::{KeyOrder, canonical};
pub use descriptor::{Annotations, Descriptor, EMPTY_BLOB};
pub use diff::{ChangeKind, Difference, LayerChange, PackageChange, SubagentChange, diff};
pub use extract::extract;
pub use fault::{Exit, Fault};
pub use ignore::IGNORE_FILE;
pub use layout::{BlobReader, BlobWriter, Blobs, Change, Index, LATEST_BUILD, Layout, Staged, Target};
pub use lock::{LOCK_FILE, Lock, Locked};
pub use manifest::{MANIFEST_BYTES_MAX, Manifest};
pub use media::{ArtifactKind, LayerForm, LayerKind};
pub use packages::{Assembly, Fetch, Offline, Shelf, fetch_packages};
pub use reference::{LATEST, Reference};
pub use sources::{OpenFile, ProjectFiles, Sources};

/// The names of media types and annotations.
pub mod names {
    pub use crate::media::{
        ADAPTER_RUNTIME, ADAPTER_TYPE, CONFIG, CREATED, DESCRIPTION, EMPTY, INDEX, LOCK_DIGEST, MANIFEST, PERSONA,
        REF_NAME, SPEC_VERSION, TITLE, VENDOR, VERSION,
    };
}
