//! `entourage pull REF`: an artifact and its packages from registries into the project's layout, whole or not at all.

use crate::bundle_source;
use crate::failure::Failure;
use crate::invocation::Invocation;
use clap::Args;
use entourage_bundle::Reference;
use serde_json::json;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage pull registry.example.com/team/reviewer:1.2.0
  entourage pull localhost:5000/reviewer              the tag `latest`, over plain HTTP on this machine
  entourage run --project oci:registry.example.com/team/reviewer:1.2.0 'Look at src'

Every size and digest is checked while it arrives, every archive before it is kept; what does not hold leaves nothing
behind. The packages that it depends on come along, so that it runs without the registry.
REF is HOST[:PORT]/REPOSITORY[:TAG][@DIGEST]; a digest wins over a tag.")]
pub(crate) struct Arguments {
    /// What to fetch
    #[arg(value_name = "REF")]
    reference: String,
}

pub(crate) fn perform(invocation: &Invocation, arguments: &Arguments) -> Result<(), Failure> {
    let reference: Reference = arguments.reference.parse().map_err(Failure::of_bundle)?;
    let layout = bundle_source::layout(invocation)?;
    let artifact = bundle_source::pull(invocation, &layout, &reference).map_err(Failure::of_bundle)?;
    tell(invocation, &reference, &artifact.digest.to_string());
    Ok(())
}

/// What `push` and `pull` print.
pub(super) fn tell(invocation: &Invocation, reference: &Reference, digest: &str) {
    if invocation.is_json() {
        invocation.screen.json(&json!({ "reference": reference.to_string(), "digest": digest }));
    } else {
        invocation.screen.data(digest);
    }
}
