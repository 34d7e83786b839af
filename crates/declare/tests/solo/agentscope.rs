//! AgentScope's files: every rule of its parser, with its slips mended.

use super::{agent, body, check, declared, names, project, project_with, tools_of};
use entourage_declare::Wishes;
use entourage_model::{Sampling, WorkspaceMode, WorkspaceWish};

/// One file with this front matter, below a description.
fn one(front: &str, expected: &[&str]) -> std::sync::Arc<entourage_model::Agent> {
    let text = format!("-- subagents/kid.md\n---\ndescription: d\n{front}---\nBody.\n");
    let expected: Vec<_> = expected.iter().map(|line| line.replace("@", "subagents/kid.md:")).collect();
    agent(&check(&text, &expected.iter().map(String::as_str).collect::<Vec<_>>()), "kid")
}

#[test]
fn only_markdown_of_the_first_level_with_front_matter_is_a_declaration() {
    let loaded = check(
        "
-- subagents/deep/inner.md
---
description: d
---
-- subagents/README.md
# Read me
-- subagents/general.md

---
description: d
---
-- subagents/kid.MD
---
description: d
---
-- subagents/kid.txt
---
description: d
---
-- subagents/.md
---
description: d
---
-- subagents/kid.md
---
description: d
---
-- agents/kid/workspace/subagents/other.md
---
description: d
---
",
        &[
            "warning[D082] subagents/.md:1:1 `subagents/.md` is ignored: an agent is called as its file, and that is no name | \
             rename the file",
            "warning[D081] subagents/general.md:1:1 this file declares nothing: its front matter does not begin in the first \
           line | remove what stands before `---`",
        ],
    );
    assert_eq!(declared(&loaded), ["kid agentscope subagents/kid.md"]);
}

#[test]
fn the_delimiter_is_a_whole_line_and_marks_and_line_ends_do_not_matter() {
    let loaded =
        check("-- subagents/kid.md\n\u{feff}---\r\ndescription: a --- b\r\n--- \r\n\r\nBody\r\n---\r\nmore\r\n", &[]);
    let kid = agent(&loaded, "kid");
    assert_eq!(kid.description, "a --- b");
    assert_eq!(body(&kid), "\r\nBody\r\n---\r\nmore\r\n");
}

#[test]
fn what_cannot_be_read_is_an_error_and_the_rest_still_loads() {
    let loaded = check(
        "
-- subagents/bad.md
---
description: a: b
---
-- subagents/blank.md
---
description: '  '
---
-- subagents/empty.md
---
---
-- subagents/fine.md
---
description: d
---
-- subagents/list.md
---
- description
---
-- subagents/missing.md
---
tools: [read_file]
---
-- subagents/open.md
---
description: d
-- subagents/prompts.md
---
description: d
---
-- subagents/structured.md
---
description: { a: 1 }
---
",
        &[
            "error[D114] subagents/bad.md:2:15 this is not valid YAML: mapping values are not allowed in this context | \
             put a value that has `: ` or begins with a sign in quotes",
            "error[D006] subagents/blank.md:2:1 `description` must be a text that is not blank, not the string `  ` | write a text that is not blank",
            "error[D005] subagents/empty.md:2:1 `description` is missing | add `description`",
            "error[D006] subagents/list.md:2:1 a declaration must be an object, not an array | write an object",
            "error[D005] subagents/missing.md:2:1 `description` is missing | add `description`",
            "error[D113] subagents/open.md:1:1 the front matter has no end | close it with a line `---`",
            "error[D089] subagents/prompts.md:1:1 `prompts` cannot be the id of a subagent: `agents/prompts` is a folder \
             of definitions | call it `prompts-agent`, for instance",
            "error[D006] subagents/structured.md:2:1 `description` must be a text that is not blank, not an object | write a text that is not blank",
        ],
    );
    assert_eq!(declared(&loaded), ["fine agentscope subagents/fine.md"]);
}

#[test]
fn the_id_is_the_name_of_the_file() {
    let told = "warning[D086] @3:1 `name` is not read: the id of this agent is `kid` | remove it, or give the file or \
                table that name";
    one("name: other\n", &[told]);
    one("name: kid\n", &[]);
}

#[test]
fn a_description_is_any_single_value() {
    let loaded = check("-- subagents/kid.md\n---\ndescription: 42\n---\n", &[]);
    assert_eq!(agent(&loaded, "kid").description, "42");
}

#[test]
fn a_workspace_is_isolated_unless_it_is_said_to_be_shared() {
    let (isolated, shared) = (WorkspaceMode::Isolated, WorkspaceMode::Shared);
    let scalar = "warning[D086] @3:1 `workspace` must be an object with `mode` and `path`, not the string `shared`: it is \
                  ignored | write `mode: shared` below it";
    let list = "warning[D086] @3:1 `workspace` must be an object with `mode` and `path`, not an array: it is ignored | \
                write `mode: isolated` below it";
    let unknown = "warning[D086] @4:3 `workspace.mode` must be `isolated` or `shared`, not the string `sharing`: it is \
                   taken as `isolated` | did you mean `shared`?";
    let key = "warning[D007] @4:3 the field `workspace.root` is unknown and has no effect | did you mean `mode`?";
    for (front, reports, mode) in [
        ("", &[] as &[&str], isolated),
        ("workspace:\n", &[], isolated),
        ("workspace: {}\n", &[], isolated),
        ("workspace:\n  mode: Shared\n", &[], shared),
        ("workspace:\n  mode: ISOLATED\n", &[], isolated),
        ("workspace:\n  mode:\n  path: ''\n", &[], isolated),
        ("workspace: shared\n", &[scalar], isolated),
        ("workspace: [shared]\n", &[list], isolated),
        ("workspace:\n  mode: sharing\n", &[unknown], isolated),
        ("workspace:\n  root: x\n", &[key], isolated),
    ] {
        assert_eq!(one(front, reports).workspace, Some(WorkspaceWish { mode, path: None }), "{front}");
    }
}

#[test]
fn a_definition_folder_lies_in_the_project_or_is_absolute() {
    let workspace = |path: &str| format!("-- subagents/kid.md\n---\ndescription: d\nworkspace:\n  path: {path}\n---\n");
    for (path, expected) in [
        ("./defs/reviewer/", Some("defs/reviewer")),
        ("a/../b", Some("b")),
        (".", Some(".")),
        ("/srv/defs", Some("/srv/defs")),
        ("'  '", None),
    ] {
        let loaded = check(&workspace(path), &[]);
        let found = agent(&loaded, "kid").workspace.clone().and_then(|wish| wish.path);
        assert_eq!(found.as_deref(), expected, "{path}");
    }
    for path in ["..", "../x", "a/../../x", "a\\b", "\"a\\0b\""] {
        let loaded = project(&workspace(path));
        assert_eq!(loaded.reports.len(), 1, "{path}");
        assert!(loaded.reports[0].what.contains("leads out of the project"), "{path}");
        assert_eq!(declared(&loaded), [""; 0], "{path}");
    }
    let loaded = project(&workspace("[x]"));
    assert_eq!(loaded.reports[0].what, "`workspace.path` must be a path, not an array");
}

#[test]
fn numbers_may_be_quoted_and_what_is_none_is_ignored() {
    let not_whole = |key: &str, found: &str| {
        format!(
            "warning[D086] @3:1 `{key}` must be a whole number above zero, not {found}: it is ignored | write a whole \
             number above zero"
        )
    };
    for (front, expected, report) in [
        ("", 10, None),
        ("maxIters: 8\n", 8, None),
        ("maxIters: \"8\"\n", 8, None),
        ("maxIters: 8.9\n", 8, None),
        ("steps: 3\n", 3, None),
        ("steps: 3\nmaxIters: '3'\n", 3, None),
        ("maxIters: 0\n", 10, Some(not_whole("maxIters", "`0`"))),
        ("maxIters: -1\n", 10, Some(not_whole("maxIters", "`-1`"))),
        ("steps: many\n", 10, Some(not_whole("steps", "the string `many`"))),
        ("steps: 99999999999\n", 10, Some(not_whole("steps", "`99999999999`"))),
        ("steps: [1]\n", 10, Some(not_whole("steps", "an array"))),
        (
            "steps: 3\nmaxIters: 4\n",
            3,
            Some("warning[D086] @4:1 `maxIters` is ignored: `steps` says 3 | remove one of them".to_owned()),
        ),
    ] {
        let expected_reports: Vec<_> = report.iter().map(String::as_str).collect();
        assert_eq!(one(front, &expected_reports).side_a.steps_max, Some(expected), "{front}");
    }
    let sampling = |front: &str, reports: &[&str]| one(front, reports).side_a.prompt.sampling;
    let both = Sampling { temperature: Some(0.2), top_p: Some(0.9) };
    assert_eq!(sampling("temperature: 0.2\ntop_p: '0.9'\n", &[]), both);
    assert_eq!(sampling("temperature: '0.2'\ntopP: 0.9\n", &[]), both);
    let malformed = "warning[D086] @3:1 `temperature` must be a number, not the string `warm`: it is ignored | write a \
                     number";
    assert_eq!(sampling("temperature: warm\n", &[malformed]), Sampling::default());
}

#[test]
fn flags_and_modes_may_be_words_and_what_is_none_is_ignored() {
    one("hidden: true\nexpose_to_user: 'false'\nvariant: fast\nmode: Subagent\nskills: a, b\n", &[]);
    one(
        "hidden: maybe\nexposeToUser: 1\nmode: secondary\n",
        &[
            "warning[D086] @3:1 `hidden` must be `true` or `false`, not the string `maybe`: it is ignored | write `true` or \
             `false`",
            "warning[D086] @4:1 `exposeToUser` must be `true` or `false`, not `1`: it is ignored | write `true` or `false`",
            "warning[D086] @5:1 `mode` must be `primary`, `subagent` or `all`, not the string `secondary`: it is ignored \
             | did you mean `primary`?",
        ],
    );
}

#[test]
fn tools_are_a_list_or_names_with_commas_and_none_means_all() {
    for (front, expected) in [
        ("tools: [read_file, grep_files]\n", 2),
        ("tools: read_file, grep_files\n", 2),
        ("tools: '[read_file, grep_files]'\n", 2),
        ("tools:\n  - read_file, grep_files\n  - ' shell '\n", 3),
        ("tools: []\n", 7),
        ("tools:\n", 7),
        ("tools: ''\n", 7),
        ("", 7),
    ] {
        assert_eq!(tools_of(&one(front, &[])).len(), expected, "{front}");
    }
    let loaded = project("-- subagents/kid.md\n---\ndescription: d\ntools: { a: 1 }\n---\n");
    assert_eq!(
        loaded.reports[0].what,
        "`tools` must be a list of names, or names with commas between them, not an object"
    );
    assert_eq!(declared(&loaded), [""; 0]);
}

#[test]
fn a_markdown_file_names_no_server_and_unknown_keys_are_kept() {
    let hint = "declare the agent in `entourage.toml` under `[subagents.<id>]`";
    let kid = one(
        "url: http://x\nheaders: { Authorization: 'Bearer ${A}' }\nbody: x\npersistSession: true\n",
        &[
            &format!("warning[D091] @3:1 `url` has no effect in a Markdown file | {hint}"),
            &format!("warning[D091] @4:1 `headers` has no effect in a Markdown file | {hint}"),
            "warning[D007] @5:1 the field `body` is unknown and has no effect | did you mean `mode`?",
            "warning[D007] @6:1 the field `persistSession` is unknown and has no effect | did you mean `description`?",
        ],
    );
    assert_eq!(kid.remote, None);
    assert_eq!(body(&kid), "Body.\n");
    assert_eq!(kid.extra["x-agentscope"]["persistSession"], true);
}

#[test]
fn a_model_that_nobody_provides_is_the_projects_own() {
    let unknown = "warning[D096] @3:1 agent `kid` names a model of `dashscope`, which is no provider here | the project's \
                   own model is used; providers are `openai`, `anthropic`, `gemini`, `ollama`, `script`";
    let slip = "warning[D096] @3:1 agent `kid` names a model of `opnai`, which is no provider here | did you mean \
                `openai`? Until then the project's own model is used";
    for (front, reports, expected) in [
        ("model: openai:gpt-5\n", &[] as &[&str], Some("openai:gpt-5")),
        ("model: qwen3-max\n", &[], None),
        ("model: ''\n", &[], None),
        ("model:\n", &[], None),
        ("model: dashscope:qwen\n", &[unknown], None),
        ("model: opnai:gpt-5\n", &[slip], None),
    ] {
        let kid = one(front, reports);
        assert_eq!(kid.side_a.prompt.model.as_ref().map(|model| model.as_str()), expected, "{front}");
    }
}

#[test]
fn general_purpose_is_there_unless_it_is_switched_off_or_overridden() {
    let general = agent(&check("-- x\n", &[]), "general-purpose");
    assert_eq!((general.source.format.as_str(), &general.source.file), ("agentscope", &None));
    assert_eq!(general.workspace, Some(WorkspaceWish { mode: WorkspaceMode::Shared, path: None }));
    assert_eq!((general.side_a.steps_max, tools_of(&general).len()), (None, 7));
    let off = project_with("-- x\n", Wishes { general_purpose: false, ..Wishes::default() });
    assert!(!names(&off).contains(&"general-purpose"));
    let text = "-- subagents/general-purpose.md\n---\ndescription: mine\n---\n";
    let loaded = check(text, &[]);
    assert_eq!(declared(&loaded), ["general-purpose agentscope subagents/general-purpose.md"]);
}
