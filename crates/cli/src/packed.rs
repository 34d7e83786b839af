//! A bundle in place of a project: `--project oci:REF`, or `oci:LAYOUT_DIR@DIGEST` for a layout that lies elsewhere.

use crate::bundle_source;
use crate::environment;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::packing::Registries;
use crate::signatures;
use entourage_bundle::{Assembly, Blobs as _, Bundle, Layout, Shelf, Target, Wanted};
use entourage_declare::MemoryFiles;
use entourage_model::{Digest, Report};
use std::path::{Path, PathBuf};

const PREFIX: &str = "oci:";
/// What every layout has.
const MARKER: &str = "oci-layout";

/// Which bundle it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Packed {
    /// One of the project's own layout, or of a registry.
    Named(Target),
    Elsewhere {
        layout: PathBuf,
        digest: Digest,
    },
}

impl Packed {
    /// What `--project` says. Absent: it names a folder.
    pub(crate) fn of_option(project: &Path) -> Option<Result<Self, Failure>> {
        Some(Self::parse(project.to_str()?.strip_prefix(PREFIX)?))
    }

    /// A folder and a reference may look alike: a layout that is there is what is meant.
    fn parse(text: &str) -> Result<Self, Failure> {
        let (folder, digest) = text.rsplit_once('@').unzip();
        let folder = folder.unwrap_or(text);
        let path = environment::current_folder().join(folder);
        let is_path = ["/", "./", "../"].iter().any(|start| folder.starts_with(start)) || [".", ".."].contains(&folder);
        if !is_path && !path.join(MARKER).is_file() {
            return Target::parse(Some(text)).map(Self::Named).map_err(Failure::of_bundle);
        }
        match digest.map(str::parse) {
            Some(Ok(digest)) => Ok(Self::Elsewhere { layout: path, digest }),
            Some(Err(_)) | None => {
                let what = format!("`{PREFIX}{text}` names a layout, and not which bundle of it");
                let hint = format!("add its digest: `{PREFIX}{folder}@sha256:…`, as `entourage build` prints it");
                Err(Failure::usage(Report::error("B049", what).hint(hint)))
            }
        }
    }

    /// Everything of it that can be declared, checked once more, with the packages beneath it.
    pub(crate) async fn open(&self, invocation: &Invocation) -> Result<(Digest, MemoryFiles), Failure> {
        let (layout, digest) = match self {
            Self::Named(target) => {
                let (layout, artifact) = bundle_source::find_trusted(invocation, target).await?;
                (layout, artifact.digest)
            }
            Self::Elsewhere { layout, digest } => {
                let layout = Layout::open(layout).map_err(Failure::of_bundle)?;
                layout.manifest(*digest).map_err(Failure::of_bundle)?;
                signatures::check_stored(invocation, &layout, *digest).map_err(Failure::of_bundle)?;
                (layout, *digest)
            }
        };
        let bytes_max = invocation.settings.limits.artifact_bytes;
        let shelf = Shelf { layout: &layout, fetch: &Registries(invocation), bytes_max };
        let files = Bundle::open(&layout, digest, bytes_max)
            .and_then(|bundle| Assembly::of(shelf, bundle))
            .and_then(|assembly| assembly.files(&layout, Wanted::Declarations));
        Ok((digest, files.map_err(Failure::of_bundle)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";

    fn shown(text: &str) -> String {
        match Packed::of_option(Path::new(text)) {
            None => "a folder".to_owned(),
            Some(Ok(Packed::Named(target))) => match target {
                Target::Latest => "the latest".to_owned(),
                Target::Digest(digest) => format!("digest {digest}"),
                Target::Reference(reference) => format!("reference {reference}"),
            },
            Some(Ok(Packed::Elsewhere { layout, digest })) => format!("{} {digest}", layout.display()),
            Some(Err(failure)) => failure.reports[0].code.0.to_owned(),
        }
    }

    #[test]
    fn a_bundle_is_a_reference_a_digest_or_a_layout_with_a_digest() {
        let cases = [
            ("agents", "a folder".to_owned()),
            ("oci:localhost:5000/a:1", "reference localhost:5000/a:1".to_owned()),
            (&format!("oci:r.test/a@{DIGEST}"), format!("reference r.test/a@{DIGEST}")),
            (&format!("oci:{DIGEST}"), format!("digest {DIGEST}")),
            (&format!("oci:/somewhere/oci@{DIGEST}"), format!("/somewhere/oci {DIGEST}")),
            ("oci:/somewhere/oci", "B049".to_owned()),
            ("oci:./oci@sha256:00", "B049".to_owned()),
            ("oci:nobody", "B001".to_owned()),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn a_layout_that_is_there_is_meant() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.test");
        Layout::create(&path).unwrap();
        let text = format!("oci:{}@{DIGEST}", path.display());
        assert_eq!(shown(&text), format!("{} {DIGEST}", path.display()));
    }
}
