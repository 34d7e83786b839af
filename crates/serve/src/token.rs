//! Who may use the server, and what of it.

use entourage_model::Secret;
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

const RANDOM_BYTES: usize = 32;
const USER_BYTES_MAX: usize = 100;
/// Shorter ones are told of: whoever can reach the server could try them all.
const LENGTH_ADVISED: usize = 16;

/// One key to the server.
#[derive(Clone, Debug)]
pub struct Token {
    value: Secret,
    bearer: Bearer,
}

/// Who comes with a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bearer {
    /// Only this user's threads and what belongs to them; everybody's for the owner.
    pub(crate) user: Option<Arc<str>>,
    pub(crate) may_read: bool,
    pub(crate) may_write: bool,
}

impl Bearer {
    const OWNER: Self = Self { user: None, may_read: true, may_write: true };
}

impl Token {
    /// The owner's. Absent: a token has only characters that a header can hold, and no space.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self { value: Secret::new(text), bearer: Bearer::OWNER })
    }

    /// A new one of the owner, from the system's randomness.
    pub fn generate(mut random: impl io::Read) -> io::Result<Self> {
        let mut bytes = [0; RANDOM_BYTES];
        random.read_exact(&mut bytes)?;
        let text = bytes.iter().fold(String::new(), |mut text, byte| {
            _ = write!(text, "{byte:02x}");
            text
        });
        Ok(Self { value: Secret::new(text), bearer: Bearer::OWNER })
    }

    /// For the file that keeps it.
    pub fn reveal(&self) -> &str {
        self.value.reveal()
    }

    /// A line of a token file: `TOKEN [user=NAME] [scopes=read,write]`. What is wrong is said without the token.
    fn of_line(line: &str) -> Result<Self, String> {
        let mut words = line.split_whitespace();
        let token = words.next().and_then(Self::parse);
        let mut token =
            token.ok_or("a token has only letters, digits and signs of ASCII, and is the first word of its line")?;
        for word in words {
            match word.split_once('=') {
                Some(("user", user)) if is_user(user) => token.bearer.user = Some(user.into()),
                Some(("scopes", scopes)) => {
                    let known = |scope: &str| matches!(scope, "read" | "write");
                    if !scopes.split(',').all(known) {
                        return Err("the scopes of a token are `read`, `write` or `read,write`".to_owned());
                    }
                    token.bearer.may_read = scopes.split(',').any(|scope| scope == "read");
                    token.bearer.may_write = scopes.split(',').any(|scope| scope == "write");
                }
                _ => return Err("behind a token stands `user=NAME`, `scopes=read,write` or nothing".to_owned()),
            }
        }
        Ok(token)
    }
}

/// A name that can stand in an id: letters, digits and a few signs.
fn is_user(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@+".contains(&byte);
    !name.is_empty() && name.len() <= USER_BYTES_MAX && name.bytes().all(fits)
}

/// The keys that open this server.
#[derive(Clone, Debug)]
pub struct Tokens(Vec<Token>);

impl Tokens {
    pub fn new(first: Token) -> Self {
        Self(vec![first])
    }

    /// The tokens of a file: one a line; empty lines and those that begin with `#` say nothing.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line.trim()));
        let mut tokens: Vec<Token> = Vec::new();
        for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let token = Token::of_line(line).map_err(|fault| format!("line {number}: {fault}"))?;
            if tokens.iter().any(|other| other.reveal() == token.reveal()) {
                return Err(format!("line {number}: this token is there already"));
            }
            tokens.push(token);
        }
        if tokens.is_empty() { Err("there is no token in it".to_owned()) } else { Ok(Self(tokens)) }
    }

    /// Whether one of them is so short that it could be guessed.
    pub fn has_short(&self) -> bool {
        self.0.iter().any(|token| token.reveal().len() < LENGTH_ADVISED)
    }

    /// The first token that may do everything.
    pub fn owner(&self) -> Option<&Token> {
        self.0.iter().find(|token| token.bearer == Bearer::OWNER)
    }

    /// Who comes with this token. Every token is compared whole, so that the time tells nothing about how much of one
    /// was right.
    pub(crate) fn admit(&self, given: &str) -> Option<&Bearer> {
        let is_given = |token: &&Token| equal(token.reveal().as_bytes(), given.as_bytes());
        self.0.iter().fold(None, |found, token| if is_given(&token) { Some(&token.bearer) } else { found })
    }
}

pub(crate) fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && std::hint::black_box(a.iter().zip(b).fold(0, |found, (a, b)| found | (a ^ b))) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_opens() {
        let token = Token::parse("0123456789abcdef\n").unwrap();
        let tokens = Tokens::new(token);
        assert_eq!(tokens.admit("0123456789abcdef"), Some(&Bearer::OWNER));
        for wrong in ["", "0123456789abcde", "0123456789abcdefg", "0123456789abcdeF"] {
            assert_eq!(tokens.admit(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_token_fits_into_a_header() {
        for text in ["", "0123456789 abcdef", "0123456789abcdeä"] {
            assert!(Token::parse(text).is_none(), "{text}");
        }
        assert_eq!(Token::generate([7; 64].as_slice()).unwrap().reveal().len(), 64);
        assert!(!format!("{:?}", Token::parse("0123456789abcdef")).contains("0123"));
    }

    #[test]
    fn a_file_holds_tokens_of_several_users() {
        let text =
            "# ours\n\nalice-alice-alice user=alice scopes=read\n0123456789abcdef\nbob-bob-bob-bob-bob user=b.b\n";
        let tokens = Tokens::parse(text).unwrap();
        assert_eq!(tokens.owner().unwrap().reveal(), "0123456789abcdef");
        let alice = Bearer { user: Some("alice".into()), may_read: true, may_write: false };
        assert_eq!(tokens.admit("alice-alice-alice"), Some(&alice));
        let bob = Bearer { user: Some("b.b".into()), may_read: true, may_write: true };
        assert_eq!(tokens.admit("bob-bob-bob-bob-bob"), Some(&bob));
        assert!(!tokens.has_short());
        assert!(Tokens::parse("0123456789abcdef\n0123456789abcde user=eve\n").unwrap().has_short());
    }

    #[test]
    fn a_file_at_fault_is_refused_with_its_line_and_without_the_token() {
        for (text, fault) in [
            ("", "there is no token in it"),
            ("# nothing\n", "there is no token in it"),
            ("töken", "line 1: a token has"),
            ("0123456789abcdef user=", "line 1: behind a token"),
            ("0123456789abcdef user=a/b", "line 1: behind a token"),
            ("0123456789abcdef scopes=", "line 1: the scopes"),
            ("0123456789abcdef scopes=read,all", "line 1: the scopes"),
            ("0123456789abcdef\n0123456789abcdef user=eve", "line 2: this token is there already"),
        ] {
            let found = Tokens::parse(text).unwrap_err();
            assert!(found.starts_with(fault) && !found.contains("0123"), "{text}: {found}");
        }
    }
}
