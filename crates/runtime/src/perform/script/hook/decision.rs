//! Letting hooks hear of what a decision has come to.

use super::shape::{self, Shape, Subject};
use super::{Aftermath, Ground, hear};
use crate::runtime::Inner;
use entourage_engine::{Change, Echo, Occasion, ThreadState};
use entourage_outside::tool::Occasion as Told;
use serde_json::{Value, json};
use std::sync::Arc;

/// What comes of the occasion at which a decision was given up. The ground is the thread at that moment.
pub(crate) async fn echo(inner: &Arc<Inner>, ground: &Ground, occasion: Occasion) -> Echo {
    let told = told(&ground.state, &occasion);
    let Aftermath { shape, acts, blocked, .. } = hear(inner, ground, told, subject(&occasion)).await;
    let change = match (blocked, shape) {
        (Some(reason), _) => Change::Blocked(reason),
        (None, Shape::Message(message)) => Change::Message(message),
        (None, Shape::Call(call)) => Change::Call(call),
        (None, Shape::Result(result)) => Change::Result(result),
        (None, Shape::Removed) => Change::Removed,
        (None, Shape::Same | Shape::Text(_) | Shape::Transcript(_) | Shape::Lines(_) | Shape::Updates(_)) => {
            Change::Nothing
        }
    };
    Echo { occasion, change, acts }
}

fn subject(occasion: &Occasion) -> Subject<'_> {
    match occasion {
        Occasion::MessageComing(message) => Subject::Message(message),
        Occasion::CallComing(call) => Subject::Call(call),
        Occasion::CallSucceeded { result, .. }
        | Occasion::CallFailed { result, .. }
        | Occasion::ResultComing { result, .. } => Subject::Result(result),
        Occasion::ThreadCreated | Occasion::ChildCreated(_) | Occasion::MessageCreated(_) | Occasion::CallAsked(_) => {
            Subject::Plain
        }
    }
}

fn told(state: &ThreadState, occasion: &Occasion) -> Told {
    match occasion {
        Occasion::ThreadCreated => Told::ThreadCreated,
        Occasion::ChildCreated(child) => {
            let entry = state.children.get(child).map(|child| json!(child.entry()));
            Told::SubagentCreated { child: entry.unwrap_or(Value::Null) }
        }
        Occasion::MessageComing(message) => Told::BeforeCreateMessage { message: shape::row(message, None) },
        Occasion::MessageCreated(message) => Told::AfterCreateMessage { message: shape::row(message, None) },
        Occasion::CallAsked(call) => Told::ToolCallStarted { call: shape::call(call) },
        Occasion::CallComing(call) => Told::ToolCallDone { call: shape::call(call) },
        Occasion::CallSucceeded { call, result } => {
            Told::AfterToolCallSuccess { call: shape::call(call), result: shape::result(result) }
        }
        Occasion::CallFailed { call, result } => {
            Told::AfterToolCallFailure { call: shape::call(call), result: shape::result(result) }
        }
        Occasion::ResultComing { call, result } => {
            Told::BeforeStoreToolResult { call: shape::call(call), result: shape::result(result) }
        }
    }
}
