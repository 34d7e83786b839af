//! Secret variables as they are stored: sealed with a key that lies beside the store, not in it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use entourage_model::{VariableValue, Vault};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};
use std::collections::BTreeMap;

/// Seals and opens with one key. Its `Debug` says nothing of it.
#[derive(Debug)]
pub struct SealedVault {
    key: LessSafeKey,
    random: SystemRandom,
}

impl SealedVault {
    pub const KEY_BYTES: usize = 32;

    pub fn new(key: &[u8; Self::KEY_BYTES]) -> Self {
        let key = UnboundKey::new(&CHACHA20_POLY1305, key).expect("the length is the key's own");
        Self { key: LessSafeKey::new(key), random: SystemRandom::new() }
    }

    /// A key that nobody else has and nobody keeps: what it seals is lost with the process.
    pub fn of_this_process() -> Self {
        let mut key = [0; Self::KEY_BYTES];
        SystemRandom::new().fill(&mut key).expect("the system gives random numbers");
        Self::new(&key)
    }

    /// Seals what is secret; the rest stays as it is.
    pub(crate) fn seal(&self, value: VariableValue) -> VariableValue {
        if !value.is_secret() || value.is_sealed() {
            return value;
        }
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce).expect("the system gives random numbers");
        let mut text = value.reveal().as_bytes().to_vec();
        self.key
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut text)
            .expect("a variable is shorter than what can be sealed");
        VariableValue::sealed(STANDARD.encode([nonce.as_slice(), &text].concat()))
    }

    pub(crate) fn seal_all(&self, values: BTreeMap<String, VariableValue>) -> BTreeMap<String, VariableValue> {
        values.into_iter().map(|(name, value)| (name, self.seal(value))).collect()
    }
}

impl Vault for SealedVault {
    fn open(&self, sealed: &str) -> Option<String> {
        let mut bytes = STANDARD.decode(sealed).ok()?;
        let (nonce, text) = bytes.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let text = self.key.open_in_place(nonce, Aad::empty(), text).ok()?;
        String::from_utf8(text.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_only_with_its_own_key() {
        let (vault, other) = (SealedVault::of_this_process(), SealedVault::of_this_process());
        let sealed = vault.seal(VariableValue::secret("hunter2"));
        assert!(sealed.is_secret() && !sealed.reveal().contains("hunter2"));
        assert_eq!(sealed.open(&vault).as_deref(), Some("hunter2"));
        assert_eq!(sealed.open(&other), None);
        assert_ne!(sealed, vault.seal(VariableValue::secret("hunter2")), "the same value twice looks different");
        assert_eq!(vault.open("c2hvcnQ="), None);
    }

    #[test]
    fn what_is_no_secret_stays_readable() {
        let vault = SealedVault::of_this_process();
        assert_eq!(vault.seal(VariableValue::text("north")), VariableValue::text("north"));
        let sealed = vault.seal(VariableValue::secret("once"));
        assert_eq!(vault.seal(sealed.clone()), sealed, "nothing is sealed twice");
    }
}
