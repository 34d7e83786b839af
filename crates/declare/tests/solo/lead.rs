//! What `lead` may do.

use super::{agent, check, children_of, lines, project, project_with, tools_of};
use entourage_declare::{Loaded, Wishes};
use entourage_model::{Dialect, ToolEntry};
use std::collections::BTreeMap;

/// The same project where `lead` speaks `standard`, by which every agent is a tool of its own.
fn check_standard(text: &str, expected: &[&str]) -> Loaded {
    let loaded = project_with(text, Wishes { dialects: vec![Dialect::Standard], ..Wishes::default() });
    assert_eq!(lines(&loaded), expected, "{text}");
    loaded
}

#[test]
fn lead_starts_others_by_its_dialects_and_by_agentscope_unless_told_otherwise() {
    let loaded = check("-- subagents/kid.md\n---\ndescription: d\n---\n", &[]);
    let lead = agent(&loaded, "lead");
    assert_eq!((children_of(&lead).len(), lead.dialects.as_slice()), (0, &[Dialect::AgentScope][..]));
    assert!(agent(&loaded, "kid").dialects.is_empty(), "children are leaves");
}

#[test]
fn lead_speaks_what_the_settings_say_and_nothing_else_whatever_the_project_has() {
    let profile = "-- .dex/agents/scout.md\n---\nid: scout\nname: Scout\ndescription: d\n---\n";
    let spoken = |dialects: Vec<Dialect>| {
        agent(&project_with(profile, Wishes { dialects, ..Wishes::default() }), "lead").dialects.clone()
    };
    assert_eq!(spoken(Wishes::default().dialects), [Dialect::AgentScope]);
    for wished in [vec![Dialect::AgentScope, Dialect::Dex], vec![Dialect::Dex], Vec::new()] {
        assert_eq!(spoken(wished.clone()), wished);
    }
}

#[test]
fn general_purpose_is_told_what_the_project_says_and_is_always_a_leaf() {
    let loaded = project("-- AGENTS.md\nBe brief.\n");
    assert_eq!(super::body(&agent(&loaded, "general-purpose")), "Be brief.\n");
    let loaded = project("");
    assert!(super::body(&agent(&loaded, "general-purpose")).starts_with("You are a subagent."));
    let agent_dialects = BTreeMap::from([("general-purpose".to_owned(), vec![Dialect::AgentScope])]);
    let loaded = project_with("", Wishes { agent_dialects: agent_dialects.clone(), ..Wishes::default() });
    assert!(agent(&loaded, "general-purpose").dialects.is_empty());
    assert_eq!(
        lines(&loaded),
        [
            "warning[X001] agent `general-purpose` has `dialects`, but it never starts others | declare an agent of your own \
          for that, such as `subagents/<id>.md`"
        ]
    );
    // One that somebody wrote is like any other.
    let own = "-- subagents/general-purpose.md\n---\ndescription: d\n---\nMine.\n-- AGENTS.md\nBe brief.\n";
    let loaded = project_with(own, Wishes { agent_dialects, ..Wishes::default() });
    let agent = agent(&loaded, "general-purpose");
    assert_eq!((super::body(&agent).as_str(), agent.dialects.as_slice()), ("Mine.\n", &[Dialect::AgentScope][..]));
}

#[test]
fn lead_has_every_tool_and_as_its_children_every_agent_with_one_side_if_it_speaks_standard() {
    let loaded = check_standard(
        "
-- AGENTS.md
Be brief.
-- .dex/agents/mine.md
---
description: d
---
-- subagents/kid.md
---
description: d
---
-- .claude/agents/other.md
---
name: other
description: d
---
-- agents/agents/person.json
{\"name\": \"person\", \"sideA\": {\"prompt\": \"p\"}}
-- agents/prompts/p.json
{\"name\": \"p\", \"prompt\": \"\"}
",
        &[],
    );
    let lead = agent(&loaded, "lead");
    assert_eq!(super::body(&lead), "Be brief.\n");
    assert_eq!((lead.source.format.as_str(), &lead.source.file), ("standard-agents", &None));
    assert_eq!(tools_of(&lead).len(), 7);
    assert_eq!(children_of(&lead), ["coding", "general-purpose", "goal", "kid", "mine", "other", "research"]);
    let entries = lead.side_a.prompt.tools.iter();
    assert!(
        entries
            .filter_map(|entry| if let ToolEntry::Child(child) = entry { Some(child) } else { None })
            .all(|child| child.blocking && child.resumable.is_none())
    );
}

#[test]
fn what_is_hidden_or_only_ever_first_is_not_offered() {
    let loaded = check_standard(
        "
-- subagents/hidden.md
---
description: d
hidden: 'true'
---
-- subagents/first.md
---
description: d
mode: PRIMARY
---
-- subagents/any.md
---
description: d
mode: all
hidden: false
---
",
        &[],
    );
    let children = children_of(&agent(&loaded, "lead"));
    assert!(children.contains(&"any".to_owned()));
    assert!(!children.contains(&"hidden".to_owned()) && !children.contains(&"first".to_owned()));
    let unlisted = ["any", "hidden", "first"].map(|name| agent(&loaded, name).unlisted);
    assert_eq!(unlisted, [false, true, true]);
}

#[test]
fn an_agent_whose_name_is_no_tools_is_left_out_and_told() {
    let hint = "give it another name, of letters of a to z, digits, `_` and `-`";
    let loaded = check_standard(
        "
-- subagents/审查.md
---
description: d
---
-- subagents/shell.md
---
description: d
---
",
        &[
            &format!(
                "warning[D099] subagents/shell.md:1:1 `lead` cannot start agent `shell`: a tool has this name | {hint}"
            ),
            &format!(
                "warning[D099] subagents/审查.md:1:1 `lead` cannot start agent `审查`: no tool can have this name | {hint}"
            ),
        ],
    );
    assert!(loaded.team.agents.contains_key("审查") && loaded.team.agents.contains_key("shell"));
    assert_eq!(children_of(&agent(&loaded, "lead")), ["coding", "general-purpose", "goal", "research"]);
}
