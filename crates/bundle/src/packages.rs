//! The packages that an artifact depends on: found depth first, and merged beneath it.

mod merge;

use crate::bundle::{Bundle, PackageEntry, Wanted};
use crate::fault::{Exit, Fault};
use crate::layout::{Change, Layout, Target};
use crate::lock::{Lock, Locked};
use crate::media::ArtifactKind;
use crate::reference::Reference;
use entourage_declare::MemoryFiles;
use entourage_model::{Digest, Report};
use std::collections::{BTreeMap, BTreeSet};

/// How long a chain of packages may be.
const DEPTH_MAX: usize = 32;

/// Whoever brings artifacts into the layout.
pub trait Fetch {
    /// The digest of an artifact, and the change by which the layout has it, whole and checked.
    fn fetch<'a>(&self, layout: &'a Layout, reference: &Reference) -> Result<(Digest, Change<'a>), Fault>;
}

/// Nobody: what is not in the layout stays away.
#[derive(Clone, Copy, Debug)]
pub struct Offline;

impl Fetch for Offline {
    fn fetch<'a>(&self, _: &'a Layout, reference: &Reference) -> Result<(Digest, Change<'a>), Fault> {
        Err(Fault::Unknown(reference.clone()))
    }
}

/// Where packages come from, and what limits them.
#[derive(Clone, Copy)]
pub struct Shelf<'a> {
    pub layout: &'a Layout,
    pub fetch: &'a dyn Fetch,
    pub bytes_max: u64,
}

impl std::fmt::Debug for Shelf<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shelf").field("layout", self.layout).finish_non_exhaustive()
    }
}

/// An artifact with all the packages beneath it.
#[derive(Clone, Debug)]
pub struct Assembly {
    pub bundle: Bundle,
    /// Later ones win over earlier ones: those that packages depend on, then the artifact's own in their order.
    pub packages: Vec<Bundle>,
}

impl Assembly {
    /// Finds every package of an artifact. The layout has all of them then, or as many as before.
    pub fn of(shelf: Shelf<'_>, bundle: Bundle) -> Result<Self, Fault> {
        let mut change = shelf.layout.begin();
        let packages = resolve(shelf, &mut change, &bundle.packages, Pins::Layout(&bundle.lock))?.bundles;
        if !change.is_empty() {
            change.commit()?;
        }
        Ok(Self { bundle, packages })
    }

    /// All of it as one project. What the artifact says itself wins.
    pub fn files(&self, layout: &Layout, wanted: Wanted) -> Result<MemoryFiles, Fault> {
        self.bundle.insist_on_agent()?;
        let mut parts = self.bundle.parts(layout, wanted, self.packages.len())?;
        for (precedence, package) in self.packages.iter().enumerate().rev() {
            merge::beneath(&mut parts, package.parts(layout, wanted, precedence)?);
        }
        Ok(parts.into_files())
    }
}

/// Finds the packages of an artifact that `change` brings, as its `lock` says, so that the layout has all of it at once
/// and nobody needs to be asked for them later.
pub fn fetch_packages<'a>(
    shelf: Shelf<'a>,
    change: &mut Change<'a>,
    packages: &[PackageEntry],
    lock: &Lock,
) -> Result<(), Fault> {
    resolve(shelf, change, packages, Pins::Layout(lock)).map(drop)
}

/// What a list of packages leads to.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    /// See [`Assembly::packages`].
    pub(crate) bundles: Vec<Bundle>,
    pub(crate) lock: Lock,
}

/// What a reference without a digest means: what the lock says, and where it says nothing, whoever is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pins<'a> {
    /// What the layout knows by that name; only what it does not know is asked for. The lock is the artifact's own.
    Layout(&'a Lock),
    /// What the registry says by now. The lock is the project's.
    Registry(&'a Lock),
}

impl<'a> Pins<'a> {
    fn lock(self) -> &'a Lock {
        match self {
            Self::Layout(lock) | Self::Registry(lock) => lock,
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::Layout(_) => "ask whoever published it to decide in `stax.lock`, and to build it again",
            Self::Registry(_) => {
                "say in `stax.lock` which one is meant; what is named directly can also be named by its digest"
            }
        }
    }
}

/// Finds packages and those that they depend on. What the layout does not have of them yet is in `change` then.
pub(crate) fn resolve<'a>(
    shelf: Shelf<'a>,
    change: &mut Change<'a>,
    wanted: &[PackageEntry],
    pins: Pins<'_>,
) -> Result<Resolved, Fault> {
    let mut search = Search::new(shelf, change, pins);
    for entry in wanted {
        search.visit(entry)?;
    }
    let direct: BTreeSet<_> = wanted.iter().map(|entry| entry.text.as_str()).collect();
    let (direct, transitive): (Vec<_>, Vec<_>) = search.order.iter().partition(|text| direct.contains(text.as_str()));
    let in_order = wanted.iter().map(|entry| &entry.text).filter(|text| direct.contains(text));
    let mut seen = BTreeSet::new();
    let order = transitive.iter().copied().chain(in_order).filter(|text| seen.insert(text.as_str()));
    let bundles = order.map(|text| search.found[text].bundle.clone()).collect();
    let locked = |(text, found): (&String, &Found)| {
        let dependencies = found.bundle.packages.iter().map(|entry| entry.text.clone()).collect();
        (text.clone(), Locked { digest: found.bundle.digest, dependencies })
    };
    let lock = Lock { packages: search.found.iter().map(locked).collect() };
    Ok(Resolved { bundles, lock })
}

struct Search<'s, 'a> {
    shelf: Shelf<'a>,
    /// What was fetched.
    change: &'s mut Change<'a>,
    pins: Pins<'s>,
    /// By the text of their references.
    found: BTreeMap<String, Found>,
    /// What tags mean that nobody pinned, so that each is asked for once.
    asked: BTreeMap<String, Digest>,
    /// Whatever a package depends on comes before it.
    order: Vec<String>,
    /// From the artifact to where the search is, each with what it was built with.
    path: Vec<(String, Lock)>,
}

struct Found {
    bundle: Bundle,
    /// Who wanted it first.
    by: String,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(shelf: Shelf<'a>, change: &'s mut Change<'a>, pins: Pins<'s>) -> Self {
        let (found, asked) = (BTreeMap::new(), BTreeMap::new());
        Self { shelf, change, pins, found, asked, order: Vec::new(), path: Vec::new() }
    }

    fn visit(&mut self, entry: &PackageEntry) -> Result<(), Fault> {
        let text = &entry.text;
        if self.path.iter().any(|(step, _)| step == text) {
            let what = format!("packages depend on each other in a circle: {} -> {text}", self.way());
            return Err(refused(Report::error("B018", what).hint("take one of them out of the circle")));
        }
        if self.path.len() >= DEPTH_MAX {
            let what = format!("`{text}` lies deeper than {DEPTH_MAX} packages: {}", self.way());
            return Err(refused(Report::error("B019", what).hint("depend on fewer packages in a row")));
        }
        if let Some(known) = self.found.get(text).map(|found| found.bundle.digest) {
            return self.compare(entry, known);
        }
        let package = self.open(entry)?;
        let by = self.wanted_by();
        self.path.push((text.clone(), package.lock.clone()));
        for dependency in &package.packages {
            self.visit(dependency)?;
        }
        self.path.pop();
        self.order.push(text.clone());
        self.found.insert(text.clone(), Found { bundle: package, by });
        Ok(())
    }

    /// One reference means one artifact, whichever of those who want it comes first.
    fn compare(&mut self, entry: &PackageEntry, known: Digest) -> Result<(), Fault> {
        let wanted = match self.pinned(entry) {
            Some(pinned) => pinned,
            None => match self.ask(entry) {
                // Where nobody can say what the tag means, what was found must do.
                Err(fault) if fault.exit() == Exit::Packages => known,
                asked => asked?,
            },
        };
        if wanted == known {
            return Ok(());
        }
        let (text, by) = (&entry.text, &self.found[&entry.text].by);
        let what = format!("`{text}` is wanted as `{known}` {by}, and as `{wanted}` {}", self.wanted_by());
        Err(refused(Report::error("B020", what).hint(self.pins.hint())))
    }

    fn open(&mut self, entry: &PackageEntry) -> Result<Bundle, Fault> {
        let digest = match self.pinned(entry) {
            Some(pinned) => {
                let wanted = Reference { digest: Some(pinned), ..entry.reference.clone() };
                let digest = self.find(&entry.text, &wanted)?;
                if digest != pinned {
                    return Err(Fault::Tampered { digest: pinned, reason: format!("`{digest}` came in its place") });
                }
                digest
            }
            None => self.ask(entry)?,
        };
        let package = Bundle::open(&*self.change, digest, self.shelf.bytes_max);
        let package = package.map_err(|fault| unavailable(&entry.text, fault))?;
        if package.kind != ArtifactKind::Package {
            let report = Report::error("B021", format!("`{}` is an agent, and no package", entry.text));
            return Err(refused(report.hint("build it from a `package.ts`, or remove it from `packages`")));
        }
        Ok(package)
    }

    /// What is meant where somebody has decided: the reference itself, else the lock, else whoever is nearest to the
    /// artifact of those that were built with it.
    fn pinned(&self, entry: &PackageEntry) -> Option<Digest> {
        let mut locks = std::iter::once(self.pins.lock()).chain(self.path.iter().map(|(_, lock)| lock));
        entry.reference.digest.or_else(|| locks.find_map(|lock| lock.digest(&entry.text)))
    }

    fn ask(&mut self, entry: &PackageEntry) -> Result<Digest, Fault> {
        if let Some(digest) = self.asked.get(&entry.text) {
            return Ok(*digest);
        }
        let digest = self.find(&entry.text, &entry.reference)?;
        self.asked.insert(entry.text.clone(), digest);
        Ok(digest)
    }

    /// A tag may have moved since it was fetched. Where nobody can say so, what is here must do.
    fn find(&mut self, text: &str, wanted: &Reference) -> Result<Digest, Fault> {
        let Shelf { layout, fetch, .. } = self.shelf;
        let mut fetched = || -> Result<Digest, Fault> {
            let (digest, change) = fetch.fetch(layout, wanted).map_err(|fault| unavailable(text, fault))?;
            self.change.join(change);
            Ok(digest)
        };
        let here = layout.resolve(&Target::Reference(wanted.clone()))?.map(|found| found.digest);
        let is_settled = wanted.digest.is_some() || matches!(self.pins, Pins::Layout(_));
        match (here, is_settled) {
            (Some(here), true) => Ok(here),
            (Some(here), false) => match fetched() {
                Err(fault) if fault.exit() != Exit::Packages => Err(fault),
                asked => Ok(asked.unwrap_or(here)),
            },
            (None, _) => fetched(),
        }
    }

    /// The way from the artifact to where the search is.
    fn way(&self) -> String {
        self.path.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(" -> ")
    }

    fn wanted_by(&self) -> String {
        if self.path.is_empty() { "directly".to_owned() } else { format!("by `{}`", self.way()) }
    }
}

fn refused(report: Report) -> Fault {
    Fault::new(Exit::Packages, report)
}

/// Something that is not what it must be is told as that; everything else is a package that cannot be had.
fn unavailable(text: &str, fault: Fault) -> Fault {
    if matches!(fault.exit(), Exit::Integrity | Exit::Cancelled) {
        return fault;
    }
    let mut reports = vec![Report::error("B017", format!("the package `{text}` cannot be had"))];
    reports.extend(fault.into_reports());
    Fault::Told { exit: Exit::Packages, reports }
}
