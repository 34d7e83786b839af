//! What proves to a registry who asks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use entourage_model::Secret;
use serde_json::{Value, json};

/// What credential helpers call a user that is none: the secret is an identity token.
const TOKEN_USER: &str = "<token>";

#[derive(Clone, Debug)]
pub enum Credential {
    Password {
        username: String,
        password: Secret,
    },
    /// Exchanged for a token wherever one is asked for.
    IdentityToken(Secret),
}

impl Credential {
    /// As a helper answers: `<token>` in place of a user says what the secret is.
    pub(super) fn of_helper(username: &str, secret: &str) -> Self {
        if username == TOKEN_USER {
            return Self::IdentityToken(Secret::new(secret));
        }
        Self::Password { username: username.to_owned(), password: Secret::new(secret) }
    }

    /// An entry below `auths` of Docker's file. Absent: the entry only says that a helper knows.
    pub(super) fn of_entry(entry: &Value) -> Option<Self> {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(token) = text("identitytoken") {
            return Some(Self::IdentityToken(Secret::new(token)));
        }
        if let (Some(username), Some(password)) = (text("username"), text("password")) {
            return Some(Self::Password { username: username.to_owned(), password: Secret::new(password) });
        }
        let both = STANDARD.decode(text("auth")?.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok())?;
        let (username, password) = both.split_once(':')?;
        // Docker fills the field up with zero bytes.
        let password = Secret::new(password.trim_end_matches('\0'));
        Some(Self::Password { username: username.to_owned(), password })
    }

    /// The entry that `of_entry` reads.
    pub(super) fn entry(&self) -> Value {
        match self {
            Self::Password { username, password } => {
                json!({ "auth": STANDARD.encode(format!("{username}:{}", password.reveal())) })
            }
            Self::IdentityToken(token) => json!({ "identitytoken": token.reveal() }),
        }
    }

    /// The value of an `Authorization` header. Absent: an identity token is no password.
    pub(super) fn basic(&self) -> Option<String> {
        match self {
            Self::Password { username, password } => {
                Some(format!("Basic {}", STANDARD.encode(format!("{username}:{}", password.reveal()))))
            }
            Self::IdentityToken(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(credential: Option<Credential>) -> String {
        match credential {
            None => "none".to_owned(),
            Some(Credential::Password { username, password }) => format!("{username}/{}", password.reveal()),
            Some(Credential::IdentityToken(token)) => format!("token {}", token.reveal()),
        }
    }

    #[test]
    fn an_entry_is_read_in_every_form_that_docker_writes() {
        let cases = [
            (json!({ "auth": "YWxpY2U6b3BlbjpzZXNhbWU=" }), "alice/open:sesame"),
            (json!({ "auth": "YWxpY2U6b3BlbgAA" }), "alice/open"),
            (json!({ "username": "alice", "password": "open" }), "alice/open"),
            (json!({ "auth": "YTpi", "identitytoken": "long" }), "token long"),
            (json!({}), "none"),
            (json!({ "auth": "" }), "none"),
            (json!({ "auth": "%%%" }), "none"),
            (json!({ "auth": "YWxpY2U=" }), "none"),
        ];
        for (entry, expected) in cases {
            assert_eq!(shown(Credential::of_entry(&entry)), expected, "{entry}");
        }
    }

    #[test]
    fn an_entry_is_read_as_it_is_written() {
        for credential in [Credential::of_helper("alice", "a:b"), Credential::of_helper("<token>", "long")] {
            assert_eq!(shown(Credential::of_entry(&credential.entry())), shown(Some(credential)));
        }
    }

    #[test]
    fn nothing_secret_is_shown_by_mistake() {
        let credential = Credential::of_helper("alice", "open-sesame");
        assert!(!format!("{credential:?}").contains("open-sesame"));
    }
}
