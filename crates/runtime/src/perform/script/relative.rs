//! A tool's way to its thread's parent and children. No other thread can be reached.

use super::door::{ById, Keyed, ThreadDoor, read};
use super::{file, message};
use entourage_model::{FileRow, ThreadId};
use entourage_store::ThreadRow;
use serde_json::{Value, json};

impl ThreadDoor {
    /// What a script knows of a child; nothing where the reference is not one of a child.
    pub(super) async fn child(&self, reference: &str) -> Result<Value, String> {
        let Ok(child) = reference.parse::<ThreadId>() else { return Ok(Value::Null) };
        if !self.desk().state.children.contains_key(&child) {
            return Ok(Value::Null);
        }
        self.facts_of(child).await
    }

    pub(super) async fn parent(&self) -> Result<Value, String> {
        let parent = self.desk().state.started.parent;
        match parent {
            Some(parent) => self.facts_of(parent).await,
            None => Ok(Value::Null),
        }
    }

    /// Neither the variables nor the children of a relative are for others.
    async fn facts_of(&self, thread: ThreadId) -> Result<Value, String> {
        let row: Option<ThreadRow> = self.inner.store.thread(thread).await.map_err(file::told)?;
        Ok(row.map_or(Value::Null, |row| {
            json!({
                "threadId": row.id,
                "agentId": row.agent,
                "userId": row.user_id,
                "createdAt": row.created_at,
                "terminated": row.terminated_at,
                "children": [],
                "arguments": null,
                "context": {},
                "env": {},
            })
        }))
    }

    /// A parent can be written to; a child can be written to, ended and looked at.
    pub(super) async fn ask_relative(&self, thread: ThreadId, method: &str, arguments: Value) -> Result<Value, String> {
        let (is_parent, is_child) = {
            let state = &self.desk().state;
            (state.started.parent == Some(thread), state.children.contains_key(&thread))
        };
        if !is_parent && !is_child {
            return Err(format!("`{thread}` is neither the parent of this thread nor a child of it"));
        }
        match method {
            "queueMessage" => self.queue(thread, read(arguments)?).await,
            "terminate" if is_child => self.terminate(thread),
            "getMessages" | "getMessage" | "getValue" if is_child => self.look_at(thread, method, arguments).await,
            "readFile" | "statFile" | "readdirFile" if is_child => self.look_into(thread, method, arguments).await,
            _ => Err(format!("`state.{method}` is not offered for another thread")),
        }
    }

    /// What a child's journal says at this moment.
    async fn look_at(&self, child: ThreadId, method: &str, arguments: Value) -> Result<Value, String> {
        let state = self.inner.fold(child).await.map_err(file::told)?;
        let state = state.ok_or_else(|| format!("the thread `{child}` is gone"))?;
        match method {
            "getMessages" => Ok(message::list(&state, state.seq, &read(arguments)?)),
            "getMessage" => {
                let ById { id } = read(arguments)?;
                Ok(message::one(&state, state.seq, id))
            }
            _ => {
                let Keyed { key, .. } = read(arguments)?;
                Ok(state.values.get(&key).cloned().unwrap_or_default())
            }
        }
    }

    async fn look_into(&self, child: ThreadId, method: &str, arguments: Value) -> Result<Value, String> {
        let files: Vec<FileRow> = self.inner.store.files(child).await.map_err(file::told)?;
        match method {
            "statFile" => Ok(file::stat(files.iter(), &file::path_of(arguments)?)),
            "readdirFile" => {
                Ok(file::entries(files.iter(), &file::folder(&super::door::text_of(&arguments, "path")?)?))
            }
            _ => {
                let wanted: file::ReadFile = read(arguments)?;
                let path = wanted.path()?;
                self.content(files.into_iter().find(|file| file.path == path), &wanted).await
            }
        }
    }
}
