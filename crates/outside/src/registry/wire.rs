//! One request to one registry: sent, proved if the registry asks who we are, and answered.

use super::address::PlainHttp;
use super::challenge::Challenge;
use super::credential::Credential;
use super::credentials::Credentials;
use super::token::TokenRequest;
use super::trouble::{Asker, Trouble, words};
use entourage_bundle::Reference;
use reqwest::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const CONNECT_SECONDS_MAX: u64 = 10;
/// How long a registry may say nothing in the middle of an answer.
const SILENCE_SECONDS_MAX: u64 = 60;
const REDIRECTS_MAX: usize = 5;
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
}

impl Wire {
    /// To the registry itself.
    pub(super) fn to_registry(host: &str, plain: PlainHttp, proof: Proof) -> Result<Self, Trouble> {
        let root = plain.root(host).ok_or_else(|| Trouble::odd(host, "has a name that leads nowhere"))?;
        // Refused when somebody was first; any provider will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = client(&root, plain).map_err(|error| Trouble::unreachable(host, &error))?;
        Ok(Self { host: host.to_owned(), repository: None, root, plain, client, proof, granted: Mutex::default() })
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
        let first = self.send_as(self.granted(action), &make).await?;
        let answer = match first.status() {
            // Somebody else that the registry sent us to may ask what it likes: nothing is proved to them.
            StatusCode::UNAUTHORIZED if first.url().origin() == self.root.origin() => {
                let (authorization, asker) = self.prove(action, &first).await?;
                let second = self.send_as(Some(authorization.clone()), &make).await?;
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
        make: &impl Fn(&Client) -> RequestBuilder,
    ) -> Result<Response, Trouble> {
        let unreachable = |error: reqwest::Error| Trouble::unreachable(&self.host, &error);
        let mut request = make(&self.client).build().map_err(unreachable)?;
        if let Some(authorization) = authorization.filter(|_| request.url().origin() == self.root.origin()) {
            request.headers_mut().insert(AUTHORIZATION, authorization);
        }
        self.client.execute(request).await.map_err(unreachable)
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
            Challenge::Bearer { realm, service } => {
                let request =
                    TokenRequest { realm: self.join(&realm)?, service, scope: self.scope(action), credential };
                format!("Bearer {}", request.send(&self.client, &self.host).await?)
            }
        };
        let mut value = HeaderValue::from_str(&text)
            .map_err(|_| Trouble::odd(&self.host, "gave a token that no header can hold"))?;
        value.set_sensitive(true);
        Ok((value, asker))
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

    fn scope(&self, action: Action) -> Option<String> {
        let words = match action {
            Action::Pull => "pull",
            Action::Push => "pull,push",
        };
        self.repository.as_ref().map(|repository| format!("repository:{repository}:{words}"))
    }

    fn granted(&self, action: Action) -> Option<HeaderValue> {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner).get(&action).cloned()
    }

    fn grant(&self, action: Action, authorization: HeaderValue) {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner).insert(action, authorization);
    }
}

fn client(root: &Url, plain: PlainHttp) -> Result<Client, reqwest::Error> {
    let builder = Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(Duration::from_secs(CONNECT_SECONDS_MAX))
        .read_timeout(Duration::from_secs(SILENCE_SECONDS_MAX))
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
