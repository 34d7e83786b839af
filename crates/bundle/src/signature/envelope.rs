//! What is signed, and the envelope that it travels in: DSSE, which Sigstore uses as well.

use super::key::{PublicKey, SecretKey};
use crate::canonical::{KeyOrder, canonical};
use crate::descriptor::Descriptor;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use entourage_model::Digest;
use serde::{Deserialize, Serialize};
use serde_json::json;

const STATEMENT_TYPE: &str = "application/vnd.stax.signature.statement.v1+json";
pub(super) const SPEC_VERSION: &str = "1.0.0";

/// What a signer says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Statement {
    pub(super) spec_version: String,
    /// The manifest that is meant.
    pub(super) subject: Descriptor,
    /// The id of the key.
    pub(super) signer: Digest,
    /// RFC 3339.
    pub(super) signed_at: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    payload_type: String,
    payload: String,
    signatures: Vec<Sealed>,
}

#[derive(Deserialize)]
struct Sealed {
    #[serde(default)]
    keyid: String,
    sig: String,
}

/// What an envelope comes to, for somebody who knows these keys.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// Signed by a known key.
    Signed(Statement),
    /// Nobody knows the keys.
    Stranger(Vec<String>),
    Broken(&'static str),
}

pub(super) fn seal(statement: &Statement, key: &SecretKey) -> Vec<u8> {
    let value = serde_json::to_value(statement).expect("a statement has only text keys");
    let payload = canonical(&value, KeyOrder::Utf8);
    let signature = key.sign(&authenticated(STATEMENT_TYPE, &payload));
    let envelope = json!({
        "payloadType": STATEMENT_TYPE,
        "payload": STANDARD.encode(&payload),
        "signatures": [{ "keyid": statement.signer, "sig": STANDARD.encode(signature) }],
    });
    canonical(&envelope, KeyOrder::Utf8)
}

/// Nothing of the statement is looked at before its signature holds.
pub(super) fn open(bytes: &[u8], keys: &[PublicKey]) -> Opened {
    let Ok(envelope) = serde_json::from_slice::<Envelope>(bytes) else { return Opened::Broken("it is no envelope") };
    let Ok(payload) = STANDARD.decode(&envelope.payload) else { return Opened::Broken("its payload is no Base64") };
    let message = authenticated(&envelope.payload_type, &payload);
    let mut is_forged = false;
    for sealed in &envelope.signatures {
        let Some(key) = keys.iter().find(|key| key.id().to_string() == sealed.keyid) else { continue };
        let signature = STANDARD.decode(&sealed.sig).unwrap_or_default();
        if !key.has_signed(&message, &signature) {
            is_forged = true;
            continue;
        }
        if envelope.payload_type != STATEMENT_TYPE {
            return Opened::Broken("it signs something of another type");
        }
        return match serde_json::from_slice::<Statement>(&payload) {
            Ok(statement) if statement.signer == key.id() => Opened::Signed(statement),
            Ok(_) => Opened::Broken("its statement names another key"),
            Err(_) => Opened::Broken("its statement cannot be read"),
        };
    }
    if is_forged {
        return Opened::Broken("it was not made by the key that it names");
    }
    Opened::Stranger(envelope.signatures.into_iter().map(|sealed| sealed.keyid).collect())
}

/// DSSE's encoding of what is signed: type and payload cannot be confused.
fn authenticated(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}
