//! The MCP servers that agents name, and which of their tools they may call.

use crate::{Kit, files, lines};
use entourage_declare::{Loaded, MemoryFiles, Project, Tools, Wishes};
use entourage_model::{Name, Secret, ServerAddress, ServerValue, ToolEntry, server_of};

/// The built-in toolkit, beside the servers `files` and `web` of the settings.
#[derive(Debug)]
struct Served;

impl Tools for Served {
    fn canonical(&self, name: &str) -> Option<Name> {
        let is_served = matches!(server_of(name), Some("files" | "web"));
        Kit.canonical(name).or_else(|| is_served.then(|| Name::from(name)))
    }

    fn names(&self) -> Vec<Name> {
        Kit.names()
    }

    fn servers(&self) -> Vec<Name> {
        ["files", "web"].map(Name::from).into()
    }

    fn is_pure(&self, name: &Name) -> bool {
        Kit.is_pure(name)
    }
}

fn project(text: &str) -> Loaded {
    let files: MemoryFiles = files(text).into_iter().collect();
    entourage_declare::load(&Project {
        files: &files,
        home: None,
        profile_folders: &[],
        settings: &Wishes::default(),
        tools: &Served,
        memory: &entourage_script::NoMemory,
    })
}

/// A project with one agent.
fn one(front: &str) -> Loaded {
    project(&format!("-- .claude/agents/a.md\n---\nname: a\ndescription: d\n{front}\n---\nDo.\n"))
}

/// What the agent may call of servers, what of that it may not, and the servers, those that it needs with a mark.
fn check(front: &str, tools: &[&str], denied: &[&str], servers: &[&str]) {
    let loaded = one(front);
    assert_eq!(lines(&loaded), [""; 0], "{front}");
    check_agent(&loaded, "a", (tools, denied, servers));
}

fn check_agent(loaded: &Loaded, name: &str, (tools, denied, servers): (&[&str], &[&str], &[&str])) {
    let prompt = &loaded.team.agent(&Name::from(name)).expect("it is declared").side_a.prompt;
    let served = prompt.tools.iter().map(ToolEntry::name).map(Name::as_str).filter(|name| name.starts_with("mcp__"));
    assert_eq!(served.collect::<Vec<_>>(), tools, "tools of {name}");
    assert_eq!(prompt.denied_tools.iter().map(Name::as_str).collect::<Vec<_>>(), denied, "denied to {name}");
    let shown = prompt.servers.iter().map(|entry| {
        let owner = entry.key.agent.as_ref().map(|agent| format!("{agent}/")).unwrap_or_default();
        format!("{owner}{}{}", entry.key.name, if entry.required { "!" } else { "" })
    });
    assert_eq!(shown.collect::<Vec<_>>(), servers, "servers of {name}");
}

const BOTH: [&str; 2] = ["mcp__files__*", "mcp__web__*"];

#[test]
fn the_servers_of_the_settings_belong_to_the_toolkit_that_agents_inherit() {
    check("", &BOTH, &[], &["files", "web"]);
    check("tools: Read", &[], &[], &[]);
    check("tools: '*'", &BOTH, &[], &["files", "web"]);
    check("tools: Read, mcp__files__*", &["mcp__files__*"], &[], &["files!"]);
    check("tools: Read, mcp__files", &["mcp__files__*"], &[], &["files!"]);
    check("tools: mcp__files__read, mcp__files__list", &["mcp__files__list", "mcp__files__read"], &[], &["files!"]);
    check("disallowedTools: mcp__web", &["mcp__files__*"], &[], &["files"]);
    check("disallowedTools: mcp__web__post", &BOTH, &["mcp__web__post"], &["files", "web"]);
    check("mcpServers: [web]", &BOTH, &[], &["files", "web!"]);
    check("tools: Read\nmcpServers: [web]", &["mcp__web__*"], &[], &["web!"]);
    let loaded = one("");
    check_agent(&loaded, "lead", (&BOTH, &[], &["files!", "web!"]));
    check_agent(&loaded, "research", (&BOTH, &[], &["files", "web"]));
    let looks = |name: &str| loaded.team.agent(&Name::from(name)).expect("it is declared").side_a.prompt.read_only;
    assert!(looks("research") && !looks("coding"));
}

#[test]
fn a_declaration_may_bring_servers_of_its_own() {
    let front = "tools: Read\nmcpServers:\n  - git:\n      command: git-mcp\n      args: [--here]\n      env: {TOKEN: '${T}'}\n  - files: {url: 'http://127.0.0.1:1/mcp', headers: {X: y}}";
    check(front, &["mcp__files__*", "mcp__git__*"], &[], &["a/files!", "a/git!"]);
    let declared = one(front).servers;
    assert_eq!(declared.len(), 2);
    let git = declared.iter().find(|server| server.key.name.as_str() == "git").unwrap();
    let ServerAddress::Command { command, args, env } = &git.address else { panic!("{git:?}") };
    assert_eq!((command.as_str(), args.as_slice()), ("git-mcp", &["--here".to_owned()][..]));
    assert_eq!(env["TOKEN"], ServerValue::Template(Secret::new("${T}")));
}

#[test]
fn what_a_servers_own_entry_lists_is_all_that_there_is_of_it() {
    let entry = |said: &str| format!("mcpServers:\n  - s: {{command: c, {said}}}");
    for key in ["enabledTools", "enabled_tools", "include_tools", "tools"] {
        check(&format!("tools: Read\n{}", entry(&format!("{key}: [a]"))), &["mcp__s__a"], &[], &["a/s!"]);
        check(&format!("tools: Read\n{}", entry(&format!("{key}: []"))), &[], &[], &[]);
        check(&format!("tools: mcp__s__*\n{}", entry(&format!("{key}: [a]"))), &["mcp__s__a"], &[], &["a/s!"]);
        check(&format!("tools: mcp__s__b\n{}", entry(&format!("{key}: [a]"))), &[], &[], &[]);
        check(&entry(&format!("{key}: []")), &BOTH, &[], &["files", "web"]);
    }
    for key in ["disabledTools", "disabled_tools", "exclude_tools"] {
        let front = format!("tools: Read\n{}", entry(&format!("{key}: [a]")));
        check(&front, &["mcp__s__*"], &["mcp__s__a"], &["a/s!"]);
    }
}

#[test]
fn a_server_that_is_not_declared_is_told_with_the_nearest_name_and_still_named() {
    let said = lines(&one("mcpServers: [fles]"));
    assert_eq!(
        said,
        [
            "warning[C054] .claude/agents/a.md:4:1 agent `a` names the MCP server `fles`, which is not declared | did you mean `files`?"
        ]
    );
    let loaded = one("tools: Read\nmcpServers: [fles]");
    check_agent(&loaded, "a", (&["mcp__fles__*"], &[], &["fles!"]));
    let said = lines(&one("tools: Read, mcp__github__*"));
    assert_eq!(said.len(), 1);
    assert!(
        said[0].contains("agent `a` may use tool `mcp__github__*`, but there is no MCP server `github`"),
        "{said:?}"
    );
}

#[test]
fn a_prompt_of_standard_agents_names_a_server_or_one_of_its_tools() {
    let with_tool = |tool: &str| {
        let text = format!(
            r#"
-- agents/agents/s.json
{{"name": "s", "type": "ai_human", "sideA": {{"prompt": "p"}}}}
-- agents/prompts/p.json
{{"name": "p", "prompt": "x", "tools": ["{tool}"]}}
"#
        );
        project(text.trim_start())
    };
    check_agent(&with_tool("mcp:files"), "s", (&["mcp__files__*"], &[], &["files!"]));
    check_agent(&with_tool("mcp__web__get"), "s", (&["mcp__web__get"], &[], &["web!"]));
    let said = lines(&with_tool("mcp:wep"));
    assert!(said[0].contains("prompt `p` names the MCP server `wep`, which is not declared"), "{said:?}");
    assert!(said[0].ends_with("did you mean `web`?"), "{said:?}");
}
