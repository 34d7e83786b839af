//! The key that secret variables are stored with, in a file of its own: a copy of the store alone tells nothing of them.

use crate::failure::{Exit, Failure};
use crate::private_file;
use crate::project::Project;
use crate::storage::Storage;
use entourage_model::{Digest, Report};
use entourage_runtime::SealedVault;
use entourage_store::Store;
use std::fmt::Write as _;
use std::io::{self, Read as _};

const NAME: &str = "key";
/// What a shared store keeps of the key, so that nobody joins with another one.
const CHECK: &str = "key_check";

/// The vault of this data folder. Its key is made when the first secret has to be stored.
pub(crate) fn vault(project: &Project) -> SealedVault {
    let (root, data) = (project.root.clone(), project.data.clone());
    SealedVault::lazy(move |make| {
        let key = || {
            let project = Project::open(Some(&root), Some(&data))?;
            if !make && !private_file::exists(&project, NAME) {
                return Ok(None);
            }
            project.make_data_folder()?;
            open(&project).map(Some)
        };
        key().map_err(|failure: Failure| failure.reports.iter().map(|report| report.what.as_str()).collect())
    })
}

/// On a store that many nodes share every node has the same key: what one seals, the others open. The first node
/// makes it, the others are given a copy.
pub(crate) async fn agree(project: &Project, storage: &Storage) -> Result<(), Failure> {
    if !storage.store.is_shared() {
        return Ok(());
    }
    project.make_data_folder()?;
    let is_new = !private_file::exists(project, NAME);
    let (key, store) = (open(project)?, &*storage.store);
    if remember(store, &key).await.map_err(|error| storage.refused(&error))? {
        return Ok(());
    }
    if is_new {
        private_file::remove(project, NAME);
    }
    let what =
        format!("the key in `{}` is not the one that this store's secrets are sealed with", project.data.display());
    let hint =
        "copy the file `key` from the data folder of a node that works on the store, readable by its owner alone";
    Err(Failure::new(Exit::Store, Report::error("S035", what).hint(hint)))
}

/// Lets a copy of this project's store know the key. Without one there are no secrets either.
pub(crate) async fn hand_over(project: &Project, copy: &Storage) -> Result<(), Failure> {
    if !private_file::exists(project, NAME) {
        return Ok(());
    }
    let key = open(project)?;
    remember(&*copy.store, &key).await.map(drop).map_err(|error| copy.refused(&error))
}

/// Returns whether it is the store's key.
async fn remember(store: &dyn Store, key: &[u8]) -> Result<bool, entourage_store::StoreError> {
    let check = Digest::of(&[b"entourage key check ".as_slice(), key].concat()).to_string();
    Ok(store.remember(CHECK, &check).await? == check)
}

fn open(project: &Project) -> Result<[u8; SealedVault::KEY_BYTES], Failure> {
    private_file::open(project, NAME, generate, |text| {
        parse(text.trim()).ok_or_else(|| io::Error::other("it must be one line of 64 hexadecimal digits"))
    })
}

fn generate() -> io::Result<String> {
    let mut key = [0; SealedVault::KEY_BYTES];
    private_file::randomness()?.read_exact(&mut key)?;
    Ok(key.iter().fold(String::new(), |mut text, byte| {
        _ = write!(text, "{byte:02x}");
        text
    }))
}

fn parse(text: &str) -> Option<[u8; SealedVault::KEY_BYTES]> {
    let digits = (text.len() == 2 * SealedVault::KEY_BYTES && text.is_ascii()).then_some(text)?;
    let mut key = [0; SealedVault::KEY_BYTES];
    for (place, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * place..2 * place + 2], 16).ok()?;
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_64_hexadecimal_digits() {
        let made = generate().expect("the system gives random numbers");
        assert!(parse(&made).is_some());
        assert_ne!(generate().ok(), Some(made), "no key is made twice");
        for text in ["", "ab", &"g".repeat(64), &"a".repeat(63), &"\u{e9}".repeat(32)] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
