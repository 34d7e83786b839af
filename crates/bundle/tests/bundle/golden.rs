//! The bytes that the reference program wrote. Vectors that lie beside the project are read where they are; one of our
//! own is always there.

use crate::kit::{Shop, agent, project};
use entourage_bundle::{ArchiveStyle, ArchiveWriter, Blobs as _, BytesOf, KeyOrder, canonical, extract};
use entourage_declare::MemoryFiles;
use entourage_model::{Digest, mark_halves};
use serde_json::Value;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Absent: this copy of the project has no vectors beside it.
fn golden(path: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/stax").join(path);
    beside.exists().then_some(beside)
}

#[expect(clippy::disallowed_methods, reason = "vectors lie beside the project")]
fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&read(path)).unwrap()
}

fn vectors(first: char) -> Vec<PathBuf> {
    let Some(folder) = golden("") else { return Vec::new() };
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_meant = |path: &PathBuf| path.is_dir() && path.file_name().unwrap().to_str().unwrap().starts_with(first);
    let mut found: Vec<_> = entries.filter(is_meant).collect();
    found.sort();
    found
}

fn sources(folder: &Path) -> MemoryFiles {
    let mut files = MemoryFiles::default();
    let mut open = vec![folder.to_owned()];
    while let Some(inside) = open.pop() {
        for path in std::fs::read_dir(inside).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => open.push(path),
                false => files.insert(path.strip_prefix(folder).unwrap().to_str().unwrap(), read(&path), false),
            }
        }
    }
    files
}

fn unzipped(bytes: &[u8]) -> Vec<u8> {
    let mut tar = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut tar).unwrap();
    tar
}

/// Builds a vector and compares it with what the reference program wrote.
fn check(files: &MemoryFiles, vector: &Path) {
    let shop = Shop::new();
    let built = shop.try_build(files, BytesOf::ReferenceProgram);
    let built = built.unwrap_or_else(|fault| panic!("{vector:?}: {:?}", fault.into_reports()));
    let index = json(&vector.join("index.json"));
    assert_eq!(built.manifest.config.digest.to_string(), index["config"]["digest"], "{vector:?}");
    let layers = index["layers"].as_array().unwrap();
    assert_eq!(built.manifest.layers.len(), layers.len(), "{vector:?}");
    for (layer, expected) in built.manifest.layers.iter().zip(layers) {
        assert_eq!(layer.media_type, expected["mediaType"], "{vector:?}");
        // Archives are the same before they are compressed.
        match expected.get("tar_sha256") {
            Some(digest) => {
                let tar = unzipped(&shop.layout.read(layer, 1 << 30).unwrap());
                assert_eq!(Digest::of(&tar).to_string(), format!("sha256:{}", digest.as_str().unwrap()), "{vector:?}");
            }
            None => assert_eq!(layer.digest.to_string(), expected["digest"], "{vector:?} {}", layer.media_type),
        }
    }
    if layers.iter().all(|layer| layer.get("tar_sha256").is_none()) {
        assert_eq!(built.descriptor.digest.to_string(), index["manifest_digest"], "{vector:?}");
        let manifest = shop.layout.read(&built.descriptor, 1 << 20).unwrap();
        assert_eq!(manifest, read(&vector.join("reference/manifest.json")), "{vector:?}");
    }
}

#[test]
fn artifacts_are_those_of_the_reference_program() {
    for vector in vectors('g') {
        let files = sources(&vector.join("source"));
        check(&files, &vector);
        // The same from what the definition evaluates to.
        let mut evaluated = MemoryFiles::default();
        copy_all_but_definition(&vector.join("source"), &mut evaluated);
        evaluated.insert("agent.json", read(&vector.join("agent.definition.json")), false);
        check(&evaluated, &vector);
    }
}

fn copy_all_but_definition(folder: &Path, files: &mut MemoryFiles) {
    let mut open = vec![folder.to_owned()];
    while let Some(inside) = open.pop() {
        for path in std::fs::read_dir(inside).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            match path.is_dir() {
                true => open.push(path),
                false if name == "agent.ts" => {}
                false => files.insert(name, read(&path), false),
            }
        }
    }
}

#[test]
fn what_the_text_alone_demands_is_so() {
    for vector in vectors('s') {
        let shop = Shop::new();
        let built = shop.try_build(&sources(&vector.join("source")), BytesOf::Specification);
        let built = built.unwrap_or_else(|fault| panic!("{vector:?}: {:?}", fault.into_reports()));
        let expected = json(&vector.join("expected.json"));
        let is_meant = |layer: &&entourage_bundle::Descriptor| expected["mediaType"] == layer.media_type;
        let layer = built.manifest.layers.iter().find(is_meant).unwrap();
        assert_eq!(layer.digest.to_string(), expected["digest"], "{vector:?}");
        for (key, value) in expected["annotations"].as_object().unwrap() {
            assert_eq!(layer.annotations.get(key).map(String::as_str), value.as_str(), "{vector:?} {key}");
        }
    }
}

#[test]
fn canonical_json_is_that_of_the_reference_program() {
    let Some(path) = golden("unit/canonical-json.json") else { return };
    for case in json(&path).as_array().unwrap() {
        let input = case["input"].as_str().unwrap();
        let value: Value = serde_json::from_str(&mark_halves(input)).unwrap();
        let bytes = canonical(&value, KeyOrder::Utf16);
        assert_eq!(String::from_utf8(bytes).unwrap(), case["reference_output"], "{input}");
    }
}

/// As an author writes it, and as whoever has the artifact reads it again.
#[test]
fn half_a_character_is_packed_and_read_again() {
    let said = r#"{"description":"d\ud800","instructions":"I.","x-half":["\udfff","\ud83d\ude00"]}"#;
    let subagents = format!(r#"{{"agents":{{"a":{said}}}}}"#);
    let agent = agent(r#","subagents":"./subagents.json","tags":["\ud800"]"#).replace("For tests.", "For \\ude00.");
    let files = project(&[("agent.json", &agent), ("subagents.json", &subagents)]);
    let typescript = project(&[("agent.ts", &format!("export default {agent}")), ("subagents.json", &subagents)]);
    for bytes_of in [BytesOf::ReferenceProgram, BytesOf::Specification] {
        let shop = Shop::new();
        let built = shop.try_build(&files, bytes_of).unwrap();
        let layer = String::from_utf8(shop.layer(&built, "subagents")).unwrap();
        assert!(layer.contains(&said.replace("\\ud83d\\ude00", "😀")), "{layer}");
        let again = shop.try_build(&typescript, bytes_of).unwrap();
        assert_eq!(again.descriptor.digest, built.descriptor.digest);
        let bundle = shop.open(built.descriptor.digest).unwrap();
        assert_eq!(canonical(&Value::Object(bundle.subagents.unwrap()), KeyOrder::Utf16), layer.as_bytes());
        let folder = shop.folder.path().join("extracted");
        extract(&shop.open(built.descriptor.digest).unwrap(), &shop.layout, &folder).unwrap();
        assert_eq!(shop.try_build(&sources(&folder), bytes_of).unwrap().descriptor.digest, built.descriptor.digest);
    }
}

#[test]
fn archives_are_those_of_the_reference_program() {
    let Some(path) = golden("unit/tar.json") else { return };
    for (name, case) in json(&path).as_object().unwrap() {
        let mut files: Vec<_> = case["files"].as_object().unwrap().iter().collect();
        files.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
        let mut writer = ArchiveWriter::new(Vec::new(), ArchiveStyle::Reference);
        for (path, text) in files {
            let text = text.as_str().unwrap();
            writer.file(path, text.len() as u64, false, text.as_bytes()).unwrap();
        }
        let archive = writer.finish().unwrap();
        let tar = unzipped(&archive);
        assert_eq!(tar, read(&golden(&format!("unit/tar-{name}.tar")).unwrap()), "{name}");
    }
}

#[test]
fn names_are_those_of_the_reference_program() {
    let Some(path) = golden("unit/names.json") else { return };
    for case in json(&path).as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        assert_eq!(entourage_declare::is_agent_name(name), case["valid"], "{name}");
    }
}

#[test]
fn subagents_are_judged_as_the_schema_of_the_reference_program_does() {
    let Some(path) = golden("unit/subagents-validation.json") else { return };
    for case in json(&path).as_array().unwrap() {
        let input = case["input"].to_string();
        let agent = agent(r#","subagents":"./subagents.json""#);
        let files = project(&[("agent.json", &agent), ("subagents.json", &input)]);
        let built = Shop::new().try_build(&files, BytesOf::Specification);
        let nested = ["subagents", "agents"].iter().any(|key| {
            let agents = case["input"]["agents"].as_object();
            agents.is_some_and(|agents| agents.values().any(|agent| agent.get(key).is_some()))
        });
        // The schema does not know that subagents have no subagents.
        let expected = case["schema_valid"] == true && !nested;
        assert_eq!(built.is_ok(), expected, "{input}: {built:?}");
    }
}

/// The first vector, so that bytes are compared everywhere.
#[test]
fn a_vector_of_our_own_has_the_digest_of_the_reference_program() {
    let agent = r#"
import { defineAgent } from "stax";
import claudeCode from "@stax/claude-code";
export default defineAgent({
  name: "g1-minimal",
  version: "0.1.0",
  description: "Minimal agent with one subagent.",
  adapter: claudeCode({}),
  subagents: "./subagents.json",
});"#;
    let subagents = r#"{ "specVersion": "1.0.0",
        "agents": { "reviewer": { "description": "Reviews code", "instructions": "Review carefully." } } }"#;
    let files = project(&[("agent.ts", agent), ("subagents.json", subagents)]);
    let built = Shop::new().try_build(&files, BytesOf::ReferenceProgram).unwrap();
    let expected = "sha256:db415ba127ff0da0d36b1348ef62e75d9c1c58a3fd0f7e2fcbdbb7c575ddd0bc";
    assert_eq!(built.descriptor.digest.to_string(), expected);
}
