//! Whatever a file holds, loading it ends, and ends well.

use super::{Kit, LOOKING};
use entourage_declare::{Files, Kind, Loaded, MemoryFiles, Project, Tools, Wishes};
use entourage_model::{Severity, ToolEntry, server_of};
use proptest::prelude::*;
use std::io;
use std::sync::Mutex;

/// Files that remember which paths they were asked for.
#[derive(Debug)]
struct Watched<'a> {
    files: &'a MemoryFiles,
    asked: Mutex<Vec<String>>,
}

impl Files for Watched<'_> {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.asked.lock().expect("nobody panicked while asking").push(folder.to_owned());
        self.files.list(folder)
    }

    fn entries(&self, folder: &str) -> io::Result<Vec<(String, Kind)>> {
        self.asked.lock().expect("nobody panicked while asking").push(folder.to_owned());
        self.files.entries(folder)
    }

    fn kind(&self, path: &str) -> io::Result<Kind> {
        self.asked.lock().expect("nobody panicked while asking").push(path.to_owned());
        self.files.kind(path)
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.asked.lock().expect("nobody panicked while asking").push(path.to_owned());
        self.files.read(path)
    }
}

/// Loads every kind of file with the same bytes, and holds what is promised about every result.
fn check(markdown: &[u8], settings: &str) {
    let paths = ["subagents/a.md", ".dex/agents/b.md", ".claude/agents/c/c.md", ".agents/agents/d.md"];
    let files: MemoryFiles = paths.iter().map(|path| (*path, markdown)).collect();
    let files = Watched { files: &files, asked: Mutex::default() };
    let wishes = Wishes { files: vec![("entourage.toml".to_owned(), settings.to_owned())], ..Wishes::default() };
    let project = Project {
        files: &files,
        home: Some(&files),
        profile_folders: &[("more".to_owned(), &files)],
        settings: &wishes,
        tools: &Kit,
        memory: &entourage_script::NoMemory,
    };
    let Loaded { team, primary, headers, servers, definition_folders, packages, broken, reports } =
        entourage_declare::load(&project);
    for path in files.asked.lock().expect("nobody panicked while asking").iter() {
        assert!(!path.starts_with('/') && !path.split('/').any(|part| part == ".."), "{path}");
    }
    for agent in team.agents.values() {
        if let Some(path) = agent.workspace.as_ref().and_then(|wish| wish.path.as_ref()) {
            assert!(path.starts_with('/') || !path.split('/').any(|part| part == ".."), "{path}");
        }
        for entry in &agent.side_a.prompt.tools {
            match entry {
                ToolEntry::Tool(tool) => {
                    let server = server_of(tool.as_str());
                    let is_served =
                        agent.side_a.prompt.servers.iter().any(|entry| Some(entry.key.name.as_str()) == server);
                    assert!(is_served || Kit.names().contains(tool));
                }
                ToolEntry::Child(child) => assert!(team.agents.contains_key(&child.agent)),
                ToolEntry::Handoff(_) | ToolEntry::Prompt(_) => unreachable!("only two-sided declarations have these"),
            }
        }
    }
    let stored = serde_json::to_string(&team).expect("a team can be stored");
    assert_eq!(serde_json::from_str::<entourage_model::Team>(&stored).expect("and read again"), team);
    assert!(team.agents.contains_key(&primary));
    assert!(servers.iter().all(|server| server.key.agent.as_ref().is_some_and(|name| team.agents.contains_key(name))));
    assert!(headers.keys().all(|name| team.agents.contains_key(name)));
    assert!(definition_folders.keys().all(|name| team.agents.contains_key(name)));
    assert!(packages.is_empty() && broken.keys().all(|name| !team.agents.contains_key(name)));
    assert!(reports.is_sorted_by_key(|report| report.place.clone()));
    let again = entourage_declare::load(&project);
    assert_eq!((&again.team, &again.reports), (&team, &reports));
    let is_told = reports.iter().any(|report| report.severity == Severity::Error || report.code.0 == "D081");
    let declared = team.agents.values().filter(|agent| agent.source.file.is_some()).count();
    let text = std::str::from_utf8(markdown).unwrap_or_default();
    let is_declaration = text.trim_start_matches('\u{feff}').starts_with("---\n");
    assert!(is_told || declared > 0 || !is_declaration, "nothing is left out without a word");
}

const MARKDOWN: &str = "---
id: a
name: a
description: d
workspace:
  mode: shared
  path: ./defs
model: openai:gpt-5
maxIters: '8'
tools: [read_file, \"b\", *x]
disabledTools: &x [bash]
url: http://x
headers: { A: '${B}' }
---
Body
";

const SETTINGS: &str = "[subagents.a]
description = 'd'
workspace = { mode = 'shared', path = './defs' }
tools = ['read_file']
[subagents.b]
description = 'd'
url = 'http://x'
headers = { Authorization = 'Bearer ${B}', X = 'y' }
[agents.a]
dialects = ['dex']
";

/// Keys and words that mean something are drawn often.
fn word() -> impl Strategy<Value = String> {
    let words = "id name description tools disabledTools workspace mode path shared model openai:x maxIters steps \
                 temperature top_p hidden true 8 '8' ../../x /etc .. read_file bash url http://x headers body x-cursor \
                 x-agentscope x-dex Agent(a) permissionMode plan skills mcpServers hooks --- &x *x !t | > << {} [] ~";
    let words: Vec<_> = words.split_whitespace().map(str::to_owned).collect();
    prop_oneof![8 => proptest::sample::select(words), 1 => "\\PC{0,6}"]
}

/// Lines of keys and values, more or less deep.
fn front() -> impl Strategy<Value = String> {
    let line = (0..3usize, word(), word(), any::<bool>()).prop_map(|(indent, key, value, is_item)| {
        let indent = "  ".repeat(indent);
        if is_item { format!("{indent}- {key}: {value}\n") } else { format!("{indent}{key}: {value}\n") }
    });
    proptest::collection::vec(line, 0..12).prop_map(|lines| format!("---\n{}---\nBody\n", lines.concat()))
}

fn settings() -> impl Strategy<Value = String> {
    let key = prop_oneof![word().prop_map(|word| format!("{word:?}")), "[a-z_]{1,8}"];
    let value = prop_oneof![
        word().prop_map(|word| format!("{word:?}")),
        any::<i64>().prop_map(|number| number.to_string()),
        word().prop_map(|word| format!("[{word:?}]")),
        (word(), word()).prop_map(|(key, value)| format!("{{ {key:?} = {value:?} }}")),
    ];
    let line = (key, value).prop_map(|(key, value)| format!("{key} = {value}\n"));
    let table = (word(), proptest::collection::vec(line, 0..6))
        .prop_map(|(id, lines)| format!("[subagents.{id:?}]\n{}", lines.concat()));
    proptest::collection::vec(table, 0..3).prop_map(|tables| tables.concat())
}

fn damaged(text: &str, at: &proptest::sample::Index, length: usize, wedge: &[u8]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let start = at.index(bytes.len());
    let end = (start + length).min(bytes.len());
    bytes.splice(start..end, wedge.iter().copied());
    bytes
}

proptest! {
    #[test]
    fn bytes_never_panic(markdown: Vec<u8>, settings: String) {
        check(&markdown, &settings);
    }

    #[test]
    fn front_matter_never_panics(markdown in front(), settings in settings()) {
        check(markdown.as_bytes(), &settings);
    }

    #[test]
    fn a_damaged_file_never_panics(at: proptest::sample::Index, length in 0..20usize, wedge: Vec<u8>) {
        let settings = damaged(SETTINGS, &at, length, &wedge);
        check(&damaged(MARKDOWN, &at, length, &wedge), &String::from_utf8_lossy(&settings));
    }
}

#[test]
fn the_undamaged_files_are_fine() {
    check(MARKDOWN.as_bytes(), SETTINGS);
    assert_eq!(LOOKING.len(), 4);
}

#[test]
fn large_files_end_soon_or_are_refused() {
    let line = |text: &str| text.repeat((256 << 10) / text.len());
    let keys: String = (0..5_000).map(|index| format!("k{index}: a: b\n")).collect();
    for front in [
        line("a"),
        line("? "),
        line("- "),
        line("a: b\n"),
        line("[a, "),
        line("{a: "),
        line("'"),
        line("\t"),
        line("#\n"),
        line("&a "),
        line("a:\n  - b\n"),
        format!("a: &a {}\n{}", line("x"), "b: *a\n".repeat(100)),
        format!("description: {}\n", line("é")),
        format!("description: d\nname: x\ntools: [{}]\n", "a, ".repeat(2_000)),
        keys,
    ] {
        check(format!("---\n{front}\n---\n").as_bytes(), "");
    }
    check(&vec![b'-'; (8 << 20) + 1], "");
}

/// A project whose folders of declarations hold nothing but links, and one file without a name.
#[derive(Debug)]
struct Linked;

impl Files for Linked {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        Ok(if folder == "subagents" { vec!["inside.md".to_owned()] } else { Vec::new() })
    }

    fn entries(&self, folder: &str) -> io::Result<Vec<(String, Kind)>> {
        let link = |name: &str| (name.to_owned(), Kind::Link);
        Ok(match folder {
            "subagents" => vec![(".md".to_owned(), Kind::File), link(".hidden.md"), link("inside.md"), link("out.md")],
            ".dex/agents" | ".claude/agents" | ".agents/agents" => vec![link("out.md"), link("out.txt")],
            "agents/tools" => vec![link("out.json"), link("out.ts"), link("out.d.ts"), link(".out.ts"), link("out.md")],
            _ => Vec::new(),
        })
    }

    fn kind(&self, path: &str) -> io::Result<Kind> {
        if path == "agent.ts" { Ok(Kind::Link) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match path {
            "subagents/inside.md" => Ok(b"---\ndescription: d\n---\n".to_vec()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

#[test]
fn a_file_that_was_meant_to_declare_something_is_not_passed_over_in_silence() {
    let loaded = entourage_declare::load(&Project {
        files: &Linked,
        home: None,
        profile_folders: &[],
        settings: &Wishes::default(),
        tools: &Kit,
        memory: &entourage_script::NoMemory,
    });
    let link = |path: &str| {
        format!(
            "warning[D082] {path}:1:1 `{path}` is ignored: it is a link that leads to no file of the project | put the file \
             itself there"
        )
    };
    let unnamed = "warning[D082] subagents/.md:1:1 `subagents/.md` is ignored: an agent is called as its file, and that is no \
                   name | rename the file";
    let expected = [
        link(".agents/agents/out.md"),
        link(".claude/agents/out.md"),
        link(".dex/agents/out.md"),
        "error[D001] agent.ts:1:1 `agent.ts` cannot be read: entity not found | check that it is there and that you may \
         read it"
            .to_owned(),
        link("agents/tools/out.json"),
        link("agents/tools/out.ts"),
        unnamed.to_owned(),
        link("subagents/out.md"),
    ];
    assert_eq!(super::lines(&loaded), expected);
    assert!(loaded.team.agents.contains_key("inside"));
}
