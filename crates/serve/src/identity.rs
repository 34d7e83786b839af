//! How a server shows that it is the one that a file names, before anybody trusts it with a token.
//!
//! A killed server leaves its address behind, and the port may be somebody else's by now. Whoever wants to use it sends
//! a number that was never sent before; only who knows the key of the file can answer it.

use crate::token::{Token, equal};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::io;

/// Of a number as text.
const NONCE_BYTES: std::ops::RangeInclusive<usize> = 32..=128;

/// A key that one start of a server shares with the readers of its file.
#[derive(Clone, Debug)]
pub struct Identity(Token);

impl Identity {
    pub fn generate(random: impl io::Read) -> io::Result<Self> {
        Token::generate(random).map(Self)
    }

    /// What a file kept.
    pub fn parse(text: &str) -> Option<Self> {
        Token::parse(text).map(Self)
    }

    /// For the file that keeps it.
    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }

    /// The answer to a number; nothing for what is too short to be new.
    pub(crate) fn proof(&self, nonce: &str) -> Option<String> {
        let fits = NONCE_BYTES.contains(&nonce.len()) && nonce.bytes().all(|byte| byte.is_ascii_hexdigit());
        let digest = || Sha256::digest([self.reveal().as_bytes(), b"\n", nonce.as_bytes()].concat());
        fits.then(|| {
            digest().iter().fold(String::new(), |mut text, byte| {
                _ = write!(text, "{byte:02x}");
                text
            })
        })
    }

    /// Whether this is the answer that only the server of this file can give.
    pub fn is_proven(&self, nonce: &str, answer: &str) -> bool {
        self.proof(nonce).is_some_and(|proof| equal(proof.as_bytes(), answer.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_key_answers_and_only_the_number_that_was_asked() {
        let (ours, other) = ([1; 32], [2; 32]);
        let key = |bytes: [u8; 32]| Identity::generate(bytes.as_slice()).unwrap();
        let (nonce, later) = ("a".repeat(64), "b".repeat(64));
        let answer = key(ours).proof(&nonce).unwrap();
        assert!(key(ours).is_proven(&nonce, &answer));
        assert!(!key(ours).is_proven(&later, &answer) && !key(other).is_proven(&nonce, &answer));
        for odd in ["", "a", &"a".repeat(129), &"ä".repeat(32), &" ".repeat(64)] {
            assert!(key(ours).proof(odd).is_none() && !key(ours).is_proven(odd, ""), "{odd}");
        }
    }
}
