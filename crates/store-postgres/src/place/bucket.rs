//! A bucket of S3, or of a server that speaks like it.

use super::{Stage, Variables};
use crate::settings::Options;
use async_trait::async_trait;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use std::error::Error as _;
use std::time::Duration;

/// The longest blob takes this long on a slow line. `AWS_TIMEOUT` says otherwise.
const REQUEST: Duration = Duration::from_secs(120);
const CONNECTION: Duration = Duration::from_secs(5);
/// How long a bucket that is being opened is waited for.
const OPENING: Duration = Duration::from_secs(3);

/// Credentials, endpoint and region are read from variables that begin with `AWS_`. They are neither kept in the store nor
/// printed. Nothing is sent yet.
pub(super) fn open(name: &str, options: &Options, stage: Stage) -> Result<AmazonS3, object_store::Error> {
    let patience = match stage {
        Stage::Opening => OPENING.min(options.patience),
        Stage::AtWork => options.patience,
    };
    // The first one stays; another part of the process may have chosen the same already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = ClientOptions::new().with_timeout(REQUEST).with_connect_timeout(CONNECTION);
    let mut builder = AmazonS3Builder::new().with_client_options(client).with_http_connector(Connector);
    let Variables(variables) = options.variables.clone().unwrap_or_else(of_process);
    for (name, value) in variables {
        if let Some(key) = key(&name) {
            builder = builder.with_config(key, value);
        }
    }
    let backoff = BackoffConfig { init_backoff: patience / 100, max_backoff: patience / 10, base: 2.0 };
    // Time decides, not their number.
    let retry = RetryConfig { backoff, max_retries: usize::MAX, retry_timeout: patience };
    builder.with_bucket_name(name).with_retry(retry).build()
}

#[derive(Debug)]
struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        ReqwestConnector::default().connect(options).map(|client| HttpClient::new(Wire(client)))
    }
}

/// A client that says of every fault of the wire that it passes. One that ends a connection in the very instant in which it
/// was made has no kind otherwise, and is not repeated.
#[derive(Debug)]
struct Wire(HttpClient);

#[async_trait]
impl HttpService for Wire {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.0.execute(request).await.map_err(|error| match error.kind() {
            HttpErrorKind::Unknown if is_of_the_wire(&error) => HttpError::new(HttpErrorKind::Request, error),
            _ => error,
        })
    }
}

/// Not of the request itself, such as an address that cannot be asked.
fn is_of_the_wire(error: &HttpError) -> bool {
    error.source().and_then(|cause| cause.downcast_ref()).is_some_and(reqwest::Error::is_request)
}

/// Which setting a variable is; none if it is for something else.
fn key(name: &str) -> Option<AmazonS3ConfigKey> {
    name.starts_with("AWS_").then(|| name.to_ascii_lowercase().parse().ok()).flatten()
}

/// One that is no text is no setting.
fn of_process() -> Variables {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
