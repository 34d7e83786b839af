//! Types of other crates as the API's document describes them. They are never made: the tests hold them to what is
//! really sent.

#![expect(dead_code, reason = "only their descriptions are used")]

use utoipa::ToSchema;

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum ThreadStatus {
    Idle,
    Ready,
    Running,
    Waiting,
    Done,
    Failed,
    Terminated,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum RunStatus {
    Pending,
    Running,
    Interrupted,
    Done,
    Failed,
    Cancelled,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum Kind {
    AiHuman,
    DualAi,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum Role {
    System,
    User,
    Assistant,
    Tool,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum Side {
    A,
    B,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum ToolStatus {
    Success,
    Error,
}

/// What models were paid for.
#[derive(ToSchema)]
pub(crate) struct Usage {
    input_tokens: u64,
    output_tokens: u64,
    steps: u64,
}

/// A child as its parent knows it.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct SubagentRegistryEntry {
    #[schema(format = Uuid)]
    reference: String,
    /// The agent's name.
    name: String,
    #[schema(nullable = false)]
    title: Option<String>,
    description: String,
    resumable: bool,
    blocking: bool,
    /// The name that the parent gave to this instance.
    #[schema(nullable = false)]
    thread_name: Option<String>,
    #[schema(nullable = false)]
    spawn_group_id: Option<String>,
    created_at: i64,
    status: String,
    parent_communication: Communication,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum Communication {
    Implicit,
    Explicit,
}

#[derive(ToSchema)]
pub(crate) struct Message {
    #[schema(format = Uuid)]
    id: String,
    /// Its number in the thread.
    #[schema(required)]
    seq: Option<u64>,
    /// The side that said it.
    #[schema(required)]
    side: Option<Side>,
    role: Role,
    content: String,
    tool_calls: Vec<ToolCall>,
    #[schema(required)]
    tool_call_id: Option<String>,
    #[schema(required)]
    tool_name: Option<String>,
    #[schema(required)]
    tool_status: Option<ToolStatus>,
    /// Models see it, people by default do not.
    silent: bool,
    attachments: Vec<Attachment>,
    #[schema(value_type = Object)]
    metadata: (),
    created_at: i64,
}

#[derive(ToSchema)]
pub(crate) struct ToolCall {
    id: String,
    name: String,
    /// As the model wrote them, which need not be JSON.
    arguments: String,
}

/// A file of the thread that holds the message.
#[derive(ToSchema)]
pub(crate) struct Attachment {
    path: String,
    name: String,
    mime_type: String,
    size: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use entourage_model as model;
    use serde_json::{Value, json};
    use std::collections::BTreeSet;
    use utoipa::PartialSchema;

    fn described<T: PartialSchema>() -> Value {
        serde_json::to_value(T::schema()).unwrap()
    }

    #[track_caller]
    fn words<T: PartialSchema>(sent: &[Value]) {
        assert_eq!(described::<T>()["enum"], json!(sent));
    }

    #[track_caller]
    fn fields<T: PartialSchema>(sent: &Value) {
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        assert_eq!(names(&described::<T>()["properties"]), names(sent));
    }

    #[test]
    fn every_word_is_described() {
        words::<ThreadStatus>(&model::ThreadStatus::ALL.map(|status| json!(status)));
        words::<RunStatus>(&model::RunStatus::ALL.map(|status| json!(status)));
        words::<Kind>(&[model::Kind::AiHuman, model::Kind::DualAi].map(|kind| json!(kind)));
        words::<Side>(&[model::Side::A, model::Side::B].map(|side| json!(side)));
        words::<ToolStatus>(&[model::ToolStatus::Success, model::ToolStatus::Error].map(|status| json!(status)));
        let roles = [model::Role::System, model::Role::User, model::Role::Assistant, model::Role::Tool];
        words::<Role>(&roles.map(|role| json!(role)));
        let ways = [model::Communication::Implicit, model::Communication::Explicit];
        words::<Communication>(&ways.map(|way| json!(way)));
    }

    #[test]
    fn every_field_is_described() {
        let mut ids = model::Ids::new(model::Timestamp(1), 1);
        let message = model::Message::new(ids.message(), model::Role::User, "hi", model::Timestamp(1));
        fields::<Message>(&message.shown(Some(1)));
        fields::<Usage>(&json!(model::Usage::default()));
        let call = model::ToolCall { id: "1".into(), name: "a".into(), arguments: String::new() };
        fields::<ToolCall>(&json!(call));
        let text = String::new;
        fields::<Attachment>(&json!(model::Attachment {
            path: text(),
            name: text(),
            mime_type: text(),
            size: 1,
            digest: None
        }));
        let entry = model::RegistryEntry {
            reference: ids.thread(),
            name: "a".into(),
            title: Some(text()),
            description: text(),
            resumable: true,
            blocking: true,
            thread_name: Some(text()),
            spawn_group_id: Some(text()),
            created_at: model::Timestamp(1),
            status: text(),
            parent_communication: model::Communication::Implicit,
        };
        fields::<SubagentRegistryEntry>(&json!(entry));
    }
}
