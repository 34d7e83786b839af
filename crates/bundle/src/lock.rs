//! `stax.lock`: which artifact each reference to a package meant.

use crate::canonical::{KeyOrder, canonical};
use entourage_model::{Digest, Place, Report};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Beside the definition.
pub const LOCK_FILE: &str = "stax.lock";

const VERSION: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    /// By the text of the reference.
    pub packages: BTreeMap<String, Locked>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locked {
    pub digest: Digest,
    /// A person who decides which artifact is meant need not say what it depends on.
    #[serde(default)]
    pub dependencies: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    lock_version: u32,
    spec_version: String,
    packages: BTreeMap<String, Locked>,
}

impl Lock {
    pub fn digest(&self, text: &str) -> Option<Digest> {
        self.packages.get(text).map(|locked| locked.digest)
    }

    pub fn parse(bytes: &[u8]) -> Result<Self, Report> {
        let refuse = |what: String| {
            let report = Report::error("B027", what).at(Place::file(LOCK_FILE));
            report.hint("remove the file; the next build writes it anew")
        };
        let document: Document =
            serde_json::from_slice(bytes).map_err(|fault| refuse(format!("the lock file is malformed: {fault}")))?;
        match document.lock_version {
            VERSION => Ok(Self { packages: document.packages }),
            other => Err(refuse(format!("the lock file is of version {other}, which is not known here"))),
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let document =
            Document { lock_version: VERSION, spec_version: "1.0.0".to_owned(), packages: self.packages.clone() };
        canonical(&serde_json::to_value(document).expect("a lock has only text keys"), KeyOrder::Utf8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_read_as_it_is_written() {
        let locked = Locked { digest: Digest::of(b"a"), dependencies: vec!["h.io/b:1".to_owned()] };
        let lock = Lock { packages: BTreeMap::from([("h.io/a:1".to_owned(), locked)]) };
        assert_eq!(Lock::parse(&lock.to_bytes()), Ok(lock));
        for text in ["", "{}", r#"{"lockVersion":2,"specVersion":"1.0.0","packages":{}}"#] {
            Lock::parse(text.as_bytes()).expect_err(text);
        }
    }
}
