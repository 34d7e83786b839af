//! Where a registry is, and how it may be spoken to: in plain HTTP on this machine, or when somebody asks for it.

use entourage_bundle::Reference;
use reqwest::Url;

/// Docker's own registry answers under another name than the one in references.
const DOCKER: (&str, &str) = ("docker.io", "registry-1.docker.io");

/// Whether a registry elsewhere may be spoken to without TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlainHttp {
    #[default]
    ThisMachine,
    Anywhere,
}

impl PlainHttp {
    /// The root of the registry at `host`, with its port. Absent: no host is called that.
    pub(super) fn root(self, host: &str) -> Option<Url> {
        let known = if host == DOCKER.0 { DOCKER.1 } else { host };
        let is_plain = self == Self::Anywhere || is_this_machine(host);
        let scheme = if is_plain { "http" } else { "https" };
        Url::parse(&format!("{scheme}://{known}/")).ok().filter(|url| url.path() == "/" && url.query().is_none())
    }

    /// Whether anything may be sent to this address: nothing goes out unencrypted but what was allowed to.
    pub(super) fn allows(self, url: &Url) -> bool {
        match url.scheme() {
            "https" => true,
            "http" => self == Self::Anywhere || url.host_str().is_some_and(is_this_machine),
            _ => false,
        }
    }
}

fn is_this_machine(host: &str) -> bool {
    let reference = Reference { host: host.to_owned(), repository: String::new(), tag: None, digest: None };
    reference.is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_spoken_to_in_plain_http_unless_somebody_asks() {
        let cases = [
            ("127.0.0.1:5000", PlainHttp::ThisMachine, "http://127.0.0.1:5000/"),
            ("[::1]:5000", PlainHttp::ThisMachine, "http://[::1]:5000/"),
            ("localhost", PlainHttp::ThisMachine, "http://localhost/"),
            ("r.test", PlainHttp::ThisMachine, "https://r.test/"),
            ("r.test:5000", PlainHttp::Anywhere, "http://r.test:5000/"),
            ("127.0.0.2:5000", PlainHttp::ThisMachine, "https://127.0.0.2:5000/"),
            ("docker.io", PlainHttp::ThisMachine, "https://registry-1.docker.io/"),
        ];
        for (host, plain, expected) in cases {
            assert_eq!(plain.root(host).unwrap().as_str(), expected);
        }
        assert_eq!(PlainHttp::ThisMachine.root("r.test/x?y"), None);
    }

    #[test]
    fn nothing_is_sent_elsewhere_unencrypted() {
        let cases = [
            ("https://elsewhere.test/token", true),
            ("http://127.0.0.1:9/token", true),
            ("http://[::1]/token", true),
            ("http://elsewhere.test/token", false),
            ("http://localhost.elsewhere.test/token", false),
            ("ftp://127.0.0.1/token", false),
        ];
        for (url, expected) in cases {
            assert_eq!(PlainHttp::ThisMachine.allows(&Url::parse(url).unwrap()), expected, "{url}");
        }
        assert!(PlainHttp::Anywhere.allows(&Url::parse("http://elsewhere.test/").unwrap()));
    }
}
