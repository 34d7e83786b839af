//! What `lead` may do.

use super::{agent, check, children_of, tools_of};
use entourage_model::ToolEntry;

#[test]
fn lead_has_every_tool_and_every_agent_with_one_side() {
    let loaded = check(
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
    let loaded = check(
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
    assert!(loaded.team.agents.contains_key("hidden") && loaded.team.agents.contains_key("first"));
}

#[test]
fn an_agent_whose_name_is_no_tools_is_left_out_and_told() {
    let hint = "give it another name, of letters of a to z, digits, `_` and `-`";
    let loaded = check(
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
