//! A tool's way to its thread's parent and children. No other thread can be reached.

use super::door::{ById, Keyed, ThreadDoor, arguments_of, read, text_of};
use super::{file, message};
use entourage_engine::{ThreadState, variables_for_relative};
use entourage_model::{FileRow, ThreadId};
use entourage_outside::tool::Door as _;
use serde_json::{Value, json};

impl ThreadDoor {
    /// What a script knows of a child; nothing where the reference is not one of a child.
    pub(super) async fn child(&self, reference: &str) -> Result<Value, String> {
        let Ok(child) = reference.parse::<ThreadId>() else { return Ok(Value::Null) };
        if self.is_child(child).await? { self.facts_of(child).await } else { Ok(Value::Null) }
    }

    /// One whose work is over, and that nobody can write to again, is still a child.
    async fn is_child(&self, thread: ThreadId) -> Result<bool, String> {
        if self.desk().state.children.contains_key(&thread) {
            return Ok(true);
        }
        let row = self.inner.store.thread(thread).await.map_err(file::told)?;
        Ok(row.is_some_and(|row| row.parent == Some(self.place.thread)))
    }

    pub(super) async fn parent(&self) -> Result<Value, String> {
        let parent = self.desk().state.started.parent;
        match parent {
            Some(parent) => self.facts_of(parent).await,
            None => Ok(Value::Null),
        }
    }

    /// What its journal says of a relative at this moment, and this call of a child. Its secrets are not for others.
    async fn facts_of(&self, thread: ThreadId) -> Result<Value, String> {
        let Some(state) = self.inner.fold(thread).await.map_err(file::told)? else {
            return Ok(self.facts_of_unborn(thread));
        };
        // A child's own words about itself are known to its parent.
        let known = self.desk().state.children.get(&thread).map(|child| (child.status.clone(), child.terminated));
        let (said, is_over) = known.map_or((None, false), |(status, is_over)| (Some(status), is_over));
        let terminated = state.terminated.or_else(|| is_over.then(|| self.inner.store.now()));
        Ok(json!({
            "threadId": thread,
            "agentId": state.agent,
            "userId": state.started.user_id,
            "createdAt": state.started.at,
            "terminated": terminated,
            "status": said.map_or_else(|| json!(state.status()), Value::from),
            "children": state.registry().collect::<Vec<_>>(),
            "arguments": arguments_of(&state.started),
            "context": {},
            "env": variables_for_relative(&self.world(), &state),
        }))
    }

    /// A hook hears of a child before it is durable: then only its parent knows it.
    fn facts_of_unborn(&self, thread: ThreadId) -> Value {
        let desk = self.desk();
        let Some(child) = desk.state.children.get(&thread) else { return Value::Null };
        json!({
            "threadId": thread,
            "agentId": child.link.agent,
            "userId": desk.state.started.user_id,
            "createdAt": child.link.at,
            "terminated": Value::Null,
            "status": child.status,
            "children": [],
            "arguments": Value::Null,
            "context": {},
            "env": {},
        })
    }

    /// A relative can be written to and looked at; a child can be ended as well.
    pub(super) async fn ask_relative(&self, thread: ThreadId, method: &str, arguments: Value) -> Result<Value, String> {
        let is_parent = self.desk().state.started.parent == Some(thread);
        let is_child = !is_parent && self.is_child(thread).await?;
        if !is_parent && !is_child {
            return Err(format!("`{thread}` is neither the parent of this thread nor a child of it"));
        }
        match method {
            "queueMessage" => self.queue(thread, read(arguments)?).await,
            "terminate" if is_child => self.terminate(thread),
            "terminate" => Err("a thread cannot terminate its parent".to_owned()),
            "getParentThread" | "getChildThread" => self.relative_of(thread, method, &arguments).await,
            "getMessages" | "getMessage" | "getValue" => self.look_at(thread, method, arguments).await,
            "readFile" | "statFile" | "readdirFile" => self.look_into(thread, method, arguments).await,
            _ => Err(format!("`state.{method}` is not offered for another thread")),
        }
    }

    /// The parent or a child of a relative. Whoever is not a relative of this thread itself can only be known.
    async fn relative_of(&self, thread: ThreadId, method: &str, arguments: &Value) -> Result<Value, String> {
        let state = self.fold(thread).await?;
        let wanted = match method {
            "getParentThread" => state.started.parent,
            _ => {
                let reference = text_of(arguments, "reference")?.parse::<ThreadId>().ok();
                reference.filter(|child| state.children.contains_key(child))
            }
        };
        match wanted {
            Some(own) if own == self.place.thread => Ok(self.facts()),
            Some(other) => self.facts_of(other).await,
            None => Ok(Value::Null),
        }
    }

    /// What a relative's journal says at this moment.
    async fn look_at(&self, thread: ThreadId, method: &str, arguments: Value) -> Result<Value, String> {
        let state = self.fold(thread).await?;
        match method {
            "getMessages" => Ok(message::list(&state, state.seq, &read(arguments)?)),
            "getMessage" => {
                let ById { id } = read(arguments)?;
                Ok(message::one(&state, state.seq, id))
            }
            _ => {
                let Keyed { key, .. } = read(arguments)?;
                Ok(state.values.get(&file::own_key(key)?).cloned().unwrap_or_default())
            }
        }
    }

    async fn look_into(&self, thread: ThreadId, method: &str, arguments: Value) -> Result<Value, String> {
        let files: Vec<FileRow> = self.inner.store.files(thread).await.map_err(file::told)?;
        if method == "readFile" {
            let wanted: file::ReadFile = read(arguments)?;
            let path = wanted.path()?;
            return self.content(files.into_iter().find(|file| file.path == path), &wanted).await;
        }
        let state = self.fold(thread).await?;
        let records = file::described(files.iter(), &state);
        match method {
            "statFile" => Ok(file::stat(records, &file::path_of(arguments)?)),
            _ => Ok(file::entries(records, &file::folder(&text_of(&arguments, "path")?)?)),
        }
    }

    async fn fold(&self, thread: ThreadId) -> Result<ThreadState, String> {
        let state = self.inner.fold(thread).await.map_err(file::told)?;
        state.ok_or_else(|| format!("the thread `{thread}` is gone"))
    }
}
