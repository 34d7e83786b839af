//! One id in several formats.

use super::{agent, check, children_of, declared, lines, names, project_with};
use entourage_declare::Wishes;
use entourage_model::Dialect;

const DEX: &str = "-- .dex/agents/x.md\n---\ndescription: dex\n---\n";
const AGENTSCOPE: &str = "-- subagents/x.md\n---\ndescription: agentscope\n---\n";
const CLAUDE: &str = "-- .claude/agents/x.md\n---\nname: x\ndescription: claude\n---\n";
const STANDARD: &str = "-- agents/agents/x.json\n{\"name\": \"x\", \"sideA\": {\"prompt\": \"p\"}}
-- agents/prompts/p.json\n{\"name\": \"p\", \"prompt\": \"\"}\n";

#[test]
fn a_profile_and_a_subagent_with_one_id_both_exist_and_nobody_complains() {
    let wishes = Wishes { dialects: vec![Dialect::Standard], ..Wishes::default() };
    let loaded = project_with(&format!("{DEX}{AGENTSCOPE}"), wishes);
    assert_eq!(lines(&loaded), [""; 0]);
    assert_eq!(declared(&loaded), ["dex/x dex .dex/agents/x.md", "x agentscope subagents/x.md"]);
    assert_eq!(agent(&loaded, "dex/x").name.as_str(), "dex/x");
    let lead = children_of(&agent(&loaded, "lead"));
    assert!(lead.contains(&"x".to_owned()) && !lead.contains(&"dex/x".to_owned()));
}

#[test]
fn other_formats_with_one_id_both_exist_and_both_places_are_named() {
    let told = |file: &str, line: u32, owner: &str, name: &str| {
        format!(
            "warning[D085] {file}:{line}:1 agent `x` is declared twice: in `{owner}` and in `{file}` | give one of them \
             another name; until then the latter is called `{name}`"
        )
    };
    let claude = |owner: &str| told(".claude/agents/x.md", 2, owner, "claude-code/x");
    check(&format!("{DEX}{CLAUDE}"), &[&claude(".dex/agents/x.md")]);
    check(&format!("{AGENTSCOPE}{CLAUDE}"), &[&claude("subagents/x.md")]);
    let standard = "agents/agents/x.json";
    let loaded = check(
        &format!("{STANDARD}{AGENTSCOPE}{CLAUDE}{DEX}"),
        &[
            &claude(standard),
            &told(".dex/agents/x.md", 2, standard, "dex/x"),
            &told("subagents/x.md", 1, standard, "agentscope/x"),
        ],
    );
    let expected = [
        "agentscope/x agentscope subagents/x.md",
        "claude-code/x claude-code .claude/agents/x.md",
        "dex/x dex .dex/agents/x.md",
        "x standard-agents agents/agents/x.json",
    ];
    assert_eq!(declared(&loaded), expected);
}

#[test]
fn whoever_names_nobody_talks_to_the_primary_agent_of_stax_also_if_another_has_its_name() {
    let stax = concat!(
        "-- agent.json\n",
        r#"{"name": "x", "version": "1.0.0", "adapter": {"type": "codex", "runtime": "codex", "adapterVersion": "1.0.0"}}"#,
        "\n",
    );
    assert_eq!(check(stax, &[]).primary.as_str(), "x");
    let loaded = project_with(&format!("{stax}{STANDARD}"), Wishes::default());
    assert_eq!(declared(&loaded), ["stax/x stax agent.json", "x standard-agents agents/agents/x.json"]);
    assert_eq!(loaded.primary.as_str(), "stax/x");
}

#[test]
fn files_of_every_format_count_before_settings() {
    const SETTINGS: &str = "-- entourage.toml\n[subagents.x]\ndescription = \"settings\"\nbody = \"S\"\n";
    let stax = concat!(
        "-- agent.json\n",
        r#"{"name": "main", "version": "1.0.0", "subagents": "./team.json", "#,
        r#""adapter": {"type": "codex", "runtime": "codex", "adapterVersion": "1.0.0"}}"#,
        "\n-- team.json\n",
        r#"{"agents": {"x": {"description": "stax", "instructions": "Do."}}}"#,
        "\n"
    );
    let neutral = CLAUDE.replace(".claude/", ".agents/");
    // A profile takes the plain name only: no other dialect can start it.
    for (file, source, is_spawned_from_settings) in [
        (CLAUDE, "x claude-code .claude/agents/x.md", false),
        (&neutral, "x claude-code .agents/agents/x.md", false),
        (DEX, "x dex .dex/agents/x.md", true),
        (stax, "x stax team.json", false),
        (STANDARD, "x standard-agents agents/agents/x.json", true),
    ] {
        let loaded = project_with(&format!("{SETTINGS}{file}"), Wishes::default());
        let expected = ["agentscope/x agentscope entourage.toml", source];
        let found: Vec<_> = declared(&loaded).into_iter().filter(|line| !line.starts_with("main ")).collect();
        assert_eq!(found, expected, "{file}\n{:?}", lines(&loaded));
        assert_eq!(!agent(&loaded, "agentscope/x").unlisted, is_spawned_from_settings, "{file}");
    }
    let loaded = project_with(&format!("{SETTINGS}{AGENTSCOPE}"), Wishes::default());
    assert_eq!(declared(&loaded), ["x agentscope subagents/x.md"]);
}

#[test]
fn what_comes_with_the_program_gives_its_name_to_whatever_is_declared() {
    let loaded = check("-- .claude/agents/a.md\n---\nname: research\ndescription: mine\n---\n", &[]);
    assert_eq!(agent(&loaded, "research").description, "mine");
    assert!(names(&loaded).contains(&"dex/research"));
}

#[test]
fn lead_is_always_there() {
    let told = "warning[D085] subagents/lead.md:1:1 agent `lead` is declared twice: in entourage itself and in \
                `subagents/lead.md` | give one of them another name; until then the latter is called `agentscope/lead`";
    let loaded = check("-- subagents/lead.md\n---\ndescription: mine\n---\n", &[told]);
    assert_eq!(agent(&loaded, "lead").source.file, None);
    assert_eq!(agent(&loaded, "agentscope/lead").description, "mine");
}
