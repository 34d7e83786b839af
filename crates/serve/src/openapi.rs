//! `/openapi.json`: the API described by the code that serves it.

use crate::fault::Refusal;
use axum::Json;
use std::sync::Arc;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Components, Content, InfoBuilder, OpenApi, PathItem, Ref, RefOr, ResponseBuilder, Server as Place,
};
use utoipa::{PartialSchema as _, ToSchema as _};

const TOKEN: &str = "token";

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
    components.add_security_scheme(TOKEN, SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    document.security = Some(vec![SecurityRequirement::new(TOKEN, [""; 0])]);
    let paths = std::mem::take(&mut document.paths.paths);
    for (path, mut item) in paths {
        operations(&mut item).for_each(refuse);
        // Where the path of a file stands, which may have slashes in it.
        document.paths.paths.insert(path.replace("{*", "{"), item);
    }
    Arc::new(document)
}

pub(crate) fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.post, &mut item.put, &mut item.delete].into_iter().flatten()
}

/// Whatever goes wrong is said in the same way.
fn refuse(operation: &mut Operation) {
    let schema = Ref::from_schema_name(Refusal::name());
    let content = Content::new(Some(RefOr::Ref(schema)));
    let refusal = ResponseBuilder::new().description("It was refused").content("application/json", content).build();
    operation.responses.responses.insert("default".to_owned(), RefOr::T(refusal));
}
