//! What variables hold, for one thread and for many.

use crate::Secret;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// What a variable of a thread holds. It is stored with the thread and never shown: its `Debug` says nothing.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariableValue {
    value: String,
    /// Never in anything that a model sees.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    secret: bool,
    /// `value` can be read only with the key of the vault that sealed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    sealed: bool,
    /// It was given for the thread and for everything that the thread can start: what is scoped there finds it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    granted: bool,
}

/// Reads what was sealed before it was stored.
pub trait Vault: fmt::Debug + Send + Sync {
    /// Nothing for a text that this vault did not seal.
    fn open(&self, sealed: &str) -> Option<String>;
}

impl VariableValue {
    pub fn text(value: impl Into<String>) -> Self {
        Self { value: value.into(), secret: false, sealed: false, granted: false }
    }

    pub fn secret(value: impl Into<String>) -> Self {
        Self { value: value.into(), secret: true, sealed: false, granted: false }
    }

    /// A secret as it is stored.
    pub fn sealed(value: impl Into<String>) -> Self {
        Self { value: value.into(), secret: true, sealed: true, granted: false }
    }

    /// The same, for a thread with all that it can start.
    #[must_use]
    pub fn granted(self) -> Self {
        Self { granted: true, ..self }
    }

    pub fn is_granted(&self) -> bool {
        self.granted
    }

    pub fn is_secret(&self) -> bool {
        self.secret
    }

    pub fn is_sealed(&self) -> bool {
        self.sealed
    }

    /// The value as it is kept: of a sealed one nothing can be read. Each caller is a place to review.
    pub fn reveal(&self) -> &str {
        &self.value
    }

    /// The value itself; nothing for one that another vault sealed. Each caller is a place to review.
    pub fn open(&self, vault: &dyn Vault) -> Option<Cow<'_, str>> {
        if self.sealed { vault.open(&self.value).map(Cow::Owned) } else { Some(Cow::Borrowed(&self.value)) }
    }
}

impl fmt::Debug for VariableValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.secret { "secret(…)" } else { "text(…)" })
    }
}

/// The variables that hold beyond one thread, as settings give them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// For everybody.
    pub instance: BTreeMap<String, Secret>,
    /// For the threads of one user, before those for everybody.
    pub users: BTreeMap<String, BTreeMap<String, Secret>>,
}

impl Variables {
    /// What `name` holds for a thread of this user.
    pub fn find(&self, user: Option<&str>, name: &str) -> Option<&Secret> {
        let own = user.and_then(|user| self.users.get(user)?.get(name));
        own.or_else(|| self.instance.get(name))
    }

    /// Every name that holds something for a thread of this user.
    pub fn names(&self, user: Option<&str>) -> impl Iterator<Item = &str> {
        let own = user.and_then(|user| self.users.get(user)).into_iter().flat_map(BTreeMap::keys);
        own.chain(self.instance.keys()).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_ever_printed() {
        let held = [VariableValue::text("hunter2"), VariableValue::secret("hunter2")];
        let instance = BTreeMap::from([("A".to_owned(), Secret::new("hunter2"))]);
        let users = BTreeMap::from([("alice".to_owned(), instance.clone())]);
        let printed = format!("{held:?} {:?}", Variables { instance, users });
        assert!(!printed.contains("hunter2"), "{printed}");
    }

    #[test]
    fn a_user_goes_before_everybody() {
        let one = |value: &str| BTreeMap::from([("REGION".to_owned(), Secret::new(value))]);
        let users = BTreeMap::from([("alice".to_owned(), one("south"))]);
        let variables = Variables { instance: one("north"), users };
        for (user, expected) in [(None, "north"), (Some("bob"), "north"), (Some("alice"), "south")] {
            assert_eq!(variables.find(user, "REGION").map(Secret::reveal), Some(expected));
        }
        assert_eq!(variables.find(Some("alice"), "OTHER"), None);
    }
}
