//! The MCP servers that a bundle wants, in the words of each harness's settings.
//!
//! A server that is switched off travels with the bundle and is not configured: that is what switching it off means.

use super::adapter::Adapter;
use super::loss::unsaid;
use super::plan::Plan;
use super::source::Source;
use serde_json::{Map, Value, json};

/// What the target's settings say of one server, and its keys that they do not.
struct Spelt {
    keys: Map<String, Value>,
    left: Map<String, Value>,
}

/// The servers by name; what has no word is named. OpenClaw has no settings of its own to put them in.
pub(super) fn translate(source: &Source<'_>, plan: &mut Plan) -> Map<String, Value> {
    let servers = source.parcel.mcp.as_ref().and_then(|mcp| mcp.get("servers")).and_then(Value::as_object);
    let is_on = |server: &&Map<String, Value>| server.get("enabled") != Some(&Value::Bool(false));
    let wanted =
        servers.into_iter().flatten().filter_map(|(name, server)| Some((name, server.as_object().filter(is_on)?)));
    let mut written = Map::new();
    for (name, server) in wanted {
        let field = format!("mcp.{name}");
        if plan.adapter == Adapter::Openclaw {
            plan.lose(field, "only the user's own settings name servers there");
            continue;
        }
        if source.leaves_out("writeMcp") {
            plan.leave_out(&field, "writeMcp");
            continue;
        }
        let Spelt { keys, left } = spell(source, plan.adapter, server);
        left.keys().for_each(|key| plan.lose(format!("{field}.{key}"), unsaid(plan.adapter)));
        written.insert(name.clone(), Value::Object(keys));
    }
    written
}

fn spell(source: &Source<'_>, adapter: Adapter, server: &Map<String, Value>) -> Spelt {
    let mut spelt = Spelt { keys: Map::new(), left: server.clone() };
    spelt.left.shift_remove("enabled");
    if adapter == Adapter::Generic {
        return Spelt { keys: server.clone(), left: Map::new() };
    }
    if server.contains_key("command") {
        spelt.command(source, adapter);
    } else {
        spelt.address(adapter);
    }
    spelt.limits(adapter);
    // What says nothing is not lost.
    spelt.left.retain(|_, value| !matches!(value, Value::Null) && *value != json!([]) && *value != json!({}));
    spelt
}

impl Spelt {
    fn rename(&mut self, from: &str, to: &str) {
        if let Some(value) = self.left.shift_remove(from) {
            self.keys.insert(to.to_owned(), value);
        }
    }

    fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.keys.insert(key.to_owned(), value.into());
    }

    /// A server that is started.
    fn command(&mut self, source: &Source<'_>, adapter: Adapter) {
        match adapter {
            Adapter::GithubCopilot => self.set("type", "stdio"),
            Adapter::Opencode => self.set("type", "local"),
            Adapter::ClaudeCode | Adapter::Codex | Adapter::Cursor | Adapter::Gemini | Adapter::Windsurf => {}
            Adapter::Openclaw | Adapter::Generic => {}
        }
        self.secrets(source, adapter);
        if adapter == Adapter::Opencode {
            let command = self.left.shift_remove("command");
            let args = self.left.shift_remove("args").and_then(|args| args.as_array().cloned());
            self.set("command", command.into_iter().chain(args.into_iter().flatten()).collect::<Vec<_>>());
            self.rename("env", "environment");
            return;
        }
        self.rename("command", "command");
        self.rename("args", "args");
        self.rename("env", "env");
        let has_folder = matches!(adapter, Adapter::Codex | Adapter::Gemini | Adapter::GithubCopilot);
        if has_folder {
            self.rename("cwd", "cwd");
        }
    }

    /// Its secrets are variables of the environment that the harness runs in.
    fn secrets(&mut self, source: &Source<'_>, adapter: Adapter) {
        let Some(Value::Array(secrets)) = self.left.get("secrets").cloned() else { return };
        let names: Option<Vec<_>> = secrets.iter().map(|secret| variable(source, secret.as_str()?)).collect();
        let Some(names) = names else { return };
        if adapter == Adapter::Codex {
            self.set("env_vars", names);
        } else {
            let env = self.left.entry("env").or_insert_with(|| json!({}));
            let Some(env) = env.as_object_mut() else { return };
            for name in names {
                let reference = reference(adapter, &name);
                env.entry(name).or_insert_with(|| reference.into());
            }
        }
        self.left.shift_remove("secrets");
    }

    /// A server that is reached.
    fn address(&mut self, adapter: Adapter) {
        let is_sse = self.left.get("transport").is_some_and(|transport| transport == "sse");
        match adapter {
            Adapter::ClaudeCode | Adapter::GithubCopilot => {
                self.set("type", if is_sse { "sse" } else { "http" });
                self.rename("url", "url");
            }
            Adapter::Opencode => {
                self.set("type", "remote");
                self.rename("url", "url");
            }
            Adapter::Gemini => self.rename("url", if is_sse { "url" } else { "httpUrl" }),
            Adapter::Windsurf => self.rename("url", if is_sse { "url" } else { "serverUrl" }),
            Adapter::Codex | Adapter::Cursor | Adapter::Openclaw | Adapter::Generic => self.rename("url", "url"),
        }
        // These two know one way of asking, or find it out.
        let is_told = match adapter {
            Adapter::Codex => !is_sse,
            Adapter::ClaudeCode | Adapter::Cursor | Adapter::GithubCopilot | Adapter::Opencode => true,
            Adapter::Gemini | Adapter::Windsurf | Adapter::Openclaw | Adapter::Generic => true,
        };
        if is_told {
            self.left.shift_remove("transport");
        }
        self.rename("headers", if adapter == Adapter::Codex { "http_headers" } else { "headers" });
    }

    /// Which of its tools may be used, and how long it may take to answer.
    fn limits(&mut self, adapter: Adapter) {
        match adapter {
            Adapter::Codex => {
                self.rename("enabledTools", "enabled_tools");
                self.rename("disabledTools", "disabled_tools");
                self.rename("connectTimeoutMs", "startup_timeout_ms");
            }
            Adapter::Gemini => {
                self.rename("enabledTools", "includeTools");
                self.rename("disabledTools", "excludeTools");
                self.rename("connectTimeoutMs", "timeout");
                self.rename("description", "description");
            }
            Adapter::Opencode => self.rename("connectTimeoutMs", "timeout"),
            Adapter::Windsurf => self.rename("disabledTools", "disabledTools"),
            Adapter::ClaudeCode | Adapter::Cursor | Adapter::GithubCopilot | Adapter::Openclaw | Adapter::Generic => {}
        }
    }
}

/// The variable that a secret is expected in. Absent: it cannot be one.
fn variable(source: &Source<'_>, key: &str) -> Option<String> {
    let declared = source.parcel.definition.get("secrets").and_then(Value::as_array).into_iter().flatten();
    let mut own = declared.filter(|secret| secret.get("key").is_some_and(|known| known == key));
    let exposed = own.next().and_then(|secret| secret.get("exposeAs")?.get("env")?.as_str());
    let name = exposed.unwrap_or(key);
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let is_name =
        !name.is_empty() && name.chars().all(is_letter) && !name.starts_with(|first: char| first.is_ascii_digit());
    is_name.then(|| name.to_owned())
}

/// How a harness's settings mean a variable of its environment.
fn reference(adapter: Adapter, name: &str) -> String {
    match adapter {
        Adapter::ClaudeCode => format!("${{{name}}}"),
        Adapter::Cursor | Adapter::GithubCopilot | Adapter::Windsurf => format!("${{env:{name}}}"),
        Adapter::Opencode => format!("{{env:{name}}}"),
        Adapter::Gemini | Adapter::Codex | Adapter::Openclaw | Adapter::Generic => format!("${name}"),
    }
}
