//! A project's parts → one artifact in the layout. The same files make the same bytes, wherever and whenever.

mod config;
mod folder;
mod layers;
mod secrets;

use crate::archive::ArchiveStyle;
use crate::bundle::PackageEntry;
use crate::canonical::KeyOrder;
use crate::descriptor::{Annotations, Descriptor, EMPTY_BLOB};
use crate::fault::{Exit, Fault};
use crate::layout::Change;
use crate::lock::{LOCK_FILE, Lock};
use crate::manifest::Manifest;
use crate::media::{self, ArtifactKind, LayerKind};
use crate::packages::{Pins, Resolved, Shelf, resolve};
use crate::reference::Reference;
use crate::sources::Sources;
use entourage_declare::{Files as _, Kind, Loss, NamedPackage, Parcel, ParcelKind};
use entourage_model::{Digest, Place, Report, Severity};
use folder::Folder;
use serde_json::Value;
use std::io;

/// Whose bytes are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BytesOf {
    #[default]
    Specification,
    /// The reference program: other bytes, the same rules for authors.
    ReferenceProgram,
}

impl BytesOf {
    fn key_order(self) -> KeyOrder {
        match self {
            Self::Specification => KeyOrder::Utf8,
            Self::ReferenceProgram => KeyOrder::Utf16,
        }
    }

    fn archive_style(self) -> ArchiveStyle {
        match self {
            Self::Specification => ArchiveStyle::Specification,
            Self::ReferenceProgram => ArchiveStyle::Reference,
        }
    }

    /// No build knows the time: two of them on different days are one artifact.
    fn created(self) -> &'static str {
        match self {
            Self::Specification => "1970-01-01T00:00:00Z",
            Self::ReferenceProgram => "1970-01-01T00:00:00.000Z",
        }
    }
}

/// What is to be packed.
#[derive(Debug)]
pub struct Order<'a> {
    pub parcel: Parcel,
    /// What stax has no word for; it is not packed.
    pub losses: Vec<Loss>,
    pub sources: &'a Sources<'a>,
    pub bytes_of: BytesOf,
}

/// What was packed.
#[derive(Clone, Debug)]
pub struct Built {
    pub name: String,
    pub version: String,
    pub descriptor: Descriptor,
    pub manifest: Manifest,
    pub subagents: Vec<String>,
    pub warnings: Vec<Report>,
    /// What belongs into [`LOCK_FILE`]. Absent: the project depends on no package.
    pub lock: Option<Vec<u8>>,
}

/// A project that was found to be in order.
#[derive(Debug)]
pub struct Draft<'a> {
    order: Order<'a>,
    folders: Vec<Folder>,
    packages: Vec<PackageEntry>,
    known: Lock,
    reports: Vec<Report>,
}

/// Packs a project that is in order. The layout has it once the change is made, and with it the packages that were
/// fetched for it: whoever has more to write for a build does so before.
pub fn build<'a>(draft: Draft<'_>, shelf: Shelf<'a>) -> Result<(Built, Change<'a>), Fault> {
    let Draft { order, folders, packages, known, mut reports } = draft;
    let mut change = shelf.layout.begin();
    // The reference program looks at no package, and its bytes hold no digest of one.
    let resolved = match order.bytes_of {
        BytesOf::Specification => {
            let resolved = resolve(shelf, &mut change, &packages, Pins::Registry(&known))?;
            reports.extend(secrets::undeclared(&order.parcel, &resolved.bundles));
            if reports.iter().any(|report| report.severity == Severity::Error) {
                return Err(Fault::Authored(reports));
            }
            resolved
        }
        BytesOf::ReferenceProgram => Resolved::default(),
    };
    let kind = match order.parcel.kind {
        ParcelKind::Agent => ArtifactKind::Agent,
        ParcelKind::Package => ArtifactKind::Package,
    };
    let lock = (!resolved.lock.packages.is_empty()).then(|| resolved.lock.to_bytes());
    let config = config::bytes(&order, kind, &packages, &resolved.lock);
    let config = change.put(media::CONFIG, &config)?;
    let layers = write_layers(&order, &folders, &packages, &resolved, &mut change)?;
    let mut manifest = Manifest::new(kind.artifact_type(), config, layers);
    manifest.annotations = annotations(&order, lock.as_deref());
    check_size(&manifest, &folders, shelf.bytes_max)?;
    let mut descriptor = change.put(media::MANIFEST, &manifest.to_bytes())?;
    descriptor.artifact_type = Some(kind.artifact_type().to_owned());
    let (name, version) = (text(&order, "name"), text(&order, "version"));
    change.tag(&descriptor, format!("{name}:{version}"));
    change.mark_latest(&descriptor);
    let subagents = layers::names(order.parcel.subagents.as_ref(), "agents");
    Ok((Built { name, version, descriptor, manifest, subagents, warnings: reports, lock }, change))
}

/// Whoever reads the artifact counts its blobs, and what they unpack to: neither may be too much.
fn check_size(manifest: &Manifest, folders: &[Folder], bytes_max: u64) -> Result<(), Fault> {
    let packed: u64 = manifest.blobs().map(|blob| blob.size).sum();
    let unpacked = manifest.plain_size() + folders.iter().map(|folder| folder.size).sum::<u64>();
    let (size, form) = if unpacked > packed { (unpacked, "unpacked ") } else { (packed, "") };
    if size <= bytes_max {
        return Ok(());
    }
    let what = format!("the artifact has {size} {form}bytes, and may have {bytes_max}");
    let hint = "pack less, or raise `artifact_bytes` in `[limits]`";
    Err(Fault::Authored(vec![Report::error("B012", what).hint(hint)]))
}

impl<'a> Draft<'a> {
    /// Looks through everything that is to be packed. Every fault of what the author wrote is reported at once.
    pub fn check(order: Order<'a>) -> Result<Self, Fault> {
        let mut reports = order.sources.reports.clone();
        reports.extend(order.parcel.reports.iter().cloned());
        reports.extend(order.losses.iter().map(|Loss { agent, field }| {
            let what = format!("`{field}` of `{agent}` has no word in stax and is not packed");
            Report::warning("B014", what)
        }));
        let mut folders = Vec::new();
        for named in &order.parcel.folders {
            folders.push(Folder::list(order.sources, named, order.bytes_of, &mut reports)?);
        }
        layers::check_sizes(&order, &mut reports);
        let packages = packages(&order.parcel, &mut reports);
        let known = lock(order.sources, &mut reports);
        reports.sort_by(|a, b| (&a.place, a.code, &a.what).cmp(&(&b.place, b.code, &b.what)));
        reports.dedup();
        if reports.iter().any(|report| report.severity == Severity::Error) {
            return Err(refusal(order.sources, reports));
        }
        Ok(Self { order, folders, packages, known, reports })
    }
}

/// A file that is there and cannot be read is the machine's fault, unless the author made others.
fn refusal(sources: &Sources<'_>, reports: Vec<Report>) -> Fault {
    // A folder or a link in the place of a file is the author's.
    let is_file = |place: &Place| matches!(sources.kind(&place.file), Ok(Kind::File));
    let is_there = |place: &Option<Place>| place.as_ref().is_some_and(is_file);
    let is_unreadable = |report: &Report| report.code.0 == "D001" && is_there(&report.place);
    let mut errors = reports.iter().filter(|report| report.severity == Severity::Error);
    match errors.all(is_unreadable) {
        true => Fault::Told { exit: Exit::File, reports },
        false => Fault::Authored(reports),
    }
}

/// The layers in their order. An artifact without any carries OCI's stand-in for nothing.
fn write_layers(
    order: &Order<'_>,
    folders: &[Folder],
    packages: &[PackageEntry],
    resolved: &Resolved,
    change: &mut Change<'_>,
) -> Result<Vec<Descriptor>, Fault> {
    let mut written = Vec::new();
    for kind in LayerKind::ALL {
        let folder = folders.iter().find(|folder| folder.kind == kind);
        let layer = match folder {
            Some(folder) => Some(folder.write(order, change)?),
            None => layers::write(order, kind, packages, &resolved.lock, change)?,
        };
        written.extend(layer);
    }
    if written.is_empty() && order.bytes_of == BytesOf::Specification {
        written.push(change.put(media::EMPTY, EMPTY_BLOB)?);
    }
    Ok(written)
}

/// The text under a key of the definition, which was found to be one.
fn text(order: &Order<'_>, key: &str) -> String {
    order.parcel.definition.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn spec_version(order: &Order<'_>) -> String {
    let said = text(order, "specVersion");
    if said.is_empty() { "1.0.0".to_owned() } else { said }
}

fn annotations(order: &Order<'_>, lock: Option<&[u8]>) -> Annotations {
    let definition = &order.parcel.definition;
    let adapter = |key: &str| definition.get("adapter")?.get(key)?.as_str().map(str::to_owned);
    let said = |key: &str| Some(text(order, key)).filter(|text| !text.is_empty());
    let persona = order.parcel.persona.as_ref().and_then(|persona| persona.get("name")?.as_str().map(str::to_owned));
    let required = [
        (media::CREATED, Some(order.bytes_of.created().to_owned())),
        (media::VERSION, said("version")),
        (media::TITLE, said("name")),
        (media::SPEC_VERSION, Some(spec_version(order))),
        (media::ADAPTER_TYPE, adapter("type")),
        (media::ADAPTER_RUNTIME, adapter("runtime")),
    ];
    let optional = [
        (media::DESCRIPTION, said("description")),
        (media::VENDOR, said("author")),
        (media::PERSONA, persona),
        (media::LOCK_DIGEST, lock.map(|bytes| Digest::of(bytes).to_string())),
    ];
    let optional = optional.into_iter().filter(|_| order.bytes_of == BytesOf::Specification);
    let all = required.into_iter().chain(optional);
    all.filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// The packages that the definition names.
fn packages(parcel: &Parcel, reports: &mut Vec<Report>) -> Vec<PackageEntry> {
    let mut entries = Vec::new();
    for named in &parcel.packages {
        match package_reference(named) {
            Ok(reference) => entries.push(PackageEntry { text: named.text.clone(), reference, digest: None }),
            Err(report) => reports.push(report),
        }
    }
    entries
}

/// What a definition means by a package, or what is said of one that is no reference.
pub fn package_reference(named: &NamedPackage) -> Result<Reference, Report> {
    if is_path(&named.text) {
        let what = format!("`packages` names `{}`, which is a path, and no reference", named.text.escape_debug());
        let report = Report::error("B016", what).at(named.place.clone());
        return Err(report.hint("build that folder, push it to a registry, and name it as it was pushed"));
    }
    named.text.parse().map_err(|fault| {
        let Fault::BadReference { reason, .. } = fault else { unreachable!("a text is a reference or it is none") };
        let what = format!("`packages` names `{}`, which is no reference: {reason}", named.text.escape_debug());
        let report = Report::error("B016", what).at(named.place.clone());
        report.hint("as in `registry.example.com/team/package:1.0.0`")
    })
}

/// No host begins so.
fn is_path(text: &str) -> bool {
    [".", "/", "~/", "file://"].iter().any(|start| text.starts_with(start))
}

fn lock(sources: &Sources<'_>, reports: &mut Vec<Report>) -> Lock {
    match sources.read(LOCK_FILE) {
        Ok(bytes) => Lock::parse(&bytes).unwrap_or_else(|report| {
            reports.push(report);
            Lock::default()
        }),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Lock::default(),
        Err(fault) => {
            let what = format!("the lock file cannot be read: {fault}");
            reports.push(Report::error("B027", what).at(Place::file(LOCK_FILE)));
            Lock::default()
        }
    }
}
