//! A provider's address, checked once: where requests go, and what people are told about it.

use reqwest::Url;

/// A base URL that can be asked.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    base: Url,
    /// Host and port, for messages: never a user, a password or a path.
    pub(super) host: String,
    pub(super) place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// This machine: no key is needed and nobody else is crowded out.
    Loopback,
    Remote,
}

impl Endpoint {
    /// `None` for a text that is no `http` or `https` address.
    pub(super) fn parse(base_url: &str) -> Option<Self> {
        let base = Url::parse(base_url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let name = base.host_str()?;
        let host = base.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"));
        let place = if is_loopback(name) { Place::Loopback } else { Place::Remote };
        Some(Self { base, host, place })
    }

    /// The address of `path` below the base, which may or may not end in a slash. A query of the base is kept.
    pub(super) fn join(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{path}", self.base.path().trim_end_matches('/')));
        url
    }

    /// The base with a closing slash, below `version` unless it names one of `versions` already.
    pub(super) fn versioned(&self, version: &str, versions: &[&str]) -> Url {
        let last = self.base.path().trim_end_matches('/').rsplit('/').next();
        let is_versioned = last.is_some_and(|last| versions.contains(&last));
        if is_versioned { self.join("") } else { self.join(&format!("{version}/")) }
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_appended_with_one_slash() {
        for base in ["http://h:1/v1", "http://h:1/v1/"] {
            let endpoint = Endpoint::parse(base).unwrap();
            assert_eq!(endpoint.join("chat/completions").as_str(), "http://h:1/v1/chat/completions");
            assert_eq!(endpoint.versioned("v1", &["v1"]).as_str(), "http://h:1/v1/");
            assert_eq!(endpoint.host, "h:1");
        }
        assert_eq!(Endpoint::parse("https://h").unwrap().versioned("v1", &["v1"]).as_str(), "https://h/v1/");
        let azure = Endpoint::parse("https://h/x?api-version=1").unwrap();
        assert_eq!(azure.join("chat/completions").as_str(), "https://h/x/chat/completions?api-version=1");
    }

    #[test]
    fn this_machine_is_told_from_others() {
        for (base, place) in [
            ("http://127.0.0.1:1", Place::Loopback),
            ("http://[::1]:1", Place::Loopback),
            ("http://localhost", Place::Loopback),
            ("http://10.0.0.1", Place::Remote),
            ("https://api.openai.com/v1", Place::Remote),
            ("https://localhost.example.com", Place::Remote),
        ] {
            assert_eq!(Endpoint::parse(base).unwrap().place, place, "{base}");
        }
    }

    #[test]
    fn a_password_in_the_address_is_not_shown() {
        assert_eq!(Endpoint::parse("https://user:pass@h/v1").unwrap().host, "h");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for base in ["", "h", "ftp://h", "http://", "127.0.0.1:80"] {
            assert!(Endpoint::parse(base).is_none(), "{base}");
        }
    }
}
