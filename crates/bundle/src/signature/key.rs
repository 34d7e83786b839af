//! Keys: two small files in the forms that every other tool reads and writes.

use ed25519_dalek::pkcs8::KeypairBytes;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use entourage_model::Digest;
use std::fmt;

/// What signs. It is shown to nobody.
pub struct SecretKey(SigningKey);

/// What a signature is checked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl SecretKey {
    /// From 32 bytes that nobody can guess.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// PKCS #8 in PEM, as `openssl genpkey -algorithm ed25519` writes it. Absent: the text is no such key.
    pub fn parse(text: &str) -> Option<Self> {
        SigningKey::from_pkcs8_pem(text.trim()).ok().map(Self)
    }

    /// The text that [`Self::parse`] reads. The public half is left out: older tools stumble over it.
    pub fn to_pem(&self) -> String {
        let bytes = KeypairBytes { secret_key: self.0.to_bytes(), public_key: None };
        let pem = bytes.to_pkcs8_pem(LineEnding::LF).expect("a key of 32 bytes can be written");
        String::clone(&pem)
    }

    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    pub(super) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey(of {})", self.public().id())
    }
}

impl PublicKey {
    /// SPKI in PEM, as `openssl pkey -pubout` writes it. Absent: the text is no such key.
    pub fn parse(text: &str) -> Option<Self> {
        let key = VerifyingKey::from_public_key_pem(text.trim()).ok()?;
        // Anything is signed by such a key.
        (!key.is_weak()).then_some(Self(key))
    }

    pub fn to_pem(&self) -> String {
        self.0.to_public_key_pem(LineEnding::LF).expect("a key of 32 bytes can be written")
    }

    /// What a signature names its key by.
    pub fn id(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }

    pub(super) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let Ok(signature) = Signature::from_slice(signature) else { return false };
        self.0.verify_strict(message, &signature).is_ok()
    }
}
