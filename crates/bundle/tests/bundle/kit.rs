//! A throw-away layout and projects in memory. This is all that the tests know of the API.

use entourage_bundle::{
    Blobs as _, Built, Bundle, BytesOf, Change, Draft, Fault, Fetch, Layout, Offline, Order, Reference, Shelf, Sources,
    build,
};
use entourage_declare::MemoryFiles;
use entourage_model::Digest;
use entourage_script::NoMemory;
use serde_json::Value;
use std::cell::RefCell;
use tempfile::TempDir;

pub(crate) const BYTES_MAX: u64 = 512 << 20;

/// A definition with an adapter and what else is given.
pub(crate) fn agent(more: &str) -> String {
    format!(
        r#"{{"name":"pack-agent","version":"1.0.0","description":"For tests.","adapter":{{"type":"codex","runtime":"codex","adapterVersion":"1.0.0","config":{{}},"features":{{}}}}{more}}}"#
    )
}

pub(crate) fn project(files: &[(&str, &str)]) -> MemoryFiles {
    files.iter().copied().collect()
}

pub(crate) struct Shop {
    pub(crate) folder: TempDir,
    pub(crate) layout: Layout,
}

impl Shop {
    pub(crate) fn new() -> Self {
        let folder = TempDir::with_prefix("entourage-").unwrap();
        let layout = Layout::create(&folder.path().join("oci")).unwrap();
        Self { folder, layout }
    }

    pub(crate) fn shelf<'a>(&'a self, fetch: &'a dyn Fetch) -> Shelf<'a> {
        Shelf { layout: &self.layout, fetch, bytes_max: BYTES_MAX }
    }

    pub(crate) fn try_build(&self, files: &MemoryFiles, bytes_of: BytesOf) -> Result<Built, Fault> {
        self.build_with(files, bytes_of, &Offline)
    }

    pub(crate) fn build_with(&self, files: &MemoryFiles, bytes_of: BytesOf, fetch: &dyn Fetch) -> Result<Built, Fault> {
        let sources = Sources::new(files, vec![".entourage".to_owned()]);
        let parcel = entourage_declare::parcel(&sources, &NoMemory).expect("the project has a definition");
        let order = Order { parcel, losses: Vec::new(), sources: &sources, bytes_of };
        let (built, change) = build(Draft::check(order)?, self.shelf(fetch))?;
        change.commit().map(|()| built)
    }

    pub(crate) fn build(&self, files: &[(&str, &str)]) -> Built {
        let built = self.try_build(&project(files), BytesOf::Specification);
        built.unwrap_or_else(|fault| panic!("{:?}", fault.into_reports()))
    }

    pub(crate) fn open(&self, digest: Digest) -> Result<Bundle, Fault> {
        Bundle::open(&self.layout, digest, BYTES_MAX)
    }

    /// The bytes of a layer whose media type has this word.
    pub(crate) fn layer(&self, built: &Built, word: &str) -> Vec<u8> {
        let is_meant = |media_type: &str| media_type.starts_with(&format!("application/vnd.stax.{word}.v1"));
        let layer = built.manifest.layers.iter().find(|layer| is_meant(&layer.media_type)).expect(word);
        self.layout.read(layer, BYTES_MAX).unwrap()
    }

    pub(crate) fn json_layer(&self, built: &Built, word: &str) -> Value {
        serde_json::from_slice(&self.layer(built, word)).unwrap()
    }

    /// Every file of the layout, with its size.
    pub(crate) fn snapshot(&self) -> Vec<(String, u64)> {
        let mut found = Vec::new();
        let mut open = vec![self.layout.path().to_owned()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
                match entry.file_type().unwrap().is_dir() {
                    true => open.push(entry.path()),
                    false => found.push((entry.path().display().to_string(), entry.metadata().unwrap().len())),
                }
            }
        }
        found.sort();
        found
    }
}

/// What a fault comes to: the exit code and the codes of its reports.
pub(crate) fn codes(fault: Fault) -> (u8, Vec<&'static str>) {
    (fault.exit() as u8, fault.into_reports().into_iter().map(|report| report.code.0).collect())
}

/// Packages that were built before, by the text of their references.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) packages: Vec<(String, Digest)>,
    pub(crate) asked: RefCell<Vec<String>>,
}

impl Fetch for Known {
    fn fetch<'a>(&self, layout: &'a Layout, reference: &Reference) -> Result<(Digest, Change<'a>), Fault> {
        self.asked.borrow_mut().push(reference.to_string());
        let found = self.packages.iter().find(|(text, _)| *text == reference.to_string());
        found.map(|(_, digest)| (*digest, layout.begin())).ok_or_else(|| Fault::Unknown(reference.clone()))
    }
}
