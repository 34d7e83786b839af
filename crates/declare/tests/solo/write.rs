//! Agents written as dex profiles and as AgentScope's files.

use super::{agent, body, check, project, tools_of};
use entourage_declare::{Format, Written, export};
use entourage_model::Name;
use proptest::prelude::*;

fn written(text: &str, name: &str, to: Format) -> Written {
    export(&project(text).team, &[Name::from(name)], to).expect("it can be exported")
}

fn losses(written: &Written) -> Vec<&str> {
    written.losses.iter().map(|loss| loss.field.as_str()).collect()
}

const PROFILE: &str = "-- .dex/agents/a.md\n---\nid: x\nname: X\ndescription: 'a: b'\ntools:\n- read\ndisabledTools: [bash]\nodd: [1, {a: b}]\n---\n\nBody\n---\nmore";

const SUBAGENT: &str = "-- subagents/x.md\n---\ndescription: 'a: b'\nworkspace: {mode: shared}\nmodel: openai:gpt-5\nmaxIters: '4'\ntools: read_file, grep_files\ntemperature: 0.5\ntop_p: 0.9\nvariant: v\nhidden: true\nskills: [s]\nodd: yes\n---\nBody";

#[test]
fn a_file_written_in_its_own_format_means_the_same() {
    for (text, format, path) in
        [(PROFILE, Format::Dex, ".dex/agents/x.md"), (SUBAGENT, Format::AgentScope, "subagents/x.md")]
    {
        let written = written(text, "x", format);
        assert_eq!(losses(&written), [""; 0]);
        assert_eq!(written.agents, [("x".to_owned(), path.to_owned())]);
        let (file, again) = &written.files[0];
        assert_eq!(file, path);
        let (first, second) = (project(text), project(&format!("-- {path}\n{again}")));
        let (first, mut second) = (agent(&first, "x"), agent(&second, "x"));
        std::sync::Arc::make_mut(&mut second).source = first.source.clone();
        assert_eq!(first, second);
    }
}

#[test]
fn a_profile_as_a_subagent_keeps_what_that_has_words_for() {
    let written = written(PROFILE, "x", Format::AgentScope);
    assert_eq!(losses(&written), ["name", "odd"]);
    let loaded = check(&format!("-- {}\n{}", written.files[0].0, written.files[0].1), &[]);
    let x = agent(&loaded, "x");
    assert_eq!((x.description.as_str(), body(&x).as_str()), ("a: b", "\nBody\n---\nmore"));
    assert_eq!(tools_of(&x), ["read_file"]);
}

#[test]
fn a_subagent_as_a_profile_keeps_what_that_has_words_for() {
    let written = written(SUBAGENT, "x", Format::Dex);
    assert_eq!(losses(&written), ["hidden", "maxIters", "model", "odd", "skills", "temperature", "top_p", "variant"]);
    let loaded = check(&format!("-- {}\n{}", written.files[0].0, written.files[0].1), &[]);
    let x = agent(&loaded, "x");
    assert_eq!((x.description.as_str(), body(&x).as_str()), ("a: b", "Body"));
    assert_eq!(tools_of(&x), ["grep_files", "read_file"]);
}

#[test]
fn a_list_of_which_nothing_is_left_never_becomes_every_tool() {
    for (list, to, expected) in [
        ("tools: [LSP]", Format::AgentScope, "none"),
        ("tools: [Read]\ndisallowedTools: [Read]", Format::AgentScope, "none"),
        ("tools: [LSP]", Format::Dex, "[]"),
    ] {
        let text = format!("-- .claude/agents/x.md\n---\nname: x\ndescription: d\n{list}\n---\n");
        let written = written(&text, "x", to);
        let file = &written.files[0].1;
        assert!(file.contains("tools:") && file.contains(expected), "{file}");
    }
}

#[test]
fn what_is_denied_is_off_the_list_or_named() {
    for (list, expected, lost) in [
        ("tools: [Read, Grep]\ndisallowedTools: [Grep]", &["read_file"][..], &[][..]),
        ("tools: [Read, mcp__s__a, mcp__s__b]\ndisallowedTools: [mcp__s__a]", &["read_file", "mcp__s__b"], &[]),
        ("tools: [Read, mcp__s__a]\ndisallowedTools: [mcp__s]", &["read_file"], &[]),
        ("tools: [Read, mcp__s]\ndisallowedTools: [mcp__s__a]", &["read_file", "mcp__s__*"], &["disallowedTools"]),
        ("tools: [Read, Bash]\ndisallowedTools: ['Bash(rm:*)']", &["read_file", "shell"], &["disallowedTools"]),
    ] {
        let text = format!("-- .claude/agents/x.md\n---\nname: x\ndescription: d\n{list}\n---\n");
        let written = written(&text, "x", Format::AgentScope);
        let front: serde_json::Value =
            serde_saphyr::from_str(written.files[0].1.split("---\n").nth(1).unwrap()).unwrap();
        assert_eq!((&front["tools"], losses(&written).as_slice()), (&serde_json::json!(expected), lost), "{list}");
    }
}

#[test]
fn an_agent_that_says_neither_folder_nor_limit_gets_none_as_a_subagent() {
    for (said, steps) in [("", "250"), ("maxTurns: 3\n", "3")] {
        let text = format!("-- .claude/agents/x.md\n---\nname: x\ndescription: d\n{said}---\n");
        let file = &written(&text, "x", Format::AgentScope).files[0].1;
        assert!(
            file.contains("workspace:\n  mode: shared\n") && file.contains(&format!("maxIters: {steps}\n")),
            "{file}"
        );
    }
}

#[test]
fn what_only_looks_may_only_look() {
    let text = "-- .claude/agents/x.md\n---\nname: x\ndescription: d\npermissionMode: plan\n---\n";
    for to in [Format::AgentScope, Format::Dex] {
        let written = written(text, "x", to);
        assert_eq!(losses(&written), [""; 0]);
        let loaded = check(&format!("-- {}\n{}", written.files[0].0, written.files[0].1), &[]);
        assert_eq!(tools_of(&agent(&loaded, "x")), ["find_files", "grep_files", "list_files", "read_file"]);
    }
}

#[test]
fn a_server_and_a_text_without_effect_are_named() {
    let remote = "-- entourage.toml\n[subagents.x]\ndescription = 'd'\nurl = 'http://h'\nheaders = { A = '${B}' }\n";
    assert_eq!(losses(&written(remote, "x", Format::AgentScope)), ["headers", "url"]);
    assert_eq!(losses(&written(remote, "x", Format::Dex)), ["headers", "url"]);
    let ignored = "-- subagents/x.md\n---\ndescription: d\nworkspace: { path: defs }\n---\nIgnored.\n";
    let written = written(ignored, "x", Format::AgentScope);
    assert!(written.files[0].1.ends_with("---\nIgnored.\n"), "{}", written.files[0].1);
}

#[test]
fn an_agent_that_gave_its_name_away_is_written_under_its_own() {
    let both = "-- .dex/agents/x.md\n---\ndescription: d\n---\n-- subagents/x.md\n---\ndescription: d\n---\n";
    let written = written(both, "dex/x", Format::Dex);
    assert_eq!(written.files[0].0, ".dex/agents/x.md");
    assert!(written.files[0].1.starts_with("---\nid: x\n"), "{}", written.files[0].1);
}

proptest! {
    #[test]
    fn whatever_a_file_says_is_said_again(
        description in "[ -~é]{0,20}[a-z]",
        tools in proptest::collection::vec("[a-z_]{1,8}", 0..3),
        odd in "\\PC{0,12}",
        steps in 1..100u32,
        body in "[ -~\n\r\té-]{0,40}",
    ) {
        let quote = |text: &str| serde_json::to_string(text).unwrap();
        let list = tools.iter().map(|tool| quote(tool)).collect::<Vec<_>>().join(", ");
        let front = format!("description: {}\ntools: [{list}]\nodd: {}\nmaxIters: {steps}\n", quote(&description), quote(&odd));
        for (folder, format) in [("subagents", Format::AgentScope), (".dex/agents", Format::Dex)] {
            let path = format!("{folder}/x.md");
            let file = format!("---\n{front}---\n{body}");
            let load = |text: &str| {
                let files = entourage_declare::MemoryFiles::from_iter([(path.clone(), text.to_owned())]);
                entourage_declare::load(&entourage_declare::Project {
                    files: &files,
                    home: None,
                    profile_folders: &[],
                    settings: &entourage_declare::Wishes::default(),
                    tools: &super::Kit,
                    memory: &entourage_script::NoMemory,
                })
            };
            let first = load(&file);
            let written = export(&first.team, &[Name::from("x")], format).unwrap();
            prop_assert_eq!(&written.losses, &[]);
            let second = load(&written.files[0].1);
            let (first, second) = (agent(&first, "x"), agent(&second, "x"));
            prop_assert_eq!(&first.side_a, &second.side_a);
            prop_assert_eq!(&first.description, &second.description);
            let mut kept = second.extra[&format.vendor_key()].clone();
            if let Some(kept) = kept.as_object_mut().filter(|_| format == Format::Dex) {
                kept.remove("id");
            }
            prop_assert_eq!(&first.extra[&format.vendor_key()], &kept);
        }
    }
}
