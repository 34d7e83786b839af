//! How a store is opened: what the address says, and what the program adds.

use crate::blob::BlobPlace;
use crate::place::{PlaceAddress, Variables};
use crate::refusal;
use crate::tls::Encryption;
use entourage_store::{Clock, NODE_LIFE, StoreError};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::config::SslMode;

/// Connections that one process opens at most, beside the one that listens.
const POOL: usize = 16;
/// What PostgreSQL carries without pain in one value.
const BLOB_BYTES_MAX: usize = 256 * 1024 * 1024;
const SCHEMA: &str = "entourage";
/// So that a server whose machine has gone is noticed.
const SILENCE: Duration = Duration::from_secs(10);

/// What the program decides about a store, beside its address.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long a node lives from one heartbeat to the next. All processes of a database must agree on it.
    pub node_life: Duration,
    /// What `now` tells instead of an estimate of the database's clock: for tests that move that one by hand.
    pub clock: Option<Clock>,
    /// How long a server that does not answer is waited for: it may just be starting again.
    pub patience: Duration,
    /// Where blobs lie that are longer than `blob_bytes_max`, unless the address says it. Without a place they all lie in
    /// the database.
    pub blobs: Option<Arc<dyn BlobPlace>>,
    pub blob_bytes_max: usize,
    /// What a bucket's credentials and endpoint are read from instead of the process's own variables.
    pub variables: Option<Variables>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            node_life: NODE_LIFE,
            clock: None,
            patience: Duration::from_secs(10),
            blobs: None,
            blob_bytes_max: 1024 * 1024,
            variables: None,
        }
    }
}

/// An address, taken apart.
#[derive(Debug)]
pub(crate) struct Address {
    pub(crate) config: tokio_postgres::Config,
    pub(crate) encryption: Encryption,
    /// Whose tables these are.
    pub(crate) schema: String,
    pub(crate) pool: usize,
    /// Whether sessions last from statement to statement: hints are listened to, and statements are prepared once.
    pub(crate) listen: bool,
    /// Opens a server that may forget what it has acknowledged.
    pub(crate) accept_loss: bool,
    pub(crate) blobs: Option<PlaceAddress>,
    /// The longest blob that lies in the database, if there is another place.
    pub(crate) blob_bytes: Option<usize>,
}

impl Address {
    pub(crate) fn parse(url: &str) -> Result<Self, StoreError> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut schema, mut pool, mut listen, mut accept_loss) = (SCHEMA.to_owned(), POOL, true, false);
        let (mut mode, mut root) = ("prefer".to_owned(), None);
        let (mut blobs, mut blob_bytes) = (None, None);
        let mut rest = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decode(value).ok_or_else(|| refusal::address("it holds a `%` that stands for nothing"))?;
            match name {
                "schema" => schema = checked_schema(value)?,
                "pool" => pool = checked_pool(&value)?,
                "listen" => listen = switch(name, &value)?,
                "accept_loss" => accept_loss = switch(name, &value)?,
                "blobs" => blobs = Some(PlaceAddress::parse(&value)?),
                "blob_bytes" => blob_bytes = Some(checked_bytes(&value)?),
                "sslmode" => mode = value,
                "sslrootcert" => root = Some(PathBuf::from(value)),
                _ => rest.push(pair),
            }
        }
        if blob_bytes.is_some() && blobs.is_none() {
            return Err(refusal::address("`blob_bytes` says which blobs lie outside, and there is no `blobs=…`"));
        }
        let url = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
        let mut config: tokio_postgres::Config =
            url.parse().map_err(|fault: tokio_postgres::Error| refusal::address(&cause(&fault)))?;
        let (ssl, encryption) = Encryption::parse(&mode, root)?;
        set_up(&mut config, ssl);
        Ok(Self { config, encryption, schema, pool, listen, accept_loss, blobs, blob_bytes })
    }
}

fn set_up(config: &mut tokio_postgres::Config, ssl: SslMode) {
    config.ssl_mode(ssl);
    config.keepalives_idle(SILENCE).keepalives_interval(SILENCE / 5).keepalives_retries(3);
    config.tcp_user_timeout(SILENCE);
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(SILENCE / 2);
    }
    if config.get_application_name().is_none() {
        config.application_name("entourage");
    }
}

/// A schema's name is written into statements: nothing but letters, digits and `_`.
fn checked_schema(name: String) -> Result<String, StoreError> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let starts = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    if starts && name.len() <= 63 && name.bytes().all(plain) && !name.starts_with("pg_") {
        return Ok(name);
    }
    Err(refusal::address("`schema` is a name of small letters, digits and `_`"))
}

fn checked_pool(number: &str) -> Result<usize, StoreError> {
    let number = number.parse().ok().filter(|number| (2..=1000).contains(number));
    number.ok_or_else(|| refusal::address("`pool` is a number of connections from 2 to 1000"))
}

fn checked_bytes(number: &str) -> Result<usize, StoreError> {
    let number = number.parse().ok().filter(|number| *number <= BLOB_BYTES_MAX);
    number.ok_or_else(|| refusal::address(&format!("`blob_bytes` is a number of bytes up to {BLOB_BYTES_MAX}")))
}

fn switch(name: &str, value: &str) -> Result<bool, StoreError> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(refusal::address(&format!("`{name}` is `on` or `off`"))),
    }
}

/// Percent signs, as in the rest of an address.
fn decode(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let pair = [rest.next()?, rest.next()?];
        bytes.push(u8::from_str_radix(std::str::from_utf8(&pair).ok()?, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

fn cause(fault: &tokio_postgres::Error) -> String {
    std::error::Error::source(fault).map_or_else(|| fault.to_string(), ToString::to_string)
}

/// The address as people may read it: without its password.
pub fn place(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "postgres".to_owned() };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    match rest.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{host}")
        }
        None => format!("{scheme}://{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_holds_no_password() {
        let cases = [
            ("postgres://ann:s%40cret@db:5432/work?sslmode=require", "postgres://ann@db:5432/work"),
            ("postgres://ann:se@cret@db/work", "postgres://ann@db/work"),
            ("postgres://db/work?password=secret", "postgres://db/work"),
            ("postgres://ann@db/work?blobs=s3://key:secret@bucket", "postgres://ann@db/work"),
            ("postgres:db", "postgres"),
        ];
        for (url, shown) in cases {
            assert_eq!(place(url), shown);
        }
    }

    #[test]
    fn an_address_says_what_it_is_for() {
        let address = Address::parse("postgres://ann@db/work?listen=off&pool=4&schema=mine&accept_loss=on&port=7")
            .expect("it can be read");
        assert_eq!(
            (address.schema.as_str(), address.pool, address.listen, address.accept_loss),
            ("mine", 4, false, true)
        );
        assert_eq!((address.config.get_user(), address.config.get_dbname()), (Some("ann"), Some("work")));
    }

    #[test]
    fn a_wrong_address_is_refused_by_name() {
        let cases =
            ["schema=a.b", "schema=1", "schema=", "pool=1", "pool=x", "listen=yes", "accept_loss=1", "strange=1"];
        let more = ["sslmode=verify-ca", "schema=%zz", "blob_bytes=1", "blobs=file:///a&blob_bytes=many"];
        for query in cases.into_iter().chain(more) {
            let refused = Address::parse(&format!("postgres://db/work?{query}")).expect_err(query);
            assert!(matches!(&refused, StoreError::Refused(report) if report.code.0 == "S025"), "{query}: {refused:?}");
        }
    }
}
