//! Questions to the person behind a client: the variables that a subagent lacks.
//!
//! A client of the newer protocol is given the question as the answer to its call, and calls again with what the person
//! said. An older one is asked while its call waits, which needs a connection that lasts: standard input and output.
//! Secrets are never asked for, because what a person types goes through the client.

use super::root;
use crate::service::Service;
use axum::http::request::Parts;
use entourage_model::{Message, Name, RequestId, ThreadId};
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequests, InputRequiredResult, InputResponses, PrimitiveSchemaDefinition, ProtocolVersion, StringSchema,
};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// How the engine says that a child lacks variables.
const CODE: &str = "subagent_env_required";
/// What the one question is called that a call can leave open.
const KEY: &str = "variables";
/// How long the person behind an older client is waited for.
const THINKING: Duration = Duration::from_secs(600);

/// How the person behind a client is asked.
#[derive(Debug)]
pub(super) enum Asker {
    Nobody,
    /// The client calls again with the answer.
    CalledAgain,
    /// The client answers while its call waits.
    Peer(Peer<RoleServer>),
}

impl Asker {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        let can = context.client_capabilities().and_then(|client| client.elicitation);
        // Whoever names no kind of question means forms.
        let takes_forms = can.is_some_and(|can| can.form.is_some() || can.url.is_none());
        if !takes_forms {
            return Self::Nobody;
        }
        if context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
            return Self::CalledAgain;
        }
        let is_over_http = context.extensions.get::<Parts>().is_some();
        if is_over_http { Self::Nobody } else { Self::Peer(context.peer.clone()) }
    }
}

/// What a person was asked, or is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) thread: ThreadId,
    pub(super) request: RequestId,
}

impl Asked {
    /// The question that a client comes back to, if it may.
    pub(super) async fn found(service: &Service, state: &str) -> Option<Self> {
        let (thread, request) = state.split_once('/')?;
        let asked = Self { thread: thread.parse().ok()?, request: request.parse().ok()? };
        root::is_home(service, asked.thread).await.ok()?.then_some(asked)
    }

    fn state(self) -> String {
        format!("{}/{}", self.thread, self.request)
    }
}

/// The values that a person gave, by name.
pub(super) type Values = BTreeMap<String, String>;

/// How a question was answered.
pub(super) enum Answer {
    Given(Values),
    /// The client will call again.
    Open(InputRequiredResult),
    Refused,
}

pub(super) struct Question {
    pub(super) asked: Asked,
    form: ElicitRequestParams,
}

#[derive(Deserialize)]
struct Refusal {
    error: Lack,
}

#[derive(Deserialize)]
struct Lack {
    code: String,
    agent: Name,
    request_id: RequestId,
    missing: Vec<String>,
}

impl Question {
    /// What the result of a call leaves open, if a person may be asked it through a client.
    pub(super) async fn of(service: &Service, thread: ThreadId, result: &Message) -> Option<Self> {
        let Refusal { error: lack } = serde_json::from_str(&result.content).ok()?;
        if lack.code != CODE {
            return None;
        }
        let team = root::team(service).await;
        let mut properties = BTreeMap::new();
        for name in &lack.missing {
            let declared: Vec<_> = team.variables().filter(|variable| variable.name == *name).collect();
            if declared.iter().any(|variable| variable.secret) {
                return None;
            }
            let mut schema = StringSchema::new();
            if let Some(description) = declared.iter().find_map(|variable| variable.description.clone()) {
                schema = schema.description(description);
            }
            properties.insert(name.clone(), PrimitiveSchemaDefinition::String(schema));
        }
        let form = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: format!("The subagent `{}` needs to know: {}", lack.agent, lack.missing.join(", ")),
            requested_schema: ElicitationSchema::new(properties).with_required(lack.missing),
        };
        Some(Self { asked: Asked { thread, request: lack.request_id }, form })
    }

    pub(super) async fn ask(self, asker: &Asker) -> Answer {
        match asker {
            Asker::Nobody => Answer::Refused,
            Asker::CalledAgain => {
                let request = InputRequest::Elicitation(ElicitRequest::new(self.form));
                let requests = BTreeMap::from([(KEY.to_owned(), request)]);
                Answer::Open(InputRequiredResult::new(Some(requests), Some(self.asked.state())))
            }
            Asker::Peer(peer) => put_form(peer, self.form).await.and_then(given).map_or(Answer::Refused, Answer::Given),
        }
    }
}

/// What the person behind an older client says to questions that another server leaves open. Nobody answers what is no
/// form.
pub(super) async fn put(peer: &Peer<RoleServer>, requests: InputRequests) -> InputResponses {
    let mut responses = InputResponses::new();
    for (key, request) in requests {
        if let InputRequest::Elicitation(question) = request
            && let Some(said) = put_form(peer, question.params).await
            && let Ok(said) = serde_json::to_value(said)
        {
            responses.insert(key, said);
        }
    }
    responses
}

async fn put_form(peer: &Peer<RoleServer>, form: ElicitRequestParams) -> Option<ElicitResult> {
    match peer.create_elicitation_with_timeout(form, Some(THINKING)).await {
        Ok(said) => Some(said),
        Err(fault) => {
            tracing::debug!("a client could not ask its person: {fault}");
            None
        }
    }
}

/// What a person said to the question that a client comes back to.
pub(super) fn answered(mut responses: InputResponses) -> Option<Values> {
    given(serde_json::from_value(responses.remove(KEY)?).ok()?)
}

fn given(said: ElicitResult) -> Option<Values> {
    let content = said.content.filter(|_| said.action == ElicitationAction::Accept)?;
    let Value::Object(fields) = content else { return None };
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    Some(fields.into_iter().map(|(name, value)| (name, text(value))).collect())
}
