//! Artifacts as folders and as projects, and what two of them do not have in common.

use crate::kit::{Shop, agent, codes, project};
use entourage_bundle::{BytesOf, ChangeKind, Wanted, diff, extract};
use entourage_declare::{Files as _, MemoryFiles};
use serde_json::json;
use std::path::Path;

fn files() -> MemoryFiles {
    let definition = agent(
        r#","prompt":"./p.md","subagents":"./s.json","skills":"./skills","secrets":[{"key":"TOKEN","required":true}]"#,
    );
    let mut files = project(&[
        ("agent.json", &definition),
        ("p.md", "You are it.\r\n"),
        (
            "s.json",
            r#"{"agents":{"a":{"description":"d","instructions":"Do it.","x-own":1},"b":{"description":"e","instructions":"./looks-like.md\n"}}}"#,
        ),
        ("skills/fix/SKILL.md", "---\nname: fix\ndescription: Fixes.\n---\nFix it."),
    ]);
    files.insert("skills/fix/bin/run.sh", "#!/bin/sh\n", true);
    files
}

#[test]
fn an_extracted_artifact_builds_to_itself() {
    let shop = Shop::new();
    let built = shop.try_build(&files(), BytesOf::Specification).unwrap();
    let bundle = shop.open(built.descriptor.digest).unwrap();
    let folder = shop.folder.path().join("out");
    let names = extract(&bundle, &shop.layout, &folder).unwrap();
    assert_eq!(names, ["agent.json", "skills", "secrets.json", "prompt.md", "subagents.json"]);
    let extracted = on_disk(&folder);
    assert_eq!(extracted.read("prompt.md").unwrap(), b"You are it.\r\n");
    assert!(extracted.is_executable("skills/fix/bin/run.sh") && !extracted.is_executable("skills/fix/SKILL.md"));
    let again = shop.try_build(&extracted, BytesOf::Specification).unwrap();
    assert_eq!(again.descriptor.digest, built.descriptor.digest);
}

#[test]
fn a_text_that_looks_like_a_path_is_extracted_as_a_text() {
    let shop = Shop::new();
    let definition = agent(r#","prompt":"./p.md","subagents":"./s.json""#);
    let agents = json!({ "agents": {
        "a": { "description": "d", "instructions": "./a.md" },
        "b": { "description": "e", "instructions": "./b.md" },
        "c": { "description": "f", "instructions": "Plain." },
    } });
    let built = shop.build(&[
        ("agent.json", &definition),
        ("p.md", "You are it."),
        ("s.json", &agents.to_string()),
        ("a.md", "prompt.md"),
        ("b.md", "./nowhere"),
    ]);
    let bundle = shop.open(built.descriptor.digest).unwrap();
    let folder = shop.folder.path().join("out");
    let names = extract(&bundle, &shop.layout, &folder).unwrap();
    assert_eq!(names, ["agent.json", "prompt.md", "subagents.json", "subagents-with-paths.json", "subagents"]);
    let extracted = on_disk(&folder);
    assert_eq!(extracted.read("subagents.json").unwrap(), shop.layer(&built, "subagents"), "as it travels");
    let again = shop.try_build(&extracted, BytesOf::Specification).unwrap();
    assert_eq!(again.descriptor.digest, built.descriptor.digest);
}

#[expect(clippy::disallowed_methods, reason = "a test reads what was extracted")]
pub(crate) fn on_disk(folder: &Path) -> MemoryFiles {
    use std::os::unix::fs::PermissionsExt as _;
    let mut files = MemoryFiles::default();
    let mut open = vec![folder.to_owned()];
    while let Some(inside) = open.pop() {
        for path in std::fs::read_dir(inside).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let is_executable = path.metadata().unwrap().permissions().mode() & 0o100 != 0;
            files.insert(
                path.strip_prefix(folder).unwrap().to_str().unwrap(),
                std::fs::read(&path).unwrap(),
                is_executable,
            );
        }
    }
    files
}

#[test]
fn what_is_there_is_not_overwritten() {
    let shop = Shop::new();
    let built = shop.try_build(&files(), BytesOf::Specification).unwrap();
    let bundle = shop.open(built.descriptor.digest).unwrap();
    let folder = shop.folder.path().join("out");
    std::fs::create_dir_all(folder.join("skills")).unwrap();
    let fault = extract(&bundle, &shop.layout, &folder).unwrap_err();
    assert_eq!(codes(fault), (2, vec!["B025"]));
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["skills"]);
}

#[test]
fn an_artifact_that_is_changed_while_it_is_extracted_leaves_nothing() {
    let shop = Shop::new();
    let built = shop.try_build(&files(), BytesOf::Specification).unwrap();
    let bundle = shop.open(built.descriptor.digest).unwrap();
    for layer in &built.manifest.layers {
        let hex = layer.digest.to_string();
        let blob = shop.layout.path().join("blobs/sha256").join(hex.trim_start_matches("sha256:"));
        let kept = shop.folder.path().join("kept");
        std::fs::rename(&blob, &kept).unwrap();
        let folder = shop.folder.path().join("out");
        assert_eq!(codes(extract(&bundle, &shop.layout, &folder).unwrap_err()), (6, vec!["B006"]));
        assert!(!folder.exists());
        std::fs::rename(&kept, &blob).unwrap();
    }
}

#[test]
fn an_artifact_is_a_project_again() {
    let shop = Shop::new();
    let built = shop.try_build(&files(), BytesOf::Specification).unwrap();
    let bundle = shop.open(built.descriptor.digest).unwrap();
    let again = bundle.files(&shop.layout, Wanted::Everything).unwrap();
    let text = String::from_utf8(again.read("subagents/b.md").unwrap()).unwrap();
    assert_eq!(text, "./looks-like.md\n", "a text that looks like a path stays a text");
    let rebuilt = shop.try_build(&again, BytesOf::Specification).unwrap();
    assert_eq!(rebuilt.descriptor.digest, built.descriptor.digest);
}

#[test]
fn only_what_differs_is_listed() {
    let shop = Shop::new();
    let open = |files: &MemoryFiles| {
        let built = shop.try_build(files, BytesOf::Specification).unwrap();
        shop.open(built.descriptor.digest).unwrap()
    };
    let one = open(&files());
    let same = diff(&one, &open(&files()));
    assert_eq!(json!(same), json!({ "equal": true, "config": null, "layers": [], "subagents": [], "packages": [] }));
    let mut changed = files();
    let definition = agent(r#","prompt":"./p.md","subagents":"./s.json","rules":"./rules""#);
    changed.insert("agent.json", definition, false);
    changed.insert("rules/a.md", "Be kind.", false);
    changed.insert("p.md", "You are other.", false);
    changed.insert("s.json", r#"{"agents":{"a":{"description":"d","instructions":"Do more."},"c":{"description":"f","instructions":"New."}}}"#, false);
    let difference = diff(&one, &open(&changed));
    let layer =
        |word: &str, change: &str| json!({ "media_type": format!("application/vnd.stax.{word}"), "change": change });
    assert_eq!(
        json!(difference.layers),
        json!([
            layer("rules.v1.tar+gzip", "added"),
            layer("prompt.v1+markdown", "changed"),
            layer("subagents.v1+json", "changed"),
            layer("secrets.v1+json", "removed"),
            layer("skills.v1.tar+gzip", "removed"),
        ])
    );
    let subagents: Vec<_> = difference.subagents.iter().map(|change| (change.name.as_str(), change.change)).collect();
    assert_eq!(subagents, [("a", ChangeKind::Changed), ("b", ChangeKind::Removed), ("c", ChangeKind::Added)]);
}
