//! What is attached to an artifact, in registries that know of such things and in those that do not.

use crate::artifact::{Local, client, reference, told};
use entourage_bundle::{Descriptor, Manifest, names};
use entourage_testkit::{Door, FakeRegistry, Lie};

const TYPE: &str = "application/vnd.test.note.v1";
const NOTE: &[u8] = b"well done";

/// A note about the artifact, in its layout.
fn attach(local: &Local, subject: &Descriptor) -> Descriptor {
    let mut change = local.layout.begin();
    let config = change.put(names::EMPTY, b"{}").unwrap();
    let note = change.put("text/plain", NOTE).unwrap();
    let manifest = Manifest { subject: Some(subject.clone()), ..Manifest::new(TYPE, config, vec![note]) };
    let stored = change.put(names::MANIFEST, &manifest.to_bytes()).unwrap();
    let attached = Descriptor { artifact_type: Some(TYPE.to_owned()), ..stored };
    change.add(&attached);
    change.commit().unwrap();
    attached
}

#[tokio::test]
async fn what_is_attached_is_found_with_and_without_the_referrers_api() {
    let with = FakeRegistry::start(Door::Open).await;
    let without = FakeRegistry::start(Door::Open).await.without_referrers();
    for (registry, has_stand_in) in [(with, false), (without, true)] {
        let reference = reference(&registry, "t/a:1");
        let (here, artifact) = Local::with_artifact();
        let note = attach(&here, &artifact);
        client().push(here.freight(), &artifact, &reference).await.unwrap();
        client().push_attached(here.freight(), &note, artifact.digest, &reference).await.unwrap();
        client().push_attached(here.freight(), &note, artifact.digest, &reference).await.unwrap();
        let stand_in = artifact.digest.to_string().replace(':', "-");
        assert_eq!(registry.manifest("t/a", &stand_in).is_some(), has_stand_in);
        let there = Local::new();
        let mut change = there.layout.begin();
        let found = client().fetch_attached(&reference, artifact.digest, TYPE, &mut change).await.unwrap();
        assert_eq!(found.iter().map(|found| found.digest).collect::<Vec<_>>(), [note.digest]);
        assert!(change.has(&Descriptor::of("text/plain", NOTE)));
        let none = client().fetch_attached(&reference, artifact.digest, "another/type", &mut change).await.unwrap();
        assert_eq!(none, []);
    }
}

#[tokio::test]
async fn what_is_not_attached_to_it_is_left_out() {
    let registry = FakeRegistry::start(Door::Open).await;
    let reference = reference(&registry, "t/a:1");
    let (here, artifact) = Local::with_artifact();
    let note = attach(&here, &artifact);
    client().push(here.freight(), &artifact, &reference).await.unwrap();
    client().push_attached(here.freight(), &note, artifact.digest, &reference).await.unwrap();
    registry.lie(Lie::Manifest(note.digest.to_string(), registry.manifest("t/a", "1").unwrap()));
    let there = Local::new();
    let mut change = there.layout.begin();
    assert_eq!(client().fetch_attached(&reference, artifact.digest, TYPE, &mut change).await.unwrap(), []);
    drop(registry);
    assert_eq!(told(client().fetch_attached(&reference, artifact.digest, TYPE, &mut change).await).0, 3);
}
