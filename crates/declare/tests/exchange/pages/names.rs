//! Names that a target does not allow.

use crate::kit::{imported, lines, page, team};
use entourage_declare::{Format, Imported, export};
use entourage_model::{Name, Team};
use serde_json::Value;

/// Claude Code agents with these names.
fn named(names: &[&str]) -> Team {
    let mut all = Imported::default();
    for name in names {
        let text = format!("---\nname: {}\ndescription: d\ntools: Agent(A B), Read\n---\nWork.\n", Value::from(*name));
        all.agents.extend(imported(".claude/agents/x.md", &text).agents);
    }
    team(&all)
}

fn names(team: &Team) -> Vec<Name> {
    team.agents.keys().cloned().collect()
}

#[test]
fn a_name_that_does_not_fit_becomes_a_slug_and_is_named() {
    use Format::{AgentScope, ClaudeCode, Codex, Cursor, Gemini, GithubCopilot, Opencode, Stax};
    let long = "m".repeat(80);
    for (name, to, expected, path) in [
        ("mender", Gemini, "mender", ".gemini/agents/mender.md"),
        ("test_mender", Gemini, "test_mender", ".gemini/agents/test_mender.md"),
        ("Test Mender!", Gemini, "test-mender", ".gemini/agents/test-mender.md"),
        ("test_mender", Cursor, "test-mender", ".cursor/agents/test-mender.md"),
        ("Test Mender", Opencode, "Test Mender", ".opencode/agents/Test Mender.md"),
        ("../../etc/passwd", Opencode, "etc-passwd", ".opencode/agents/etc-passwd.md"),
        ("a/b", GithubCopilot, "a-b", ".github/agents/a-b.agent.md"),
        ("…", GithubCopilot, "…", ".github/agents/….agent.md"),
        ("…", Gemini, "agent", ".gemini/agents/agent.md"),
        (".hidden", Codex, "hidden", ".codex/agents/hidden.toml"),
        ("test-mender", Stax, "test-mender", "subagents.json"),
        ("Test_Mender.", Stax, "test-mender", "subagents.json"),
        ("…", Stax, "agent", "subagents.json"),
        (&long, Stax, &long[..63], "subagents.json"),
        ("tools", AgentScope, "tools-agent", "subagents/tools-agent.md"),
        ("tool", AgentScope, "tool", "subagents/tool.md"),
        // Its own harness has taken it before.
        ("Test: Mender", ClaudeCode, "Test: Mender", ".claude/agents/test-mender.md"),
    ] {
        let team = named(&[name]);
        let written = export(&team, &names(&team), to).expect("it can be exported");
        assert_eq!(written.agents, [(expected.to_owned(), path.to_owned())], "{name} → {to}");
        let is_named = written.losses.iter().any(|loss| loss.field == "name" && loss.agent == name);
        assert_eq!(is_named, name != expected, "{name} → {to}: {:?}", written.losses);
        assert!(written.losses.iter().all(|loss| loss.agent == name), "{:?}", written.losses);
    }
}

#[test]
fn an_agent_that_is_renamed_is_called_by_its_new_name() {
    let mut all = Imported::default();
    for name in ["A B", "caller"] {
        let text = "---\ndescription: d\ntools: [agent]\nagents: [A B, elsewhere]\n---\n";
        all.agents.extend(imported(&format!(".github/agents/{name}.agent.md"), text).agents);
    }
    let team = team(&all);
    for (to, expected) in [(Format::ClaudeCode, "Agent(a-b, elsewhere)"), (Format::GithubCopilot, "agent")] {
        let written = export(&team, &names(&team), to).expect("they can be exported");
        let (_, text) = written.files.last().expect("the caller is there");
        assert_eq!(page(text).0["tools"], serde_json::json!([expected]), "{to}");
    }
}

#[test]
fn two_agents_never_become_one() {
    for (both, to, expected) in [
        (
            ["Test Mender", "test-mender"],
            Format::Gemini,
            "the agents `Test Mender` and `test-mender` would both become `test-mender`",
        ),
        (
            ["Mender", "mender"],
            Format::Opencode,
            "the agents `Mender` and `mender` would both become `.opencode/agents/mender.md`",
        ),
        (["A B", "a_b"], Format::Goose, "the agents `A B` and `a_b` would both become `a-b`"),
        (["A B", "a-b"], Format::Stax, "the agents `A B` and `a-b` would both become `a-b`"),
        (
            ["tools", "tools-agent"],
            Format::AgentScope,
            "the agents `tools` and `tools-agent` would both become `tools-agent`",
        ),
        (["a/b", "a:b"], Format::ClaudeCode, "the agents `a/b` and `a:b` would both become `.claude/agents/a-b.md`"),
    ] {
        let team = named(&both);
        let reports = export(&team, &names(&team), to).expect_err("two would have one place");
        let hint = "rename one of them, or export them one by one into folders of their own";
        assert_eq!(lines(&reports), [format!("error[D110] {expected} | {hint}")], "{both:?} → {to}");
    }
}

#[test]
fn what_cannot_be_exported_is_said() {
    let team = named(&["mender"]);
    let reports = export(&team, &[Name::from("mendr")], Format::Gemini).expect_err("nobody has this name");
    assert_eq!(lines(&reports), ["error[D111] there is no agent `mendr` | did you mean `mender`?"]);
    let reports = export(&team, &names(&team), Format::StandardAgents).expect_err("nobody writes this");
    let [line] = lines(&reports).try_into().expect("one report");
    assert!(
        line.starts_with("error[D117] agents cannot be exported to `standard-agents` | the formats are "),
        "{line}"
    );
}

#[test]
fn an_agent_without_a_prompt_is_not_exported_to_those_who_refuse_it() {
    let told = |path: &str, text: &str, to: Format| {
        let team = team(&imported(path, text));
        export(&team, &names(&team), to).map(|written| written.files.len()).map_err(|reports| lines(&reports))
    };
    let text = "---\nname: mute\ndescription: d\n---\n \n";
    for to in [Format::Codex, Format::Goose, Format::Stax] {
        let expected = format!(
            "error[D120] agent `mute` has no prompt, and `{to}` refuses an agent without one | write what it is to do into \
             its declaration, or export it to another format"
        );
        assert_eq!(told(".claude/agents/mute.md", text, to), Err(vec![expected]));
    }
    assert_eq!(told(".claude/agents/mute.md", text, Format::Gemini), Ok(1));
    let opening = "---\nname: mute\ndescription: d\ninitialPrompt: Begin.\n---\n";
    assert_eq!(told(".claude/agents/mute.md", opening, Format::Goose), Ok(1));
}
