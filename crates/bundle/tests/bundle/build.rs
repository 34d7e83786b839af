//! What is packed, how, and what is refused.

use crate::kit::{Shop, agent, codes, project};
use entourage_bundle::{Blobs as _, BytesOf, Draft, OpenFile, Order, ProjectFiles, Sources};
use entourage_declare::{Files, Kind, MemoryFiles};
use entourage_script::NoMemory;
use serde_json::json;
use std::io::{self, Read as _};

const SUBAGENTS: &str = r#"{"agents":{"reviewer":{"description":"Checks.","instructions":"./r.md"}}}"#;

fn everything() -> Vec<(&'static str, String)> {
    let definition = agent(
        r#","author":"Ada","tags":["x"],"x-own":{"b":1},"prompt":"./PROMPT.md","persona":"./persona.json","mcp":"./mcp.json",
        "subagents":"./subagents.json","rules":"./rules","skills":"./skills","knowledge":"./docs","memory":"./memory",
        "surfaces":"./surfaces","instructionTree":"./tree","secrets":[{"key":"TOKEN","required":true}]"#,
    );
    [
        ("agent.json", definition.as_str()),
        ("PROMPT.md", "You are {{persona.name}}.\r\n"),
        ("persona.json", r#"{"name":"ada","displayName":"Ada","role":"Engineer"}"#),
        ("mcp.json", r#"{"servers":{"gh":{"command":"gh","secrets":["TOKEN"]},"web":{"url":"https://example.com","transport":"http"}}}"#),
        ("subagents.json", SUBAGENTS),
        ("r.md", "---\nname: x\n---\r\nReview.\n"),
        ("rules/a.md", "Be kind."),
        ("rules/notes.txt", "Not a rule."),
        ("skills/fix/SKILL.md", "---\nname: fix\ndescription: Fixes.\n---\nFix it."),
        ("skills/fix/run.sh", "#!/bin/sh\n"),
        ("docs/a/b.md", "Known."),
        ("memory/m.md", "Remembered."),
        ("surfaces/instructions.md", "Surface."),
        ("tree/_root/instructions.md", "Root."),
    ]
    .map(|(path, text)| (path, text.to_owned()))
    .to_vec()
}

#[test]
fn every_part_becomes_a_layer_in_order_with_its_annotations() {
    let shop = Shop::new();
    let files = everything();
    let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let built = shop.build(&files);
    let count = |key: &str, count: &str| json!({ key: count });
    let expected = [
        ("knowledge.v1.tar+gzip", "knowledge.tar.gz", count("dev.stax.knowledge.files", "1")),
        ("rules.v1.tar+gzip", "rules.tar.gz", count("dev.stax.rules.count", "1")),
        ("skills.v1.tar+gzip", "skills.tar.gz", count("dev.stax.skills.count", "1")),
        ("mcp.v1+json", "mcp.json", count("dev.stax.mcp.count", "2")),
        ("secrets.v1+json", "secrets.json", json!({})),
        ("instruction-tree.v1.tar+gzip", "instruction-tree.tar.gz", count("dev.stax.instruction-tree.count", "1")),
        ("surfaces.v1.tar+gzip", "surfaces.tar.gz", count("dev.stax.surfaces.count", "1")),
        ("prompt.v1+markdown", "prompt.md", json!({})),
        ("persona.v1+json", "persona.json", count("dev.stax.persona.name", "ada")),
        ("subagents.v1+json", "subagents.json", count("dev.stax.subagents.count", "1")),
        (
            "memory.v1.tar+gzip",
            "memory.tar.gz",
            json!({ "dev.stax.memory.entries": "1", "dev.stax.memory.snapshot": "seed" }),
        ),
    ];
    let expected = expected.map(|(media_type, title, mut annotations)| {
        annotations["org.opencontainers.image.title"] = title.into();
        (format!("application/vnd.stax.{media_type}"), annotations)
    });
    let layers: Vec<_> =
        built.manifest.layers.iter().map(|layer| (layer.media_type.clone(), json!(layer.annotations))).collect();
    assert_eq!(layers, expected);
    assert_eq!(
        json!(built.manifest.annotations),
        json!({
            "org.opencontainers.image.created": "1970-01-01T00:00:00Z",
            "org.opencontainers.image.version": "1.0.0",
            "org.opencontainers.image.title": "pack-agent",
            "org.opencontainers.image.description": "For tests.",
            "org.opencontainers.image.vendor": "Ada",
            "dev.stax.spec.version": "1.0.0",
            "dev.stax.adapter.type": "codex",
            "dev.stax.adapter.runtime": "codex",
            "dev.stax.persona": "ada",
        })
    );
    let config: serde_json::Value =
        serde_json::from_slice(&shop.layout.read(&built.manifest.config, 1 << 20).unwrap()).unwrap();
    assert_eq!(
        (&config["kind"], &config["specVersion"], &config["x-own"]),
        (&json!("agent"), &json!("1.0.0"), &json!({ "b": 1 }))
    );
    assert!(config.get("prompt").is_none() && config.get("secrets").is_none(), "{config}");
}

#[test]
fn documents_are_compiled_and_say_their_version() {
    let shop = Shop::new();
    let files = everything();
    let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let built = shop.build(&files);
    let subagents = shop.json_layer(&built, "subagents");
    assert_eq!(subagents["specVersion"], "1.0.0");
    assert_eq!(subagents["agents"]["reviewer"]["instructions"], "---\nname: x\n---\r\nReview.\n", "taken verbatim");
    assert_eq!(shop.layer(&built, "prompt"), b"You are {{persona.name}}.\r\n", "taken verbatim");
    let secrets = json!({ "specVersion": "1.0.0", "secrets": [{ "key": "TOKEN", "required": true }] });
    assert_eq!(shop.json_layer(&built, "secrets"), secrets);
    assert_eq!(shop.json_layer(&built, "persona")["specVersion"], "1.0.0");
}

#[test]
fn the_reference_programs_bytes_say_less() {
    let shop = Shop::new();
    let files: MemoryFiles = everything().into_iter().collect();
    let built = shop.try_build(&files, BytesOf::ReferenceProgram).unwrap();
    assert!(built.manifest.layers.iter().all(|layer| layer.annotations.is_empty()));
    assert_eq!(built.manifest.annotations["org.opencontainers.image.created"], "1970-01-01T00:00:00.000Z");
    assert_eq!(built.manifest.annotations.len(), 6);
    assert_eq!(shop.json_layer(&built, "secrets"), json!([{ "key": "TOKEN", "required": true }]));
    assert!(shop.json_layer(&built, "subagents").get("specVersion").is_none());
    let config: serde_json::Value =
        serde_json::from_slice(&shop.layout.read(&built.manifest.config, 1 << 20).unwrap()).unwrap();
    assert!(config.get("x-own").is_none());
    assert_eq!(config["specVersion"], "1.0.0");
}

#[test]
fn only_programs_can_be_executed() {
    let tar_of = |bytes_of| {
        let shop = Shop::new();
        let mut files: MemoryFiles = everything().into_iter().collect();
        files.insert("skills/fix/run.sh", "#!/bin/sh\n", true);
        let built = shop.try_build(&files, bytes_of).unwrap();
        let mut tar = Vec::new();
        flate2::read::GzDecoder::new(shop.layer(&built, "skills").as_slice()).read_to_end(&mut tar).unwrap();
        tar
    };
    let modes = |tar: &[u8]| {
        let is_header = |block: &&[u8]| block[257..].starts_with(b"ustar");
        tar.chunks(512)
            .filter(is_header)
            .map(|block| String::from_utf8_lossy(&block[100..107]).into_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(modes(&tar_of(BytesOf::Specification)), ["0000755", "0000644", "0000755"]);
    assert_eq!(modes(&tar_of(BytesOf::ReferenceProgram)), ["0000755", "0000644", "0000644"]);
}

#[test]
fn an_agent_without_parts_carries_the_stand_in_for_nothing() {
    let shop = Shop::new();
    let files = project(&[("agent.json", &agent(""))]);
    let built = shop.try_build(&files, BytesOf::Specification).unwrap();
    let empty = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    assert_eq!(built.manifest.layers.iter().map(|layer| layer.digest.to_string()).collect::<Vec<_>>(), [empty]);
    shop.open(built.descriptor.digest).unwrap();
    let built = shop.try_build(&files, BytesOf::ReferenceProgram).unwrap();
    assert!(built.manifest.layers.is_empty());
    shop.open(built.descriptor.digest).unwrap();
}

#[test]
fn every_fault_of_every_file_is_told_at_once_and_nothing_is_written() {
    let definition = agent(
        r#","prompt":"./missing.md","subagents":"./subagents.ts","rules":"./rules","knowledge":"../outside","packages":["nowhere"]"#,
    );
    let files = project(&[
        ("agent.json", &definition.replace("1.0.0\",\"desc", "one\",\"desc")),
        (
            "subagents.ts",
            "export default { agents: { Bad: { description: '', instructions: './r.txt', subagents: {} } } };",
        ),
        ("rules/a.md", "---\nscope: sometimes\n---\nx"),
    ]);
    let shop = Shop::new();
    let before = shop.snapshot();
    let fault = shop.try_build(&files, BytesOf::Specification).unwrap_err();
    let (exit, mut found) = codes(fault);
    found.sort_unstable();
    found.dedup();
    assert_eq!(exit, 1);
    for code in ["B016", "D051", "D052", "D058", "D059", "D060", "D062"] {
        assert!(found.contains(&code), "{code} is not among {found:?}");
    }
    assert_eq!(shop.snapshot(), before);
}

#[test]
fn patterns_keep_files_out() {
    let shop = Shop::new();
    let definition = agent(r#","knowledge":"./docs""#);
    let built = shop.build(&[
        ("agent.json", definition.as_str()),
        (".staxignore", "*.tmp\n/docs/private/\n"),
        ("docs/a.md", "a"),
        ("docs/b.tmp", "b"),
        ("docs/private/c.md", "c"),
        ("docs/deep/private/d.md", "d"),
        ("docs/.git/config", "e"),
        ("docs/.stax/f", "f"),
        ("docs/.hidden", "g"),
    ]);
    let mut found = Vec::new();
    let bundle = shop.open(built.descriptor.digest).unwrap();
    let mut visit = |entry: &entourage_bundle::Entry, _: &mut dyn std::io::Read| {
        found.push(entry.path.clone());
        Ok(())
    };
    bundle.archive(&shop.layout, entourage_bundle::LayerKind::Knowledge, &mut visit).unwrap();
    assert_eq!(found, [".hidden", "a.md", "deep", "deep/private", "deep/private/d.md"]);
}

#[test]
fn a_manifest_of_knowledge_names_files_that_are_packed() {
    let shop = Shop::new();
    let definition = agent(r#","knowledge":"./docs""#);
    let build = |manifest: &str| {
        let files = [
            ("agent.json", definition.as_str()),
            (".staxignore", "*.tmp\n"),
            ("docs/a.md", "a"),
            ("docs/b.tmp", "b"),
            ("docs/knowledge.manifest.json", manifest),
        ];
        shop.try_build(&project(&files), BytesOf::Specification)
    };
    build(r#"{ "specVersion": "1.0.0", "files": { "a.md": { "title": "A", "chunkHint": "section" } } }"#).unwrap();
    let before = shop.snapshot();
    let cases = [
        (r#"{ "files": { "gone.md": {}, "b.tmp": {}, "a.md": {} } }"#, "not packed: `gone.md`, `b.tmp`"),
        (r#"{ "files": { "../agent.json": {} } }"#, "no path in its folder: `../agent.json`"),
        ("nonsense", "malformed"),
    ];
    for (manifest, expected) in cases {
        let fault = build(manifest).unwrap_err();
        assert_eq!(fault.exit() as u8, 1);
        let report = fault.into_reports().remove(0).to_string();
        assert!(report.contains("B084") && report.contains(expected), "{report}");
        assert!(report.contains("docs/knowledge.manifest.json"), "{report}");
    }
    assert_eq!(shop.snapshot(), before);
}

#[test]
fn what_is_too_large_for_its_kind_is_refused() {
    let shop = Shop::new();
    let mut files = project(&[("agent.json", &agent(r#","prompt":"./p.md","rules":"./rules""#))]);
    files.insert("p.md", "x".repeat((1 << 20) + 1), false);
    files.insert("rules/a.txt", vec![b'x'; 17 << 20], false);
    let fault = shop.try_build(&files, BytesOf::Specification).unwrap_err();
    let reports = fault.into_reports();
    let errors: Vec<_> =
        reports.iter().filter(|report| report.code.0 == "B012").map(|report| report.what.as_str()).collect();
    assert_eq!(
        errors,
        ["`prompt` has 1048577 bytes, and may have 1048576", "`rules` has 17825792 bytes, and may have 16777216"]
    );
    assert!(reports.iter().any(|report| report.code.0 == "B022"), "a large file is noted");
}

#[test]
fn two_builds_are_one_artifact() {
    let files: MemoryFiles = everything().into_iter().collect();
    let (one, other) = (Shop::new(), Shop::new());
    let digest = |shop: &Shop| shop.try_build(&files, BytesOf::Specification).unwrap().descriptor.digest;
    assert_eq!(digest(&one), digest(&other));
    assert_eq!(digest(&one), digest(&one));
    assert_eq!(one.layout.index().unwrap().manifests.len(), 1);
    // Pinned: a build on another day, machine or version of this program must not differ.
    let expected = "sha256:b3e43ae9fa9c2cf87651484ba0727d11535553b632ea65ba420ca209df044236";
    assert_eq!(digest(&one).to_string(), expected);
}

#[test]
fn a_package_is_an_artifact_of_its_own_kind() {
    let shop = Shop::new();
    let package = "import { definePackage } from 'stax';\nexport default definePackage({ name: 'shared', version: '0.1.0', rules: './rules', prompt: './p.md' });";
    let built = shop.build(&[("package.ts", package), ("rules/a.md", "Be kind."), ("p.md", "no")]);
    assert_eq!(built.manifest.artifact_type.as_deref(), Some("application/vnd.stax.package.v1"));
    assert_eq!(built.manifest.layers.len(), 1, "a package has no prompt");
    assert!(built.warnings.iter().any(|report| report.code.0 == "D007"), "{:?}", built.warnings);
    assert!(!built.manifest.annotations.contains_key("dev.stax.adapter.type"));
}

#[test]
fn unknown_keys_of_subagents_are_kept_also_within_handoff() {
    let shop = Shop::new();
    let subagents = r#"{"x-top":1,"agents":{"a":{"description":"d","instructions":"Do it.","x-acme":{"k":[1.0]},"handoff":{"allowedFrom":["primary"],"x-in":true}}}}"#;
    let definition = agent(r#","subagents":"./s.json""#);
    let built = shop.build(&[("agent.json", definition.as_str()), ("s.json", subagents)]);
    let expected = r#"{"agents":{"a":{"description":"d","handoff":{"allowedFrom":["primary"],"x-in":true},"instructions":"Do it.","x-acme":{"k":[1]}}},"specVersion":"1.0.0","x-top":1}"#;
    assert_eq!(String::from_utf8(shop.layer(&built, "subagents")).unwrap(), expected);
}

/// A project whose one file nobody may read.
struct Unreadable(MemoryFiles, &'static str);

impl Files for Unreadable {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.0.list(folder)
    }

    fn entries(&self, folder: &str) -> io::Result<Vec<(String, Kind)>> {
        self.0.entries(folder)
    }

    fn kind(&self, path: &str) -> io::Result<Kind> {
        self.0.kind(path)
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        if path == self.1 { Err(io::ErrorKind::PermissionDenied.into()) } else { self.0.read(path) }
    }
}

impl ProjectFiles for Unreadable {
    fn open(&self, path: &str) -> io::Result<OpenFile> {
        if path == self.1 { Err(io::ErrorKind::PermissionDenied.into()) } else { self.0.open(path) }
    }
}

#[test]
fn a_file_that_cannot_be_read_is_the_machines_fault() {
    let refused = |files: MemoryFiles, path| {
        let files = Unreadable(files, path);
        let sources = Sources::new(&files, Vec::new());
        let parcel = entourage_declare::parcel(&sources, &NoMemory).unwrap();
        let order = Order { parcel, losses: Vec::new(), sources: &sources, bytes_of: BytesOf::Specification };
        codes(Draft::check(order).unwrap_err())
    };
    let prompt = agent(r#","prompt":"./p.md","knowledge":"./docs""#);
    let files = || project(&[("agent.json", &prompt), ("p.md", "x"), ("docs/a.md", "x")]);
    assert_eq!(refused(files(), "p.md"), (2, vec!["D001"]));
    assert_eq!(refused(files(), "docs/a.md"), (2, vec!["B004"]));
    let missing = project(&[("agent.ts", "import './nothing.ts';\nexport default {};")]);
    assert_eq!(refused(missing, "").0, 1, "what a definition names and does not have is its author's");
}
