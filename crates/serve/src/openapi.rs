//! `/openapi.json`: the API described by the code that serves it.

use crate::fault::{PlainRefusal, Refusal};
use axum::Json;
use std::sync::Arc;
use utoipa::openapi::link::LinkBuilder;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Components, Content, InfoBuilder, OpenApi, PathItem, Ref, RefOr, Required, Response, ResponseBuilder,
    Server as Place,
};
use utoipa::{PartialSchema as _, ToSchema as _};

const TOKEN: &str = "token";
const BYTES: &str = "application/octet-stream";
/// What a new thing is named by in the answer that made it, and the routes that are about such things.
const LINKS: [(&str, &str, &str, &str); 2] =
    [("/threads", "201", "thread_id", "/threads/{id}"), ("/threads", "201", "run_id", "/runs/{id}")];

pub(crate) async fn serve(document: Arc<OpenApi>) -> Json<Arc<OpenApi>> {
    Json(document)
}

/// Adds what holds for every route.
pub(crate) fn finish(mut document: OpenApi) -> Arc<OpenApi> {
    document.info = InfoBuilder::new()
        .title("entourage")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some("Durable subagents: threads, their messages, events, files and runs."))
        .build();
    document.servers = Some(vec![Place::new("/"), Place::new("/api")]);
    let components = document.components.get_or_insert_with(Components::new);
    components.schemas.insert(Refusal::name().into_owned(), Refusal::schema());
    components.schemas.insert(PlainRefusal::name().into_owned(), PlainRefusal::schema());
    components.add_security_scheme(TOKEN, SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    document.security = Some(vec![SecurityRequirement::new(TOKEN, [""; 0])]);
    let paths = std::mem::take(&mut document.paths.paths);
    for (path, mut item) in paths {
        let refusal = if path.starts_with("/tasks") { PlainRefusal::name() } else { Refusal::name() };
        for operation in operations(&mut item) {
            name(operation);
            refuse(operation, &refusal);
            if let Some(RefOr::T(body)) = &mut operation.request_body
                && body.content.contains_key(BYTES)
            {
                // A file may be empty.
                body.required = Some(Required::False);
            }
        }
        // Where the path of a file stands, which may have slashes in it.
        document.paths.paths.insert(path.replace("{*", "{"), item);
    }
    for link in LINKS {
        lead(&mut document, link);
    }
    Arc::new(document)
}

pub(crate) fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.post, &mut item.put, &mut item.delete].into_iter().flatten()
}

/// Handlers of different things have the same names; clients are generated from names that nobody else has.
fn name(operation: &mut Operation) {
    let tag = operation.tags.iter().flatten().next().cloned().unwrap_or_default();
    operation.operation_id = operation.operation_id.take().map(|id| format!("{tag}_{id}"));
}

/// Whatever goes wrong is said in the same way.
fn refuse(operation: &mut Operation, schema: &str) {
    let content = || Content::new(Some(RefOr::Ref(Ref::from_schema_name(schema))));
    for (status, response) in &mut operation.responses.responses {
        if let RefOr::T(Response { content: said, .. }) = response
            && status.starts_with('4')
        {
            said.insert("application/json".to_owned(), content().into());
        }
    }
    let refusal = ResponseBuilder::new().description("It was refused").content("application/json", content()).build();
    operation.responses.responses.insert("default".to_owned(), RefOr::T(refusal));
}

/// Says which routes the answer of a route leads to.
fn lead(document: &mut OpenApi, (from, status, field, to): (&str, &str, &str, &str)) {
    let mut links = Vec::new();
    for (_, item) in document.paths.paths.iter_mut().filter(|(path, _)| path.starts_with(to)) {
        for operation in operations(item) {
            let id = operation.operation_id.clone().unwrap_or_default();
            let link = LinkBuilder::new().operation_id(id.clone()).parameter("id", format!("$response.body#/{field}"));
            links.push((id, link.build()));
        }
    }
    let made = document.paths.paths.get_mut(from).and_then(|item| item.post.as_mut());
    let made = made.and_then(|operation| operation.responses.responses.get_mut(status));
    if let Some(RefOr::T(response)) = made {
        response.links.extend(links.into_iter().map(|(id, link)| (id, RefOr::T(link))));
    }
}
