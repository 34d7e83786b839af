//! Secret variables as they are stored: sealed with a key that lies beside the store, not in it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use entourage_model::{VariableValue, Vault};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What gives the key: `true` makes one where there is none.
type Source = Box<dyn Fn(bool) -> Result<Option<[u8; SealedVault::KEY_BYTES]>, String> + Send + Sync>;

/// Seals and opens with one key, which is asked for when it is first needed. Its `Debug` says nothing of it.
pub struct SealedVault {
    source: Source,
    keys: OnceLock<Keys>,
    /// Held while the key is asked for, so that nobody seals with another one than is kept.
    asking: Mutex<()>,
    random: SystemRandom,
}

/// What one key is used for, each with a key of its own.
struct Keys {
    seal: LessSafeKey,
    mark: hmac::Key,
}

impl Keys {
    fn new(bytes: &[u8; SealedVault::KEY_BYTES]) -> Self {
        let key = UnboundKey::new(&CHACHA20_POLY1305, bytes).expect("the length is the key's own");
        let derived = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, bytes), b"fingerprints of given variables");
        Self { seal: LessSafeKey::new(key), mark: hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref()) }
    }
}

impl fmt::Debug for SealedVault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealedVault")
    }
}

impl SealedVault {
    pub const KEY_BYTES: usize = 32;

    pub fn new(key: [u8; Self::KEY_BYTES]) -> Self {
        Self::lazy(move |_| Ok(Some(key)))
    }

    /// A vault whose key may not be there yet. It is made when the first secret is sealed.
    pub fn lazy(
        source: impl Fn(bool) -> Result<Option<[u8; Self::KEY_BYTES]>, String> + Send + Sync + 'static,
    ) -> Self {
        Self { source: Box::new(source), keys: OnceLock::new(), asking: Mutex::default(), random: SystemRandom::new() }
    }

    /// A key that nobody else has and nobody keeps: what it seals is lost with the process.
    pub fn of_this_process() -> Self {
        let mut key = [0; Self::KEY_BYTES];
        SystemRandom::new().fill(&mut key).expect("the system gives random numbers");
        Self::new(key)
    }

    fn keys(&self, make: bool) -> Result<Option<&Keys>, String> {
        if let Some(keys) = self.keys.get() {
            return Ok(Some(keys));
        }
        let _asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        if self.keys.get().is_none() {
            let Some(bytes) = (self.source)(make)? else { return Ok(None) };
            _ = self.keys.set(Keys::new(&bytes));
        }
        Ok(self.keys.get())
    }

    fn some_keys(&self) -> Result<&Keys, String> {
        self.keys(true)?.ok_or_else(|| "there is no key to seal secrets with".to_owned())
    }

    /// The same for the same bytes. Without the key nobody can try out what they were.
    pub(crate) fn fingerprint(&self, bytes: &[u8]) -> Result<String, String> {
        Ok(STANDARD.encode(hmac::sign(&self.some_keys()?.mark, bytes)))
    }

    /// Seals what is secret; the rest stays as it is. Fails where there can be no key: no secret is stored then.
    pub(crate) fn seal(&self, value: VariableValue) -> Result<VariableValue, String> {
        if !value.is_secret() || value.is_sealed() {
            return Ok(value);
        }
        let key = &self.some_keys()?.seal;
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce).expect("the system gives random numbers");
        let mut text = value.reveal().as_bytes().to_vec();
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut text)
            .expect("a variable is shorter than what can be sealed");
        let sealed = VariableValue::sealed(STANDARD.encode([nonce.as_slice(), &text].concat()));
        Ok(if value.is_granted() { sealed.granted() } else { sealed })
    }

    pub(crate) fn seal_all(
        &self,
        values: BTreeMap<String, VariableValue>,
    ) -> Result<BTreeMap<String, VariableValue>, String> {
        values.into_iter().map(|(name, value)| Ok((name, self.seal(value)?))).collect()
    }
}

impl Vault for SealedVault {
    fn open(&self, sealed: &str) -> Option<String> {
        let key = &self.keys(false).ok().flatten()?.seal;
        let mut bytes = STANDARD.decode(sealed).ok()?;
        let (nonce, text) = bytes.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let text = key.open_in_place(nonce, Aad::empty(), text).ok()?;
        String::from_utf8(text.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_only_with_its_own_key() {
        let (vault, other) = (SealedVault::of_this_process(), SealedVault::of_this_process());
        let sealed = vault.seal(VariableValue::secret("hunter2")).expect("it has a key");
        assert!(sealed.is_secret() && !sealed.reveal().contains("hunter2"));
        assert_eq!(sealed.open(&vault).as_deref(), Some("hunter2"));
        assert_eq!(sealed.open(&other), None);
        assert_ne!(Ok(sealed), vault.seal(VariableValue::secret("hunter2")), "the same value twice looks different");
        assert_eq!(vault.open("c2hvcnQ="), None);
        let granted = vault.seal(VariableValue::secret("hunter2").granted()).expect("it has a key");
        assert!(granted.is_sealed() && granted.is_granted());
    }

    #[test]
    fn a_fingerprint_is_the_same_for_the_same_bytes_and_the_same_key() {
        let (vault, other) = (SealedVault::of_this_process(), SealedVault::of_this_process());
        assert_eq!(vault.fingerprint(b"hunter2"), vault.fingerprint(b"hunter2"));
        assert_ne!(vault.fingerprint(b"hunter2"), vault.fingerprint(b"hunter3"));
        assert_ne!(vault.fingerprint(b"hunter2"), other.fingerprint(b"hunter2"));
    }

    #[test]
    fn of_many_who_seal_first_in_one_instant_all_have_one_key() {
        let count = std::sync::atomic::AtomicU8::new(0);
        let vault = SealedVault::lazy(move |_| {
            let byte = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            std::thread::yield_now();
            Ok(Some([byte; SealedVault::KEY_BYTES]))
        });
        let seal = || vault.seal(VariableValue::secret("hunter2")).expect("it has a key");
        let sealed: Vec<_> = std::thread::scope(|scope| {
            let sealers: Vec<_> = (0..8).map(|_| scope.spawn(seal)).collect();
            sealers.into_iter().map(|sealer| sealer.join().expect("it seals")).collect()
        });
        assert!(sealed.iter().all(|value| value.open(&vault).as_deref() == Some("hunter2")));
        assert!(SealedVault::new([0; SealedVault::KEY_BYTES]).open(sealed[7].reveal()).is_some(), "asked for once");
    }

    #[test]
    fn what_is_no_secret_stays_readable() {
        let vault = SealedVault::of_this_process();
        assert_eq!(vault.seal(VariableValue::text("north")), Ok(VariableValue::text("north")));
        let sealed = vault.seal(VariableValue::secret("once")).expect("it has a key");
        assert_eq!(vault.seal(sealed.clone()), Ok(sealed), "nothing is sealed twice");
    }

    #[test]
    fn a_key_is_made_for_the_first_secret_and_not_for_reading() {
        let vault = SealedVault::lazy(|make| Ok(make.then_some([7; SealedVault::KEY_BYTES])));
        assert_eq!(vault.open("c2hvcnQ="), None);
        let sealed = vault.seal(VariableValue::secret("now")).expect("a key is made");
        assert_eq!(sealed.open(&vault).as_deref(), Some("now"));
        let keyless = SealedVault::lazy(|_| Err("no room".to_owned()));
        assert_eq!(keyless.seal(VariableValue::secret("never")), Err("no room".to_owned()));
    }
}
