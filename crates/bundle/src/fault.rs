//! Why packing, reading or fetching an artifact did not happen.

use crate::reference::Reference;
pub use entourage_model::Exit;
use entourage_model::{Digest, Place, Report};
use std::io;
use std::path::Path;

/// Everything that is wrong is said at once.
#[derive(Debug)]
pub enum Fault {
    /// What an author wrote, with all that is wrong with it.
    Authored(Vec<Report>),
    /// The text is no reference.
    BadReference { text: String, reason: &'static str },
    /// The layout has no such artifact.
    Unknown(Reference),
    /// Nothing was built here yet.
    NothingBuilt,
    /// A file or folder cannot be used.
    Machine { doing: String, cause: io::Error },
    /// The folder is no OCI layout that can be read.
    BadLayout { place: String, reason: String },
    /// A blob is not in the layout.
    Absent(Digest),
    /// A blob is not the bytes that its descriptor names.
    Tampered { digest: Digest, reason: String },
    /// The manifest or the config is not one that we take.
    BadManifest { digest: Digest, reason: String },
    /// A layer holds what its kind may not hold.
    BadLayer { media_type: String, reason: String },
    /// An archive that could harm whoever unpacks it.
    UnsafeArchive { media_type: String, reason: String },
    /// The parts of this crate that have reports of their own.
    Told { exit: Exit, reports: Vec<Report> },
}

impl Fault {
    pub fn new(exit: Exit, report: Report) -> Self {
        Self::Told { exit, reports: vec![report] }
    }

    /// A fault of the machine while `doing`, as in "writing `index.json`".
    pub(crate) fn machine(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |cause| Self::Machine { doing, cause }
    }

    pub(crate) fn bad_layout(place: &Path, reason: impl Into<String>) -> Self {
        Self::BadLayout { place: place.display().to_string(), reason: reason.into() }
    }

    pub fn exit(&self) -> Exit {
        match self {
            Self::Authored(_) | Self::BadReference { .. } | Self::Unknown(_) | Self::NothingBuilt => Exit::Usage,
            Self::Machine { .. } => Exit::File,
            Self::BadLayout { .. }
            | Self::Absent(_)
            | Self::Tampered { .. }
            | Self::BadManifest { .. }
            | Self::BadLayer { .. }
            | Self::UnsafeArchive { .. } => Exit::Integrity,
            Self::Told { exit, .. } => *exit,
        }
    }

    /// What people read.
    pub fn into_reports(self) -> Vec<Report> {
        match self {
            Self::Authored(reports) | Self::Told { reports, .. } => reports,
            other => vec![other.report()],
        }
    }

    fn report(&self) -> Report {
        match self {
            Self::Authored(_) | Self::Told { .. } => unreachable!("they bring their reports"),
            Self::BadReference { text, reason } => Report::error("B001", format!("`{text}` is no reference: {reason}"))
                .hint("as in `registry.example.com/team/agent:1.0.0`; a digest may follow as `@sha256:…`"),
            Self::Unknown(reference) => Report::error("B002", format!("`{reference}` is not in the local store"))
                .hint("`entourage pull` fetches it; `entourage build` makes one"),
            Self::NothingBuilt => {
                Report::error("B003", "nothing was built here yet").hint("run `entourage build`, or give a reference")
            }
            Self::Machine { doing, cause } => Report::error("B004", format!("{doing} failed: {cause}"))
                .hint("look at what is there already, who owns it and how much room the disk has"),
            Self::BadLayout { place, reason } => {
                Report::error("B005", format!("this is no OCI layout that can be read: {reason}"))
                    .at(Place::file(place))
                    .hint("move it away; `entourage build` or `entourage pull` makes a new one")
            }
            Self::Absent(digest) => Report::error("B006", format!("the blob `{digest}` is missing"))
                .hint("pull or build the artifact again"),
            Self::Tampered { digest, reason } => {
                Report::error("B007", format!("the blob `{digest}` is not what it must be: {reason}"))
                    .hint("it was changed or cut short; pull or build the artifact again")
            }
            Self::BadManifest { digest, reason } => {
                Report::error("B008", format!("the artifact `{digest}` is refused: {reason}"))
                    .hint("ask whoever published it")
            }
            Self::BadLayer { media_type, reason } => {
                Report::error("B009", format!("the layer `{media_type}` is refused: {reason}"))
                    .hint("ask whoever published it")
            }
            Self::UnsafeArchive { media_type, reason } => {
                Report::error("B010", format!("the archive of the layer `{media_type}` is refused: {reason}"))
                    .hint("do not unpack it by other means")
            }
        }
    }
}
