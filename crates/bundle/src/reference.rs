//! The name of an artifact: `host[:port]/repository[:tag][@digest]`.

use crate::fault::Fault;
use entourage_model::Digest;
use std::fmt;
use std::str::FromStr;

/// What is meant where no tag is said.
pub const LATEST: &str = "latest";

const TAG_CHARS_MAX: usize = 128;
const REPOSITORY_CHARS_MAX: usize = 255;

/// An artifact in a registry. A digest wins over a tag.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    /// With its port, if one was said.
    pub host: String,
    pub repository: String,
    /// Absent: [`LATEST`], unless there is a digest.
    pub tag: Option<String>,
    pub digest: Option<Digest>,
}

impl Reference {
    /// What the registry is asked for.
    pub fn wanted(&self) -> String {
        match &self.digest {
            Some(digest) => digest.to_string(),
            None => self.tag().to_owned(),
        }
    }

    pub fn tag(&self) -> &str {
        self.tag.as_deref().unwrap_or(LATEST)
    }

    /// The host without its port.
    pub fn host_name(&self) -> &str {
        match self.host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => &self.host,
        }
    }

    /// Whether the host is this machine, where plain HTTP is safe.
    pub fn is_loopback(&self) -> bool {
        ["127.0.0.1", "[::1]", "localhost"].contains(&self.host_name())
    }

    /// The name under which the layout knows it: the tag is always said, a digest never.
    pub fn tagged_name(&self) -> String {
        format!("{}/{}:{}", self.host, self.repository, self.tag())
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.host, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

impl FromStr for Reference {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        parse(text).map_err(|reason| Fault::BadReference { text: text.to_owned(), reason })
    }
}

fn parse(text: &str) -> Result<Reference, &'static str> {
    let (name, digest) = match text.split_once('@') {
        Some((name, digest)) => {
            let digest = digest.parse().map_err(|_| "a digest is `sha256:` and 64 hexadecimal digits in lower case")?;
            (name, Some(digest))
        }
        None => (text, None),
    };
    let (host, path) = name.split_once('/').ok_or("it begins with a host and a `/`")?;
    check_host(host)?;
    let (repository, tag) = match path.split_once(':') {
        Some((repository, tag)) => (repository, Some(tag)),
        None => (path, None),
    };
    check_repository(repository)?;
    tag.map_or(Ok(()), check_tag)?;
    Ok(Reference { host: host.to_owned(), repository: repository.to_owned(), tag: tag.map(str::to_owned), digest })
}

/// A name with a dot or a port, `localhost`, or an address; else the first part would be taken for a repository of
/// some default registry, which we do not have.
fn check_host(host: &str) -> Result<(), &'static str> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']').ok_or("the address has no `]`")?;
            address.parse::<std::net::Ipv6Addr>().map_err(|_| "this is no IPv6 address")?;
            (None, port.strip_prefix(':').or((!port.is_empty()).then_some("")))
        }
        None => match host.split_once(':') {
            Some((name, port)) => (Some(name), Some(port)),
            None => (Some(host), None),
        },
    };
    if port.is_some_and(|port| port.is_empty() || port.len() > 5 || port.parse::<u16>().is_err()) {
        return Err("a port is a number up to 65535");
    }
    let Some(name) = name else { return Ok(()) };
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    match name.split('.').all(is_label) {
        false => Err("a host has letters, digits, dots and inner hyphens"),
        true if name.contains('.') || port.is_some() || name == "localhost" => Ok(()),
        true => Err("it begins with a host: a name with a dot or a port, or `localhost`"),
    }
}

/// Parts of lower-case letters and digits; between these `.`, `_`, `__` or any number of `-`.
fn check_repository(repository: &str) -> Result<(), &'static str> {
    if repository.is_empty() {
        return Err("it has no repository");
    }
    if repository.len() > REPOSITORY_CHARS_MAX {
        return Err("a repository has at most 255 characters");
    }
    if repository.split('/').all(is_repository_part) {
        return Ok(());
    }
    Err("a repository has lower-case letters, digits and single `.`, `_`, `-` or `/` between them")
}

fn is_repository_part(part: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let (Some(first), Some(last)) = (part.bytes().next(), part.bytes().next_back()) else { return false };
    let separators = part.split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    let is_separator = |text: &str| matches!(text, "" | "." | "_" | "__") || text.bytes().all(|byte| byte == b'-');
    is_word(first) && is_word(last) && separators.into_iter().all(is_separator)
}

fn check_tag(tag: &str) -> Result<(), &'static str> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_fine = tag.bytes().next().is_some_and(is_word)
        && tag.len() <= TAG_CHARS_MAX
        && tag.bytes().all(|byte| is_word(byte) || byte == b'.' || byte == b'-');
    is_fine
        .then_some(())
        .ok_or("a tag has 1 to 128 letters, digits, `_`, `.` and `-`, and begins with none of the last two")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";

    #[test]
    fn a_reference_is_read_as_it_is_written() {
        let with_digest = format!("localhost/a/b@{DIGEST}");
        let with_both = format!("127.0.0.1:5000/a:1@{DIGEST}");
        let cases = [
            ("ghcr.io/acme/agent:1.0.0", "ghcr.io", "acme/agent", Some("1.0.0"), "1.0.0"),
            ("localhost:5000/agent", "localhost:5000", "agent", None, "latest"),
            ("registry:5000/agent", "registry:5000", "agent", None, "latest"),
            ("[::1]:5000/a__b/c-d--e.f:v_1", "[::1]:5000", "a__b/c-d--e.f", Some("v_1"), "v_1"),
            (with_digest.as_str(), "localhost", "a/b", None, DIGEST),
            (with_both.as_str(), "127.0.0.1:5000", "a", Some("1"), DIGEST),
        ];
        for (text, host, repository, tag, wanted) in cases {
            let reference: Reference = text.parse().expect(text);
            assert_eq!(reference.to_string(), text);
            assert_eq!((reference.host.as_str(), reference.repository.as_str()), (host, repository));
            assert_eq!((reference.tag.as_deref(), reference.wanted().as_str()), (tag, wanted), "{text}");
        }
    }

    #[test]
    fn what_is_no_reference_is_refused() {
        let long = format!("ghcr.io/{}", "a".repeat(256));
        let upper_digest = format!("ghcr.io/a@{}", DIGEST.to_uppercase());
        let cases = [
            "",
            "agent",
            "agent:1",
            "acme/agent",
            "/agent",
            "ghcr.io/",
            "ghcr.io/:1",
            "ghcr.io/a:",
            "ghcr.io/a:-b",
            "ghcr.io/A",
            "ghcr.io/a//b",
            "ghcr.io/../b",
            "ghcr.io/a/../b",
            "ghcr.io/a..b",
            "ghcr.io/a___b",
            "ghcr.io/-a",
            "ghcr.io/a b",
            "ghcr.io/a:b c",
            "ghcr.io/a:b/c",
            "ghcr.io:x/a",
            "ghcr.io:99999/a",
            "gh cr.io/a",
            "-a.io/a",
            "ghcr.io/a@sha256:00",
            "ghcr.io/a@",
            "[::1/a",
            "[zz]/a",
            "[::1]x/a",
            "https://ghcr.io/a",
            "./a",
            &long,
            &upper_digest,
        ];
        for text in cases {
            let fault = text.parse::<Reference>().expect_err(text);
            assert_eq!(fault.exit() as u8, 1, "{text}");
        }
    }

    #[test]
    fn plain_http_is_for_this_machine_only() {
        let cases = [
            ("localhost/a", true),
            ("localhost:5000/a", true),
            ("127.0.0.1:5000/a", true),
            ("[::1]:5000/a", true),
            ("localhost.example.com/a", false),
            ("127.0.0.1.example.com:80/a", false),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse::<Reference>().expect(text).is_loopback(), expected, "{text}");
        }
    }
}
