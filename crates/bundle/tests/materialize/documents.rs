//! Instructions, rules, skills, surfaces and the other parts of the main agent.

use crate::kit::{bundle, document, front, lost, paths, planned, text, told, with_subagents};
use entourage_bundle::materialize::{Adapter, Content, plan};
use entourage_declare::MemoryFiles;
use serde_json::{Value, json};

const PERSONA: &str = r#"{ "name": "ada", "displayName": "Ada", "role": "engineer", "voice": { "tone": "calm" } }"#;
const SKILL: &str = "---\nname: fix\ndescription: Fixes.\n---\nSee templates/list.md.\n";
const STYLE: &str =
    "---\nscope: glob\nglobs: [\"*.rs\", \"*.toml\"]\ndescription: Style\npriority: 5\n---\nBe terse.\n";
const CARE: &str = "---\nid: care\n---\nBe careful.\n";

/// A bundle with every part that there is.
fn whole() -> MemoryFiles {
    let keys = json!({
        "persona": "./persona.json", "prompt": "./prompt.md", "rules": "./rules", "skills": "./skills",
        "surfaces": "./surfaces", "instructionTree": "./tree", "knowledge": "./knowledge", "memory": "./memory",
    });
    let mut files = bundle(
        "claude-code",
        &keys,
        &[
            ("persona.json", PERSONA),
            ("prompt.md", "Be {{persona.voice.tone}}.\n"),
            ("rules/style.md", STYLE),
            ("rules/team/care.md", CARE),
            ("skills/fix/SKILL.md", SKILL),
            ("skills/fix/templates/list.md", "List.\n"),
            ("surfaces/instructions.md", "Surface.\n"),
            ("surfaces/tools.md", "Use tools.\n"),
            ("surfaces/persona.md", "Soul.\n"),
            ("tree/_root/instructions.md", "Root.\n"),
            ("tree/src/api/instructions.md", "Api.\n"),
            ("knowledge/facts.md", "Facts.\n"),
            ("memory/day.md", "Day.\n"),
        ],
    );
    files.insert("skills/fix/run.sh", "#!/bin/sh\n", true);
    files
}

const TOLD: &str = "# Ada\n\n**Role:** engineer\n\n**Tone:** calm\n\nSurface.\n\nBe calm.\n\nRoot.";
const RULES: &str = "\n\n## Rule: style.md\n\nHolds for files that match *.rs, *.toml.\n\nAbout: Style\n\nBe terse.\n\n\
    ## Rule: care\n\nBe careful.";

fn ending(folder: &str) -> String {
    format!(
        "\n\n## Persona\n\nSoul.\n\n## Tools\n\nUse tools.\n\n## Knowledge\n\nLook things up in the files of `{folder}/`."
    )
}

/// The files of that bundle for each harness, in order; those of the skill's folder lie beneath the last word.
const PLACES: [(Adapter, &str, &str); 9] = [
    (
        Adapter::ClaudeCode,
        "CLAUDE.md src/api/CLAUDE.md .claude/skills/fix/SKILL.md .claude/knowledge/facts.md",
        ".claude/skills/fix",
    ),
    (
        Adapter::Codex,
        "AGENTS.md src/api/AGENTS.md .agents/skills/fix/SKILL.md .agents/knowledge/facts.md",
        ".agents/skills/fix",
    ),
    (
        Adapter::Cursor,
        "AGENTS.md src/api/AGENTS.md .cursor/skills/fix/SKILL.md .cursor/knowledge/facts.md .cursor/rules/style.mdc \
         .cursor/rules/care.mdc",
        ".cursor/skills/fix",
    ),
    (
        Adapter::GithubCopilot,
        ".github/copilot-instructions.md AGENTS.md src/api/AGENTS.md .github/skills/fix/SKILL.md \
         .github/knowledge/facts.md .github/instructions/style.instructions.md",
        ".github/skills/fix",
    ),
    (
        Adapter::Opencode,
        "AGENTS.md src/api/AGENTS.md .opencode/skill/fix/SKILL.md .opencode/knowledge/facts.md",
        ".opencode/skill/fix",
    ),
    (
        Adapter::Gemini,
        "GEMINI.md src/api/GEMINI.md .gemini/skills/fix/SKILL.md .gemini/knowledge/facts.md",
        ".gemini/skills/fix",
    ),
    (
        Adapter::Windsurf,
        "AGENTS.md src/api/AGENTS.md .windsurf/workflows/fix.md .windsurf/knowledge/facts.md \
         .windsurf/rules/style.md .windsurf/rules/care.md",
        ".windsurf/workflows/fix",
    ),
    (
        Adapter::Openclaw,
        "AGENTS.md SOUL.md TOOLS.md skills/fix/SKILL.md memory/day.md knowledge/facts.md",
        "skills/fix",
    ),
    (
        Adapter::Generic,
        "INSTRUCTIONS.md src/api/INSTRUCTIONS.md skills/fix/SKILL.md memory/day.md knowledge/facts.md",
        "skills/fix",
    ),
];

#[test]
fn every_part_has_its_place() {
    for (adapter, places, skill) in PLACES {
        let plan = planned(&whole(), adapter);
        let parts = ["run.sh", "templates/list.md"].map(|part| format!("{skill}/{part}"));
        let mut expected: Vec<_> = places.split_whitespace().chain(parts.iter().map(String::as_str)).collect();
        expected.sort_unstable();
        let mut found = paths(&plan);
        found.sort_unstable();
        assert_eq!(found, expected, "{adapter}");
        let executable = |path: &str| matches!(document(&plan, path), Content::Whole { executable: true, .. });
        assert!(executable(&parts[0]) && !executable(&parts[1]), "{adapter}");
        assert_eq!(text(&plan, &parts[1]), "List.\n", "{adapter}");
    }
}

#[test]
fn instructions_are_told_in_one_order() {
    let rules_of = |adapter| match adapter {
        Adapter::Cursor | Adapter::Windsurf => "",
        Adapter::GithubCopilot => "\n\n## Rule: care\n\nBe careful.",
        _ => RULES,
    };
    for (adapter, main, knowledge) in [
        (Adapter::ClaudeCode, "CLAUDE.md", ".claude/knowledge"),
        (Adapter::Codex, "AGENTS.md", ".agents/knowledge"),
        (Adapter::Cursor, "AGENTS.md", ".cursor/knowledge"),
        (Adapter::GithubCopilot, "AGENTS.md", ".github/knowledge"),
        (Adapter::Windsurf, "AGENTS.md", ".windsurf/knowledge"),
        (Adapter::Generic, "INSTRUCTIONS.md", "knowledge"),
    ] {
        let plan = planned(&whole(), adapter);
        assert_eq!(text(&plan, main), format!("{TOLD}{}{}", rules_of(adapter), ending(knowledge)), "{adapter}");
    }
    // OpenClaw has a file for who it is, and for most surfaces.
    let plan = planned(&whole(), Adapter::Openclaw);
    assert_eq!(text(&plan, "SOUL.md"), "Soul.\n\n# Ada\n\n**Role:** engineer\n\n**Tone:** calm");
    assert_eq!(text(&plan, "TOOLS.md"), "Use tools.\n");
    assert!(text(&plan, "AGENTS.md").starts_with("Surface.\n\nBe calm.\n\nRoot.\n\n## Rule"));
}

#[test]
fn what_is_said_in_other_words_is_told() {
    let told = |adapter| {
        let plan = planned(&whole(), adapter);
        let into =
            |field: &str| plan.translations.iter().find(|told| told.field == field).map(|told| told.into.clone());
        ["persona", "surfaces.tools", "rules.care", "instructionTree.src/api"]
            .map(|field| into(field).unwrap_or_default())
    };
    assert_eq!(told(Adapter::ClaudeCode), ["CLAUDE.md", "CLAUDE.md", "CLAUDE.md", "src/api/CLAUDE.md"]);
    assert_eq!(told(Adapter::Cursor), ["AGENTS.md", "AGENTS.md", ".cursor/rules/care.mdc", "src/api/AGENTS.md"]);
    assert_eq!(told(Adapter::Openclaw), ["SOUL.md", "TOOLS.md", "AGENTS.md", ""]);
}

#[test]
fn a_prompt_alone_stays_as_it_is() {
    let prompt = "\u{feff}---\nname: x\n---\r\n{{persona.name}}\n\n\n";
    let files = bundle("codex", &json!({ "prompt": "./p.md" }), &[("p.md", prompt)]);
    for adapter in Adapter::ALL {
        let plan = planned(&files, adapter);
        assert_eq!(text(&plan, paths(&plan)[0]), prompt, "{adapter}");
    }
    assert_eq!(paths(&planned(&bundle("codex", &json!({}), &[]), Adapter::Codex)), [""; 0]);
}

#[test]
fn rules_in_files_say_when_they_hold() {
    let rule = |scope: &str| format!("---\nscope: {scope}\nglobs: [\"a/**\", \"b\"]\ndescription: Why\n---\nText.\n");
    let scopes = ["always", "glob", "auto", "manual"];
    let texts = scopes.map(rule);
    let names = scopes.map(|scope| format!("rules/{scope}.md"));
    let files: Vec<_> = names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let files = bundle("cursor", &json!({ "rules": "./rules" }), &files);
    let cursor = [
        json!({ "description": "Why", "alwaysApply": true }),
        json!({ "description": "Why", "globs": ["a/**", "b"], "alwaysApply": false }),
        json!({ "description": "Why", "alwaysApply": false }),
        json!({ "alwaysApply": false }),
    ];
    let windsurf = [
        json!({ "trigger": "always_on", "description": "Why" }),
        json!({ "trigger": "glob", "description": "Why", "globs": ["a/**", "b"] }),
        json!({ "trigger": "model_decision", "description": "Why" }),
        json!({ "trigger": "manual", "description": "Why" }),
    ];
    let copilot = [
        Value::Null,
        json!({ "description": "Why", "applyTo": "a/**,b" }),
        json!({ "description": "Why" }),
        json!({ "description": "Why" }),
    ];
    for (adapter, start, end, expected) in [
        (Adapter::Cursor, ".cursor/rules/", ".mdc", cursor),
        (Adapter::Windsurf, ".windsurf/rules/", ".md", windsurf),
        (Adapter::GithubCopilot, ".github/instructions/", ".instructions.md", copilot),
    ] {
        let plan = planned(&files, adapter);
        for (scope, expected) in scopes.iter().zip(expected).filter(|(_, expected)| !expected.is_null()) {
            let (keys, body) = front(text(&plan, &format!("{start}{scope}{end}")));
            assert_eq!((Value::Object(keys), body), (expected, "\nText.\n"), "{adapter} {scope}");
        }
    }
}

#[test]
fn a_rule_that_says_nothing_of_itself_has_a_name_at_least() {
    let rules = [("rules/plain.md", "---\nscope: manual\n---\n\nText.\n")];
    let plan = planned(&bundle("cursor", &json!({ "rules": "./rules" }), &rules), Adapter::GithubCopilot);
    let (keys, body) = front(text(&plan, ".github/instructions/plain.instructions.md"));
    assert_eq!((Value::Object(keys), body), (json!({ "name": "plain.md" }), "\nText.\n"));
}

#[test]
fn a_comma_in_a_glob_divides_nothing() {
    let rule = |globs: &str| format!("---\nscope: glob\nglobs: {globs}\n---\nText.\n");
    for (globs, apply_to, losses) in [
        (r#"["*.{ts,tsx}", "[,;].md"]"#, "*.{ts,tsx},[,;].md", vec![]),
        (r#"["a,b.md", "{c,d},e"]"#, "a?b.md,{c,d}?e", vec!["- rules.r.md.globs"]),
    ] {
        let files = bundle("cursor", &json!({ "rules": "./rules" }), &[("rules/r.md", &rule(globs))]);
        let plan = planned(&files, Adapter::GithubCopilot);
        let (keys, _) = front(text(&plan, ".github/instructions/r.instructions.md"));
        assert_eq!(
            (keys["applyTo"].as_str().unwrap(), lost(&plan)),
            (apply_to, losses.iter().map(ToString::to_string).collect())
        );
        // A list has no commas between its items.
        assert_eq!(lost(&planned(&files, Adapter::Cursor)), [""; 0]);
    }
}

#[test]
fn what_a_rule_says_beyond_its_text_is_named() {
    let rule = "---\nid: r\npriority: 7\nseverity: error\ntags: [a]\ntriggers: [b]\n---\nText.\n";
    let files = bundle("codex", &json!({ "rules": "./rules" }), &[("rules/r.md", rule)]);
    let all = ["- rules.r.severity", "- rules.r.tags", "- rules.r.triggers"];
    // Where rules are told one after the other, their order is kept.
    assert_eq!(lost(&planned(&files, Adapter::Codex)), all);
    assert_eq!(lost(&planned(&files, Adapter::Cursor)), [&["- rules.r.priority"], all.as_slice()].concat());
}

#[test]
fn keys_that_nobody_knows_are_named_wherever_they_are() {
    let keys = json!({ "persona": "./persona.json", "rules": "./rules", "subagents": "./subagents.json", "mcp": "./mcp.json" });
    let mut persona: Value = serde_json::from_str(PERSONA).unwrap();
    persona["x-more"] = json!(1);
    persona["voice"]["pitch"] = json!("low");
    let rule = "---\nid: r\nscope: manual\nglobs: [a]\ndescription: Why\nx-own: 1\n---\nText.\n";
    let files = bundle(
        "cursor",
        &keys,
        &[
            ("persona.json", &persona.to_string()),
            ("rules/r.md", rule),
            (
                "subagents.json",
                r#"{ "x-top": {}, "agents": { "one": { "description": "d", "instructions": "Do." } } }"#,
            ),
            ("mcp.json", r#"{ "specVersion": "1.0.0", "x-doc": 1, "servers": { "s": { "command": "c" } } }"#),
        ],
    );
    let unknown = ["- mcp.x-doc", "- persona.voice.pitch", "- persona.x-more"];
    let [globs, own, top] = ["- rules.r.globs", "- rules.r.x-own", "- subagents.x-top"];
    let plan = planned(&files, Adapter::ClaudeCode);
    assert_eq!(lost(&plan), [&unknown[..], &[globs, own, top]].concat());
    assert!(text(&plan, "CLAUDE.md").ends_with("Holds only when the user asks for it.\n\nAbout: Why\n\nText."));
    // Where a description has another meaning it is lost.
    let plan = planned(&files, Adapter::Cursor);
    assert_eq!(lost(&plan), [&unknown[..], &["- rules.r.description", globs, own, top]].concat());
}

#[test]
fn parts_without_a_place_are_named() {
    let memory = "- memory.day.md";
    assert_eq!(lost(&planned(&whole(), Adapter::ClaudeCode)), [memory]);
    assert_eq!(lost(&planned(&whole(), Adapter::Cursor)), [memory, "- rules.style.md.priority"]);
    assert_eq!(lost(&planned(&whole(), Adapter::Openclaw)), ["- instructionTree.src/api"]);
}

#[test]
fn a_definition_may_leave_parts_out() {
    let config = json!({ "writeInstructions": false, "writeSkills": false });
    let keys = json!({ "prompt": "./p.md", "skills": "./skills", "adapter": { "config": config } });
    let files = [("p.md", "Prompt.\n"), ("skills/fix/SKILL.md", SKILL)];
    let plan = planned(&bundle("codex", &keys, &files), Adapter::Codex);
    assert_eq!((paths(&plan), lost(&plan)), (vec![], vec!["- instructions".to_owned(), "- skills".to_owned()]));
    let keys = json!({ "prompt": "./p.md", "adapter": { "config": { "writeAgentsMd": false } } });
    let plan = planned(&bundle("github-copilot", &keys, &files[..1]), Adapter::GithubCopilot);
    assert_eq!((paths(&plan), lost(&plan)), (vec![".github/copilot-instructions.md"], vec![]));
}

#[test]
fn no_name_leads_out_of_the_folder() {
    for id in ["../../evil", "/etc/evil", "a\\b", "a/../b", ".hidden", "a\u{0}b"] {
        let rule = format!("---\n{}\n---\nText.\n", json!({ "id": id }));
        let files = bundle("cursor", &json!({ "rules": "./rules" }), &[("rules/r.md", &rule)]);
        let fault = told(plan(&files, Some(Adapter::Cursor)).unwrap_err());
        assert!(fault.starts_with("1: [B077] a rule's `id` is `"), "{id}: {fault}");
    }
    for name in ["../../evil", "/evil", "a/b", "A", ""] {
        let mut files = bundle("codex", &json!({ "subagents": "./subagents.json" }), &[("x.md", "Text.\n")]);
        let document = json!({ "agents": { name: { "description": "Bad.", "instructions": "./x.md" } } });
        files.insert("subagents.json", document.to_string(), false);
        let fault = told(plan(&files, Some(Adapter::ClaudeCode)).unwrap_err());
        assert!(fault.contains("[D058]"), "{name}: {fault}");
    }
    let rule = "---\nid: \"what? a*b\"\n---\nText.\n";
    let files = bundle("cursor", &json!({ "rules": "./rules" }), &[("rules/r.md", rule)]);
    assert_eq!(paths(&planned(&files, Adapter::Cursor)), [".cursor/rules/what- a-b.mdc"]);
}

#[test]
fn two_parts_are_never_one_file() {
    let knowledge = [("knowledge/Same.md", "Text.\n"), ("knowledge/same.md", "Other.\n")];
    let files = bundle("cursor", &json!({ "knowledge": "./knowledge" }), &knowledge);
    let fault = told(plan(&files, Some(Adapter::Cursor)).unwrap_err());
    assert!(fault.starts_with("1: [B076] two parts of the bundle would be one file in `cursor`"), "{fault}");
}

#[test]
fn rules_of_one_id_have_a_file_each() {
    let rule = |id: &str| format!("---\nid: {id}\n---\n{id}\n");
    let rules = [("rules/a.md", &*rule("Same")), ("rules/b.md", &*rule("same")), ("rules/c.md", &*rule("same"))];
    let files = bundle("cursor", &json!({ "rules": "./rules" }), &rules);
    let expected = [".cursor/rules/Same.mdc", ".cursor/rules/same-2.mdc", ".cursor/rules/same-3.mdc"];
    assert_eq!(paths(&planned(&files, Adapter::Cursor)), expected);
}

#[test]
fn a_skill_and_a_subagent_of_one_name_are_two_workflows() {
    let mut files =
        with_subagents("windsurf", &json!({ "skills": "./skills" }), &json!({ "fix": { "description": "Fixes" } }));
    files.insert("skills/fix/SKILL.md", SKILL, false);
    let plan = planned(&files, Adapter::Windsurf);
    assert_eq!(paths(&plan), [".windsurf/workflows/fix.md", ".windsurf/workflows/fix-subagent.md"]);
    let told = plan.translations.iter().find(|told| told.field == "subagents.fix").unwrap();
    assert_eq!(told.into, ".windsurf/workflows/fix-subagent.md");
}

#[test]
fn a_definition_for_the_users_own_folder_has_its_files_there() {
    let keys = json!({ "prompt": "./p.md", "adapter": { "config": { "scope": "user" } } });
    for (adapter, expected) in [
        (Adapter::ClaudeCode, ".claude/CLAUDE.md"),
        (Adapter::Codex, ".codex/AGENTS.md"),
        (Adapter::Opencode, ".config/opencode/AGENTS.md"),
        (Adapter::Windsurf, ".codeium/windsurf/memories/global_rules.md"),
    ] {
        let files = bundle(adapter.name(), &keys, &[("p.md", "Prompt.\n")]);
        assert_eq!(paths(&planned(&files, adapter)), [expected]);
    }
}

#[test]
fn what_lies_in_folders_of_the_users_own_has_its_files_there_too() {
    let keys = json!({ "skills": "./skills", "adapter": { "config": { "scope": "user" } } });
    for (adapter, expected) in [
        (Adapter::Opencode, [".opencode/skill/fix/SKILL.md", ".config/opencode/agents/one.md"]),
        (Adapter::Windsurf, [".codeium/windsurf/global_workflows/fix.md", ".codeium/windsurf/global_workflows/one.md"]),
    ] {
        let mut files = with_subagents(adapter.name(), &keys, &json!({ "one": { "description": "One." } }));
        files.insert("skills/fix/SKILL.md", SKILL, false);
        let plan = planned(&files, adapter);
        assert_eq!(paths(&plan), expected);
        let told = plan.translations.iter().find(|told| told.field == "subagents.one").unwrap();
        assert_eq!(told.into, expected[1]);
    }
}
