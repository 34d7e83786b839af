//! How blobs reach a registry that has something of its own to say about it.

use crate::artifact::{CONFIG, Local, PROMPT, client, reference, told};
use entourage_bundle::{ArtifactKind, Descriptor, LayerKind, Manifest, names};
use entourage_model::Digest;
use entourage_outside::registry::Freight;
use entourage_testkit::{Door, FakeRegistry};
use std::collections::BTreeMap;

/// An artifact with a layer of so many bytes, no two pieces of which are alike.
fn large(local: &Local, bytes: usize) -> (Descriptor, Vec<u8>) {
    let layer: Vec<u8> = (0..bytes).map(|at| (at / 251) as u8 ^ (at % 251) as u8).collect();
    let mut change = local.layout.begin();
    let config = change.put(names::CONFIG, CONFIG).unwrap();
    let put = change.put(LayerKind::Knowledge.media_type(), &layer).unwrap();
    let manifest = Manifest::new(ArtifactKind::Agent.artifact_type(), config, vec![put]);
    let artifact = change.put(names::MANIFEST, &manifest.to_bytes()).unwrap();
    change.add(&artifact);
    change.commit().unwrap();
    (artifact, layer)
}

fn count(log: &[String], start: &str) -> usize {
    log.iter().filter(|line| line.starts_with(start)).count()
}

#[tokio::test]
async fn a_registry_that_takes_no_long_bodies_is_sent_pieces() {
    let registry = FakeRegistry::start(Door::Password).await.with_bodies_of(1 << 20);
    let here = Local::new();
    let (artifact, layer) = large(&here, (1 << 20) + 77);
    let (_folder, client) = crate::doors::known(&registry, entourage_testkit::fake_registry::PASSWORD);
    client.push(here.freight(), &artifact, &reference(&registry, "agent:1")).await.unwrap();
    assert_eq!(registry.blob(Digest::of(&layer)).unwrap(), layer);
    let log = registry.log();
    // Once whole, which was refused, then three pieces of at most half a MiB.
    assert_eq!(count(&log, "PATCH"), 3, "{log:?}");
    let before = log.len();
    let (artifact, layer) = large(&here, (1 << 20) + 78);
    client.push(here.freight(), &artifact, &reference(&registry, "agent:2")).await.unwrap();
    assert_eq!(registry.blob(Digest::of(&layer)).unwrap(), layer);
    let log = &registry.log()[before..];
    assert_eq!((count(log, "POST"), count(log, "PATCH")), (1, 3), "what was learnt is not learnt again: {log:?}");
}

#[tokio::test]
async fn a_registry_that_takes_next_to_nothing_is_given_up() {
    let registry = FakeRegistry::start(Door::Open).await.with_bodies_of(1 << 10);
    let here = Local::new();
    let (artifact, _) = large(&here, 1 << 20);
    let (exit, text) = told(client().push(here.freight(), &artifact, &reference(&registry, "agent:1")).await);
    assert_eq!(exit, 3);
    assert!(text.contains("takes no body"), "{text}");
    assert!(registry.manifest("agent", "1").is_none());
}

#[tokio::test]
async fn a_blob_of_another_repository_is_taken_over_and_not_sent() {
    let registry = FakeRegistry::start(Door::Open).await.keeping_apart();
    let (here, artifact) = Local::with_artifact();
    let (one, other) = (reference(&registry, "t/one:1"), reference(&registry, "t/other:1"));
    client().push(here.freight(), &artifact, &one).await.unwrap();
    here.layout.tag(&one, &artifact).unwrap();
    let elsewhere = here.layout.held_elsewhere(&other).unwrap();
    assert_eq!(elsewhere[&Digest::of(PROMPT)], "t/one");
    assert_eq!(here.layout.held_elsewhere(&one).unwrap(), BTreeMap::new());
    let before = registry.log().len();
    client().push(Freight { blobs: &here.layout, elsewhere: &elsewhere }, &artifact, &other).await.unwrap();
    let log = &registry.log()[before..];
    assert_eq!((count(log, "POST"), count(log, "PUT")), (2, 1), "only the manifest is sent: {log:?}");
    assert_eq!(Local::new().pull(&client(), &other).await.unwrap().digest, artifact.digest);
}

#[tokio::test]
async fn a_blob_that_is_not_there_to_be_taken_over_is_sent() {
    let registry = FakeRegistry::start(Door::Open).await.keeping_apart();
    let (here, artifact) = Local::with_artifact();
    let elsewhere = BTreeMap::from([(Digest::of(PROMPT), "t/nobody".to_owned())]);
    let freight = Freight { blobs: &here.layout, elsewhere: &elsewhere };
    let reference = reference(&registry, "t/a:1");
    client().push(freight, &artifact, &reference).await.unwrap();
    assert_eq!(Local::new().pull(&client(), &reference).await.unwrap().digest, artifact.digest);
}
