//! Signatures: made by a key that lies in a file, attached to the artifact as a referrer.
//!
//! A signature is an artifact of its own: the config says who signed, when and by which algorithm, the one layer is a
//! DSSE envelope. Other algorithms, as Sigstore's, have their own word in the config and are left alone here.

mod envelope;
mod key;
#[cfg(test)]
mod tests;

pub use key::{PublicKey, SecretKey};

use crate::canonical::{KeyOrder, canonical};
use crate::descriptor::{Annotations, Descriptor};
use crate::fault::{Exit, Fault};
use crate::layout::{Blobs, Change, Layout};
use crate::manifest::{MANIFEST_BYTES_MAX, Manifest};
use crate::media;
use entourage_model::{Digest, Report};
use envelope::{Opened, SPEC_VERSION, Statement};
use serde_json::{Value, json};

/// The type of a signature, as an index lists it.
pub const SIGNATURE: &str = "application/vnd.stax.signature.v1";
const CONFIG: &str = "application/vnd.stax.signature.config.v1+json";
const PAYLOAD: &str = "application/vnd.stax.signature.payload.v1";
const ALGORITHM: &str = "ed25519";
const PART_BYTES_MAX: u64 = 1 << 20;

/// What becomes of an artifact that nobody known has signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// It is as good as any other.
    #[default]
    None,
    Warn,
    /// It is refused.
    Require,
}

impl Policy {
    pub const WORDS: [&str; 3] = ["none", "warn", "require"];

    pub fn of_word(word: &str) -> Option<Self> {
        match word {
            "none" => Some(Self::None),
            "warn" => Some(Self::Warn),
            "require" => Some(Self::Require),
            _ => None,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Warn => "warn",
            Self::Require => "require",
        }
    }
}

/// What one signature is worth to somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// By a known key, over this artifact.
    Good {
        signer: Digest,
        signed_at: String,
    },
    /// By a key, or an algorithm, that is not known here.
    Unknown {
        signer: String,
    },
    Bad {
        reason: String,
    },
}

/// Signs an artifact. The signature is staged, and the index is to name it.
pub fn sign(
    change: &mut Change<'_>,
    artifact: &Descriptor,
    key: &SecretKey,
    signed_at: &str,
) -> Result<Descriptor, Fault> {
    let signer = key.public().id();
    let subject = Descriptor { annotations: Annotations::new(), artifact_type: None, ..artifact.clone() };
    let config = json!({
        "specVersion": SPEC_VERSION, "signer": signer, "signedAt": signed_at, "algorithm": ALGORITHM,
    });
    let statement = Statement {
        spec_version: SPEC_VERSION.to_owned(),
        subject: subject.clone(),
        signer,
        signed_at: signed_at.to_owned(),
    };
    let config = change.put(CONFIG, &canonical(&config, KeyOrder::Utf8))?;
    let payload = change.put(PAYLOAD, &envelope::seal(&statement, key))?;
    let manifest = Manifest { subject: Some(subject), ..Manifest::new(SIGNATURE, config, vec![payload]) };
    let stored = change.put(media::MANIFEST, &manifest.to_bytes())?;
    let signature = Descriptor { artifact_type: Some(SIGNATURE.to_owned()), ..stored };
    change.add(&signature);
    Ok(signature)
}

/// The signatures of an artifact that a layout holds.
pub fn attached(layout: &Layout, artifact: Digest) -> Result<Vec<Descriptor>, Fault> {
    let is_signature = |entry: &Descriptor| entry.artifact_type.as_deref() == Some(SIGNATURE);
    let mut found = Vec::new();
    for entry in layout.index()?.manifests.into_iter().filter(is_signature) {
        // One that cannot be read says nothing about any artifact.
        let Ok(manifest) = read_manifest(layout, &entry) else { continue };
        if manifest.subject.is_some_and(|subject| subject.digest == artifact) {
            found.push(entry);
        }
    }
    Ok(found)
}

/// What a signature says about an artifact to somebody who knows these keys.
pub fn standing(blobs: &dyn Blobs, signature: &Descriptor, artifact: Digest, keys: &[PublicKey]) -> Standing {
    let bad = |reason: &str| Standing::Bad { reason: reason.to_owned() };
    let manifest = match read_manifest(blobs, signature) {
        Ok(manifest) => manifest,
        Err(fault) => return bad(&told(fault)),
    };
    let config: Option<Value> =
        blobs.read(&manifest.config, PART_BYTES_MAX).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    match config.as_ref().and_then(|config| config.get("algorithm")?.as_str()) {
        Some(ALGORITHM) => {}
        Some(other) => return Standing::Unknown { signer: format!("somebody, by `{other}`") },
        None => return bad("it does not say by which algorithm it was made"),
    }
    let [payload] = manifest.layers.as_slice() else { return bad("it has not one payload") };
    let bytes = match blobs.read(payload, PART_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(fault) => return bad(&told(fault)),
    };
    match envelope::open(&bytes, keys) {
        Opened::Signed(statement) if statement.subject.digest == artifact => {
            Standing::Good { signer: statement.signer, signed_at: statement.signed_at }
        }
        Opened::Signed(_) => bad("it is of another artifact"),
        Opened::Stranger(signers) => Standing::Unknown { signer: format!("`{}`", signers.join("`, `")) },
        Opened::Broken(reason) => bad(reason),
    }
}

/// What the policy makes of it: well, a warning, or a refusal. One good signature is enough: anybody may attach others.
pub fn judge(policy: Policy, artifact: Digest, standings: &[Standing]) -> Result<Option<Report>, Fault> {
    let is_good = standings.iter().any(|standing| matches!(standing, Standing::Good { .. }));
    if is_good || policy == Policy::None {
        return Ok(None);
    }
    let reasons: Vec<_> = standings.iter().map(reason).collect();
    let why = if reasons.is_empty() { "it has no signature".to_owned() } else { reasons.join("; ") };
    let what = format!("nobody who is known has signed `{artifact}`: {why}");
    let hint = "name the keys that you trust under `[signatures]` in your settings, or by `--key FILE`";
    match policy {
        Policy::None => Ok(None),
        Policy::Warn => Ok(Some(Report::warning("B050", what).hint(hint))),
        Policy::Require => Err(Fault::new(Exit::Integrity, Report::error("B050", what).hint(hint))),
    }
}

fn reason(standing: &Standing) -> String {
    match standing {
        Standing::Good { signer, .. } => format!("`{signer}` has signed it"),
        Standing::Unknown { signer } => format!("it is signed by {signer}, which is not known here"),
        Standing::Bad { reason } => format!("a signature does not hold: {reason}"),
    }
}

fn read_manifest(blobs: &dyn Blobs, signature: &Descriptor) -> Result<Manifest, Fault> {
    let bytes = blobs.read(signature, MANIFEST_BYTES_MAX)?;
    Manifest::parse(&bytes, signature.digest)
}

fn told(fault: Fault) -> String {
    fault.into_reports().into_iter().map(|report| report.what).collect::<Vec<_>>().join("; ")
}
