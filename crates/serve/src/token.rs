//! Who may use the server.

use entourage_model::Secret;
use std::fmt::Write as _;
use std::io;

const RANDOM_BYTES: usize = 32;

/// One key to the server.
#[derive(Clone, Debug)]
pub struct Token {
    value: Secret,
}

impl Token {
    /// Absent: a token has at least 16 characters that a header can hold, and no space.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self { value: Secret::new(text) })
    }

    /// A new one, from the system's randomness.
    pub fn generate(mut random: impl io::Read) -> io::Result<Self> {
        let mut bytes = [0; RANDOM_BYTES];
        random.read_exact(&mut bytes)?;
        let text = bytes.iter().fold(String::new(), |mut text, byte| {
            _ = write!(text, "{byte:02x}");
            text
        });
        Ok(Self { value: Secret::new(text) })
    }

    /// For the file that keeps it.
    pub fn reveal(&self) -> &str {
        self.value.reveal()
    }
}

/// The keys that open this server.
#[derive(Clone, Debug)]
pub struct Tokens(Vec<Token>);

impl Tokens {
    pub fn new(first: Token) -> Self {
        Self(vec![first])
    }

    /// Every token is compared whole, so that the time tells nothing about how much of one was right.
    pub(crate) fn admit(&self, given: &str) -> bool {
        self.0.iter().fold(false, |admitted, token| admitted | equal(token.reveal().as_bytes(), given.as_bytes()))
    }
}

fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && std::hint::black_box(a.iter().zip(b).fold(0, |found, (a, b)| found | (a ^ b))) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_opens() {
        let token = Token::parse("0123456789abcdef\n").unwrap();
        let tokens = Tokens::new(token);
        assert!(tokens.admit("0123456789abcdef"));
        for wrong in ["", "0123456789abcde", "0123456789abcdefg", "0123456789abcdeF"] {
            assert!(!tokens.admit(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_token_is_long_enough_and_fits_into_a_header() {
        for text in ["", "short", "0123456789 abcdef", "0123456789abcdeä"] {
            assert!(Token::parse(text).is_none(), "{text}");
        }
        assert_eq!(Token::generate([7; 64].as_slice()).unwrap().reveal().len(), 64);
        assert_eq!(format!("{:?}", Token::parse("0123456789abcdef")), "Some(Token { value: Secret(…) })");
    }
}
