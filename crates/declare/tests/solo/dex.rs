//! dex profiles: where they are found, which counts, and what may be written in them.

use super::{agent, body, check, declared, names, project, tools_of};

#[test]
fn later_folders_override_earlier_ones() {
    let profile = |path: &str, mark: &str| format!("-- {path}\n---\nid: research\ndescription: {mark}\n---\n{mark}\n");
    let home = profile("~/.dex/agents/mine.md", "home");
    let own = profile(".dex/agents/theirs.md", "own");
    let first = profile("@one/a.md", "first");
    let second = profile("@two/a.md", "second");
    for (text, file, mark) in [
        (home.clone(), "~/.dex/agents/mine.md", "home"),
        (format!("{own}{home}"), ".dex/agents/theirs.md", "own"),
        (format!("{first}{own}{home}"), "one/a.md", "first"),
        (format!("{first}{second}{own}{home}"), "two/a.md", "second"),
    ] {
        let loaded = check(&text, &[]);
        assert_eq!(declared(&loaded), [format!("research dex {file}")]);
        assert_eq!(body(&agent(&loaded, "research")), format!("{mark}\n"));
        assert!(!names(&loaded).contains(&"dex/research"));
    }
}

#[test]
fn the_built_in_profiles_look_change_and_judge() {
    let loaded = check("-- x\n", &[]);
    let built_in = |name: &str| {
        let agent = agent(&loaded, name);
        assert_eq!((agent.source.format.as_str(), &agent.source.file), ("dex", &None));
        assert!(body(&agent).len() > 200 && !agent.description.is_empty());
        tools_of(&agent).join(" ")
    };
    assert_eq!(built_in("research"), "find_files grep_files list_files read_file");
    assert_eq!(built_in("coding"), "edit_file find_files grep_files list_files read_file shell write_file");
    assert_eq!(built_in("goal"), "find_files grep_files list_files read_file shell");
}

#[test]
fn an_id_is_the_stem_unless_it_is_said() {
    let loaded = check(
        "
-- .dex/agents/by-stem.md
---
description: d
---
-- .dex/agents/other.md
---
id: said
description: d
---
-- .dex/agents/number.md
---
id: 42
name: 7
description: true
tools: read, search
---
",
        &[],
    );
    assert_eq!(
        declared(&loaded),
        ["42 dex .dex/agents/number.md", "by-stem dex .dex/agents/by-stem.md", "said dex .dex/agents/other.md"]
    );
    let number = agent(&loaded, "42");
    assert_eq!((number.title.as_deref(), number.description.as_str()), (Some("7"), "true"));
    assert_eq!(tools_of(&number), ["grep_files", "read_file"]);
}

#[test]
fn two_profiles_of_one_folder_with_one_id_are_an_error_and_the_later_counts() {
    let loaded = check(
        "
-- .dex/agents/a.md
---
id: twin
description: d
---
-- .dex/agents/b.md
---
id: twin
description: e
---
",
        &["error[D010] .dex/agents/b.md:2:1 agent `twin` is declared twice: in `.dex/agents/a.md` and in \
           `.dex/agents/b.md` | give one of them another name; until then `.dex/agents/b.md` counts"],
    );
    assert_eq!(declared(&loaded), ["twin dex .dex/agents/b.md"]);
}

#[test]
fn front_matter_is_read_line_by_line_where_it_is_no_yaml() {
    let loaded = check(
        "
-- .dex/agents/a.md
---
id: a
name: *Star*
description: Use it when: the user asks. @mentions, `ticks` and 50% are fine: really
tools:
- read
\t- search
disabledTools: [bash]
---
Body
",
        &[],
    );
    let agent = agent(&loaded, "a");
    assert_eq!(agent.title.as_deref(), Some("*Star*"));
    assert_eq!(agent.description, "Use it when: the user asks. @mentions, `ticks` and 50% are fine: really");
    assert_eq!(tools_of(&agent), ["grep_files", "read_file"]);
}

#[test]
fn what_is_wrong_with_a_profile_is_told_and_the_others_stay() {
    let loaded = check(
        "
-- .dex/agents/README.md
# Our profiles
-- .dex/agents/deep/inner.md
---
description: not looked for
---
-- .dex/agents/fine.md
---
description: d
colour: red
---
-- .dex/agents/list.md
---
- a
---
-- .dex/agents/mute.md
---
id: mute
name:
---
-- .dex/agents/open.md
---
description: d
-- .dex/agents/plain.md
No front matter.
-- .dex/agents/twice.md
---
description: d
description: e
---
-- .dex/agents/wrong.md
---
description: d
tools: { a: 1 }
disabledTools: [[x]]
---
-- .dex/agents/.hidden.md
---
description: d
---
-- .dex/agents/notes.txt
---
description: d
---
",
        &[
            "warning[D007] .dex/agents/fine.md:3:1 the field `colour` is unknown and has no effect | did you mean `tools`?",
            "error[D006] .dex/agents/list.md:2:1 a declaration must be an object, not an array | write an object",
            "warning[D100] .dex/agents/mute.md:2:1 profile `mute` does not say what it is for | add `description`",
            "error[D113] .dex/agents/open.md:1:1 the front matter has no end | close it with a line `---`",
            "warning[D081] .dex/agents/plain.md:1:1 this is no profile: it has no front matter, and is ignored | begin \
             the file with `---`, `description: …` and `---`",
            "error[D114] .dex/agents/twice.md:3:1 this is not valid YAML: the key `description` is in its mapping twice \
             | remove one of the two",
            "error[D006] .dex/agents/wrong.md:3:1 `tools` must be a list of tools, not an object | write a list of tools",
            "error[D006] .dex/agents/wrong.md:4:17 `disabledTools[0]` must be the name of a tool, not an array | write the name of a tool",
        ],
    );
    assert_eq!(declared(&loaded), ["fine dex .dex/agents/fine.md", "mute dex .dex/agents/mute.md"]);
    assert_eq!(agent(&loaded, "fine").extra["x-dex"]["colour"], "red");
}

#[test]
fn a_broken_profile_hides_the_one_that_it_overrides() {
    let loaded = project("-- .dex/agents/research.md\n---\nid: research\ntools: {}\n---\n");
    assert!(!names(&loaded).contains(&"research"));
    assert!(names(&loaded).contains(&"coding"));
}

#[test]
fn an_empty_list_of_tools_allows_none_and_no_list_allows_all() {
    for (list, expected) in [("tools: []", 0), ("tools:", 7), ("", 7), ("disabledTools: []", 7), ("tools: ['*']", 7)] {
        let loaded = check(&format!("-- .dex/agents/a.md\n---\ndescription: d\n{list}\n---\n"), &[]);
        assert_eq!(tools_of(&agent(&loaded, "a")).len(), expected, "{list}");
    }
}
