//! Having MCP servers ready before somebody needs their tools.

use super::Flight;
use super::model::wait_if_spared;
use crate::runtime::Inner;
use entourage_engine::Input;
use entourage_model::{Name, ServerEntry, ThreadId};
use futures::FutureExt as _;
use futures::future::join_all;
use std::sync::Arc;

/// Starts the servers of an agent that is about to be asked, and has the question decided upon again: then their tools are
/// known. One that the agent needs and that cannot be used is the answer to the question.
pub(crate) fn equip(inner: &Arc<Inner>, thread: ThreadId, agent: &Name, servers: Vec<ServerEntry>) -> Flight {
    let (inner, agent) = (Arc::clone(inner), agent.clone());
    async move {
        let tried = join_all(servers.iter().map(|entry| inner.servers.ready(&entry.key))).await;
        let mut faults = servers.iter().zip(tried).filter_map(|(entry, tried)| Some((entry, tried.err()?)));
        let needed = faults.find(|(entry, _)| entry.required);
        if needed.is_some() {
            wait_if_spared(&inner, thread).await;
        }
        let input = match needed {
            Some((_, why)) => Input::Answered(Err(format!("agent `{agent}` cannot be asked: {why}"))),
            None => Input::Resumed,
        };
        (input, true)
    }
    .boxed()
}

/// Starts servers for agents that an answer asks for, and gives the answer back: what could not be started is known then.
pub(crate) fn prepare(inner: &Arc<Inner>, servers: Vec<ServerEntry>, answer: Input) -> Flight {
    let inner = Arc::clone(inner);
    async move {
        join_all(servers.iter().map(|entry| inner.servers.ready(&entry.key))).await;
        (answer, true)
    }
    .boxed()
}
