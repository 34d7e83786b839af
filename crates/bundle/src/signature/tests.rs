//! What is believed, and what is not.

use super::*;
use std::path::PathBuf;

const WHEN: &str = "2026-11-16T00:00:00Z";

struct Case {
    folder: tempfile::TempDir,
    layout: Layout,
    artifact: Descriptor,
}

fn key(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32])
}

/// An artifact that these keys have signed.
fn signed_by(keys: &[&SecretKey]) -> Case {
    let folder = tempfile::tempdir().expect("a folder");
    let layout = Layout::create(folder.path()).expect("a layout");
    let mut change = layout.begin();
    let config = change.put(media::CONFIG, b"{}").expect("a config");
    let manifest = Manifest::new("application/vnd.stax.agent.v1", config, Vec::new());
    let artifact = change.put(media::MANIFEST, &manifest.to_bytes()).expect("a manifest");
    change.mark_latest(&artifact);
    for key in keys {
        sign(&mut change, &artifact, key, WHEN).expect("a signature");
    }
    change.commit().expect("a change");
    Case { folder, layout, artifact }
}

impl Case {
    fn standings(&self, keys: &[PublicKey]) -> Vec<Standing> {
        let artifact = self.artifact.digest;
        let signatures = attached(&self.layout, artifact).expect("an index");
        signatures.iter().map(|signature| standing(&self.layout, signature, artifact, keys)).collect()
    }

    fn path_of(&self, digest: Digest) -> PathBuf {
        self.folder.path().join("blobs/sha256").join(digest.to_string().trim_start_matches("sha256:"))
    }
}

#[test]
fn a_known_key_is_believed_and_another_is_not() {
    let (one, two) = (key(1), key(2));
    let case = signed_by(&[&one]);
    let good = Standing::Good { signer: one.public().id(), signed_at: WHEN.to_owned() };
    assert_eq!(case.standings(&[two.public(), one.public()]), [good]);
    let unknown = Standing::Unknown { signer: format!("`{}`", one.public().id()) };
    assert_eq!(case.standings(&[two.public()]), [unknown]);
    assert_eq!(signed_by(&[]).standings(&[one.public()]), []);
}

#[test]
fn a_signature_holds_for_its_own_artifact_only() {
    let one = key(1);
    let case = signed_by(&[&one]);
    let other = Descriptor::of(media::MANIFEST, b"another");
    let mut change = case.layout.begin();
    let moved = sign(&mut change, &other, &one, WHEN).expect("a signature");
    let found = standing(&change, &moved, case.artifact.digest, &[one.public()]);
    assert_eq!(found, Standing::Bad { reason: "it is of another artifact".to_owned() });
}

#[test]
fn a_changed_envelope_is_not_believed() {
    let one = key(1);
    let subject = Descriptor::of(media::MANIFEST, b"artifact");
    let statement = Statement {
        spec_version: SPEC_VERSION.to_owned(),
        subject,
        signer: one.public().id(),
        signed_at: WHEN.to_owned(),
    };
    let sealed: Value = serde_json::from_slice(&envelope::seal(&statement, &one)).expect("it is JSON");
    let opened = |value: &Value| envelope::open(value.to_string().as_bytes(), &[one.public()]);
    assert_eq!(opened(&sealed), Opened::Signed(statement.clone()));
    let forged = Opened::Broken("it was not made by the key that it names");
    let mut other = sealed.clone();
    other["payload"] = Value::from("e30=");
    assert_eq!(opened(&other), forged);
    let mut other = sealed.clone();
    other["payloadType"] = Value::from("text/plain");
    assert_eq!(opened(&other), forged);
    let mut other = sealed;
    other["signatures"][0]["sig"] = Value::from("AAAA");
    assert_eq!(opened(&other), forged);
    let by_two: Value = serde_json::from_slice(&envelope::seal(&statement, &key(2))).expect("it is JSON");
    assert_eq!(opened(&by_two), forged, "it names a key that did not sign it");
    assert_eq!(opened(&Value::Null), Opened::Broken("it is no envelope"));
}

#[test]
fn spoiled_blobs_of_a_signature_are_noticed() {
    let one = key(1);
    let case = signed_by(&[&one]);
    let signature = attached(&case.layout, case.artifact.digest).expect("an index").remove(0);
    let payload = read_manifest(&case.layout, &signature).expect("a manifest").layers.remove(0);
    let path = case.path_of(payload.digest);
    let folder = cap_std::fs::Dir::open_ambient_dir(path.parent().expect("a folder"), cap_std::ambient_authority());
    let folder = folder.expect("a folder");
    let name = path.file_name().expect("a name");
    let mut bytes = folder.read(name).expect("a blob");
    bytes[10] ^= 1;
    folder.write(name, bytes).expect("a spoiled blob");
    let found = case.standings(&[one.public()]);
    assert!(matches!(&found[..], [Standing::Bad { reason }] if reason.contains("another digest")), "{found:?}");
}

#[test]
fn other_algorithms_are_left_alone() {
    let one = key(1);
    let case = signed_by(&[&one]);
    let mut change = case.layout.begin();
    let config = change.put(CONFIG, br#"{"algorithm":"sigstore"}"#).expect("a config");
    let payload = change.put(PAYLOAD, b"{}").expect("a payload");
    let subject = Some(case.artifact.clone());
    let manifest = Manifest { subject, ..Manifest::new(SIGNATURE, config, vec![payload]) };
    let foreign = change.put(media::MANIFEST, &manifest.to_bytes()).expect("a manifest");
    let found = standing(&change, &foreign, case.artifact.digest, &[one.public()]);
    assert_eq!(found, Standing::Unknown { signer: "somebody, by `sigstore`".to_owned() });
}

#[test]
fn the_policy_decides_what_is_refused() {
    let artifact = Digest::of(b"artifact");
    let good = Standing::Good { signer: key(1).public().id(), signed_at: WHEN.to_owned() };
    let unknown = Standing::Unknown { signer: "x".to_owned() };
    let bad = Standing::Bad { reason: "y".to_owned() };
    let cases = [
        (Policy::None, vec![], "fine"),
        (Policy::None, vec![bad.clone()], "fine"),
        (Policy::Warn, vec![good.clone(), bad.clone()], "fine"),
        (Policy::Warn, vec![], "warning"),
        (Policy::Warn, vec![unknown.clone()], "warning"),
        (Policy::Require, vec![bad.clone(), good], "fine"),
        (Policy::Require, vec![unknown], "exit 6"),
        (Policy::Require, vec![bad], "exit 6"),
        (Policy::Require, vec![], "exit 6"),
    ];
    for (policy, standings, expected) in cases {
        let judged = match judge(policy, artifact, &standings) {
            Ok(None) => "fine".to_owned(),
            Ok(Some(_)) => "warning".to_owned(),
            Err(fault) => format!("exit {}", fault.exit() as u8),
        };
        assert_eq!(judged, expected, "{policy:?} {standings:?}");
        assert_eq!(Policy::of_word(policy.word()), Some(policy));
    }
}

#[test]
fn keys_are_read_as_they_are_written_and_by_other_tools() {
    let secret = key(7);
    let again = SecretKey::parse(&secret.to_pem()).expect("our own form");
    assert_eq!(again.public(), secret.public());
    assert_eq!(PublicKey::parse(&secret.public().to_pem()), Some(secret.public()));
    // As `openssl pkey` writes it.
    let pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB\n-----END PRIVATE KEY-----\n";
    assert_eq!(SecretKey::parse(pem).expect("another tool's form").public(), key(1).public());
    let pem = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAiojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=\n-----END PUBLIC KEY-----\n";
    assert_eq!(PublicKey::parse(pem), Some(key(1).public()));
    assert!(SecretKey::parse("nonsense").is_none());
    assert!(PublicKey::parse(&secret.to_pem()).is_none(), "a secret key is no public one");
    assert!(!format!("{secret:?}").contains("BwcH"));
}
