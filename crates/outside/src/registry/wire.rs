//! One request to one registry: sent, proved if the registry asks who we are, and answered.

use super::address::PlainHttp;
use super::challenge::Challenge;
use super::credential::Credential;
use super::credentials::Credentials;
use super::token::TokenRequest;
use super::trouble::{Asker, SILENCE_MAX, Trouble, words};
use entourage_bundle::Reference;
use reqwest::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// How long a registry may take nothing of what it is sent, and say nothing when it has all of it: it may have to look at it.
const STALL_MAX: Duration = Duration::from_secs(60);
const REDIRECTS_MAX: usize = 5;
/// How long a body may be, from the second try on; the first time it is as long as a blob. A proxy before a registry may
/// take a megabyte and no more.
const BODY_BYTES_MAX: [u64; 3] = [16 << 20, 4 << 20, 512 << 10];
const USER_AGENT: &str = concat!("entourage/", env!("CARGO_PKG_VERSION"));

/// What is to be done in a repository; tokens are given for one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Action {
    Pull,
    Push,
}

/// Whose word it is that we are who we are.
#[derive(Clone, Debug)]
pub(super) enum Proof {
    /// Looked up when the registry asks.
    Known(Credentials),
    Given(Credential),
}

/// The way to one repository of one registry.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) host: String,
    repository: Option<String>,
    root: Url,
    plain: PlainHttp,
    client: Client,
    proof: Proof,
    /// The `Authorization` that was good enough last time.
    granted: Mutex<BTreeMap<Action, HeaderValue>>,
    /// How many of [`BODY_BYTES_MAX`] were found too large.
    shortened: AtomicUsize,
}

impl Wire {
    /// To the registry itself.
    pub(super) fn to_registry(host: &str, plain: PlainHttp, proof: Proof) -> Result<Self, Trouble> {
        let root = plain.root(host).ok_or_else(|| Trouble::odd(host, "has a name that leads nowhere"))?;
        // Refused when somebody was first; any provider will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = client(&root, plain).map_err(|error| Trouble::unreachable(host, &error))?;
        let granted = Mutex::default();
        let shortened = AtomicUsize::new(0);
        Ok(Self { host: host.to_owned(), repository: None, root, plain, client, proof, granted, shortened })
    }

    pub(super) fn to_repository(reference: &Reference, plain: PlainHttp, proof: Proof) -> Result<Self, Trouble> {
        let wire = Self::to_registry(&reference.host, plain, proof)?;
        Ok(Self { repository: Some(reference.repository.clone()), ..wire })
    }

    /// An address in the repository, such as `manifests/latest`.
    pub(super) fn at(&self, path: &str) -> Result<Url, Trouble> {
        let base = self.repository.as_ref().map(|repository| format!("{repository}/")).unwrap_or_default();
        self.join(&format!("/v2/{base}{path}"))
    }

    /// An address that the registry gave us. Nothing is sent to one that is not encrypted as the registry is.
    pub(super) fn join(&self, location: &str) -> Result<Url, Trouble> {
        let joined = self.root.join(location).ok().filter(|url| self.plain.allows(url));
        joined.ok_or_else(|| Trouble::odd(&self.host, "sends us to an address that may not be used"))
    }

    /// Sends what `make` makes, at most twice: the second time with what the registry asked for. Every status comes
    /// back that is neither a refusal nor an overload.
    pub(super) async fn send(
        &self,
        action: Action,
        make: impl Fn(&Client) -> RequestBuilder,
    ) -> Result<Response, Trouble> {
        self.deliver(action, Pace::Brief, make).await
    }

    /// The same for a long body. Whoever makes it tells the pulse of every piece that was taken; it may take any time
    /// as long as that goes on.
    pub(super) async fn upload(
        &self,
        pulse: &Notify,
        make: impl Fn(&Client) -> RequestBuilder,
    ) -> Result<Response, Trouble> {
        self.deliver(Action::Push, Pace::Steady(pulse), make).await
    }

    async fn deliver(
        &self,
        action: Action,
        pace: Pace<'_>,
        make: impl Fn(&Client) -> RequestBuilder,
    ) -> Result<Response, Trouble> {
        let first = self.send_as(self.granted(action), pace, &make).await?;
        let answer = match first.status() {
            // Somebody else that the registry sent us to may ask what it likes: nothing is proved to them.
            StatusCode::UNAUTHORIZED if first.url().origin() == self.root.origin() => {
                let (authorization, asker) = self.prove(action, &first).await?;
                let second = self.send_as(Some(authorization.clone()), pace, &make).await?;
                if second.status() == StatusCode::UNAUTHORIZED {
                    return Err(Trouble::refused(&self.host, asker, &words(second).await));
                }
                self.grant(action, authorization);
                second
            }
            _ => first,
        };
        match answer.status().as_u16() {
            401 | 403 | 408 | 425 | 429 | 500 | 502 | 503 | 504 => Err(Trouble::of_status(&self.host, answer).await),
            _ => Ok(answer),
        }
    }

    /// The proof goes to the registry itself, and to nobody that it sends us to.
    async fn send_as(
        &self,
        authorization: Option<HeaderValue>,
        pace: Pace<'_>,
        make: &impl Fn(&Client) -> RequestBuilder,
    ) -> Result<Response, Trouble> {
        let unreachable = |error: reqwest::Error| Trouble::unreachable(&self.host, &error);
        let mut request = make(&self.client).build().map_err(unreachable)?;
        if let Some(authorization) = authorization.filter(|_| request.url().origin() == self.root.origin()) {
            request.headers_mut().insert(AUTHORIZATION, authorization);
        }
        let sent = self.client.execute(request);
        match pace {
            Pace::Brief => match tokio::time::timeout(SILENCE_MAX, sent).await {
                Ok(answer) => answer.map_err(unreachable),
                Err(_) => Err(Trouble::silent(&self.host)),
            },
            Pace::Steady(pulse) => tokio::select! {
                answer = sent => answer.map_err(unreachable),
                () = stalls(pulse) => Err(Trouble::stalled(&self.host, STALL_MAX)),
            },
        }
    }

    /// What to send the second time, and on whose behalf.
    async fn prove(&self, action: Action, refusal: &Response) -> Result<(HeaderValue, Asker), Trouble> {
        let offers = refusal.headers().get_all(WWW_AUTHENTICATE);
        let offers = offers.iter().filter_map(|offer| offer.to_str().ok());
        let Some(challenge) = Challenge::choose(offers) else {
            return Err(Trouble::odd(&self.host, "refuses, and does not say how to prove who asks"));
        };
        let credential = self.credential().await?;
        let asker = if credential.is_some() { Asker::Known } else { Asker::Nobody };
        let text = match challenge {
            Challenge::Basic => match credential.as_ref().map(Credential::basic) {
                Some(Some(basic)) => basic,
                Some(None) => {
                    let what = format!("the registry `{}` takes a password, and only a token is known", self.host);
                    return Err(Trouble::no_credential(what, "`entourage login` stores a user and a password"));
                }
                None => return Err(Trouble::refused(&self.host, asker, "")),
            },
            Challenge::Bearer { realm, service, scopes } => {
                let (scopes, realm) = (self.scopes(action, scopes), self.join(&realm)?);
                let is_withheld = credential.is_some() && !is_of_registry(&realm, &self.root);
                let (credential, asker) = if is_withheld { (None, Asker::Withheld) } else { (credential, asker) };
                let request = TokenRequest { realm, service, scopes, credential, asker };
                let token = request.send(&self.client, &self.host).await?;
                return Ok((self.sensitive(&format!("Bearer {token}"))?, asker));
            }
        };
        Ok((self.sensitive(&text)?, asker))
    }

    /// A header that no log shows.
    fn sensitive(&self, text: &str) -> Result<HeaderValue, Trouble> {
        let value = HeaderValue::from_str(text);
        let mut value = value.map_err(|_| Trouble::odd(&self.host, "gave a token that no header can hold"))?;
        value.set_sensitive(true);
        Ok(value)
    }

    async fn credential(&self) -> Result<Option<Credential>, Trouble> {
        match &self.proof {
            Proof::Given(credential) => Ok(Some(credential.clone())),
            Proof::Known(credentials) => credentials.find(&self.host).await.map_err(|fault| {
                let what = format!("nobody can say who we are to the registry `{}`: {fault}", self.host);
                Trouble::no_credential(what, "mend the file or the helper, or store a credential by `entourage login`")
            }),
        }
    }

    /// What a token is asked for. A registry that is to take a blob over from another repository wants to know that we
    /// may read that one; more than reading is never asked for elsewhere.
    fn scopes(&self, action: Action, asked: Vec<String>) -> Vec<String> {
        let Some(repository) = &self.repository else { return Vec::new() };
        let words = match action {
            Action::Pull => "pull",
            Action::Push => "pull,push",
        };
        let own = format!("repository:{repository}:");
        let is_reading = |scope: &String| scope.starts_with("repository:") && scope.ends_with(":pull");
        let elsewhere = asked.into_iter().filter(|scope| action == Action::Push && is_reading(scope));
        let elsewhere = elsewhere.filter(|scope| !scope.starts_with(&own));
        [format!("{own}{words}")].into_iter().chain(elsewhere).collect()
    }

    /// How long a body may be. Absent: nothing was found too long yet.
    pub(super) fn body_bytes_max(&self) -> Option<u64> {
        let shortened = self.shortened.load(Ordering::Relaxed);
        shortened.checked_sub(1).map(|index| BODY_BYTES_MAX[index])
    }

    /// Lets bodies be shorter, after one of a blob of this size was refused. False: they are as short as can be.
    pub(super) fn shorten_bodies(&self, blob_bytes: u64) -> bool {
        let tried = self.body_bytes_max().unwrap_or(u64::MAX).min(blob_bytes);
        match BODY_BYTES_MAX.iter().position(|max| *max < tried) {
            Some(index) => self.shortened.store(index + 1, Ordering::Relaxed),
            None => return false,
        }
        true
    }

    fn granted(&self, action: Action) -> Option<HeaderValue> {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner).get(&action).cloned()
    }

    fn grant(&self, action: Action, authorization: HeaderValue) {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner).insert(action, authorization);
    }
}

/// How long a request may take.
#[derive(Clone, Copy, Debug)]
enum Pace<'a> {
    /// Until its answer is overdue.
    Brief,
    /// Until nothing moves any more.
    Steady(&'a Notify),
}

/// Ends when nothing has moved for too long.
async fn stalls(pulse: &Notify) {
    while tokio::time::timeout(STALL_MAX, pulse.notified()).await.is_ok() {}
}

/// Whether a service that gives tokens is the registry's own: the same host, or one beside it in the same domain, as
/// `auth.example.com` is for `registry.example.com`. An address that is no name is nobody's but its own.
fn is_of_registry(realm: &Url, root: &Url) -> bool {
    let (Some(service), Some(registry)) = (realm.domain(), root.domain()) else {
        return realm.origin() == root.origin();
    };
    if service == registry {
        return service != "localhost" || realm.origin() == root.origin();
    }
    let domain = registry.split_once('.').map(|(_, domain)| domain).filter(|domain| domain.contains('.'));
    domain
        .is_some_and(|domain| service == domain || service.strip_suffix(domain).is_some_and(|name| name.ends_with('.')))
}

/// Who waits for answers looks at the clock: reqwest's own time-outs would count how long a body takes to be sent.
fn client(root: &Url, plain: PlainHttp) -> Result<Client, reqwest::Error> {
    let builder = Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(SILENCE_MAX)
        .redirect(Policy::custom(move |attempt| follow(attempt, plain)))
        .tcp_nodelay(true)
        // A layer is compressed already, and its digest is that of the bytes on the wire.
        .no_gzip();
    let is_http = root.scheme() == "http";
    // Reading the system's certificates takes longer than a whole call on this machine.
    if is_http && plain == PlainHttp::ThisMachine { builder.no_proxy().build() } else { builder.build() }
}

/// Blobs often lie elsewhere. reqwest leaves the proof behind when the host changes.
fn follow(attempt: Attempt<'_>, plain: PlainHttp) -> reqwest::redirect::Action {
    let is_fine = plain.allows(attempt.url()) && attempt.previous().len() <= REDIRECTS_MAX;
    if is_fine { attempt.follow() } else { attempt.error("it sends us to an address that may not be used") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_goes_to_the_registry_s_own_service_and_to_no_other() {
        let cases = [
            ("https://registry-1.docker.io/", "https://auth.docker.io/token", true),
            ("https://registry.gitlab.com/", "https://gitlab.com/jwt/auth", true),
            ("https://ghcr.io/", "https://ghcr.io/token", true),
            ("https://r.test:5000/", "https://r.test/token", true),
            ("https://ghcr.io/", "https://auth.evil.io/token", false),
            ("https://registry.example.com/", "https://auth.evilexample.com/token", false),
            ("https://registry.example.com/", "https://evil.com/token", false),
            ("http://127.0.0.1:5000/", "http://127.0.0.1:5000/token", true),
            ("http://127.0.0.1:5000/", "http://127.0.0.1:5001/token", false),
            ("http://localhost:5000/", "http://localhost:5001/token", false),
            ("http://[::1]:5000/", "http://127.0.0.1:5000/token", false),
        ];
        for (root, realm, expected) in cases {
            let (realm, root) = (Url::parse(realm).unwrap(), Url::parse(root).unwrap());
            assert_eq!(is_of_registry(&realm, &root), expected, "{root} {realm}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_moves_may_take_any_time_and_what_stands_still_may_not() {
        let (pulse, start) = (Notify::new(), tokio::time::Instant::now());
        let moves = async {
            for _ in 0..100 {
                tokio::time::sleep(STALL_MAX / 2).await;
                pulse.notify_one();
            }
        };
        tokio::join!(stalls(&pulse), moves);
        assert_eq!(start.elapsed(), STALL_MAX * 51);
    }

    #[test]
    fn bodies_become_shorter_until_they_cannot() {
        let reference: Reference = "127.0.0.1:1/a:1".parse().unwrap();
        let proof = Proof::Known(Credentials::default());
        let wire = Wire::to_repository(&reference, PlainHttp::default(), proof).unwrap();
        assert_eq!(wire.body_bytes_max(), None);
        for expected in [16 << 20, 4 << 20, 512 << 10] {
            assert!(wire.shorten_bodies(1 << 30));
            assert_eq!(wire.body_bytes_max(), Some(expected));
        }
        assert!(!wire.shorten_bodies(1 << 30));
    }
}
