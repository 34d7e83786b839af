//! Deciding about children that cannot start before somebody gives them variables.

use super::Desk;
use super::child::Birth;
use super::room;
use crate::dialect::{Dowry, Order, Patience, Refusal};
use crate::variable::Needed;
use entourage_model::{Event, RequestId, ThreadId, VariableValue, VariablesRequest, Wait};
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

/// Requests that one thread may have open.
const REQUESTS_MAX: u32 = 100;

impl Desk<'_> {
    /// Keeps what is known of the child until its variables are given, and says what is missing.
    pub(super) fn request_variables(&mut self, order: &Order<'_>, needed: Needed) -> Refusal {
        let now = self.now;
        self.close_requests(|request| request.until <= now);
        if self.state.requests.len() >= REQUESTS_MAX as usize {
            let advice = "a person has to give those that wait their variables first";
            return room::full(self.state, "variables_requests", REQUESTS_MAX, advice);
        }
        let Needed { required, missing } = needed;
        let id = self.ids.request();
        let agent = order.entry.name().clone();
        let until = self.now.after(Duration::from_secs(self.world.limits.variables_seconds));
        self.emit(Event::VariablesRequested(Box::new(VariablesRequest {
            id,
            entry: order.entry.clone().into_owned(),
            message: order.message.clone(),
            given_name: order.name.clone(),
            attachments: order.attachments.clone(),
            arguments: order.arguments.clone(),
            group: self.group(),
            dialect: order.dialect,
            instructions: order.dowry.instructions.clone(),
            tools: order.dowry.tools.clone(),
            models: order.dowry.models.clone(),
            denied: order.dowry.denied.clone(),
            required: required.clone(),
            missing: missing.clone(),
            until,
        })));
        let endpoint = format!("/threads/{}/variables/{id}", self.state.id());
        let text = format!(
            "subagent `{agent}` needs variables that only a person can give: {}. It starts by itself once they are \
             sent to {endpoint}; do not call it again.",
            missing.join(", ")
        );
        Refusal::new("subagent_env_required", text)
            .with("agent", json!(agent))
            .with("request_id", json!(id))
            .with("endpoint", json!(endpoint))
            .with("required", json!(required))
            .with("missing", json!(missing))
    }

    /// Their children do not start any more.
    fn close_requests(&mut self, is_over: impl Fn(&VariablesRequest) -> bool) {
        let over = self.state.requests.values().filter(|request| is_over(request));
        for request in over.map(|request| request.id).collect::<Vec<_>>() {
            self.emit(Event::RequestClosed { request, child: None });
        }
    }

    /// Somebody takes a request back. One that is unknown, used or over stays as it is.
    pub(super) fn close_request(&mut self, id: RequestId) {
        self.close_requests(|request| request.id == id);
    }

    /// Whoever does not want the session's result does not want the children that it would have started.
    pub(super) fn close_requests_of_session(&mut self) {
        let made = self.state.session.as_ref().map(|session| session.requests.clone()).unwrap_or_default();
        self.close_requests(|request| made.contains(&request.id));
    }

    /// Starts the child that waited, as it was asked for. An unknown or expired request, or values that do not do, change
    /// nothing: whoever sent them is told by what the thread says of the request afterwards.
    pub(super) fn variables_given(&mut self, id: RequestId, child: ThreadId, given: BTreeMap<String, VariableValue>) {
        let Some(request) = self.state.requests.get(&id).cloned() else { return };
        let is_complete = request.missing.iter().all(|name| given.contains_key(name));
        if request.until <= self.now || !is_complete || self.has_room(&request.entry).is_err() {
            return;
        }
        self.emit(Event::RequestClosed { request: id, child: Some(child) });
        let order = Order {
            entry: Cow::Owned(request.entry),
            dialect: request.dialect,
            message: request.message,
            name: request.given_name,
            attachments: request.attachments,
            arguments: request.arguments,
            patience: Patience::None,
            dowry: Dowry {
                instructions: request.instructions,
                tools: request.tools,
                models: request.models,
                denied: request.denied,
                mirrors: None,
            },
        };
        self.bear(Birth { thread: child, wait: Wait::Background, given, group: request.group, order });
    }
}
