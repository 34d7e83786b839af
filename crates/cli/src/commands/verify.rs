//! `entourage verify`: whether every byte of an artifact is what its digests say.

use crate::bundle_source;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::packing::{descriptor_json, heading};
use crate::signatures::Trusted;
use clap::Args;
use entourage_bundle::signature::{self, Policy, Standing};
use entourage_bundle::{Bundle, Fault, Layout, Target};
use entourage_model::Digest;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage verify                                   the latest build
  entourage verify registry.example.com/team/agent:1.0.0

  entourage verify --policy require --key team.key.pub

Exits 6 if a digest, a size, a document or an archive is not what it must be, or nobody known has signed it where the
policy requires it. Whoever gives a policy or a key has the registry of REF asked for signatures that were attached
since. `entourage sign --help` tells of keys and policies.")]
pub(crate) struct Arguments {
    /// A reference or a digest [default: the latest build]
    #[arg(value_name = "REF")]
    reference: Option<String>,
    /// What becomes of an artifact that no known key has signed: none, warn or require [default: as the settings say]
    #[arg(long, value_name = "POLICY", value_parser = policy_named)]
    policy: Option<Policy>,
    /// A public key to believe, beside those of the settings; may be repeated
    #[arg(long = "key", value_name = "FILE")]
    keys: Vec<PathBuf>,
}

fn policy_named(word: &str) -> Result<Policy, String> {
    Policy::of_word(word).ok_or_else(|| format!("the policies are {}", Policy::WORDS.join(", ")))
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let target = Target::parse(arguments.reference.as_deref()).map_err(Failure::of_bundle)?;
    let (layout, found) = bundle_source::find(invocation, &target).await?;
    let bytes_max = invocation.settings.limits.artifact_bytes;
    let bundle = Bundle::open(&layout, found.digest, bytes_max).map_err(Failure::of_bundle)?;
    let signatures = signed(invocation, &arguments, &target, (&layout, bundle.digest)).await;
    let signatures = signatures.map_err(Failure::of_bundle)?;
    if invocation.is_json() {
        invocation.screen.json(&json!({
            "signatures": signatures.iter().map(standing_json).collect::<Vec<_>>(),
            "reference": arguments.reference,
            "digest": bundle.digest,
            "name": bundle.name,
            "version": bundle.version,
            "config": descriptor_json(&bundle.manifest.config),
            "layers": bundle.manifest.layers.iter().map(descriptor_json).collect::<Vec<_>>(),
            "warnings": bundle.doubts(),
        }));
    } else {
        let count = bundle.manifest.layers.len();
        let layers = if count == 1 { "1 layer is".to_owned() } else { format!("{count} layers are") };
        invocation.screen.data(&format!("{}\nmanifest, config and {layers} as their digests say", heading(&bundle)));
        signatures.iter().for_each(|standing| invocation.screen.data(&standing_words(standing)));
        bundle.doubts().iter().for_each(|report| invocation.screen.report(report));
    }
    Ok(())
}

/// What every signature of the artifact is worth, those in its registry included; a fault if the policy wants more.
async fn signed(
    invocation: &Invocation,
    arguments: &Arguments,
    target: &Target,
    (layout, artifact): (&Layout, Digest),
) -> Result<Vec<Standing>, Fault> {
    let trusted = Trusted::with(invocation, arguments.policy, &arguments.keys)?;
    if let Target::Reference(reference) = target
        && trusted.asks()
    {
        bundle_source::fetch_signatures(invocation, layout, reference, artifact).await?;
    }
    trusted.check(invocation, layout, &signature::attached(layout, artifact)?, artifact)
}

fn standing_json(standing: &Standing) -> Value {
    match standing {
        Standing::Good { signer, signed_at } => json!({ "standing": "good", "signer": signer, "signed_at": signed_at }),
        Standing::Unknown { signer } => json!({ "standing": "unknown", "signer": signer }),
        Standing::Bad { reason } => json!({ "standing": "bad", "reason": reason }),
    }
}

fn standing_words(standing: &Standing) -> String {
    match standing {
        Standing::Good { signer, signed_at } => format!("signed by `{signer}` at {signed_at}"),
        Standing::Unknown { signer } => format!("signed by {signer}, which is not known here"),
        Standing::Bad { reason } => format!("a signature does not hold: {reason}"),
    }
}
