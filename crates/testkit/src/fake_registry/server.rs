//! One request to the registry, and what it answers.

use super::{Door, Lie, PASSWORD, Sent, State, TOKEN, USERNAME, lock, upload};
use bytes::Bytes;
use entourage_model::Digest;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_RANGE, CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE};
use hyper::http::response::Builder;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;

const DIGEST_HEADER: &str = "docker-content-digest";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

pub(super) async fn serve(listener: TcpListener, state: Arc<Mutex<State>>, bell: Arc<Notify>, address: SocketAddr) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let (state, bell) = (Arc::clone(&state), Arc::clone(&bell));
        let service = service_fn(move |request| {
            let (state, bell) = (Arc::clone(&state), Arc::clone(&bell));
            async move {
                let answer = answer(request, &state, address).await;
                bell.notify_one();
                Ok::<_, Infallible>(answer)
            }
        });
        connections.spawn(async move {
            // A connection that was told to break does.
            _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// What is asked for: repository, kind and name.
pub(super) struct Wanted {
    method: Method,
    pub(super) repository: String,
    kind: String,
    pub(super) name: String,
    pub(super) query: String,
    media_type: String,
    pub(super) range: String,
}

async fn answer(request: Request<Incoming>, state: &Mutex<State>, address: SocketAddr) -> Response<Sent> {
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    let query = head.uri.query().unwrap_or_default().to_owned();
    let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let authorization = text(AUTHORIZATION);
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let mut state = lock(state);
    state.log.push(format!("{} {path}", head.method));
    state.credentials.push(authorization.clone());
    if path == "/token" {
        return give_token(&mut state, authorization, query);
    }
    if let Some(refusal) = refuse(&mut state, authorization.as_deref(), address) {
        return refusal;
    }
    if path == "/v2/" {
        return said(200, &json!({}));
    }
    let media_type = text(CONTENT_TYPE).unwrap_or_default();
    let range = text(CONTENT_RANGE).unwrap_or_default();
    let Some(wanted) = wanted(head.method, &path, query) else { return unknown() };
    let wanted = Wanted { media_type, range, ..wanted };
    if state.body_bytes_max.is_some_and(|max| body.len() > max) {
        return said(413, &json!({}));
    }
    match (wanted.method.as_str(), wanted.kind.as_str()) {
        ("GET" | "HEAD", "manifests") => get_manifest(&state, &wanted),
        ("PUT", "manifests") => put_manifest(&mut state, &wanted, &body),
        ("GET" | "HEAD", "blobs") => get_blob(&mut state, &wanted),
        ("POST", "uploads") => upload::begin(&mut state, &wanted),
        ("PATCH", "uploads") => upload::add(&mut state, &wanted, &body),
        ("PUT", "uploads") => upload::end(&mut state, &wanted, &body),
        ("GET", "referrers") if state.lists_attached => list_attached(&state, &wanted),
        _ => unknown(),
    }
}

/// `/v2/<repository>/<kind>/<name>`, where uploads may lie below `blobs`.
fn wanted(method: Method, path: &str, query: String) -> Option<Wanted> {
    let path = path.strip_prefix("/v2/")?.replace("/blobs/uploads/", "/uploads/");
    let (rest, name) = path.rsplit_once('/')?;
    let (repository, kind) = rest.rsplit_once('/')?;
    let (repository, kind, name) = (repository.to_owned(), kind.to_owned(), name.to_owned());
    Some(Wanted { method, repository, kind, name, query, media_type: String::new(), range: String::new() })
}

fn give_token(state: &mut State, authorization: Option<String>, query: String) -> Response<Sent> {
    let is_known = authorization.as_deref() == Some(&basic());
    let is_wrong = authorization.is_some() && !is_known;
    let may_push = is_known || !query.contains("push");
    state.tokens.push((authorization, query));
    if is_wrong || !may_push {
        return said(401, &json!({ "errors": [{ "code": "DENIED", "message": "not you" }] }));
    }
    said(200, &json!({ "token": TOKEN, "expires_in": 300 }))
}

fn refuse(state: &mut State, authorization: Option<&str>, address: SocketAddr) -> Option<Response<Sent>> {
    if let Some(Lie::Busy { times }) =
        state.lies.iter_mut().find(|lie| matches!(lie, Lie::Busy { times } if *times > 0))
    {
        *times -= 1;
        return Some(said(503, &json!({})));
    }
    let realm = state.lies.iter().find_map(|lie| match lie {
        Lie::Realm(realm) => Some(realm.clone()),
        _ => None,
    });
    let realm = realm.unwrap_or_else(|| format!("http://{address}/token"));
    let (expected, challenge) = match state.door {
        Door::Open => return None,
        Door::Password => (basic(), "Basic realm=\"test\"".to_owned()),
        Door::Token => (format!("Bearer {TOKEN}"), format!("Bearer realm=\"{realm}\",service=\"fake\"")),
    };
    if authorization == Some(&expected) {
        return None;
    }
    let body = json!({ "errors": [{ "code": "UNAUTHORIZED", "message": "who are you?" }] });
    Some(finish(Response::builder().status(401).header(WWW_AUTHENTICATE, challenge), Bytes::from(body.to_string())))
}

fn basic() -> String {
    // `alice:open-sesame`, written out so that nothing here depends on what is tested.
    assert_eq!((USERNAME, PASSWORD), ("alice", "open-sesame"));
    "Basic YWxpY2U6b3Blbi1zZXNhbWU=".to_owned()
}

fn get_manifest(state: &State, wanted: &Wanted) -> Response<Sent> {
    if state.lies.iter().any(|lie| matches!(lie, Lie::Endless)) {
        return Response::builder().status(200).body(Sent::endless()).expect("an answer without headers is one");
    }
    let key = (wanted.repository.clone(), wanted.name.clone());
    let Some((media_type, bytes)) = state.manifests.get(&key) else { return unknown() };
    let other = state.lies.iter().find_map(|lie| match lie {
        Lie::Manifest(name, bytes) if *name == wanted.name => Some(bytes.clone()),
        _ => None,
    });
    let bytes = other.unwrap_or_else(|| bytes.clone());
    let announced = state.lies.iter().find_map(|lie| match lie {
        Lie::ContentDigest(text) => Some(text.clone()),
        _ => None,
    });
    let announced = announced.unwrap_or_else(|| Digest::of(&bytes).to_string());
    let head = Response::builder().status(200).header(CONTENT_TYPE, media_type).header(DIGEST_HEADER, announced);
    let cut = state.lies.iter().find_map(|lie| match lie {
        Lie::CutManifest(after) => Some(Sent::cut(&bytes, *after)),
        _ => None,
    });
    match cut {
        Some(cut) => head.body(cut).expect("its headers are those of a whole one"),
        None => finish(head, bytes),
    }
}

fn put_manifest(state: &mut State, wanted: &Wanted, body: &Bytes) -> Response<Sent> {
    let digest = Digest::of(body).to_string();
    let manifest: Value = serde_json::from_slice(body).unwrap_or_default();
    let layers = manifest["layers"].as_array().into_iter().flatten().chain([&manifest["config"]]);
    let is_whole = layers.filter_map(|layer| layer["digest"].as_str()).all(|digest| state.blobs.contains_key(digest));
    if !is_whole {
        return said(400, &json!({ "errors": [{ "code": "MANIFEST_BLOB_UNKNOWN", "message": "a blob is missing" }] }));
    }
    for name in [wanted.name.clone(), digest.clone()] {
        state.manifests.insert((wanted.repository.clone(), name), (wanted.media_type.clone(), body.clone()));
    }
    let mut head = Response::builder().status(201).header(DIGEST_HEADER, digest);
    if let Some(subject) = manifest["subject"]["digest"].as_str().filter(|_| state.lists_attached) {
        head = head.header("oci-subject", subject);
    }
    finish(head, Bytes::new())
}

fn get_blob(state: &mut State, wanted: &Wanted) -> Response<Sent> {
    let Some(bytes) = state.blobs.get(&wanted.name).cloned() else { return unknown() };
    if state.keeps_apart && !state.links.contains(&(wanted.repository.clone(), wanted.name.clone())) {
        return unknown();
    }
    if wanted.method == Method::HEAD {
        return finish(Response::builder().status(200), Bytes::new());
    }
    let is_meant = |digest: &Digest| digest.to_string() == wanted.name;
    for lie in &mut state.lies {
        match lie {
            Lie::Blob(digest, other) if is_meant(digest) => {
                return finish(Response::builder().status(200), other.clone());
            }
            Lie::Blobs(elsewhere) => {
                let place = format!("{elsewhere}/v2/{}/blobs/{}", wanted.repository, wanted.name);
                return finish(Response::builder().status(307).header(LOCATION, place), Bytes::new());
            }
            Lie::Silent(digest) if is_meant(digest) => {
                let body = Sent::silent(&bytes);
                return Response::builder().status(200).body(body).expect("an answer without headers is one");
            }
            Lie::Cut { blob, after, times } if is_meant(blob) && *times > 0 => {
                *times -= 1;
                let body = Sent::cut(&bytes, *after);
                return Response::builder().status(200).body(body).expect("an answer without headers is one");
            }
            _ => {}
        }
    }
    finish(Response::builder().status(200).header(DIGEST_HEADER, &wanted.name), bytes)
}

fn list_attached(state: &State, wanted: &Wanted) -> Response<Sent> {
    let mut found = Vec::new();
    for ((repository, name), (media_type, bytes)) in &state.manifests {
        let manifest: Value = serde_json::from_slice(bytes).unwrap_or_default();
        let is_attached = manifest["subject"]["digest"].as_str() == Some(&wanted.name);
        if *repository == wanted.repository && name.starts_with("sha256:") && is_attached {
            let artifact_type = &manifest["artifactType"];
            found.push(json!({
                "mediaType": media_type, "digest": name, "size": bytes.len(), "artifactType": artifact_type,
            }));
        }
    }
    let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": found });
    finish(Response::builder().status(200).header(CONTENT_TYPE, INDEX), Bytes::from(index.to_string()))
}

pub(super) fn unknown() -> Response<Sent> {
    said(404, &json!({ "errors": [{ "code": "NAME_UNKNOWN", "message": "not here" }] }))
}

pub(super) fn said(status: u16, body: &Value) -> Response<Sent> {
    finish(Response::builder().status(status).header(CONTENT_TYPE, "application/json"), Bytes::from(body.to_string()))
}

pub(super) fn finish(head: Builder, bytes: Bytes) -> Response<Sent> {
    head.body(Sent::whole(bytes)).expect("the headers of a registry are headers")
}
