//! The API's documents as the rows that they were made of, and filters as what stands behind a `?`.

use super::call::{self, escaped};
use crate::failure::Failure;
use crate::transcript::Numbered;
use entourage_model::{Digest, Message, Name, RunId, RunStatus, ThreadId, ThreadStatus, Timestamp, Usage};
use entourage_store::{RunFilter, RunRow, ThreadFilter, ThreadRow};
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write as _;
use std::sync::Arc;

#[derive(Debug, Deserialize)]
pub(super) struct ThreadDocument {
    thread_id: ThreadId,
    agent: Name,
    bundle: Digest,
    status: ThreadStatus,
    parent: Option<ThreadId>,
    root: ThreadId,
    depth: u32,
    created_at: Timestamp,
    terminated: Option<Timestamp>,
    tags: Vec<String>,
    user_id: Option<String>,
    usage: Usage,
}

/// What only the runtime needs is not told; nobody here asks for it.
impl From<ThreadDocument> for ThreadRow {
    fn from(document: ThreadDocument) -> Self {
        Self {
            id: document.thread_id,
            parent: document.parent,
            root: document.root,
            depth: document.depth,
            agent: document.agent,
            bundle: document.bundle,
            status: document.status,
            user_id: document.user_id,
            tags: document.tags,
            created_at: document.created_at,
            terminated_at: document.terminated,
            usage: document.usage,
            seq: 0,
            attempts: 0,
            epoch: 0,
            wake_at: None,
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct RunDocument {
    run_id: RunId,
    thread_id: ThreadId,
    parent_thread_id: Option<ThreadId>,
    agent: Name,
    status: RunStatus,
    result: Option<String>,
    error: Option<String>,
    created_at: Timestamp,
    started_at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
    delivered_at: Option<Timestamp>,
    cancel_requested: bool,
}

/// What was asked for is not told; nobody here shows it.
impl From<RunDocument> for RunRow {
    fn from(document: RunDocument) -> Self {
        Self {
            id: document.run_id,
            thread: document.thread_id,
            parent: document.parent_thread_id,
            agent: document.agent,
            request: String::new(),
            status: document.status,
            result: document.result,
            error: document.error,
            created_at: document.created_at,
            started_at: document.started_at,
            ended_at: document.ended_at,
            delivered_at: document.delivered_at,
            cancel_requested: document.cancel_requested,
        }
    }
}

pub(super) fn message(document: &Value) -> Result<Numbered, Failure> {
    let seq = document["seq"].as_u64().unwrap_or_default();
    let message: Message = call::read(document.clone())?;
    Ok(Numbered { seq, message: Arc::new(message) })
}

/// The listing's path, ready for one more `name=value`.
pub(super) fn threads_path(filter: &ThreadFilter) -> String {
    let ThreadFilter { agent, status, unsettled: _, parent, root, roots, tag, user_id: _ } = filter;
    let given = [
        ("agent", agent.as_ref().map(ToString::to_string)),
        ("status", status.map(|status| status.word().to_owned())),
        ("parent", parent.map(|id| id.to_string())),
        ("root", root.map(|id| id.to_string())),
        ("roots", roots.then(|| "true".to_owned())),
        ("tag", tag.clone()),
    ];
    path("/threads", given)
}

pub(super) fn runs_path(filter: &RunFilter) -> String {
    let RunFilter { thread, parent: _, status, unread } = filter;
    let given = [
        ("thread", thread.map(|id| id.to_string())),
        ("status", status.map(|status| status.word().to_owned())),
        ("unread", unread.then(|| "true".to_owned())),
    ];
    path("/runs", given)
}

fn path<const N: usize>(route: &str, given: [(&str, Option<String>); N]) -> String {
    let mut path = format!("{route}?");
    for (name, value) in given.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        _ = write!(path, "{name}={}&", escaped(&value));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_stand_behind_the_question_mark_without_odd_characters() {
        let filter = ThreadFilter { tag: Some("name:a b&c".to_owned()), roots: true, ..ThreadFilter::default() };
        assert_eq!(threads_path(&filter), "/threads?roots=true&tag=name%3Aa%20b%26c&");
        let filter = RunFilter { status: Some(RunStatus::Done), unread: true, ..RunFilter::default() };
        assert_eq!(runs_path(&filter), "/runs?status=done&unread=true&");
        assert_eq!(runs_path(&RunFilter::default()), "/runs?");
    }
}
