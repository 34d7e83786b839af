//! What is sent and fetched when everybody is honest, and asked for again when somebody is busy.

use crate::artifact::{CONFIG, Local, PROMPT, client, manifest, publish, reference, told};
use entourage_bundle::Target;
use entourage_model::Digest;
use entourage_outside::registry::Registry;
use entourage_testkit::{Door, FakeRegistry, Lie};

#[tokio::test]
async fn what_was_sent_comes_back_byte_for_byte() {
    let registry = FakeRegistry::start(Door::Open).await;
    let reference = reference(&registry, "deep/er/agent:1.0.0");
    let (here, artifact) = Local::with_artifact();
    client().push(here.freight(), &artifact, &reference).await.unwrap();
    assert_eq!(registry.manifest("deep/er/agent", "1.0.0").unwrap(), manifest().to_bytes());
    let there = Local::new();
    let fetched = there.pull(&client(), &reference).await.unwrap();
    assert_eq!(fetched.digest, artifact.digest);
    let found = there.layout.resolve(&Target::Reference(reference)).unwrap().unwrap();
    assert_eq!(found.digest, artifact.digest);
    for digest in [Digest::of(CONFIG), Digest::of(PROMPT), artifact.digest] {
        assert_eq!(std::fs::read(there.path_of(digest)).unwrap(), std::fs::read(here.path_of(digest)).unwrap());
    }
}

#[tokio::test]
async fn only_what_is_missing_moves() {
    let registry = FakeRegistry::start(Door::Open).await;
    let reference = reference(&registry, "agent:1");
    let (here, artifact) = Local::with_artifact();
    registry.put_blob(PROMPT);
    client().push(here.freight(), &artifact, &reference).await.unwrap();
    let sent = |log: &[String]| log.iter().filter(|line| line.starts_with("POST")).count();
    assert_eq!(sent(&registry.log()), 1, "{:?}", registry.log());
    let before = registry.log().len();
    client().push(here.freight(), &artifact, &reference).await.unwrap();
    assert_eq!(sent(&registry.log()[before..]), 0);
    let before = registry.log().len();
    here.pull(&client(), &reference).await.unwrap();
    assert!(!registry.log()[before..].iter().any(|line| line.contains("/blobs/")), "{:?}", registry.log());
}

#[tokio::test]
async fn a_blob_that_was_spoiled_here_is_fetched_again() {
    let registry = FakeRegistry::start(Door::Open).await;
    publish(&registry, &manifest());
    let (here, artifact) = Local::with_artifact();
    let path = here.path_of(Digest::of(PROMPT));
    let mut spoiled = PROMPT.to_vec();
    spoiled[0] ^= 1;
    std::fs::write(&path, spoiled).unwrap();
    let fetched = here.pull(&client(), &reference(&registry, "t/a:1")).await.unwrap();
    assert_eq!(fetched.digest, artifact.digest);
    assert_eq!(std::fs::read(path).unwrap(), PROMPT);
}

#[tokio::test]
async fn who_is_busy_or_breaks_off_is_asked_again() {
    let cases = [Lie::Busy { times: 2 }, Lie::Cut { blob: Digest::of(PROMPT), after: 9, times: 2 }];
    for lie in cases {
        let registry = FakeRegistry::start(Door::Open).await;
        publish(&registry, &manifest());
        registry.lie(lie);
        let here = Local::new();
        here.pull(&client(), &reference(&registry, "t/a:1")).await.unwrap();
        assert!(here.layout.index().unwrap().of_digest(Digest::of(&manifest().to_bytes())).is_some());
    }
}

#[tokio::test]
async fn a_registry_that_is_not_there_or_does_not_know_it_is_told_as_such() {
    let registry = FakeRegistry::start(Door::Open).await;
    publish(&registry, &manifest());
    registry.lie(Lie::Busy { times: 3 });
    let here = Local::new();
    let before = here.files();
    let (exit, text) = told(here.pull(&client(), &reference(&registry, "t/a:1")).await);
    assert_eq!(exit, 3);
    assert!(text.contains("answered 503"), "{text}");
    for rest in ["t/a:2", "t/b:1"] {
        let (exit, text) = told(here.pull(&client(), &reference(&registry, rest)).await);
        assert_eq!(exit, 3);
        assert!(text.contains("has no") && text.contains(rest), "{text}");
    }
    let gone = reference(&registry, "t/a:1");
    drop(registry);
    let (exit, text) = told(here.pull(&client(), &gone).await);
    assert_eq!(exit, 3);
    assert!(text.contains("cannot be reached"), "{text}");
    assert_eq!(here.files(), before);
}

#[tokio::test]
async fn what_is_spoiled_here_is_not_sent() {
    let registry = FakeRegistry::start(Door::Open).await;
    let (here, artifact) = Local::with_artifact();
    let mut spoiled = PROMPT.to_vec();
    spoiled[3] ^= 1;
    std::fs::write(here.path_of(Digest::of(PROMPT)), spoiled).unwrap();
    let pushed = Registry::push(&client(), here.freight(), &artifact, &reference(&registry, "agent:1")).await;
    assert_eq!(told(pushed).0, 6);
    assert_eq!(registry.log(), [""; 0]);
}

#[tokio::test]
async fn a_digest_that_is_not_the_artifact_s_is_not_pushed_to() {
    let registry = FakeRegistry::start(Door::Open).await;
    let (here, artifact) = Local::with_artifact();
    let other = Digest::of(b"other");
    let wrong = reference(&registry, &format!("agent:1@{other}"));
    assert_eq!(told(client().push(here.freight(), &artifact, &wrong).await).0, 1);
    let right = reference(&registry, &format!("agent@{}", artifact.digest));
    client().push(here.freight(), &artifact, &right).await.unwrap();
    assert!(registry.manifest("agent", &artifact.digest.to_string()).is_some());
    assert!(registry.manifest("agent", "latest").is_none());
}
