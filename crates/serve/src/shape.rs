//! Rows as JSON, the same over HTTP and on the command line.

use crate::schema;
use entourage_model::{
    Agent, Digest, Kind, Name, RegistryEntry, RunId, RunStatus, ThreadId, ThreadStatus, Timestamp, Usage,
};
use entourage_runtime::{FileRow, RunRow, ThreadRow};
use serde::Serialize;
use utoipa::ToSchema;

/// A thread as `GET /threads` lists it. Times are microseconds since 1970.
#[derive(Debug, Serialize, ToSchema)]
pub struct Thread<'r> {
    #[schema(value_type = String, format = Uuid)]
    thread_id: ThreadId,
    #[schema(value_type = String)]
    agent: &'r Name,
    #[schema(value_type = String)]
    bundle: Digest,
    #[schema(value_type = schema::ThreadStatus)]
    status: ThreadStatus,
    #[schema(value_type = Option<String>, format = Uuid)]
    parent: Option<ThreadId>,
    #[schema(value_type = String, format = Uuid)]
    root: ThreadId,
    depth: u32,
    #[schema(value_type = i64)]
    created_at: Timestamp,
    #[schema(value_type = Option<i64>)]
    terminated: Option<Timestamp>,
    tags: &'r [String],
    user_id: Option<&'r str>,
    #[schema(value_type = schema::Usage)]
    usage: Usage,
}

/// A thread as `GET /threads/{id}` shows it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ThreadWithChildren<'r> {
    #[serde(flatten)]
    thread: Thread<'r>,
    #[schema(value_type = Vec<schema::SubagentRegistryEntry>)]
    children: &'r [RegistryEntry],
}

/// A run as `GET /runs` lists it. Times are microseconds since 1970.
#[derive(Debug, Serialize, ToSchema)]
pub struct Run<'r> {
    #[schema(value_type = String)]
    run_id: &'r RunId,
    #[schema(value_type = String, format = Uuid)]
    thread_id: ThreadId,
    #[schema(value_type = Option<String>, format = Uuid)]
    parent_thread_id: Option<ThreadId>,
    #[schema(value_type = String)]
    agent: &'r Name,
    #[schema(value_type = schema::RunStatus)]
    status: RunStatus,
    result: Option<&'r str>,
    error: Option<&'r str>,
    #[schema(value_type = i64)]
    created_at: Timestamp,
    #[schema(value_type = Option<i64>)]
    started_at: Option<Timestamp>,
    #[schema(value_type = Option<i64>)]
    ended_at: Option<Timestamp>,
    #[schema(value_type = Option<i64>)]
    delivered_at: Option<Timestamp>,
    cancel_requested: bool,
}

/// An agent as `GET /agents` lists it.
#[derive(Debug, Serialize, ToSchema)]
pub struct AgentLine<'r> {
    #[schema(value_type = String)]
    name: &'r Name,
    title: Option<&'r str>,
    description: &'r str,
    #[schema(value_type = schema::Kind)]
    kind: Kind,
    /// The format that it was declared in.
    format: &'r str,
    /// Relative to the project, `~/…` for the user's, null for built-ins.
    file: Option<&'r str>,
}

/// A file as `GET /threads/{id}/files` lists it.
#[derive(Debug, Serialize, ToSchema)]
pub struct File<'r> {
    path: &'r str,
    size: u64,
    mime_type: &'r str,
}

impl<'r> From<&'r ThreadRow> for Thread<'r> {
    fn from(row: &'r ThreadRow) -> Self {
        Self {
            thread_id: row.id,
            agent: &row.agent,
            bundle: row.bundle,
            status: row.status,
            parent: row.parent,
            root: row.root,
            depth: row.depth,
            created_at: row.created_at,
            terminated: row.terminated_at,
            tags: &row.tags,
            user_id: row.user_id.as_deref(),
            usage: row.usage,
        }
    }
}

impl<'r> ThreadWithChildren<'r> {
    /// `agent` is the one at work, which a handoff may have changed.
    pub fn new(row: &'r ThreadRow, agent: &'r Name, children: &'r [RegistryEntry]) -> Self {
        Self { thread: Thread { agent, ..row.into() }, children }
    }
}

impl<'r> From<&'r RunRow> for Run<'r> {
    fn from(row: &'r RunRow) -> Self {
        Self {
            run_id: &row.id,
            thread_id: row.thread,
            parent_thread_id: row.parent,
            agent: &row.agent,
            status: row.status,
            result: row.result.as_deref(),
            error: row.error.as_deref(),
            created_at: row.created_at,
            started_at: row.started_at,
            ended_at: row.ended_at,
            delivered_at: row.delivered_at,
            cancel_requested: row.cancel_requested,
        }
    }
}

impl<'r> From<&'r Agent> for AgentLine<'r> {
    fn from(agent: &'r Agent) -> Self {
        Self {
            name: &agent.name,
            title: agent.title.as_deref(),
            description: &agent.description,
            kind: agent.kind,
            format: &agent.source.format,
            file: agent.source.file.as_deref(),
        }
    }
}

impl<'r> From<&'r FileRow> for File<'r> {
    fn from(row: &'r FileRow) -> Self {
        Self { path: &row.path, size: row.size, mime_type: &row.mime_type }
    }
}
