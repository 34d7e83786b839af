//! Registries that lie: refused, and nothing of what they sent is left.

use crate::artifact::{BYTES_MAX, CONFIG, Local, PROMPT, client, manifest, publish, reference, told};
use bytes::Bytes;
use entourage_bundle::{Descriptor, LayerKind, Manifest, names};
use entourage_model::Digest;
use entourage_testkit::{Door, FakeRegistry, Lie};

fn flipped(bytes: &[u8]) -> Bytes {
    let mut bytes = bytes.to_vec();
    bytes[0] ^= 1;
    bytes.into()
}

#[tokio::test]
async fn other_bytes_than_promised_are_refused_and_leave_nothing() {
    let prompt = Digest::of(PROMPT);
    let longer = Bytes::from([PROMPT, b" and more"].concat());
    let cases = [
        (Lie::Blob(prompt, flipped(PROMPT)), "its bytes have the digest"),
        (Lie::Blob(Digest::of(CONFIG), flipped(CONFIG)), "its bytes have the digest"),
        (Lie::Blob(prompt, longer), "sent more than"),
        (Lie::Blob(prompt, Bytes::from_static(&PROMPT[..7])), "it has 7 bytes"),
        (Lie::Cut { blob: prompt, after: 7, times: 99 }, "the connection ended after 7 of 34 bytes"),
        (Lie::CutManifest(40), "the manifest of `1` is refused: the connection ended before the end of"),
        (Lie::ContentDigest(format!("sha256:{}", "0".repeat(64))), "the registry announced the digest"),
        (Lie::ContentDigest("nonsense".to_owned()), "the registry announced the digest"),
        (Lie::Manifest("1".to_owned(), Bytes::from_static(b"{\"schemaVersion\":2")), "malformed"),
    ];
    for (lie, expected) in cases {
        let registry = FakeRegistry::start(Door::Open).await;
        publish(&registry, &manifest());
        let shown = format!("{lie:?}");
        registry.lie(lie);
        let here = Local::new();
        let before = here.files();
        let (exit, text) = told(here.pull(&client(), &reference(&registry, "t/a:1")).await);
        assert_eq!(exit, 6, "{shown}: {text}");
        assert!(text.contains(expected), "{shown}: {text}");
        assert_eq!(here.files(), before, "{shown}");
    }
}

#[tokio::test]
async fn a_digest_that_was_asked_for_is_what_comes() {
    let registry = FakeRegistry::start(Door::Open).await;
    let digest = publish(&registry, &manifest());
    let mut moved = manifest();
    moved.annotations.insert(names::TITLE.to_owned(), "another".to_owned());
    registry.put_manifest("t/a", "1", names::MANIFEST, moved.to_bytes());
    let here = Local::new();
    let pinned = reference(&registry, &format!("t/a:1@{digest}"));
    assert_eq!(here.pull(&client(), &pinned).await.unwrap().digest, digest);
    registry.lie(Lie::Manifest(digest.to_string(), moved.to_bytes().into()));
    let (exit, text) = told(Local::new().pull(&client(), &pinned).await);
    assert_eq!(exit, 6);
    assert!(text.contains("sent a manifest with the digest"), "{text}");
}

#[tokio::test]
async fn manifests_that_cannot_be_are_refused_before_anything_is_fetched() {
    let layer = Descriptor::of(LayerKind::Prompt.media_type(), PROMPT);
    let sized = |size: u64| Manifest { layers: vec![Descriptor { size, ..layer.clone() }], ..manifest() };
    let cases = [
        (Manifest { layers: vec![layer.clone(), layer.clone()], ..manifest() }, "two layers of the type"),
        (Manifest { artifact_type: Some("application/x".to_owned()), ..manifest() }, "neither an agent nor a package"),
        (Manifest { schema_version: 1, ..manifest() }, "`schemaVersion` 1"),
        (sized(BYTES_MAX), "`artifact_bytes` allows"),
        (sized(1 << 53), "`artifact_bytes` allows"),
    ];
    for (manifest, expected) in cases {
        let registry = FakeRegistry::start(Door::Open).await;
        publish(&registry, &manifest);
        let here = Local::new();
        let before = here.files();
        let (exit, text) = told(here.pull(&client(), &reference(&registry, "t/a:1")).await);
        assert_eq!(exit, 6, "{text}");
        assert!(text.contains(expected), "{text}");
        assert_eq!(registry.log().len(), 1, "{:?}", registry.log());
        assert_eq!(here.files(), before);
    }
}

#[tokio::test]
async fn sizes_that_are_off_by_one_are_refused() {
    for delta in [-1i64, 1] {
        let registry = FakeRegistry::start(Door::Open).await;
        let mut manifest = manifest();
        manifest.layers[0].size = manifest.layers[0].size.checked_add_signed(delta).unwrap();
        publish(&registry, &manifest);
        let here = Local::new();
        let before = here.files();
        let (exit, text) = told(here.pull(&client(), &reference(&registry, "t/a:1")).await);
        assert_eq!(exit, 6, "{text}");
        assert_eq!(here.files(), before);
    }
}

#[tokio::test]
async fn an_answer_without_end_is_given_up() {
    let registry = FakeRegistry::start(Door::Open).await;
    publish(&registry, &manifest());
    registry.lie(Lie::Endless);
    let (exit, text) = told(Local::new().pull(&client(), &reference(&registry, "t/a:1")).await);
    assert_eq!(exit, 6);
    assert!(text.contains("sent a manifest of more than"), "{text}");
}
