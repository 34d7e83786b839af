//! Declarations made up at random: whatever a format's files may say.

use entourage_declare::Format;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// Format, a path in it, the keys that must be there, and those that may.
pub(crate) struct Grammar {
    pub(crate) format: Format,
    pub(crate) path: &'static str,
    pub(crate) required: Vec<(&'static str, BoxedStrategy<Value>)>,
    pub(crate) optional: Vec<(&'static str, BoxedStrategy<Value>)>,
}

pub(crate) fn grammars() -> Vec<Grammar> {
    vec![claude_code(), cursor(), github_copilot(), gemini(), opencode()]
}

impl Grammar {
    pub(crate) fn of(format: Format) -> Self {
        grammars().into_iter().find(|grammar| grammar.format == format).expect("the format has a grammar")
    }

    /// Any keys that a file may have.
    pub(crate) fn keys(self) -> impl Strategy<Value = Map<String, Value>> {
        let required = self.required.into_iter().map(|(key, value)| (key, value.prop_map(Some).boxed()));
        let optional = self.optional.into_iter().map(|(key, value)| (key, proptest::option::of(value).boxed()));
        let (names, values): (Vec<_>, Vec<_>) = required.chain(optional).unzip();
        values.prop_map(move |values| {
            let said = names.iter().zip(values).filter_map(|(name, value)| Some(((*name).to_owned(), value?)));
            said.collect()
        })
    }
}

/// Texts that a careless serialiser would break.
pub(crate) fn text() -> BoxedStrategy<Value> {
    const AWKWARD: &[&str] = &[
        "",
        " ",
        "yes",
        "no",
        "null",
        "~",
        "1.0",
        "0x1F",
        "1_000",
        "2001-01-01",
        "12:30",
        "- a",
        "a: b",
        "a #b",
        "#a",
        "*",
        "&a",
        "!a",
        "%a",
        "@a",
        "`a",
        "'a'",
        "\"a\"",
        "{a}",
        "[a]",
        "---",
        "...",
        "a\n---\nb",
        "\n",
        "a\n",
        "a\n\n",
        " a\nb",
        "a\r\nb",
        "\ta",
        "a ",
        "?",
        "=",
        "<<",
        "|",
        ">",
        ",",
        "é\u{2028}",
        "🦀",
        "a\\b",
        ".inf",
        "on",
    ];
    let tame = "[a-zA-Z][a-z ,.-]{0,40}";
    prop_oneof![4 => tame.prop_map(Value::from), 2 => select(AWKWARD).prop_map(Value::from), 1 => "\\PC*".prop_map(Value::from)]
        .boxed()
}

/// Prompts of every kind: broken lines, rules that look like front matter, and things that no text should have.
pub(crate) fn body() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC*",
        select(&["\n", "\r\n", "---", "---\n", "\n---\n", "\u{feff}", "\0", "```\n"][..]).prop_map(str::to_owned),
        any::<String>()
    ];
    vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn words(words: &'static [&'static str]) -> BoxedStrategy<Value> {
    select(words).prop_map(Value::from).boxed()
}

fn some_of(words: &'static [&'static str]) -> BoxedStrategy<Value> {
    vec(select(words), 1..4).prop_map(|words| json!(words)).boxed()
}

fn count() -> BoxedStrategy<Value> {
    (1..=500_u32).prop_map(Value::from).boxed()
}

fn flag() -> BoxedStrategy<Value> {
    any::<bool>().prop_map(Value::from).boxed()
}

fn ratio() -> BoxedStrategy<Value> {
    (0..=200_u32).prop_map(|hundredths| json!(f64::from(hundredths) / 100.0)).boxed()
}

fn anything() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![text(), count(), flag(), ratio()];
    let value = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(|items| json!(items)),
            btree_map("[a-z:# ]{1,4}", inner, 0..3).prop_map(|entries| json!(entries)),
        ]
    });
    value.boxed()
}

fn server() -> BoxedStrategy<Value> {
    let texts = || btree_map("[A-Z]{1,5}", text(), 1..3);
    prop_oneof![
        (text(), vec(text(), 1..3), texts())
            .prop_map(|(command, args, env)| json!({ "command": command, "args": args, "env": env })),
        ("https://[a-z]{1,8}", texts()).prop_map(|(url, headers)| json!({ "url": url, "headers": headers })),
    ]
    .boxed()
}

fn servers() -> BoxedStrategy<Value> {
    btree_map("[a-z]{1,6}", server(), 1..3).prop_map(|servers| json!(servers)).boxed()
}

fn claude_code() -> Grammar {
    const TOOLS: &[&str] = &[
        "Read",
        "Grep",
        "Glob",
        "Write",
        "Edit",
        "Bash",
        "WebFetch",
        "Agent(scout)",
        "mcp__shelf__*",
        "mcp__shelf__list",
    ];
    let listed = servers().prop_map(|servers| match servers {
        Value::Object(servers) => {
            let item = |(name, server): (String, Value)| json!({ name: server });
            servers.into_iter().map(item).chain([json!("tracker")]).collect()
        }
        other => other,
    });
    Grammar {
        format: Format::ClaudeCode,
        path: ".claude/agents/file.md",
        required: vec![
            ("name", prop_oneof![words(&["mender", "A b/c: d", "é", "0"]), "[a-z]{1,9}".prop_map(Value::from)].boxed()),
            ("description", text()),
        ],
        optional: vec![
            ("tools", prop_oneof![some_of(TOOLS), words(&["Read, Grep", "Bash", "Agent(a, b), Read"])].boxed()),
            ("disallowedTools", some_of(TOOLS)),
            ("model", words(&["sonnet", "claude-opus-4-1", "inherit", "gpt-5"])),
            ("permissionMode", words(&["default", "acceptEdits", "plan", "bypassPermissions"])),
            ("maxTurns", count()),
            ("skills", some_of(&["naming", "style", "a b"])),
            ("mcpServers", listed.boxed()),
            ("hooks", anything()),
            ("memory", words(&["user", "project", "local"])),
            ("background", flag()),
            ("effort", words(&["low", "high", "max"])),
            ("isolation", words(&["worktree"])),
            ("color", words(&["red", "cyan"])),
            ("initialPrompt", text()),
            ("unheard-of", anything()),
        ],
    }
}

fn cursor() -> Grammar {
    Grammar {
        format: Format::Cursor,
        path: ".cursor/agents/file.md",
        required: Vec::new(),
        optional: vec![
            ("name", "[a-z]{1,9}".prop_map(Value::from).boxed()),
            ("description", text()),
            ("model", words(&["inherit", "fast", "gpt-5", "claude-opus-4-1", "grok-4"])),
            ("readonly", flag()),
            ("is_background", flag()),
            ("unheard-of", anything()),
        ],
    }
}

fn github_copilot() -> Grammar {
    let typed = servers().prop_map(|mut servers| {
        for (_, server) in servers.as_object_mut().into_iter().flatten() {
            server["type"] = if server.get("command").is_some() { json!("local") } else { json!("http") };
            server["tools"] = json!(["*"]);
        }
        servers
    });
    Grammar {
        format: Format::GithubCopilot,
        path: ".github/agents/file.agent.md",
        required: vec![("description", text())],
        optional: vec![
            ("name", text()),
            ("target", words(&["vscode", "github-copilot"])),
            ("tools", some_of(&["read", "edit", "search", "execute", "web", "agent", "shelf/*", "Bash", "nonsense"])),
            (
                "model",
                prop_oneof![words(&["gpt-5", "GPT-5 (copilot)"]), some_of(&["gpt-5", "claude-opus-4-1"])].boxed(),
            ),
            ("argument-hint", text()),
            ("agents", prop_oneof![some_of(&["scout", "*"]), Just(json!([]))].boxed()),
            ("user-invocable", flag()),
            ("disable-model-invocation", flag()),
            ("infer", flag()),
            ("mcp-servers", typed.boxed()),
            ("handoffs", vec(anything(), 0..2).prop_map(|items| json!(items)).boxed()),
            ("metadata", btree_map("[a-z]{1,5}", text(), 1..3).prop_map(|texts| json!(texts)).boxed()),
            ("unheard-of", anything()),
        ],
    }
}

fn gemini() -> Grammar {
    Grammar {
        format: Format::Gemini,
        path: ".gemini/agents/file.md",
        required: vec![("name", "[a-z0-9_-]{1,9}".prop_map(Value::from).boxed()), ("description", text())],
        optional: vec![
            ("kind", words(&["local"])),
            ("display_name", text()),
            (
                "tools",
                some_of(&["read_file", "grep_search", "replace", "write_file", "mcp_shelf_*", "mcp_*", "nonsense"]),
            ),
            ("mcp_servers", servers()),
            ("model", words(&["inherit", "gemini-2.5-pro", "flash"])),
            ("temperature", ratio()),
            ("max_turns", count()),
            ("timeout_mins", count()),
        ],
    }
}

fn opencode() -> Grammar {
    let action = || words(&["allow", "ask", "deny"]);
    let rule =
        prop_oneof![3 => action(), 1 => btree_map("[a-z *]{1,5}", action(), 1..3).prop_map(|rules| json!(rules))];
    let tool =
        || select(&["*", "read", "edit", "bash", "webfetch", "shelf_*", "doom_loop"][..]).prop_map(str::to_owned);
    Grammar {
        format: Format::Opencode,
        path: ".opencode/agents/file.md",
        required: Vec::new(),
        optional: vec![
            ("description", text()),
            ("mode", words(&["primary", "subagent", "all"])),
            ("model", words(&["openai/gpt-5", "google/gemini-2.5-pro", "openrouter/a/b", "odd"])),
            ("variant", text()),
            ("temperature", ratio()),
            ("top_p", ratio()),
            ("steps", count()),
            ("maxSteps", count()),
            ("permission", prop_oneof![action(), btree_map(tool(), rule, 1..4).prop_map(|rules| json!(rules))].boxed()),
            ("tools", btree_map(tool(), flag(), 1..4).prop_map(|tools| json!(tools)).boxed()),
            ("disable", flag()),
            ("hidden", flag()),
            ("color", words(&["#ff0000", "primary"])),
            ("options", anything()),
            ("reasoningEffort", words(&["low", "high"])),
            ("request", anything()),
            ("permissions", anything()),
            ("textVerbosity", anything()),
        ],
    }
}
