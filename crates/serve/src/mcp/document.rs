//! `/mcp` in the document of the API: the protocol has a specification of its own.

use utoipa::OpenApi;

/// What the document says of the route.
pub(crate) fn describe() -> utoipa::openapi::OpenApi {
    Described::openapi()
}

#[derive(OpenApi)]
#[openapi(paths(message))]
struct Described;

/// One message of the Model Context Protocol (streamable HTTP).
#[utoipa::path(
    post,
    path = "/mcp",
    tag = "mcp",
    params(("accept" = String, Header, description = "`application/json, text/event-stream`")),
    request_body(content = Object, description = "A JSON-RPC 2.0 request or notification", content_type = "application/json"),
    responses(
        (status = 200, description = "The answer to a request, as JSON or as a stream of events", body = Object),
        (status = 202, description = "A notification was taken"),
    ),
)]
#[expect(dead_code, reason = "the route is served by the protocol's own code; this only describes it")]
fn message() {}
