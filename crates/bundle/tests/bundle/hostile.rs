//! Artifacts that somebody crafted: each is refused before any of it is believed.

use crate::kit::{Shop, codes};
use entourage_bundle::{ArchiveStyle, ArchiveWriter, ArtifactKind, Bundle, Descriptor, LayerKind, Manifest, names};
use entourage_model::Digest;
use serde_json::json;

const CONFIG: &str = r#"{"name":"crafted","version":"1.0.0","kind":"agent"}"#;

/// An artifact of these layers; the change is made to the manifest before it is stored.
fn craft(shop: &Shop, config: &str, layers: &[(LayerKind, &[u8])], tweak: impl FnOnce(&mut Manifest)) -> Descriptor {
    let mut change = shop.layout.begin();
    let config = change.put(names::CONFIG, config.as_bytes()).unwrap();
    let layers = layers.iter().map(|(kind, bytes)| change.put(kind.media_type(), bytes).unwrap()).collect();
    let mut manifest = Manifest::new(ArtifactKind::Agent.artifact_type(), config, layers);
    tweak(&mut manifest);
    let manifest = change.put(names::MANIFEST, &manifest.to_bytes()).unwrap();
    change.add(&manifest);
    change.commit().unwrap();
    manifest
}

fn check(config: &str, layers: &[(LayerKind, &[u8])], expected: &str) {
    let shop = Shop::new();
    let crafted = craft(&shop, config, layers, |_| ());
    let fault = shop.open(crafted.digest).expect_err(expected);
    assert_eq!(fault.exit() as u8, 6);
    let what = &fault.into_reports()[0].what;
    assert!(what.contains(expected), "{expected}: {what}");
}

#[test]
fn documents_have_the_shape_that_others_rely_on() {
    let subagents = |text: &'static str| vec![(LayerKind::Subagents, text.as_bytes())];
    check("[]", &[], "its config is no object");
    check("{", &[], "its config is malformed");
    check(r#"{"version":"1.0.0"}"#, &[], "no `name`");
    check(r#"{"name":"a"}"#, &[], "no `version`");
    check(r#"{"name":"../a","version":"1.0.0"}"#, &[], "no name of an agent");
    check(CONFIG, &subagents("[1,2]"), "is no object");
    check(CONFIG, &subagents("{}"), "no objects by name");
    check(CONFIG, &subagents(r#"{"agents":[]}"#), "no objects by name");
    let escaping = r#"{"agents":{"../../evil":{"description":"d","instructions":"i"}}}"#;
    check(CONFIG, &subagents(escaping), "no name of a subagent");
    check(CONFIG, &subagents(r#"{"agents":{"a":{"description":"d"}}}"#), "no `instructions`");
    check(CONFIG, &subagents(r#"{"agents":{"a":{"description":1,"instructions":"i"}}}"#), "no `description`");
    check(CONFIG, &[(LayerKind::Prompt, b"\xff\xfe")], "not UTF-8");
    let deep = format!(r#"{{"name":"a","x":{}1{}}}"#, "[".repeat(64), "]".repeat(64));
    check(CONFIG, &[(LayerKind::Persona, deep.as_bytes())], "nested more than 64 deep");
    check(CONFIG, &[(LayerKind::Mcp, b"{}")], "`servers` are no objects");
    check(CONFIG, &[(LayerKind::Secrets, b"{}")], "no list of objects");
    check(CONFIG, &[(LayerKind::Packages, br#"{"packages":[{"ref":"nowhere"}]}"#)], "no reference");
}

#[test]
fn what_a_config_says_of_packages_counts_where_it_makes_sense() {
    let digest = Digest::of(b"package");
    let other = Digest::of(b"another");
    let said = json!([
        7,
        { "ref": "h.io/none:1" },
        { "ref": "no\u{1b}reference", "digest": other },
        { "ref": "h.io/bad:1", "digest": "sha256:00" },
        { "ref": "h.io/named:1", "digest": other },
        { "ref": "h.io/deep:1", "digest": digest, "more": true },
    ]);
    let config = json!({ "name": "crafted", "version": "1.0.0", "packages": said }).to_string();
    let layer = json!({ "packages": [{ "ref": "h.io/named:1", "digest": digest }] }).to_string();
    let shop = Shop::new();
    let crafted = craft(&shop, &config, &[(LayerKind::Packages, layer.as_bytes())], |_| ());
    let lock = shop.open(crafted.digest).unwrap().lock;
    let pinned: Vec<_> = lock.packages.iter().map(|(text, locked)| (text.as_str(), locked.digest)).collect();
    assert_eq!(pinned, [("h.io/deep:1", digest), ("h.io/named:1", digest)], "the layer counts before the config");
}

#[test]
fn an_archive_is_looked_into_when_the_artifact_is() {
    let mut writer = ArchiveWriter::new(Vec::new(), ArchiveStyle::Specification);
    writer.file("../../evil", 1, false, b"x".as_slice()).unwrap();
    let escaping = writer.finish().unwrap();
    check(CONFIG, &[(LayerKind::Skills, &escaping)], "`.` or `..`");
    check(CONFIG, &[(LayerKind::Rules, b"not an archive")], "cannot be unpacked");
}

#[test]
fn a_layer_that_unpacks_to_too_much_is_refused() {
    let mut writer = ArchiveWriter::new(Vec::new(), ArchiveStyle::Specification);
    let zeros = std::io::Read::take(std::io::repeat(0), 17 << 20);
    writer.file("bomb", 17 << 20, false, zeros).unwrap();
    let bomb = writer.finish().unwrap();
    assert!(bomb.len() < 100 << 10, "{}", bomb.len());
    check(CONFIG, &[(LayerKind::Rules, &bomb)], "more than 16777216 bytes");
    // Each of these is fine by itself.
    let shop = Shop::new();
    let layers = [(LayerKind::Knowledge, bomb.as_slice()), (LayerKind::Skills, &bomb)];
    let digest = craft(&shop, CONFIG, &layers, |_| {}).digest;
    let open = |bytes_max: u64| Bundle::open(&shop.layout, digest, bytes_max).map(drop).map_err(codes);
    assert_eq!(open(35 << 20), Ok(()));
    assert_eq!(open(33 << 20), Err((6, vec!["B010"])));
}

#[test]
fn sizes_and_kinds_are_those_that_the_manifest_says() {
    type Tweak = fn(&mut Manifest);
    let tweaks: [(&str, Tweak); 5] = [
        ("B007", |manifest| manifest.layers[0].size += 1),
        ("B008", |manifest| manifest.layers[0].size = u64::MAX),
        ("B008", |manifest| manifest.layers.push(manifest.layers[0].clone())),
        ("B008", |manifest| manifest.artifact_type = Some("application/vnd.stax.source.v1".to_owned())),
        ("B006", |manifest| manifest.layers[0].digest = entourage_model::Digest::of(b"elsewhere")),
    ];
    for (code, tweak) in tweaks {
        let shop = Shop::new();
        let crafted = craft(&shop, CONFIG, &[(LayerKind::Prompt, b"Hello.")], tweak);
        assert_eq!(codes(shop.open(crafted.digest).unwrap_err()), (6, vec![code]));
    }
}

#[test]
fn what_the_reference_program_writes_is_read() {
    let shop = Shop::new();
    let secrets = json!([{ "key": "TOKEN", "required": true }]).to_string();
    let subagents = r#"{"agents":{"a":{"description":"d","instructions":"i"}}}"#;
    let layers = [(LayerKind::Secrets, secrets.as_bytes()), (LayerKind::Subagents, subagents.as_bytes())];
    let crafted = craft(&shop, CONFIG, &layers, |manifest| manifest.annotations.clear());
    let bundle = shop.open(crafted.digest).unwrap();
    assert_eq!((bundle.secrets.len(), bundle.agents().count()), (1, 1));
    // A layer of a kind that is not known travels along.
    let layers = [(LayerKind::Prompt, b"Hello.".as_slice())];
    let crafted = craft(&shop, CONFIG, &layers, |manifest| manifest.layers[0].media_type = "text/other".to_owned());
    assert_eq!(shop.open(crafted.digest).unwrap().prompt, None);
}
