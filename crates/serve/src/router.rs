//! Which handler answers what, and the document that says so.

use crate::fault::Fault;
use crate::service::Service;
use crate::{
    agents, codes, events, files, guard, health, mcp, messages, meters, openapi, page, runs, tasks, threads, variables,
};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn router(service: Service) -> Router {
    let (api, mut document) = api().split_for_parts();
    document.merge(mcp::describe());
    let document = openapi::finish(document);
    let api = api
        .merge(mcp::over_http(&service))
        .route("/openapi.json", get(move || openapi::serve(document.clone())))
        .route("/threads/{id}/files/", any(files::nameless))
        .fallback(async || Fault::not_found("route"))
        .method_not_allowed_fallback(async || {
            Fault::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "this route has no such method")
        });
    let body_bytes_max = service.runtime.limits().http_body_bytes;
    Router::new()
        .nest("/api", api.clone())
        .merge(api)
        .route("/", get(page::page))
        .layer(DefaultBodyLimit::max(body_bytes_max))
        .layer(from_fn_with_state(service.clone(), guard::guard))
        .with_state(service)
}

/// Every route that the document describes.
pub(crate) fn api() -> OpenApiRouter<Service> {
    OpenApiRouter::new()
        .routes(routes!(threads::list, threads::create))
        .routes(routes!(threads::show, threads::delete))
        .routes(routes!(threads::wait))
        .routes(routes!(threads::stop))
        .routes(routes!(threads::terminate))
        .routes(routes!(messages::list, messages::send))
        .routes(routes!(events::stream))
        .routes(routes!(files::list))
        .routes(routes!(files::read, files::write, files::delete))
        .routes(routes!(variables::show, variables::give, variables::withdraw))
        .routes(routes!(runs::list))
        .routes(routes!(runs::show))
        .routes(routes!(runs::cancel))
        .routes(routes!(tasks::submit))
        .routes(routes!(tasks::show))
        .routes(routes!(tasks::wait))
        .routes(routes!(tasks::cancel))
        .routes(routes!(tasks::resume))
        .routes(routes!(tasks::events::events))
        .routes(routes!(agents::list))
        .routes(routes!(agents::show))
        .routes(routes!(codes::exchange))
        .routes(routes!(health::healthz))
        .routes(routes!(meters::metrics))
}
