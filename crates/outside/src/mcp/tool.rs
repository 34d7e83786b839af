//! The tools that a server tells of, as tools of ours.

use super::Servers;
use super::connection::Connection;
use super::content;
use super::slot::Slot;
use crate::tool::{Call, Output, Tool, Toolbox};
use async_trait::async_trait;
use entourage_mcp::innermost;
use entourage_model::{EffectClass, Name, ToolSpec, server_tool, server_tool_again};
use rmcp::model::{CallToolRequestParams, CallToolResponse, PaginatedRequestParams};
use rmcp::service::ServiceError;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Weak};

/// A list that goes on beyond this is not a list.
const PAGES_MAX: usize = 50;
const TOOLS_MAX: usize = 1_000;
const DESCRIPTION_CHARS_MAX: usize = 8_000;
const SCHEMA_BYTES_MAX: usize = 128 << 10;

/// What a server offers, by the names that models know.
#[derive(Debug)]
pub(super) struct Tools {
    pub(super) specs: Arc<BTreeMap<Name, Arc<ToolSpec>>>,
    pub(super) toolbox: Arc<Toolbox>,
}

/// Asks the server for all its tools.
pub(super) async fn read(connection: &Connection, servers: &Servers, slot: &Arc<Slot>) -> Result<Tools, String> {
    let (mut listed, mut cursor) = (Vec::new(), None);
    for _ in 0..PAGES_MAX {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = connection.conversation().list_tools(Some(params)).await.map_err(|fault| said(&fault))?;
        listed.extend(page.tools);
        if listed.len() > TOOLS_MAX {
            return Err(format!("lists more than {TOOLS_MAX} tools"));
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(tools(listed, servers, slot));
        }
    }
    Err(format!("lists its tools on more than {PAGES_MAX} pages"))
}

fn tools(listed: Vec<rmcp::model::Tool>, servers: &Servers, slot: &Arc<Slot>) -> Tools {
    let mut specs: BTreeMap<Name, Arc<ToolSpec>> = BTreeMap::new();
    let mut toolbox = Toolbox::default();
    let server = &slot.key.name;
    for tool in listed {
        let theirs = tool.name.to_string();
        let mut name = server_tool(server, &theirs);
        if specs.contains_key(&name) {
            let other = server_tool_again(server, &theirs);
            tracing::warn!(
                "the MCP server `{server}` has two tools called `{name}`; the one it calls `{theirs:?}` is `{other}`"
            );
            name = other;
        }
        let Some(parameters) = parameters(&tool) else {
            tracing::warn!("the tool `{name}` is left out: its schema has more than {SCHEMA_BYTES_MAX} bytes");
            continue;
        };
        let spec = Arc::new(ToolSpec {
            name: name.clone(),
            description: description(&tool),
            parameters: Arc::new(parameters),
            class: class(&tool),
        });
        let served =
            ServedTool { spec: Arc::clone(&spec), theirs, slot: Arc::downgrade(slot), servers: servers.clone() };
        toolbox.insert(Arc::new(served));
        specs.insert(name, spec);
    }
    Tools { specs: Arc::new(specs), toolbox: Arc::new(toolbox) }
}

fn description(tool: &rmcp::model::Tool) -> String {
    let title = tool.title.as_deref();
    let text = tool.description.as_deref().filter(|text| !text.trim().is_empty()).or(title).unwrap_or_default();
    text.chars().take(DESCRIPTION_CHARS_MAX).collect()
}

/// Always an object, as providers want it. Nothing for one that is too large.
fn parameters(tool: &rmcp::model::Tool) -> Option<Value> {
    let mut schema: Map<String, Value> = tool.input_schema.as_ref().clone();
    schema.insert("type".to_owned(), json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    let schema = Value::Object(schema);
    (schema.to_string().len() <= SCHEMA_BYTES_MAX).then_some(schema)
}

/// What a server says of a tool is a hint, and believed: who is allowed to start it is trusted with more than that.
fn class(tool: &rmcp::model::Tool) -> EffectClass {
    let hints = tool.annotations.as_ref();
    match hints.map(|hints| (hints.read_only_hint, hints.idempotent_hint)) {
        Some((Some(true), _)) => EffectClass::Pure,
        Some((_, Some(true))) => EffectClass::Idempotent,
        _ => EffectClass::AtMostOnce,
    }
}

/// One tool of a server.
struct ServedTool {
    spec: Arc<ToolSpec>,
    /// What the server calls it.
    theirs: String,
    /// Whose it is; the slot holds the toolbox that holds this.
    slot: Weak<Slot>,
    servers: Servers,
}

impl fmt::Debug for ServedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedTool").field("spec", &self.spec).finish_non_exhaustive()
    }
}

#[async_trait]
impl Tool for ServedTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, call: Call) -> Output {
        let Some(slot) = self.slot.upgrade() else {
            return Output::error("The MCP servers of this process have ended.");
        };
        let connection = match slot.connection(&self.servers).await {
            Ok(connection) => connection,
            Err(why) => return Output::error(format!("`{}` was not called: {why}", self.spec.name)),
        };
        let mut pending = Pending { connection: Arc::clone(&connection), is_answered: false };
        let _in_use = connection.in_use();
        let arguments = call.arguments.as_object().cloned().unwrap_or_default();
        let params = CallToolRequestParams::new(self.theirs.clone()).with_arguments(arguments);
        let answer = tokio::time::timeout(call.time_max, connection.conversation().call_tool(params)).await;
        pending.is_answered = answer.is_ok();
        match answer {
            Ok(Ok(CallToolResponse::Complete(result))) => content::output(result, &call).await,
            Ok(Ok(_)) => {
                Output::error(format!("The MCP server `{}` asks for something that nobody here can give.", slot.key))
            }
            Ok(Err(ServiceError::McpError(said))) => {
                Output::error(format!("The MCP server `{}` refused `{}`: {}", slot.key, self.spec.name, said.message))
            }
            Ok(Err(fault)) => {
                let why = connection.explain(&said(&fault)).await;
                Output::error(format!(
                    "The MCP server `{}` gave no answer to `{}`: {why}. Check what it did before you call it again.",
                    slot.key, self.spec.name
                ))
            }
            Err(_) => Output::error(format!(
                "The MCP server `{}` did not answer `{}` within {:?}; it was told to stop.",
                slot.key, self.spec.name, call.time_max
            )),
        }
    }
}

/// A call that a server has not answered. Whoever drops it looks whether the server still hears.
struct Pending {
    connection: Arc<Connection>,
    is_answered: bool,
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.is_answered
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let connection = Arc::clone(&self.connection);
            runtime.spawn(async move { connection.stir().await });
        }
    }
}

fn said(fault: &ServiceError) -> String {
    match fault {
        ServiceError::McpError(said) => format!("answered with an error: {}", said.message),
        ServiceError::TransportClosed => "its connection ended".to_owned(),
        ServiceError::TransportSend(fault) => innermost(fault),
        other => other.to_string(),
    }
}
