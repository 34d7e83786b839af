//! The exchange of a credential, or of nothing, for a token that a registry takes.

use super::credential::Credential;
use super::trouble::{Asker, SILENCE_MAX, Trouble, Unread, bounded, words};
use entourage_model::Secret;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde::Deserialize;

const ANSWER_BYTES_MAX: usize = 1 << 20;
const CLIENT: &str = "entourage";

/// What is asked for, and where.
#[derive(Debug)]
pub(super) struct TokenRequest {
    pub(super) realm: Url,
    pub(super) service: Option<String>,
    /// None: only who asks is to be proved.
    pub(super) scopes: Vec<String>,
    /// Absent: whatever is for everybody.
    pub(super) credential: Option<Credential>,
    /// Who is told about if nothing is given.
    pub(super) asker: Asker,
}

#[derive(Deserialize)]
struct Answer {
    token: Option<String>,
    access_token: Option<String>,
}

impl TokenRequest {
    /// `host` is the registry that the token is for.
    pub(super) async fn send(self, client: &Client, host: &str) -> Result<String, Trouble> {
        let asker = self.asker;
        let answer = tokio::time::timeout(SILENCE_MAX, self.request(client).send()).await;
        let response =
            answer.map_err(|_| Trouble::silent(host))?.map_err(|error| Trouble::unreachable(host, &error))?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::BAD_REQUEST => {
                return Err(Trouble::refused(host, asker, &words(response).await));
            }
            _ => return Err(Trouble::of_status(host, response).await),
        }
        let body = bounded(response, ANSWER_BYTES_MAX).await.map_err(|unread| match unread {
            Unread::TooLong => Trouble::odd(host, "has a token service that answers without end"),
            Unread::Silent => Trouble::silent(host),
            Unread::Broken(error) => Trouble::unreachable(host, &error),
        })?;
        let answer: Option<Answer> = serde_json::from_slice(&body).ok();
        let token = answer.and_then(|answer| answer.token.or(answer.access_token)).filter(|token| !token.is_empty());
        token.ok_or_else(|| Trouble::odd(host, "has a token service that gives no token"))
    }

    /// An identity token is exchanged by a form, so that it is in no log of addresses; everything else is asked for
    /// as registries always were.
    fn request(self, client: &Client) -> RequestBuilder {
        let mut parameters = Vec::new();
        parameters.extend(self.service.map(|service| ("service", service)));
        parameters.extend(self.scopes.into_iter().map(|scope| ("scope", scope)));
        match self.credential {
            Some(Credential::IdentityToken(token)) => {
                let form = exchange_form(&parameters, &token);
                let form_type = "application/x-www-form-urlencoded";
                client.post(self.realm).header(ACCEPT, "application/json").header(CONTENT_TYPE, form_type).body(form)
            }
            credential => {
                let mut realm = self.realm;
                let basic = credential.as_ref().and_then(Credential::basic);
                if let Some(Credential::Password { username, .. }) = credential {
                    parameters.push(("account", username));
                }
                if !parameters.is_empty() {
                    realm.query_pairs_mut().extend_pairs(&parameters);
                }
                let request = client.get(realm).header(ACCEPT, "application/json");
                match basic {
                    Some(basic) => request.header(AUTHORIZATION, basic),
                    None => request,
                }
            }
        }
    }
}

fn exchange_form(parameters: &[(&'static str, String)], token: &Secret) -> String {
    let mut form = Url::parse("form:").expect("a scheme is an address");
    form.query_pairs_mut()
        .extend_pairs(parameters)
        .append_pair("client_id", CLIENT)
        .append_pair("grant_type", "refresh_token")
        .append_pair("refresh_token", token.reveal());
    form.query().unwrap_or_default().to_owned()
}
