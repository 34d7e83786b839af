//! Registries that ask who we are.

use crate::artifact::{Local, client, manifest, publish, reference, settings, told};
use entourage_model::Secret;
use entourage_outside::registry::{Credential, Credentials, Registry, RegistrySettings};
use entourage_testkit::fake_registry::{PASSWORD, USERNAME};
use entourage_testkit::{Door, FakeRegistry, Lie};
use tempfile::TempDir;

fn alice(password: &str) -> Credential {
    Credential::Password { username: USERNAME.to_owned(), password: Secret::new(password) }
}

/// Somebody whose credential for this registry is in a file.
pub(crate) fn known(registry: &FakeRegistry, password: &str) -> (TempDir, Registry) {
    let folder = tempfile::tempdir().unwrap();
    let credentials = Credentials { own: Some(folder.path().join("credentials.json")), docker: None };
    credentials.keep(&registry.host(), &alice(password)).unwrap();
    (folder, Registry::new(RegistrySettings { credentials, ..settings() }))
}

#[tokio::test]
async fn the_right_credential_opens_every_door() {
    for door in [Door::Password, Door::Token] {
        let registry = FakeRegistry::start(door).await;
        let (_folder, client) = known(&registry, PASSWORD);
        let (here, artifact) = Local::with_artifact();
        let reference = reference(&registry, "t/a:1");
        client.push(here.freight(), &artifact, &reference).await.unwrap();
        let fetched = Local::new().pull(&client, &reference).await.unwrap();
        assert_eq!(fetched.digest, artifact.digest, "{door:?}");
    }
}

#[tokio::test]
async fn a_wrong_credential_or_none_opens_no_door() {
    for door in [Door::Password, Door::Token] {
        let registry = FakeRegistry::start(door).await;
        let reference = reference(&registry, "t/a:1");
        let (here, artifact) = Local::with_artifact();
        let (_folder, wrong) = known(&registry, "wrong");
        let (exit, text) = told(wrong.push(here.freight(), &artifact, &reference).await);
        assert_eq!(exit, 3);
        assert!(text.contains("refuses the credential"), "{text}");
        assert!(!text.contains("wrong"), "{text}");
        let (exit, text) = told(client().push(here.freight(), &artifact, &reference).await);
        assert_eq!(exit, 3);
        assert!(text.contains("no credential is known") && text.contains("entourage login"), "{text}");
        assert!(registry.manifest("t/a", "1").is_none());
    }
}

#[tokio::test]
async fn a_token_is_asked_for_once_and_for_what_is_done() {
    let registry = FakeRegistry::start(Door::Token).await;
    publish(&registry, &manifest());
    let reference = reference(&registry, "t/a:1");
    Local::new().pull(&client(), &reference).await.unwrap();
    let anonymous = registry.token_requests();
    assert_eq!(anonymous, [(None, "service=fake&scope=repository%3At%2Fa%3Apull".to_owned())]);
    let (_folder, client) = known(&registry, PASSWORD);
    let (here, artifact) = Local::with_artifact();
    client.push(here.freight(), &artifact, &reference).await.unwrap();
    let asked = registry.token_requests();
    let query = "service=fake&scope=repository%3At%2Fa%3Apull%2Cpush&account=alice";
    assert_eq!(asked[1..], [(Some("Basic YWxpY2U6b3Blbi1zZXNhbWU=".to_owned()), query.to_owned())]);
}

#[tokio::test]
async fn a_credential_is_not_sent_where_it_would_be_seen() {
    let registry = FakeRegistry::start(Door::Token).await;
    publish(&registry, &manifest());
    registry.lie(Lie::Realm("http://elsewhere.invalid/token".to_owned()));
    let (_folder, client) = known(&registry, PASSWORD);
    let (exit, text) = told(Local::new().pull(&client, &reference(&registry, "t/a:1")).await);
    assert_eq!(exit, 3);
    assert!(text.contains("an address that may not be used"), "{text}");
}

#[tokio::test]
async fn a_credential_is_not_sent_to_a_service_that_is_not_the_registry_s() {
    let registry = FakeRegistry::start(Door::Token).await;
    let attacker = FakeRegistry::start(Door::Token).await;
    registry.lie(Lie::Realm(format!("http://{}/token", attacker.host())));
    let (_folder, client) = known(&registry, PASSWORD);
    let (here, artifact) = Local::with_artifact();
    let (exit, text) = told(client.push(here.freight(), &artifact, &reference(&registry, "t/a:1")).await);
    assert_eq!(exit, 3);
    assert!(text.contains("wants the credential to be sent elsewhere"), "{text}");
    assert_eq!(attacker.credentials_seen(), [None::<String>], "it was asked as anybody would");
}

#[tokio::test]
async fn a_credential_is_tried_before_it_is_kept() {
    for door in [Door::Open, Door::Password, Door::Token] {
        let registry = FakeRegistry::start(door).await;
        client().try_credential(&registry.host(), alice(PASSWORD)).await.unwrap();
        let tried = client().try_credential(&registry.host(), alice("wrong")).await;
        match door {
            Door::Open => tried.unwrap(),
            Door::Password | Door::Token => assert_eq!(told(tried).0, 3, "{door:?}"),
        }
    }
}

#[tokio::test]
async fn a_broken_file_matters_only_to_who_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let docker = folder.path().join("config.json");
    std::fs::write(&docker, "{").unwrap();
    let credentials = Credentials { own: None, docker: Some(docker) };
    let client = Registry::new(RegistrySettings { credentials, ..settings() });
    let open = FakeRegistry::start(Door::Open).await;
    publish(&open, &manifest());
    Local::new().pull(&client, &reference(&open, "t/a:1")).await.unwrap();
    let shut = FakeRegistry::start(Door::Password).await;
    let (exit, text) = told(Local::new().pull(&client, &reference(&shut, "t/a:1")).await);
    assert_eq!(exit, 3);
    assert!(text.contains("config.json` cannot be read"), "{text}");
}

#[tokio::test]
async fn whoever_a_registry_sends_us_to_learns_nothing_about_us() {
    let registry = FakeRegistry::start(Door::Password).await;
    let elsewhere = FakeRegistry::start(Door::Token).await;
    publish(&registry, &manifest());
    registry.lie(Lie::Blobs(format!("http://{}", elsewhere.host())));
    let (_folder, client) = known(&registry, PASSWORD);
    let (exit, text) = told(Local::new().pull(&client, &reference(&registry, "t/a:1")).await);
    assert_eq!(exit, 3);
    assert!(text.contains("answered 401"), "{text}");
    assert_eq!(elsewhere.log().len(), 1, "{:?}", elsewhere.log());
    assert_eq!(elsewhere.credentials_seen(), [None::<String>]);
    assert_eq!(elsewhere.token_requests(), []);
}
