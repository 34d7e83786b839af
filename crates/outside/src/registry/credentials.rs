//! Where credentials come from: our own file, which only its owner can read, then Docker's file and its helpers.
//!
//! Both files have one form, so one reader does. They are looked at when a registry asks who we are, and not before.

use super::credential::Credential;
use super::helper;
use crate::private_file;
use cap_std::fs::Dir;
use serde_json::{Map, Value, json};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

const FILE_BYTES_MAX: u64 = 4 << 20;
/// Under which Docker keeps what it knows of its own registry.
const DOCKER_KEY: &str = "https://index.docker.io/v1/";
const DOCKER_HOSTS: [&str; 3] = ["docker.io", "index.docker.io", "registry-1.docker.io"];

/// The files that may know a credential; an absent one knows none.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// Ours, where `login` writes.
    pub own: Option<PathBuf>,
    /// Docker's `config.json`.
    pub docker: Option<PathBuf>,
}

/// Why nobody can say whether there is a credential.
#[derive(Debug, thiserror::Error)]
pub enum CredentialFault {
    #[error("`{}` cannot be read: {why}", path.display())]
    Unreadable { path: PathBuf, why: String },
    #[error("`{}` cannot be written: {why}", path.display())]
    Unwritable { path: PathBuf, why: String },
    #[error("{0}")]
    Helper(String),
    #[error("there is no folder for credentials: neither `HOME` nor `XDG_CONFIG_HOME` is set")]
    NoFolder,
}

impl Credentials {
    /// What is known about a registry.
    pub async fn find(&self, host: &str) -> Result<Option<Credential>, CredentialFault> {
        if let Some(found) = self.own.as_deref().map(read).transpose()?.and_then(|file| entry_of(&file, host)) {
            return Ok(Some(found));
        }
        let Some(path) = self.docker.as_deref() else { return Ok(None) };
        let file = read(path)?;
        let named = file.get("credHelpers").and_then(|helpers| of_host(helpers, host));
        let helper = named.or_else(|| file.get("credsStore")).and_then(Value::as_str).filter(|name| !name.is_empty());
        if let Some(name) = helper {
            let server = if is_docker(host) { DOCKER_KEY } else { host };
            if let Some(found) = helper::get(name, server).await.map_err(CredentialFault::Helper)? {
                return Ok(Some(found));
            }
        }
        Ok(entry_of(&file, host))
    }

    /// Keeps a credential in our own file. The others in it stay.
    pub fn keep(&self, host: &str, credential: &Credential) -> Result<PathBuf, CredentialFault> {
        let path = self.own.clone().ok_or(CredentialFault::NoFolder)?;
        let mut file = read(&path)?;
        let entries = file.entry("auths").or_insert_with(|| json!({}));
        if !entries.is_object() {
            *entries = json!({});
        }
        entries[host] = credential.entry();
        let text = format!("{:#}\n", Value::Object(file));
        write(&path, &text).map_err(|why| CredentialFault::Unwritable { path: path.clone(), why: why.to_string() })?;
        Ok(path)
    }
}

/// A file that is not there is empty.
fn read(path: &Path) -> Result<Map<String, Value>, CredentialFault> {
    let unreadable = |why: String| CredentialFault::Unreadable { path: path.to_owned(), why };
    let bytes = match bytes(path) {
        Ok(bytes) => bytes,
        Err(fault) if matches!(fault.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Map::new());
        }
        Err(fault) => return Err(unreadable(fault.to_string())),
    };
    // The parser's own words would repeat what it stumbled over.
    serde_json::from_slice(&bytes).map_err(|fault| unreadable(format!("line {} is no JSON", fault.line())))
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let (folder, name) = parts(path)?;
    let folder = Dir::open_ambient_dir(folder, cap_std::ambient_authority())?;
    if !folder.metadata(name)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    folder.open(name)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {} MiB", FILE_BYTES_MAX >> 20)));
    }
    Ok(bytes)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let (folder, name) = parts(path)?;
    let authority = cap_std::ambient_authority();
    Dir::create_ambient_dir_all(folder, authority)?;
    private_file::write(&Dir::open_ambient_dir(folder, authority)?, name, text)
}

fn parts(path: &Path) -> io::Result<(&Path, &str)> {
    let name = path.file_name().and_then(|name| name.to_str());
    path.parent().zip(name).ok_or_else(|| io::Error::other("it names no file"))
}

fn entry_of(file: &Map<String, Value>, host: &str) -> Option<Credential> {
    Credential::of_entry(of_host(file.get("auths")?, host)?)
}

/// What a table says about a host. Docker's own keys may have a scheme and a path.
fn of_host<'a>(table: &'a Value, host: &str) -> Option<&'a Value> {
    let table = table.as_object()?;
    let is_same = |key: &str| bare(key) == host || (is_docker(bare(key)) && is_docker(host));
    table.get(host).or_else(|| table.iter().find(|(key, _)| is_same(key)).map(|(_, value)| value))
}

fn bare(key: &str) -> &str {
    let rest = key.split_once("://").map_or(key, |(_, rest)| rest);
    rest.split_once('/').map_or(rest, |(host, _)| host)
}

fn is_docker(host: &str) -> bool {
    DOCKER_HOSTS.contains(&host)
}

#[cfg(test)]
mod tests;
