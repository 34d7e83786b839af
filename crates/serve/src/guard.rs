//! Whose requests are answered at all.

use crate::fault::{Fault, PlainFault};
use crate::service::Service;
use crate::token::Bearer;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, ORIGIN, TRANSFER_ENCODING};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::SocketAddr;
use tokio::time::Instant;

/// Routes that need no token; the host is checked for them as well.
const OPEN: [&str; 3] = ["/healthz", "/session", "/"];
/// What a user's token opens. Everything else is the owner's, also a route that is added one day.
const USERS: [&str; 6] = ["threads", "runs", "tasks", "agents", "openapi.json", "mcp"];

/// How a request came in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// Our end of the connection: only requests for it, for what was listened on, or for `localhost` with its port, are
    /// answered.
    pub(crate) address: SocketAddr,
    /// Every address of the machine, perhaps: then the printed link names it so.
    pub(crate) listened: SocketAddr,
    /// It says in two ways how long its body is.
    pub(crate) is_doubtful: bool,
}

/// A page of another site can make a browser send requests here, but not with our host, origin and token.
pub(crate) async fn guard(State(service): State<Service>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    // A body without a length is followed by nothing else: so nothing can be hidden behind it.
    let is_last = request.headers().contains_key(TRANSFER_ENCODING);
    let is_task = plain_path(&request).starts_with("/tasks");
    let mut response = match look(&service, &request) {
        Ok(bearer) => {
            if let Some(bearer) = bearer {
                request.extensions_mut().insert(bearer);
            }
            next.run(request).await
        }
        Err(fault) => fault.into_response(),
    };
    if is_task {
        response = PlainFault::rewrite(response);
    }
    if is_last {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    service.meters.answered(response.status(), began.elapsed());
    response
}

/// Who is let in; nobody in particular where no token is needed.
fn look(service: &Service, request: &Request) -> Result<Option<Bearer>, Fault> {
    let headers = request.headers();
    let arrival = request.extensions().get::<Arrival>().expect("every request is given its arrival");
    if arrival.is_doubtful {
        return Err(Fault::bad_request("a request has either a content length or a transfer encoding"));
    }
    check_host(arrival, request)?;
    let bearer = if OPEN.contains(&plain_path(request)) {
        None
    } else {
        let bearer = check_token(service, headers)?;
        check_reach(&bearer, request)?;
        Some(bearer)
    };
    check_content_type(request.method(), headers)?;
    Ok(bearer)
}

/// Every route is also there below `/api`.
fn plain_path(request: &Request) -> &str {
    let path = request.uri().path();
    path.strip_prefix("/api").filter(|rest| rest.starts_with('/')).unwrap_or(path)
}

fn check_host(Arrival { address, listened, .. }: &Arrival, request: &Request) -> Result<(), Fault> {
    let headers = request.headers();
    let own = [address.to_string(), listened.to_string(), format!("localhost:{}", address.port())];
    let is_own = |host: &str| own.iter().any(|own| own.eq_ignore_ascii_case(host));
    let forbidden = |what: &'static str| Err(Fault::new(StatusCode::FORBIDDEN, "forbidden", what));
    // A target may name a host as well, and would go before the header.
    let target = request.uri().authority().is_none_or(|authority| is_own(authority.as_str()));
    if !target || !single(headers, &HOST).is_some_and(is_own) {
        return forbidden("this server does not answer for that host");
    }
    let fits = |origin: &str| own.iter().any(|own| origin.eq_ignore_ascii_case(&format!("http://{own}")));
    if headers.contains_key(ORIGIN) && !single(headers, &ORIGIN).is_some_and(fits) {
        return forbidden("this server does not answer pages of that origin");
    }
    Ok(())
}

fn check_token(service: &Service, headers: &HeaderMap) -> Result<Bearer, Fault> {
    let given = single(headers, &AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    if let Some(bearer) = given.and_then(|given| service.tokens.admit(given)) {
        return Ok(bearer.clone());
    }
    let fault = Fault::new(StatusCode::UNAUTHORIZED, "unauthorized", "a valid token is needed");
    Err(fault.hint("send `Authorization: Bearer TOKEN`; the token is in the file `token` of the data folder"))
}

/// Whether the token is for what is asked.
fn check_reach(bearer: &Bearer, request: &Request) -> Result<(), Fault> {
    let forbidden = |what: &'static str| Err(Fault::new(StatusCode::FORBIDDEN, "forbidden", what));
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    match (is_reading, bearer.may_read, bearer.may_write) {
        (true, false, _) => return forbidden("this token has not the scope `read`"),
        (false, _, false) => return forbidden("this token has not the scope `write`"),
        (true, true, _) | (false, _, true) => {}
    }
    let first = plain_path(request).split('/').nth(1).unwrap_or_default();
    if bearer.user.is_some() && !USERS.contains(&first) {
        return forbidden("this token is for one user's threads, and this is not about them");
    }
    Ok(())
}

/// Whatever is posted is JSON, which no form of a web page can send.
fn check_content_type(method: &Method, headers: &HeaderMap) -> Result<(), Fault> {
    if method != Method::POST {
        return Ok(());
    }
    let has_body = headers.contains_key(TRANSFER_ENCODING)
        || headers.get(CONTENT_LENGTH).is_some_and(|length| length.as_bytes() != b"0");
    let is_json = single(headers, &CONTENT_TYPE).is_some_and(|value| {
        let essence = value.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case("application/json")
    });
    if has_body && !is_json {
        let message = "the body must be `application/json`";
        return Err(Fault::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message));
    }
    Ok(())
}

/// The header's value, if it is there exactly once and is text.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}
