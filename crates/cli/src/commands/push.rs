//! `entourage push REF`: the latest build to a registry, which receives only what it does not have.

use crate::bundle_source;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::signatures;
use clap::Args;
use entourage_bundle::{Reference, Target, signature};
use entourage_outside::registry::Freight;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage build && entourage push registry.example.com/team/reviewer:1.2.0
  entourage push localhost:5000/reviewer              the tag `latest`, over plain HTTP on this machine
  entourage push registry.example.com/team/reviewer:1.2.0 --sign team.key
  entourage push registry.example.com/team/reviewer:1.2.0@sha256:…   another artifact of the layout

Signatures of the artifact go along. The digest goes to stdout. `entourage login HOST` stores a credential; Docker's own are used as well.")]
pub(crate) struct Arguments {
    /// Where to send it
    #[arg(value_name = "REF")]
    reference: String,
    /// Sign it with this secret key first
    #[arg(long, value_name = "FILE")]
    sign: Option<PathBuf>,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let reference: Reference = arguments.reference.parse().map_err(Failure::of_bundle)?;
    let target = reference.digest.map_or(Target::Latest, Target::Digest);
    let key = arguments.sign.as_deref().map(signatures::secret_key).transpose().map_err(Failure::of_bundle)?;
    let (layout, artifact) = bundle_source::find(invocation, &target).await?;
    if let Some(key) = &key {
        super::sign::attach(&layout, &artifact, key)?;
    }
    let signatures = signature::attached(&layout, artifact.digest).map_err(Failure::of_bundle)?;
    let elsewhere = layout.held_elsewhere(&reference).map_err(Failure::of_bundle)?;
    let freight = Freight { blobs: &layout, elsewhere: &elsewhere };
    let registry = bundle_source::registry(invocation);
    registry.push(freight, &artifact, &reference).await.map_err(Failure::of_bundle)?;
    for signature in &signatures {
        let pushed = registry.push_attached(freight, signature, artifact.digest, &reference).await;
        pushed.map_err(Failure::of_bundle)?;
    }
    drop(registry);
    let mut change = layout.begin();
    let is_tagged = reference.tag.is_some() || reference.digest.is_none();
    change.tag(&artifact, if is_tagged { reference.tagged_name() } else { reference.to_string() });
    change.commit().map_err(Failure::of_bundle)?;
    super::pull::tell(invocation, &reference, &artifact.digest.to_string());
    Ok(())
}
