//! A file of each format with every key that the format has.

use entourage_declare::Format;

pub(crate) const BODY: &str = "\nYou mend tests.\n\n---\n\n- Run them \"first\": always.\n- Änderungen nur im Test.\n";

/// Format, path and front matter.
pub(crate) const FILES: [(Format, &str, &str); 5] = [
    (
        Format::ClaudeCode,
        ".claude/agents/mender.md",
        r#"name: mender
description: "Mends tests: the flaky ones first"
tools: Read, Grep, Edit, Bash, mcp__tracker__*
disallowedTools: [WebFetch]
model: claude-opus-4-1
permissionMode: plan
maxTurns: 17
skills: [naming, style]
mcpServers:
  - tracker
  - shelf: { command: shelf-server, args: [--read, "7"], env: { SHELF: "3" } }
  - far: { type: http, url: "https://far.example/mcp", headers: { X-Key: abc } }
hooks:
  PostToolUse:
    - matcher: Edit
      hooks: [{ type: command, command: ./tidy.sh }]
memory: user
background: true
effort: medium
isolation: worktree
color: orange
initialPrompt: Begin with the slowest test.
"#,
    ),
    (
        Format::Cursor,
        ".cursor/agents/mender.md",
        "name: mender\ndescription: Mends tests\nmodel: gpt-5\nreadonly: true\nis_background: true\n",
    ),
    (
        Format::GithubCopilot,
        ".github/agents/mender.agent.md",
        r#"name: The Mender
description: Mends tests
target: github-copilot
tools: [read, edit, shelf/list]
model: [gpt-5, claude-opus-4-1]
argument-hint: a test's name
agents: [scout]
user-invocable: false
disable-model-invocation: true
mcp-servers:
  shelf:
    type: local
    command: shelf-server
    args: ["--read"]
    tools: ["*"]
    env: { SHELF: "3" }
  far: { type: sse, url: "https://far.example/sse" }
handoffs:
  - { label: Review it, agent: reviewer, prompt: Have a look., send: true }
metadata: { team: quality, since: "2025" }
"#,
    ),
    (
        Format::Gemini,
        ".gemini/agents/mender.md",
        r#"kind: local
name: mender_2
description: Mends tests
display_name: The Mender
tools: [read_file, replace, write_file, mcp_shelf_*]
mcp_servers:
  shelf: { command: shelf-server, args: [--read], env: { SHELF: "3" } }
model: gemini-2.5-flash
temperature: 0.4
max_turns: 21
timeout_mins: 3
"#,
    ),
    (
        Format::Opencode,
        ".opencode/agents/mender.md",
        r##"description: Mends tests
mode: all
model: openai/gpt-5
variant: high
temperature: 0.4
top_p: 0.75
steps: 8
disable: false
hidden: true
color: "#aa3300"
permission: { "*": deny, read: allow, edit: allow, shelf_*: allow }
options: { serviceTier: flex }
reasoningEffort: low
textVerbosity: low
"##,
    ),
];

pub(crate) fn file(format: Format) -> (&'static str, String) {
    let (_, path, front) = FILES.iter().find(|(known, ..)| *known == format).expect("there is a file of the format");
    (path, format!("---\n{front}---\n{BODY}"))
}
