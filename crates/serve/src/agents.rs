//! `/agents`: what new threads can be started from.

use crate::fault::Fault;
use crate::path::Path;
use crate::service::Service;
use crate::shape::AgentLine;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub(crate) struct Agents<'r> {
    agents: Vec<AgentLine<'r>>,
}

/// What the project declares at the moment.
#[utoipa::path(get, path = "/agents", tag = "agents", responses((status = 200, description = "All of them", body = Agents)))]
pub(crate) async fn list(State(service): State<Service>) -> Response {
    let team = service.team().await;
    let agents = team.agents.values().map(|agent| AgentLine::from(&**agent)).collect();
    Json(Agents { agents }).into_response()
}

/// The canonical agent.
#[utoipa::path(get, path = "/agents/{name}", tag = "agents", params(("name" = String, Path)), responses(
    (status = 200, description = "What the listing has, and the whole definition", body = Object),
    (status = 404, description = "There is no such agent"),
))]
pub(crate) async fn show(State(service): State<Service>, Path(name): Path<String>) -> Result<Json<Value>, Fault> {
    let team = service.team().await;
    let agent = team.agents.get(name.as_str()).ok_or_else(|| Fault::not_found("agent"))?;
    let mut shown = json!(AgentLine::from(&**agent));
    if let (Value::Object(shown), Value::Object(canonical)) = (&mut shown, json!(&**agent)) {
        shown.extend(canonical);
    }
    hide_values(&mut shown);
    Ok(Json(shown))
}

/// Variables and headers may be secrets: their names are shown and their values are not.
fn hide_values(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::Object(entries) if matches!(name.as_str(), "env" | "headers") => {
                        entries.values_mut().filter(|value| value.is_string()).for_each(|value| *value = Value::Null);
                    }
                    _ => hide_values(field),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide_values),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_variables_and_headers_are_hidden_wherever_they_are() {
        let mut shown = json!({ "env": { "A": "x" }, "sides": [{ "headers": { "B": "y" }, "name": "z" }] });
        hide_values(&mut shown);
        assert_eq!(shown, json!({ "env": { "A": null }, "sides": [{ "headers": { "B": null }, "name": "z" }] }));
    }
}
