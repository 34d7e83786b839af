//! Targets that know an agent's text and little else.

use super::files;
use crate::kit::{exported, lost_by_agent};
use entourage_declare::Format;

/// Path and text of the only file, and what is lost.
fn check(to: Format, path: &str, text: &str, losses: &[&str]) {
    let file = ::toml::to_string(&files::codex()).expect("the file is TOML");
    let written = exported(".codex/agents/x.toml", &file, to);
    assert_eq!(written.files, [(path.to_owned(), text.to_owned())]);
    assert_eq!(written.agents, [("digger".to_owned(), path.to_owned())]);
    let losses: Vec<_> = losses.iter().map(|field| format!("digger {field}")).collect();
    assert_eq!(lost_by_agent(&written), losses);
}

const LOST: [&str; 9] = [
    "approval_policy",
    "features",
    "mcp_servers",
    "model",
    "model_provider",
    "model_reasoning_effort",
    "nickname_candidates",
    "sandbox_mode",
    "web_search",
];

#[test]
fn windsurf_gets_a_workflow() {
    let text = "---\ndescription: \"Digs: for roots\"\n---\nYou dig.\n";
    check(Format::Windsurf, ".windsurf/workflows/digger.md", text, &LOST);
}

#[test]
fn openclaw_gets_a_workspace() {
    let mut lost = [&["description"][..], &LOST].concat();
    lost.sort_unstable();
    check(Format::Openclaw, "digger/AGENTS.md", "You dig.\n", &lost);
}

#[test]
fn others_get_instructions() {
    let text = "# digger\n\nDigs: for roots\n\nYou dig.\n";
    check(Format::Generic, "digger/INSTRUCTIONS.md", text, &LOST);
}
