//! The words of entourage: plain data that every other crate shares.
//!
//! Nothing here does I/O, awaits or reads a clock. Read the modules in this order.

mod act;
mod agent;
mod body;
mod digest;
mod event;
mod exit;
mod fact;
mod file;
mod half;
mod id;
mod item;
mod limits;
mod message;
mod nearest;
mod program;
mod report;
mod request;
mod root;
mod run;
mod secret;
mod server;
mod task;
mod thread;
mod time;
mod tool;
mod variable;
mod visible;
mod write;

pub use act::{Act, StopSession};
pub use agent::{
    Agent, Binding, ChildEntry, Communication, Dialect, HandoffEntry, Hook, HookStage, Immediate, Instructions, Kind,
    ModelRef, ParentHook, Part, Prompt, PromptEntry, Reasoning, Remote, Resumable, Sampling, ScriptTool, SideConfig,
    Source, Team, ToolChoice, ToolConfig, ToolEntry, Variable, WorkspaceMode, WorkspaceWish,
};
pub use body::Body;
pub use digest::{BadDigest, Digest};
pub use event::{ChildLink, Event, JOURNAL_VERSION, Rest, SessionEnd, Started, Stop, VariablesRequest, Wait};
pub use exit::Exit;
pub use fact::Fact;
pub use file::{BadPath, FileRow, copy_path, file_path, mime_type};
pub use half::{Letter, has_half, letters, mark_halves};
pub use id::{BadId, CallId, Ids, MessageId, Name, NodeId, RequestId, RunId, Side, ThreadId};
pub use item::{Ask, Item, Posted, ReplyTo};
pub use limits::Limits;
pub use message::{Attachment, Message, Role, ToolCall, ToolStatus};
pub use nearest::{meant, nearest};
pub use program::Program;
pub use report::{Code, Place, Report, Severity};
pub use request::{Line, ModelAnswer, ModelRequest, RemoteTask};
pub use run::{Ending, Outcome, RunStatus, Usage};
pub use secret::Secret;
pub use server::{
    Served, ServerAddress, ServerEntry, ServerKey, ServerValue, Unserved, means_tool, server_name, server_of,
    server_tool, server_tool_again, server_tools,
};
pub use task::{Assignment, Progress, TaskItem};
pub use thread::{RegistryEntry, ThreadStatus};
pub use time::Timestamp;
pub use tool::{EffectClass, ToolSpec};
pub use variable::{VariableValue, Variables, Vault};
pub use visible::{is_obeyed, one_line, visible, visible_line};
pub use write::{NewRun, NewThread, Write};
