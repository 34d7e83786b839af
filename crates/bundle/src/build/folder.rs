//! A folder → a layer, file by file: no file is ever in memory as a whole.

use super::{BytesOf, Order, layers};
use crate::archive::{ArchiveWriter, ENTRIES_MAX, refusal};
use crate::descriptor::Descriptor;
use crate::fault::Fault;
use crate::knowledge::{self, Wrong, shown};
use crate::layout::Change;
use crate::media::LayerKind;
use crate::sources::Sources;
use entourage_declare::{Files as _, Kind, PackedFolder};
use entourage_model::{Place, Report};
use std::collections::BTreeSet;

/// Beyond these somebody has probably packed what they did not mean to.
const FILE_BYTES_NOTED: u64 = 10 << 20;
const KNOWLEDGE_BYTES_NOTED: u64 = 100 << 20;

const MANIFEST_HINT: &str = "as in `{ \"files\": { \"guide.md\": { \"title\": \"Guide\" } } }`";

/// Longer names are cut by the reference program.
const REFERENCE_NAME_BYTES_MAX: usize = 100;

/// A folder that was looked through.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) kind: LayerKind,
    root: String,
    /// In the order in which they are packed, relative to the folder.
    files: Vec<String>,
    /// What its files have in bytes.
    pub(super) size: u64,
}

impl Folder {
    /// What lies in the folder. Links and special files were reported when the definition was read.
    pub(super) fn list(
        sources: &Sources<'_>,
        named: &PackedFolder,
        bytes_of: BytesOf,
        reports: &mut Vec<Report>,
    ) -> Result<Self, Fault> {
        let kind = LayerKind::ALL.into_iter().find(|kind| kind.key() == named.key);
        let mut folder = Self {
            kind: kind.expect("`declare` names only folders that are layers"),
            root: named.path.clone(),
            files: Vec::new(),
            size: 0,
        };
        let mut open = vec![String::new()];
        while let Some(inside) = open.pop() {
            let path = joined(&folder.root, &inside);
            let entries = sources.entries(&path).map_err(Fault::machine(format!("reading `{path}`")))?;
            let nameless = sources.nameless(&path).map_err(Fault::machine(format!("reading `{path}`")))?;
            reports.extend(nameless.into_iter().map(|name| {
                let what = format!("`{}` cannot be packed: its name is not UTF-8", joined(&path, &name).escape_debug());
                let hint = "rename it, or leave it out by `.staxignore`";
                Report::error("B091", what).at(named.place.clone()).hint(hint)
            }));
            for (name, kind) in entries {
                let path = joined(&inside, &name);
                match kind {
                    Kind::File => folder.files.push(path),
                    Kind::Folder => open.push(path),
                    Kind::Link | Kind::Other => {}
                }
            }
            if folder.files.len() + open.len() > ENTRIES_MAX {
                let what = format!("`{}` has more than {ENTRIES_MAX} files", named.key);
                let hint = "pack less; `.staxignore` names what is left out";
                reports.push(Report::error("B012", what).at(named.place.clone()).hint(hint));
                folder.files.clear();
                return Ok(folder);
            }
        }
        folder.files.sort_by(|a, b| bytes_of.key_order().compare(a, b));
        folder.size = folder.check(sources, named, bytes_of, reports)?;
        folder.check_manifest(sources, reports)?;
        Ok(folder)
    }

    /// Gives how many bytes its files have.
    fn check(
        &self,
        sources: &Sources<'_>,
        named: &PackedFolder,
        bytes_of: BytesOf,
        reports: &mut Vec<Report>,
    ) -> Result<u64, Fault> {
        let mut sum = 0_u64;
        for inside in &self.files {
            let path = joined(&self.root, inside);
            if let Some(reason) = refusal(inside) {
                let what = format!("`{}` cannot be packed: {reason}", path.escape_debug());
                reports.push(Report::error("B011", what).at(named.place.clone()).hint("rename it"));
                continue;
            }
            let size = sources.open(&path).map_err(Fault::machine(format!("opening `{path}`")))?.size;
            sum = sum.saturating_add(size);
            if size > FILE_BYTES_NOTED {
                let what = format!("`{path}` is a large file, of {} MiB", size >> 20);
                reports.push(Report::warning("B022", what).at(Place::file(&path)).hint("see whether it is meant"));
            }
            if bytes_of == BytesOf::ReferenceProgram && inside.len() > REFERENCE_NAME_BYTES_MAX {
                let what = format!("the name of `{path}` is cut at {REFERENCE_NAME_BYTES_MAX} bytes");
                let report = Report::warning("B026", what).at(Place::file(&path));
                reports.push(report.hint("the reference program does so; build without `--reference-bytes`"));
            }
        }
        if sum > self.kind.bytes_max() {
            reports.push(layers::too_large(self.kind, sum).at(named.place.clone()));
        } else if self.kind == LayerKind::Knowledge && sum > KNOWLEDGE_BYTES_NOTED {
            let what = format!("`knowledge` is large, {} MiB", sum >> 20);
            reports.push(Report::warning("B022", what).at(named.place.clone()).hint("see whether it is meant"));
        }
        Ok(sum)
    }

    /// What an author says about single files of the knowledge must be about files that are packed.
    fn check_manifest(&self, sources: &Sources<'_>, reports: &mut Vec<Report>) -> Result<(), Fault> {
        if self.kind != LayerKind::Knowledge || !self.files.iter().any(|file| file == knowledge::MANIFEST) {
            return Ok(());
        }
        let path = joined(&self.root, knowledge::MANIFEST);
        let bytes = sources.read(&path).map_err(Fault::machine(format!("reading `{path}`")))?;
        for wrong in knowledge::check(&bytes, |path| self.files.iter().any(|file| file == path)) {
            let (what, hint) = match wrong {
                Wrong::Malformed(reason) => {
                    (format!("the manifest of the knowledge is malformed: {reason}"), MANIFEST_HINT)
                }
                Wrong::Outside(paths) => (
                    format!("the manifest of the knowledge names what is no path in its folder: {}", shown(&paths)),
                    "paths begin at the folder of the knowledge, without `./`, `/` or `..`",
                ),
                Wrong::Absent(paths) => (
                    format!("the manifest of the knowledge names files that are not packed: {}", shown(&paths)),
                    "add the files, or remove them from the manifest",
                ),
            };
            reports.push(Report::error("B084", what).at(Place::file(&path)).hint(hint));
        }
        Ok(())
    }

    pub(super) fn write(&self, order: &Order<'_>, change: &mut Change<'_>) -> Result<Descriptor, Fault> {
        let mut archive = ArchiveWriter::new(change.writer()?, order.bytes_of.archive_style());
        for inside in &self.files {
            let path = joined(&self.root, inside);
            let packing = || Fault::machine(format!("packing `{path}`"));
            let file = order.sources.open(&path).map_err(packing())?;
            archive.file(inside, file.size, file.is_executable, file.bytes).map_err(packing())?;
        }
        let writer = archive.finish().map_err(Fault::machine(format!("packing `{}`", self.root)))?;
        let blob = writer.finish()?;
        let mut layer = blob.descriptor(self.kind.media_type());
        change.stage(blob);
        layers::annotate(order, self.kind, Some(self.count()), &mut layer);
        Ok(layer)
    }

    /// How much there is: skills are folders, rules are Markdown, everything else is files.
    fn count(&self) -> usize {
        let is_markdown = |path: &&String| [".md", ".markdown"].iter().any(|end| path.ends_with(end));
        match self.kind {
            LayerKind::Skills => {
                let folders = self.files.iter().filter_map(|path| path.split_once('/')).map(|(folder, _)| folder);
                folders.collect::<BTreeSet<_>>().len()
            }
            LayerKind::Rules => self.files.iter().filter(is_markdown).count(),
            _ => self.files.len(),
        }
    }
}

fn joined(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        _ => format!("{folder}/{name}"),
    }
}
