//! A file of each format with a value for every key that means something here.

use serde_json::{Value, json};

pub(crate) fn codex() -> Value {
    json!({
        "name": "digger",
        "description": "Digs: for roots",
        "nickname_candidates": ["Ann", "Ben"],
        "model": "gpt-5",
        "model_provider": "ollama",
        "model_reasoning_effort": "high",
        "sandbox_mode": "read-only",
        "approval_policy": "never",
        "web_search": "live",
        "developer_instructions": "You dig.\n",
        "mcp_servers": {
            "shelf": { "command": "shelf", "args": ["-r"], "env": { "A": "1" } },
            "far": { "url": "https://far.example/mcp", "http_headers": { "X": "y" } }
        },
        "features": { "goals": true }
    })
}

pub(crate) fn goose() -> Value {
    json!({
        "version": "1.0.0",
        "title": "Root Digger",
        "description": "Digs: for roots",
        "instructions": "You dig {{ where }}.\n",
        "prompt": "Begin at {{ where }}.",
        "extensions": [
            { "type": "builtin", "name": "developer" },
            { "type": "stdio", "name": "shelf", "cmd": "shelf", "args": ["-r"], "envs": { "A": "1" } },
            { "type": "streamable_http", "name": "far", "uri": "https://far.example/mcp", "timeout": 9 }
        ],
        "settings": {
            "goose_provider": "google", "goose_model": "my-model", "temperature": 0.4, "max_turns": 8, "lead": "x"
        },
        "activities": ["Dig here"],
        "author": { "contact": "me@example.org" },
        "parameters": [{ "key": "where", "input_type": "string", "requirement": "required", "description": "a place" }],
        "response": { "json_schema": { "type": "object", "properties": { "roots": { "type": "array" } } } },
        "sub_recipes": [{ "name": "sort", "path": "./sort.yaml" }],
        "retry": { "max_retries": 2, "checks": [] }
    })
}

pub(crate) fn docker_agent() -> Value {
    json!({
        "version": "15",
        "metadata": { "author": "me", "license": "MIT" },
        "permissions": { "deny": ["shell:cmd=rm*"] },
        "budget": { "max_cost": 5 },
        "models": {
            "big": {
                "provider": "anthropic", "model": "claude-opus-4-1", "temperature": 0.4, "top_p": 0.9,
                "thinking_budget": "high", "max_tokens": 4000
            },
            "spare": { "provider": "openai", "model": "gpt-5" }
        },
        "agents": {
            "digger": {
                "model": "big",
                "fallback": { "models": ["spare", "anthropic/claude-sonnet-4-5"], "cooldown": "1m" },
                "description": "Digs: for roots",
                "instruction": "You dig.\n",
                "sub_agents": ["sorter", "org/remote"],
                "toolsets": [
                    { "type": "filesystem", "readonly": true, "ignore_vcs": false },
                    { "type": "shell" },
                    { "type": "mcp", "name": "shelf", "command": "shelf", "args": ["-r"] },
                    { "type": "mcp", "ref": "docker:github" }
                ],
                "readonly": true,
                "max_iterations": 8,
                "skills": ["digging"],
                "structured_output": { "name": "r", "strict": true, "schema": { "type": "object", "properties": {} } },
                "add_date": true,
                "hooks": { "stop": [{ "type": "command", "command": "x" }] },
                "handoffs": ["sorter"],
                "welcome_message": "Hello."
            },
            "sorter": { "model": "openai/gpt-5-mini", "description": "Sorts", "instruction": "You sort.\n" }
        }
    })
}
