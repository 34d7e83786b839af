//! Keys, signatures and policies.

use crate::project::Project;
use crate::registry::{build, project};
use entourage_testkit::{Access, Door, FakeRegistry, RealRegistry};
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;

/// A project with the pair `team.key` and `team.key.pub`, whose id is given.
fn with_key(project: Project) -> (Project, String) {
    let made = project.json(&["sign", "--new-key", "team.key"]);
    let id = made["id"].as_str().unwrap().to_owned();
    (project, id)
}

/// Somebody who believes only that key.
fn strict(key: &str) -> Project {
    Project::new()
        .file("home/.config/entourage/config.toml", "[signatures]\npolicy = \"require\"\nkeys = [\"team.pub\"]\n")
        .file("home/.config/entourage/team.pub", key)
}

#[test]
fn keys_are_made_once_and_the_secret_half_is_nobody_else_s() {
    let (here, _) = with_key(Project::new());
    let mode = here.path().join("team.key").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let before = here.read("team.key");
    here.say(&["sign", "--new-key", "team.key"]).refused(2, &["error[B053]"]);
    assert_eq!(here.read("team.key"), before);
}

#[test]
fn a_signed_build_is_verified_by_whoever_knows_the_key() {
    let (here, id) = with_key(project());
    build(&here);
    here.say(&["verify", "--policy", "require", "--key", "team.key.pub"]).refused(6, &["error[B050]", "no signature"]);
    let warned = here.say(&["verify", "--policy", "warn", "--key", "team.key.pub"]);
    assert_eq!(warned.code, Some(0));
    assert!(warned.stderr.contains("warning[B050]"), "{warned:?}");
    assert_eq!(here.say(&["verify"]).code, Some(0), "unsigned is fine where nobody asks");
    here.say(&["sign", "--key", "team.key.pub"]).refused(1, &["error[B052]"]);
    let signed = here.json(&["sign", "--key", "team.key"]);
    assert_eq!(signed["signer"], id);
    let verified = here.json(&["verify", "--policy", "require", "--key", "team.key.pub"]);
    assert_eq!(verified["signatures"][0]["standing"], "good");
    assert_eq!(verified["signatures"][0]["signer"], id);
    here.json(&["sign", "--new-key", "other.key"]);
    here.say(&["verify", "--policy", "require", "--key", "other.key.pub"]).refused(6, &["error[B050]", &id]);
    here.say(&["verify", "--policy", "require"]).refused(6, &["error[B050]"]);
    let here = here.file("prompt.md", "Changed after it was signed.\n");
    build(&here);
    here.say(&["verify", "--policy", "require", "--key", "team.key.pub"]).refused(6, &["no signature"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn signatures_travel_with_the_artifact_through_every_kind_of_registry() {
    let real = RealRegistry::start(Access::Everybody);
    let new = FakeRegistry::start(Door::Open).await;
    let old = FakeRegistry::start(Door::Open).await.without_referrers();
    for host in [real.host().to_owned(), new.host(), old.host()] {
        let (here, _) = with_key(project());
        let digest = build(&here);
        let key = here.read("team.key.pub");
        let unsigned = format!("{host}/unsigned:1");
        let signed = format!("{host}/signed:1");
        here.json(&["push", &unsigned]);
        let there = strict(&key);
        there.say(&["pull", &unsigned]).refused(6, &["error[B050]"]);
        assert!(!there.path().join(".entourage/oci/index.json").exists(), "nothing is kept of it");
        here.json(&["push", &signed, "--sign", "team.key"]);
        let there = strict(&key);
        assert_eq!(there.json(&["pull", &signed])["digest"], digest);
        let verified = there.json(&["verify", &signed]);
        assert_eq!(verified["signatures"][0]["standing"], "good", "{host}: {verified}");
        let agents = there.say(&["--project", &format!("oci:{signed}"), "agents"]);
        assert_eq!(agents.code, Some(0), "{agents:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signature_that_was_attached_later_is_found_in_the_registry() {
    let real = RealRegistry::start(Access::Everybody);
    let new = FakeRegistry::start(Door::Open).await;
    let old = FakeRegistry::start(Door::Open).await.without_referrers();
    for host in [real.host().to_owned(), new.host(), old.host()] {
        let (here, id) = with_key(project());
        build(&here);
        let reference = format!("{host}/late:1");
        here.json(&["push", &reference]);
        let there = Project::new().file("team.pub", &here.read("team.key.pub"));
        there.json(&["pull", &reference]);
        let asked = ["verify", &reference, "--policy", "require", "--key", "team.pub"];
        there.say(&asked).refused(6, &["error[B050]", "no signature"]);
        here.json(&["push", &reference, "--sign", "team.key"]);
        assert_eq!(there.json(&["verify", &reference])["signatures"], json!([]), "nobody asked");
        assert_eq!(there.json(&asked)["signatures"][0]["signer"], id, "{host}");
        assert_eq!(there.json(&["verify", &reference])["signatures"][0]["standing"], "unknown", "it is kept");
    }
    // Where the registry has gone, what is here must do.
    let (here, _) = with_key(project());
    build(&here);
    let reference = format!("{}/gone:1", real.host());
    here.json(&["push", &reference, "--sign", "team.key"]);
    drop(real);
    assert_eq!(here.say(&["verify", &reference, "--policy", "require", "--key", "team.key.pub"]).code, Some(0));
}

#[test]
fn a_bundle_that_nobody_known_signed_does_not_run_where_that_is_required() {
    let (here, _) = with_key(project());
    let digest = build(&here);
    let bundle = format!("oci:{}@{digest}", here.path().join(".entourage/oci").display());
    let there = strict(&here.read("team.key.pub"));
    there.say(&["--project", &bundle, "agents"]).refused(6, &["error[B050]"]);
    here.json(&["sign", "--key", "team.key"]);
    assert_eq!(there.say(&["--project", &bundle, "agents"]).code, Some(0));
}

#[test]
fn a_project_does_not_say_whom_to_believe_before_it_is_trusted() {
    let (here, _) = with_key(project());
    build(&here);
    let here = here.file("entourage.toml", "[signatures]\npolicy = \"require\"\n");
    let said = here.say(&["verify"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stderr.contains("warning[C007]"), "{said:?}");
    here.say(&["--trust", "verify"]).refused(6, &["error[B050]"]);
}
