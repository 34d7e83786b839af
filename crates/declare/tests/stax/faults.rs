//! What can be wrong with a stax project.

use crate::project::{AGENT, SUBAGENTS, lines, project, seed};

/// The reports about the seed's example with one text put in place of another.
fn changed(file: &str, from: &str, to: &str) -> Vec<String> {
    let text = if file == "agent.ts" { AGENT } else { SUBAGENTS };
    assert!(text.contains(from), "{from}");
    lines(&seed(&[(file, &text.replace(from, to))]))
}

#[test]
fn packages_are_named_with_their_places_and_judged_by_whoever_packs() {
    let text = AGENT.replace("subagents: \"./subagents.ts\"", "packages: [\"r.example/a:1\", \"not a ref\"]");
    let loaded = project(&[("agent.ts", &text)]);
    assert_eq!(lines(&loaded), [""; 0]);
    let named: Vec<_> = loaded.packages.iter().map(|named| format!("{} {}", named.place, named.text)).collect();
    assert_eq!(named, ["agent.ts:8:14 r.example/a:1", "agent.ts:8:31 not a ref"]);
}

#[test]
fn a_subagent_is_told_something() {
    let reported = lines(&seed(&[("subagents/reviewer.md", "")]));
    let expected = "error[D060] subagents.ts:8:7 `agents.reviewer.instructions` is `./subagents/reviewer.md`, which is empty | say what the subagent is to do";
    assert_eq!(reported, [expected]);
}

#[test]
fn a_fault_in_the_agent_is_reported_where_it_lies() {
    let cases = [
        (
            "name: \"backend-engineer\"",
            "name: \"Backend Engineer\"",
            "error[D058] agent.ts:5:3 `Backend Engineer` is no name of an agent: 1 to 63 lower-case letters, digits and inner hyphens | such as `backend-engineer`",
        ),
        (
            "version: \"1.0.0\"",
            "version: \"1.0\"",
            "error[D062] agent.ts:6:3 `version` is `1.0`, which is no semantic version | three numbers, as in `1.0.0`",
        ),
        ("  version: \"1.0.0\",\n", "", "error[D005] agent.ts:4:16 `version` is missing | add `version`"),
        (
            "adapter: codex({})",
            "adapter: 7",
            "error[D006] agent.ts:7:3 `adapter` must be an object, not `7` | write an object",
        ),
        ("  adapter: codex({}),\n", "", "error[D005] agent.ts:4:16 `adapter` is missing | add `adapter`"),
        (
            "subagents: \"./subagents.ts\"",
            "subagents: \"../subagents.ts\"",
            "error[D051] agent.ts:8:3 `subagents` is `../subagents.ts`, which does not lie inside the project | give a path beneath the folder of the agent, such as `./prompt.md`",
        ),
        (
            "subagents: \"./subagents.ts\"",
            "prompt: \"./nothing.md\"",
            "error[D052] agent.ts:8:3 `prompt` is `./nothing.md`, which does not exist | write the file, or remove the key",
        ),
        (
            "subagents: \"./subagents.ts\"",
            "rules: \"./subagents.ts\"",
            "error[D053] agent.ts:8:3 `rules` is `./subagents.ts`, which is a file | give a folder",
        ),
        (
            "subagents: \"./subagents.ts\"",
            "tags: [\"a\", \"a\"]",
            "error[D063] agent.ts:8:3 the tag `a` is there twice | remove one",
        ),
        (
            "subagents: \"./subagents.ts\"",
            "subagent: \"./subagents.ts\"",
            "warning[D007] agent.ts:8:3 the field `subagent` is unknown and has no effect | did you mean `subagents`?",
        ),
        (
            "subagents: \"./subagents.ts\"",
            "memory: \"./memory\"",
            "warning[D052] agent.ts:8:3 `memory` is `./memory`, which does not exist yet | nothing, if running the agent is to make it",
        ),
        (
            "subagents: \"./subagents.ts\"",
            "secrets: [{ key: \"K\", required: true, value: \"x\" }]",
            "error[D064] agent.ts:8:41 a secret's value is never written down in a definition | remove `value`; whoever runs the agent gives it",
        ),
        (
            "subagents: \"./subagents.ts\"",
            "workspaceSources: [{ id: \"a\", ref: \"r\", mountPath: \"rel\" }]",
            "error[D065] agent.ts:8:22 `workspaceSources[0].mountPath` is `rel`, which is not absolute | begin it with `/`",
        ),
    ];
    for (from, to, expected) in cases {
        assert_eq!(changed("agent.ts", from, to), [expected], "{to}");
    }
}

#[test]
fn what_an_agent_says_of_itself_and_wishes_is_checked() {
    let cases = [
        (
            "subagents: \"./subagents.ts\"",
            "description: \"\"",
            "error[D006] agent.ts:8:3 `description` must be a string that is not blank, not the string `` | write a string that is not blank",
        ),
        (
            "subagents: \"./subagents.ts\"",
            "specVersion: \"2.0.0\"",
            "warning[D072] agent.ts:8:3 `specVersion` is the string `2.0.0`, which is not known here | the version is `1.0.0`",
        ),
        (
            "subagents: \"./subagents.ts\"",
            "hints: { isolation: \"docker\" }",
            "error[D006] agent.ts:8:12 `hints.isolation` must be `process`, `container`, `gvisor` or `microvm`, not the string `docker` | did you mean `container`?",
        ),
        (
            "subagents: \"./subagents.ts\"",
            "hints: { network: { allowlist: [] } }",
            "error[D005] agent.ts:8:12 `hints.network.mode` is missing | add `mode`",
        ),
        (
            "subagents: \"./subagents.ts\"",
            "hints: { capabilities: { shell: \"yes\" } }",
            "error[D006] agent.ts:8:28 `hints.capabilities.shell` must be `true` or `false`, not the string `yes` | write `true` or `false`",
        ),
        (
            "subagents: \"./subagents.ts\"",
            "hints: { capabilities: { shell: true, network: { mode: \"some\" } } }",
            "error[D006] agent.ts:8:52 `hints.capabilities.network.mode` must be `none`, `restricted` or `full`, not the string `some` | did you mean `none`?",
        ),
        (
            "subagents: \"./subagents.ts\"",
            "hints: { filesystem: { writable: \"/\" } }",
            "error[D006] agent.ts:8:26 `hints.filesystem.writable` must be an array of strings, not the string `/` | write an array of strings",
        ),
        (
            "version: \"1.0.0\"",
            "version: \"0.0.1\", version: \"1.0.0\"",
            "warning[D038] agent.ts:6:21 the key `version` is in its object twice, and only the last counts | remove one of the two",
        ),
    ];
    for (from, to, expected) in cases {
        assert_eq!(changed("agent.ts", from, to), [expected], "{to}");
    }
}

#[test]
fn what_an_adapter_says_is_checked() {
    let base = "type: \"codex\", runtime: \"codex\", adapterVersion: \"1.0.0\", config: {}";
    let found = |more: &str| changed("agent.ts", "adapter: codex({})", &format!("adapter: {{ {base}, {more} }}"));
    let cases = [
        ("features: { rules: \"embedded\", skills: \"translated\", secrets: \"native\", exactMode: true }", "", ""),
        (
            "features: { subagents: \"maybe\" }",
            "error[D006]",
            "`adapter.features.subagents` must be `native`, `translated` or `unsupported`, not the string `maybe`",
        ),
        (
            "features: { exactMode: \"yes\" }",
            "error[D006]",
            "`adapter.features.exactMode` must be `true` or `false`, not the string `yes`",
        ),
        ("features: { skill: \"native\" }", "warning[D007]", "the field `adapter.features.skill` is unknown"),
        ("features: 7", "error[D006]", "`adapter.features` must be an object, not `7`"),
        ("targets: [{ kind: \"file\", path: \"a\", scope: \"organization\", exact: true }]", "", ""),
        ("targets: [{ kind: \"fil\", path: \"a\" }]", "error[D006]", "not the string `fil` | did you mean `file`?"),
        (
            "targets: [{ kind: \"file\", path: 7 }]",
            "error[D006]",
            "`adapter.targets[0].path` must be a string, not `7`",
        ),
        ("targets: [{ path: \"a\" }]", "warning[D005]", "`adapter.targets[0].kind` is missing"),
        (
            "modelParams: { \"bad key!\": 1, top_p: 1, \"max-tokens\": 9 }",
            "error[D077]",
            "`adapter.modelParams` has the key `bad key!`, which is no parameter's name",
        ),
    ];
    for (more, code, words) in cases {
        match found(more).as_slice() {
            [] if code.is_empty() => {}
            [only] if !code.is_empty() => assert!(only.starts_with(code) && only.contains(words), "{more}: {only}"),
            other => panic!("{more}: {other:#?}"),
        }
    }
}

#[test]
fn a_fault_in_a_subagent_is_reported_where_it_lies() {
    let cases = [
        (
            "    reviewer: {",
            "    \"Bad Name\": {",
            "error[D058] subagents.ts:5:5 `Bad Name` is no name of a subagent: 1 to 63 lower-case letters, digits and inner hyphens | such as `bad-name`",
        ),
        (
            "invocation: \"manual\"",
            "invocation: \"manul\"",
            "error[D006] subagents.ts:7:7 `agents.reviewer.invocation` must be `manual`, `delegate` or `automatic`, not the string `manul` | did you mean `manual`?",
        ),
        (
            "returnMode: \"report\"",
            "returnMode: 3",
            "error[D006] subagents.ts:12:9 `agents.reviewer.handoff.returnMode` must be `report`, `patch` or `continue`, not `3` | write `report`, `patch` or `continue`",
        ),
        (
            "\"./subagents/reviewer.md\"",
            "\"./subagents/reviewer.txt\"",
            "error[D060] subagents.ts:8:7 `agents.reviewer.instructions` is `./subagents/reviewer.txt`, which is no Markdown file | name a file that ends in `.md` or `.markdown`",
        ),
        (
            "\"./subagents/reviewer.md\"",
            "\"./gone.md\"",
            "error[D052] subagents.ts:8:7 `agents.reviewer.instructions` is `./gone.md`, which does not exist | write the file, or remove the key",
        ),
        (
            "    debugger: {",
            "    reviewer: {",
            "error[D038] subagents.ts:15:5 the subagent `reviewer` is declared twice | remove one of the two",
        ),
        (
            "    reviewer: {",
            "    primary: {",
            "warning[D073] subagents.ts:5:5 a subagent is called `primary`, which is the word for the bundle's root | give it another name: in `handoff.allowedFrom` the word means the root, and never this subagent",
        ),
        (
            "model: \"gpt-5-codex\"",
            "model: \"dashscope:q\"",
            "warning[D096] subagents.ts:9:7 agent `reviewer` names a model of `dashscope`, which is no provider here | the project's own model is used; providers are ",
        ),
        (
            "model: \"gpt-5-codex\"",
            "agents: {}",
            "error[D059] subagents.ts:9:7 `agents.reviewer.agents`: a subagent cannot have subagents of its own | move them beside it, into `agents`",
        ),
        (
            "model: \"gpt-5-codex\"",
            "colour: \"red\"",
            "warning[D007] subagents.ts:9:7 the field `agents.reviewer.colour` is unknown and has no effect",
        ),
        (
            "[\"primary\"]",
            "[\"primry\"]",
            "warning[D061] subagents.ts:10:7 `handoff.allowedFrom` of `reviewer` names `primry`, which is no agent of this bundle | did you mean `primary`?",
        ),
        (
            "model: \"gpt-5-codex\"",
            "metadata: { a: 1 }",
            "error[D006] subagents.ts:9:19 `agents.reviewer.metadata.a` must be a string, not `1` | write a string",
        ),
    ];
    for (from, to, expected) in cases {
        let found = changed("subagents.ts", from, to);
        assert!(found.iter().any(|line| line.starts_with(expected)), "{to}: {found:#?}");
    }
}

#[test]
fn a_broken_subagent_leaves_the_others_alone() {
    let broken = SUBAGENTS.replace("\"./subagents/reviewer.md\"", "\"./gone.md\"");
    let loaded = seed(&[("subagents.ts", &broken)]);
    assert!(loaded.team.agents.contains_key("backend-engineer"));
    assert!(loaded.team.agents.contains_key("debugger"));
    assert!(!loaded.team.agents.contains_key("reviewer"));
}

#[test]
fn an_agent_that_throws_is_reported_and_nothing_takes_its_place() {
    let loaded = project(&[("agent.ts", "throw new Error('no');\nexport default 1;\n")]);
    let found = lines(&loaded);
    assert!(matches!(found.as_slice(), [only] if only.contains("agent.ts:1:") && only.contains("no")), "{found:?}");
    assert!(!loaded.team.agents.contains_key("lead"));
}

#[test]
fn instructions_outside_of_the_project_are_told_as_that_in_json_too() {
    let subagents = r#"{ "agents": { "a": { "description": "d", "instructions": "/etc/passwd" } } }"#;
    let agent = AGENT.replace("subagents.ts", "subagents.json");
    let loaded = project(&[("agent.ts", &agent), ("subagents.json", subagents)]);
    let expected = "error[D051] subagents.json:1:42 `agents.a.instructions` is `/etc/passwd`, which does not lie inside the project | give a path beneath the folder of the agent, such as `./prompt.md`";
    assert_eq!(lines(&loaded), [expected]);
}

#[test]
fn a_fault_in_what_an_agent_names_says_what_to_do() {
    let named = |key: &str, path: &str, files: &[(&str, &str)]| {
        let agent = AGENT.replace("subagents: \"./subagents.ts\"", &format!("{key}: \"{path}\""));
        let loaded = project(&[&[("agent.ts", agent.as_str())], files].concat());
        lines(&loaded)
    };
    assert_eq!(
        named("persona", "./p.json", &[("p.json", r#"{ "name": "A B", "displayName": "A", "role": "r" }"#)]),
        [
            "error[D058] p.json:1:3 `A B` is no name of a persona: 1 to 63 lower-case letters, digits and inner hyphens | such as `a-b`"
        ]
    );
    assert_eq!(
        named(
            "mcp",
            "./m.json",
            &[("m.json", r#"{ "servers": { "s": { "url": "https://x", "connectTimeoutMs": "soon" } } }"#)]
        ),
        [
            "warning[D005] m.json:1:16 `servers.s.transport` is missing | add `transport`, which is `http` or `sse`; without it `http` is meant",
            "error[D006] m.json:1:43 `servers.s.connectTimeoutMs` must be a number that is not negative, not the string `soon` | write a number that is not negative",
        ]
    );
    assert_eq!(
        named("surfaces", "./s", &[("s/tools.md", "T."), ("s/tool.md", "T."), ("s/bar.txt", "T.")]),
        [
            "warning[D076] s/bar.txt `s/bar.txt` is no surface | surfaces are `instructions`, `persona`, `tools`, `identity`, `user`, `heartbeat`, `bootstrap`, each with `.md`",
            "warning[D076] s/tool.md `s/tool.md` is no surface | did you mean `tools.md`?",
        ]
    );
    assert_eq!(
        named("instructionTree", "./t", &[("t/_root/instructions.md", "T."), ("t/src/other.md", "T.")]),
        [
            "warning[D076] t/src/other.md `t/src/other.md` is no part of an instruction tree | a tree has only `_root/instructions.md` and `FOLDER/instructions.md`",
        ]
    );
    assert_eq!(
        named("skills", "./s", &[("s/a/SKILL.md", "---\nname: …\ndescription: d\n---\n")]),
        [
            "error[D058] s/a/SKILL.md:2:1 `…` is no name of a skill: 1 to 63 lower-case letters, digits and inner hyphens | such as `reviewer`"
        ]
    );
    assert_eq!(
        named("rules", "./r", &[("r/a.md", "---\nid: a\nid: b\n---\n")]),
        [
            "error[D070] r/a.md:3:1 the front matter is not valid YAML: the key `id` is in its mapping twice | remove one of the two"
        ]
    );
}

#[test]
fn a_package_is_judged_and_its_texts_are_its_own() {
    let package = |more: &str| {
        let rest = "subagents: \"./subagents.ts\", rules: \"./rules\"";
        format!("import {{ definePackage }} from \"stax\";\nexport default definePackage({{ {more}, {rest} }});\n")
    };
    let subagents =
        "export default { agents: { helper: { description: 'd', instructions: './subagents/helper.md' } } };\n";
    let read = |definition: &str| {
        let files = [
            ("package.ts", definition),
            ("subagents.ts", subagents),
            ("subagents/helper.md", "---\ndescription: Helps.\n---\nHelp.\n"),
            ("rules/a.md", "---\nscope: never\n---\nA.\n"),
        ];
        project(&files)
    };
    let loaded = read(&package("name: \"BAD NAME\", version: \"one\", packages: [\"r.example/a:1\"]"));
    let rule = "error[D006] rules/a.md:2:1 `scope` must be `always`, `glob`, `auto` or `manual`, not the string `never` | did you mean `always`?";
    let name = "error[D058] package.ts:2:32 `BAD NAME` is no name of an agent: 1 to 63 lower-case letters, digits and inner hyphens | such as `bad-name`";
    let version =
        "error[D062] package.ts:2:50 `version` is `one`, which is no semantic version | three numbers, as in `1.0.0`";
    assert_eq!(lines(&loaded), [name, version, rule]);
    assert_eq!(loaded.packages.len(), 1);
    // Its subagents are those of whoever depends on it; here there is `lead`, as ever.
    assert_eq!(loaded.primary.as_str(), "lead");
    assert!(loaded.team.agents.contains_key("lead"));
    assert!(!["helper", "package"].iter().any(|name| loaded.team.agents.contains_key(*name)));
}
