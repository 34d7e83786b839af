//! The key that secret variables are stored with, in a file of its own: a copy of the store alone tells nothing of them.

use crate::failure::Failure;
use crate::private_file;
use crate::project::Project;
use entourage_runtime::SealedVault;
use std::fmt::Write as _;
use std::io::{self, Read as _};

const NAME: &str = "key";

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
