//! What a stax project becomes.

use crate::project::{lines, project, seed};
use entourage_declare::Loaded;
use entourage_model::{Agent, Secret, ServerAddress, ServerValue, ToolEntry};
use serde_json::json;
use std::sync::Arc;

fn agent(loaded: &Loaded, name: &str) -> Arc<Agent> {
    Arc::clone(&loaded.team.agents[name])
}

fn prompt(agent: &Agent) -> String {
    agent.side_a.prompt.instructions.render(|_| None).to_string()
}

fn children(agent: &Agent) -> Vec<String> {
    agent.side_a.prompt.children().map(|child| child.name().to_string()).collect()
}

#[test]
fn the_example_of_the_specification_is_a_primary_agent_with_two_children() {
    let loaded = seed(&[]);
    assert_eq!(lines(&loaded), [""; 0]);
    assert_eq!(loaded.primary.as_str(), "backend-engineer");
    assert!(!loaded.team.agents.contains_key("lead"), "the primary agent takes the place of `lead`");
    let root = agent(&loaded, "backend-engineer");
    assert_eq!(children(&root), ["reviewer", "debugger"]);
    let child = root.side_a.prompt.children().next().unwrap();
    assert!(child.blocking && child.resumable.is_none());
    let reviewer = agent(&loaded, "reviewer");
    assert_eq!(reviewer.source.format, "stax");
    assert_eq!(reviewer.source.file.as_deref(), Some("subagents.ts"));
    assert_eq!(reviewer.side_a.prompt.model.as_ref().unwrap().as_str(), "openai:gpt-5-codex");
    assert!(prompt(&reviewer).starts_with("Review code for correctness, regressions, and missing tests.\n\n"));
    assert!(prompt(&reviewer).contains("make it a report"));
    assert!(reviewer.pitch().contains("only when the user asks for it"), "{}", reviewer.pitch());
    assert!(agent(&loaded, "debugger").pitch().contains("when the work fits"));
    assert!(
        reviewer.side_a.prompt.tools.iter().all(|entry| matches!(entry, ToolEntry::Tool(_))),
        "children are leaves"
    );
}

#[test]
fn what_is_kept_of_a_subagent_is_its_compiled_form() {
    let loaded = seed(&[]);
    let expected = json!({
        "description": "Reviews code changes for correctness and regressions",
        "invocation": "manual",
        "instructions": "Review code for correctness, regressions, and missing tests.\n",
        "model": "gpt-5-codex",
        "handoff": { "allowedFrom": ["primary"], "returnMode": "report" },
    });
    assert_eq!(agent(&loaded, "reviewer").extra["x-stax"], expected);
}

#[test]
fn a_subagent_is_called_only_by_those_it_allows() {
    let subagents = r#"{ "agents": {
        "free": { "description": "d", "instructions": "Anybody." },
        "rooted": { "description": "d", "instructions": "Root only.", "handoff": { "allowedFrom": ["primary"] } },
        "inner": { "description": "d", "instructions": "For free.", "handoff": { "allowedFrom": ["free"] } }
    } }"#;
    let agent_json = r#"{ "name": "a", "version": "1.0.0", "subagents": "./subagents.json",
        "adapter": { "type": "codex", "runtime": "codex", "adapterVersion": "1.0.0", "config": {}, "features": {} } }"#;
    let loaded = project(&[("agent.json", agent_json), ("subagents.json", subagents)]);
    assert_eq!(lines(&loaded), [""; 0]);
    assert_eq!(children(&agent(&loaded, "a")), ["free", "rooted"]);
    assert_eq!(children(&agent(&loaded, "free")), ["inner"]);
    assert_eq!(children(&agent(&loaded, "inner")), [""; 0]);
}

#[test]
fn a_markdown_file_that_stax_names_is_nobody_elses_declaration() {
    let front = "---\ndescription: Not an AgentScope declaration.\n---\nBody.\n";
    let loaded = seed(&[("subagents/reviewer.md", front), ("subagents/other.md", front)]);
    assert_eq!(agent(&loaded, "reviewer").source.format, "stax");
    assert!(prompt(&agent(&loaded, "reviewer")).starts_with("---\ndescription:"), "front matter is part of the text");
    assert_eq!(agent(&loaded, "other").source.format, "agentscope");
}

#[test]
fn everything_that_says_who_the_agent_is_makes_one_prompt() {
    let agent_ts = r#"import { defineAgent } from "stax";
import codex from "@stax/codex";
export default defineAgent({
  name: "a", version: "1.0.0", description: "d", adapter: codex({ model: "gpt-5" }),
  persona: "./persona.ts", prompt: "./prompt.md", rules: "./rules", skills: "./skills", mcp: "./mcp.json",
  surfaces: "./surfaces", instructionTree: "./tree", secrets: [{ key: "TOKEN", required: true, kind: "token" }],
});
"#;
    let persona = r#"import { definePersona } from "stax";
export default definePersona({ name: "ada", displayName: "Ada", role: "Engineer", values: ["care"],
  boundaries: { willNot: ["guess"], always: [], escalates: [] } });
"#;
    let loaded = project(&[
        ("agent.ts", agent_ts),
        ("persona.ts", persona),
        ("prompt.md", "You are {{persona.displayName}}.\n"),
        ("rules/b.md", "Second.\n"),
        ("rules/a.md", "---\nid: first\npriority: 1\nscope: glob\nglobs: ['*.rs']\n---\nFirst.\n"),
        ("skills/audit/SKILL.md", "---\nname: audit\ndescription: Audits.\n---\nDo it.\n"),
        ("surfaces/instructions.md", "Surface.\n"),
        ("tree/_root/instructions.md", "Tree.\n"),
        ("mcp.json", r#"{ "servers": { "files": { "command": "mcp-files", "secrets": ["TOKEN"] } } }"#),
    ]);
    assert_eq!(lines(&loaded), [""; 0]);
    let expected = "# Ada\n\n**Role:** Engineer\n\n**Values:** care\n\n**Never:** guess\n\nSurface.\n\nYou are Ada.\n\nTree.\n\n\
        ## Rule: first\n\nHolds for files that match *.rs.\n\nFirst.\n\n## Rule: b.md\n\nSecond.\n\n\
        ## Skills\n\nRead the file of a skill before you do what it is for.\n\n- audit: Audits. (`skills/audit/SKILL.md`)";
    let a = agent(&loaded, "a");
    assert_eq!(prompt(&a), expected);
    assert_eq!(a.side_a.prompt.model.as_ref().unwrap().as_str(), "openai:gpt-5");
}

#[test]
fn surfaces_and_the_tree_are_told_and_folders_are_pointed_at() {
    let keys = "surfaces: \"./surfaces\", instructionTree: \"./tree\", knowledge: \"./facts\", memory: \"./past\"";
    let agent_ts = crate::project::AGENT.replace("subagents: \"./subagents.ts\"", keys);
    let loaded = project(&[
        ("agent.ts", &agent_ts),
        ("surfaces/user.md", "U.\n"),
        ("surfaces/tools.md", "T.\n"),
        ("surfaces/instructions.md", "I.\n"),
        ("tree/_root/instructions.md", "All.\n"),
        ("tree/src/deep/instructions.md", "Deep.\n"),
        ("facts/a.md", "A.\n"),
        ("past/day.md", "D.\n"),
    ]);
    assert_eq!(lines(&loaded), [""; 0]);
    let expected = "I.\n\nAll.\n\n## In `src/deep/`\n\nDeep.\n\n## Tools\n\nT.\n\n## User\n\nU.\n\n\
        ## Knowledge\n\nLook things up in the files of `facts/`.\n\n\
        ## Memory\n\nWhat is remembered from earlier is in the files of `past/`.";
    assert_eq!(prompt(&agent(&loaded, "backend-engineer")), expected);
    assert!(loaded.team.files.is_empty(), "they lie in the project");
}

#[test]
fn a_prompt_alone_stays_as_its_author_left_it() {
    let agent_ts = crate::project::AGENT.replace("subagents: \"./subagents.ts\"", "prompt: \"./p.md\"");
    let loaded = project(&[("agent.ts", &agent_ts), ("p.md", "One.\r\n\r\nTwo.  \n\n")]);
    assert_eq!(prompt(&agent(&loaded, "backend-engineer")), "One.\r\n\r\nTwo.  \n\n");
}

#[test]
fn a_subagent_that_came_from_another_harness_may_do_no_more_than_there() {
    let subagents = r#"{ "agents": {
        "auditor": { "description": "d", "instructions": "Audit.", "x-claude-code": { "tools": "Read", "maxTurns": 7 } },
        "denied": { "description": "d", "instructions": "Audit.", "x-claude-code": { "disallowedTools": ["Write"] } },
        "free": { "description": "d", "instructions": "Audit.", "x-other": { "tools": "Read" } }
    } }"#;
    let loaded = seed(&[
        ("agent.ts", &crate::project::AGENT.replace("subagents.ts", "subagents.json")),
        ("subagents.json", subagents),
    ]);
    let tools = |name: &str| {
        let tools = agent(&loaded, name).side_a.prompt.tools.clone();
        tools.iter().map(|entry| entry.name().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(tools("auditor"), ["read_file"]);
    assert_eq!(tools("denied"), ["read_file"]);
    assert_eq!(tools("free"), ["read_file", "write_file"]);
    assert_eq!(agent(&loaded, "auditor").side_a.steps_max, Some(7));
}

#[test]
fn a_server_is_given_the_secrets_that_it_names() {
    let agent_ts = crate::project::AGENT.replace(
        "subagents: \"./subagents.ts\"",
        "mcp: \"./mcp.json\", secrets: [{ key: \"api.key\", required: true, exposeAs: { env: \"API_KEY\" } },
           { key: \"TOKEN\", required: false }, { key: \"SET\", required: true }]",
    );
    let mcp = r#"{ "servers": {
        "near": { "command": "near", "env": { "SET": "${HOME}" }, "secrets": ["api.key", "TOKEN", "SET"] },
        "far": { "url": "https://far.example", "transport": "http", "secrets": ["TOKEN"] },
        "off": { "url": "https://off.example", "transport": "http", "secrets": ["TOKEN"], "enabled": false }
    } }"#;
    let loaded = project(&[("agent.ts", &agent_ts), ("mcp.json", mcp)]);
    let near = loaded.servers.iter().find(|server| server.key.name.as_str() == "near").unwrap();
    let wanted = |secret: &str, variable: &str, required| {
        let value = ServerValue::Wanted { secret: secret.to_owned(), variable: variable.to_owned(), required };
        (variable.to_owned(), value)
    };
    let set = ("SET".to_owned(), ServerValue::Plain(Secret::new("${HOME}")));
    let env = [wanted("api.key", "API_KEY", true), set, wanted("TOKEN", "TOKEN", false)].into();
    assert_eq!(near.address, ServerAddress::Command { command: "near".to_owned(), args: Vec::new(), env });
    let said = lines(&loaded);
    assert_eq!(said.len(), 1, "{said:?}");
    let told = "the MCP server `far` wants secrets, which are not sent to an address: `TOKEN`";
    assert!(said[0].contains("warning[D133]") && said[0].contains(told), "{said:?}");
}
