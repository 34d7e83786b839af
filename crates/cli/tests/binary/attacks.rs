//! Attacks by artifacts and registries, numbered as in the list that they are taken from: each is refused by its exit
//! code, and nothing of it is left on the disk.

use crate::project::Project;
use crate::registry::{build, kept, login, project};
use entourage_model::Digest;
use entourage_testkit::fake_registry::PASSWORD;
use entourage_testkit::{Door, FakeRegistry, Lie};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::Write as _;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const CONFIG: &str = r#"{"adapter":{"adapterVersion":"1.0.0","config":{},"features":{},"runtime":"codex","type":"codex"},"kind":"agent","name":"bad","specVersion":"1.0.0","version":"1.0.0"}"#;
const ENTRY_END: [u8; 1024] = [0; 1024];

/// What somebody does to a manifest.
type Forgery<'a> = &'a dyn Fn(&mut Value);

/// An entry of tar: path, kind, mode, what it links to, and its content with the size that the header says.
struct Entry<'a> {
    path: &'a str,
    kind: u8,
    mode: u32,
    link: &'a str,
    content: &'a [u8],
}

impl Default for Entry<'_> {
    fn default() -> Self {
        Self { path: "a.md", kind: b'0', mode: 0o644, link: "", content: b"" }
    }
}

impl Entry<'_> {
    fn bytes(&self) -> Vec<u8> {
        let mut header = [0_u8; 512];
        let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, self.path.as_bytes());
        put(100, format!("{:07o}", self.mode).as_bytes());
        put(124, format!("{:011o}", self.content.len()).as_bytes());
        put(148, b"        ");
        put(156, &[self.kind]);
        put(157, self.link.as_bytes());
        put(257, b"ustar\x0000");
        let sum: u32 = header.iter().copied().map(u32::from).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let padding = self.content.len().next_multiple_of(512) - self.content.len();
        [header.as_slice(), self.content, &vec![0; padding]].concat()
    }
}

fn zipped(tar: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(tar).unwrap();
    gzip.finish().unwrap()
}

fn archive(entries: &[Entry<'_>]) -> Vec<u8> {
    zipped(&[entries.iter().flat_map(Entry::bytes).collect::<Vec<_>>().as_slice(), &ENTRY_END].concat())
}

fn descriptor(media_type: &str, bytes: &[u8]) -> Value {
    json!({ "mediaType": media_type, "digest": Digest::of(bytes), "size": bytes.len() })
}

/// An artifact with this archive as its knowledge, in a registry.
fn publish(registry: &FakeRegistry, layer: &[u8]) -> (String, Value) {
    registry.put_blob(CONFIG.as_bytes().to_vec());
    registry.put_blob(layer.to_vec());
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "artifactType": "application/vnd.stax.agent.v1",
        "config": descriptor("application/vnd.stax.config.v1+json", CONFIG.as_bytes()),
        "layers": [descriptor("application/vnd.stax.knowledge.v1.tar+gzip", layer)],
    });
    registry.put_manifest("bad", "1", MANIFEST, manifest.to_string());
    (format!("{}/bad:1", registry.host()), manifest)
}

/// Refused at `pull` for this reason, with nothing left.
async fn check_archive(reason: &str, layer: &[u8]) {
    let registry = FakeRegistry::start(Door::Open).await;
    let (reference, _) = publish(&registry, layer);
    let here = Project::new().file("entourage.toml", "[limits]\nartifact_bytes = 10000000\n");
    here.say(&["pull", &reference]).refused(6, &["error[B010]", reason]);
    assert_eq!(kept(&here), (vec![], vec![]), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_31_archives_that_lead_elsewhere_or_hold_what_is_no_file() {
    let file = |path| Entry { path, content: b"x", ..Entry::default() };
    let special = |kind, link| Entry { path: "door", kind, link, ..Entry::default() };
    check_archive("`.` or `..`", &archive(&[file("../evil")])).await;
    check_archive("`.` or `..`", &archive(&[file("a/../../evil")])).await;
    check_archive("absolute", &archive(&[file("/tmp/evil")])).await;
    check_archive("symbolic link", &archive(&[special(b'2', "/tmp"), file("door/evil")])).await;
    check_archive("hard link", &archive(&[special(b'1', "../../etc/passwd")])).await;
    check_archive("device", &archive(&[special(b'3', "")])).await;
    check_archive("pipe", &archive(&[special(b'6', "")])).await;
    check_archive("as somebody else", &archive(&[Entry { mode: 0o4755, ..file("run") }])).await;
    check_archive("there twice", &archive(&[file("a.md"), file("a.md")])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_31_names_that_differ_in_case_only_are_not_written_beside_each_other() {
    // They are two files to stax, and one to some disks: packing them is fine, and writing them for a harness is not.
    let file = |path| Entry { path, content: b"x", ..Entry::default() };
    let registry = FakeRegistry::start(Door::Open).await;
    let (reference, _) = publish(&registry, &archive(&[file("A.md"), file("a.md")]));
    let here = Project::new();
    here.say(&["materialize", &reference, "--adapter", "codex", "--out", "o"]).refused(1, &["error[B076]"]);
    assert!(!here.path().join("o").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_32_archives_that_two_readers_read_differently() {
    let pax = |content| Entry { path: "pax", kind: b'x', content, ..Entry::default() };
    let inner = Entry { path: "evil", content: b"inner", ..Entry::default() }.bytes();
    let nested = Entry { path: "nested.tar", content: &inner, ..Entry::default() };
    check_archive("where an entry ends", &archive(&[pax(b"9 size=0\n"), nested])).await;
    check_archive("damaged", &archive(&[pax(b"99 path=x\n"), Entry::default()])).await;
    check_archive("damaged", &archive(&[pax(b"nonsense"), Entry::default()])).await;
    let long = |content| Entry { path: "long", kind: b'L', content, ..Entry::default() };
    check_archive("`.` or `..`", &archive(&[long(b"../evil\0"), Entry::default()])).await;
    check_archive("ends before", &archive(&[long(b"name\0")])).await;
    let hidden = [Entry::default().bytes().as_slice(), &ENTRY_END, &inner, &ENTRY_END].concat();
    check_archive("follows its end", &zipped(&hidden)).await;
    check_archive("follows its end", &[archive(&[Entry::default()]), archive(&[Entry::default()])].concat()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_33_bombs() {
    let zeros = vec![0; 42_000_000];
    let bomb = archive(&[Entry { path: "zeros", content: &zeros, ..Entry::default() }]);
    assert!(bomb.len() * 42 < zeros.len());
    check_archive("unpacks to more than", &bomb).await;
    for (depth, reason) in [(100, "too deep"), (10_000, "too long")] {
        let name = "d/".repeat(depth) + "f\0";
        let name = Entry { path: "long", kind: b'L', content: name.as_bytes(), ..Entry::default() };
        check_archive(reason, &archive(&[name, Entry::default()])).await;
    }
    let endless: Vec<u8> =
        (0..100_001).flat_map(|at| Entry { path: &format!("{at}"), ..Entry::default() }.bytes()).collect();
    check_archive("more than 100000 entries", &zipped(&endless)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_34_bytes_that_are_not_what_was_asked_for() {
    let layer = archive(&[Entry::default()]);
    let other = Digest::of(CONFIG.as_bytes());
    let cases: [(&str, Forgery<'_>); 5] = [
        ("the right digest and the wrong size", &|manifest| manifest["layers"][0]["size"] = json!(layer.len() + 1)),
        ("another blob's digest", &|manifest| manifest["layers"][0]["digest"] = json!(other)),
        ("a manifest in place of a config", &|manifest| manifest["config"]["mediaType"] = json!(MANIFEST)),
        ("an archive in place of a document", &|manifest| {
            manifest["layers"][0]["mediaType"] = json!("application/vnd.stax.mcp.v1+json");
        }),
        ("an index in which nothing fits", &|manifest| {
            *manifest = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [] });
        }),
    ];
    for (what, change) in cases {
        let registry = FakeRegistry::start(Door::Open).await;
        let (reference, mut manifest) = publish(&registry, &layer);
        change(&mut manifest);
        registry.put_manifest("bad", "1", MANIFEST, manifest.to_string());
        let here = Project::new();
        let said = here.say(&["pull", &reference]);
        assert_eq!(said.code, Some(6), "{what}: {said:?}");
        assert_eq!(kept(&here), (vec![], vec![]), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_34_a_tag_that_moves_between_two_looks() {
    let registry = FakeRegistry::start(Door::Open).await;
    let (reference, manifest) = publish(&registry, &archive(&[Entry::default()]));
    let first = Digest::of(manifest.to_string().as_bytes());
    let (_, other) = publish(&registry, &archive(&[Entry { content: b"moved", ..Entry::default() }]));
    let pinned = format!("{reference}@{first}");
    assert_eq!(Project::new().json(&["pull", &pinned])["digest"], json!(first), "a digest does not move");
    registry.lie(Lie::Manifest(first.to_string(), other.to_string().into()));
    let here = Project::new();
    here.say(&["pull", &pinned]).refused(6, &["error[B007]"]);
    assert_eq!(kept(&here), (vec![], vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_34_signatures_of_others_and_none_where_one_is_required() {
    let registry = FakeRegistry::start(Door::Open).await;
    let author = project();
    build(&author);
    author.json(&["sign", "--new-key", "mallory.key"]);
    author.json(&["sign", "--new-key", "team.key"]);
    let (unsigned, foreign) = (format!("{}/unsigned:1", registry.host()), format!("{}/foreign:1", registry.host()));
    author.json(&["push", &unsigned]);
    author.json(&["push", &foreign, "--sign", "mallory.key"]);
    for reference in [unsigned, foreign] {
        let here = Project::new()
            .file("home/.config/entourage/config.toml", "[signatures]\npolicy = \"require\"\nkeys = [\"team.pub\"]\n")
            .file("home/.config/entourage/team.pub", &author.read("team.key.pub"));
        here.say(&["pull", &reference]).refused(6, &["error[B050]"]);
        assert_eq!(kept(&here), (vec![], vec![]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_35_a_registry_that_wants_our_credential_to_be_sent_elsewhere() {
    let attacker = FakeRegistry::start(Door::Password).await;
    let realm = FakeRegistry::start(Door::Token).await;
    let blobs = FakeRegistry::start(Door::Password).await;
    publish(&blobs, &archive(&[Entry::default()]));
    for (registry, lie) in [
        (&realm, Lie::Realm(format!("http://{}/token", attacker.host()))),
        (&blobs, Lie::Blobs(format!("http://{}", attacker.host()))),
    ] {
        let here = Project::new();
        assert_eq!(login(&here, &registry.host(), PASSWORD).code, Some(0));
        registry.lie(lie);
        let said = here.say(&["pull", &format!("{}/bad:1", registry.host())]);
        assert_eq!(said.code, Some(3), "{said:?}");
        assert_eq!(kept(&here), (vec![], vec![]));
    }
    assert!(!attacker.log().is_empty(), "it was asked");
    assert!(attacker.credentials_seen().iter().all(Option::is_none), "{:?}", attacker.credentials_seen());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_layer_of_a_kind_that_nobody_knows_is_not_dropped_in_silence() {
    let registry = FakeRegistry::start(Door::Open).await;
    let (reference, mut manifest) = publish(&registry, &archive(&[Entry::default()]));
    manifest["layers"][0]["mediaType"] = json!("application/vnd.stax.dreams.v1.tar+gzip");
    registry.put_manifest("bad", "1", MANIFEST, manifest.to_string());
    let here = Project::new();
    let written = here.json(&["materialize", &reference, "--adapter", "codex", "--out", "o"]);
    assert_eq!(written["losses"][0]["field"], "application/vnd.stax.dreams.v1.tar+gzip", "{written}");
    here.say(&["materialize", &reference, "--adapter", "codex", "--out", "o", "--exact"]).refused(5, &["dreams"]);
    let said = here.say(&["extract", &reference, "x"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stderr.contains("warning[B087]") && said.stderr.contains("dreams"), "{said:?}");
}
