//! `push`, `pull` and `login`, with a real registry and with one that lies.

use crate::project::{Project, Said, ending, signal};
use crate::terminal::draw;
use entourage_testkit::fake_registry::{PASSWORD, USERNAME};
use entourage_testkit::{Access, Door, FakeRegistry, Lie, RealRegistry};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

pub(crate) const AGENT: &str = r#"{
  "name": "keeper", "version": "1.0.0", "description": "Keeps things.", "prompt": "./prompt.md",
  "subagents": "./subagents.json",
  "adapter": { "type": "generic", "runtime": "generic", "adapterVersion": "1.0.0", "importMode": "filesystem",
               "fidelity": "best-effort", "targets": [{ "kind": "file", "path": "A.md" }], "config": {}, "features": {} }
}"#;
pub(crate) const SUBAGENTS: &str = r#"{ "agents": {
  "reviewer": { "description": "Checks diffs", "instructions": "./reviewer.md", "invocation": "manual",
                "handoff": { "allowedFrom": ["primary"], "returnMode": "patch" } },
  "helper": { "description": "Helps reviewers", "instructions": "./helper.md", "handoff": { "allowedFrom": ["reviewer"] } }
} }"#;

/// A project with an agent and two subagents.
pub(crate) fn project() -> Project {
    Project::new()
        .file("agent.json", AGENT)
        .file("subagents.json", SUBAGENTS)
        .file("prompt.md", "You keep things.\n")
        .file("reviewer.md", "You review.\n")
        .file("helper.md", "You help.\n")
}

/// Builds, and says which artifact it is.
pub(crate) fn build(project: &Project) -> String {
    project.json(&["build"])["digest"].as_str().unwrap().to_owned()
}

pub(crate) fn blob(project: &Project, digest: &str) -> PathBuf {
    project.path().join(".entourage/oci/blobs/sha256").join(digest.trim_start_matches("sha256:"))
}

#[expect(clippy::disallowed_methods, reason = "a test looks at what the binary wrote")]
pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// Changes one byte of a file.
#[expect(clippy::disallowed_methods, reason = "a test spoils what the binary reads")]
pub(crate) fn spoil(path: &Path) {
    let mut spoiled = bytes(path);
    spoiled[0] ^= 1;
    std::fs::write(path, spoiled).unwrap();
}

/// The digests that a project's layout knows, and the blobs and other files in it.
pub(crate) fn kept(project: &Project) -> (Vec<String>, Vec<String>) {
    let layout = project.path().join(".entourage/oci");
    let index = layout.join("index.json");
    let index: Value = if index.exists() { serde_json::from_slice(&bytes(&index)).unwrap() } else { Value::Null };
    let manifests = index["manifests"].as_array().into_iter().flatten();
    let known = manifests.map(|entry| entry["digest"].as_str().unwrap().to_owned()).collect();
    let names = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().map(Result::unwrap);
        entries.filter(|entry| entry.path().is_file()).map(|entry| entry.file_name().into_string().unwrap())
    };
    let mut files: Vec<_> = names(layout.join("blobs/sha256")).chain(names(layout)).collect();
    files.retain(|name| name != "oci-layout" && name != "index.json");
    (known, files)
}

pub(crate) fn login(project: &Project, host: &str, password: &str) -> Said {
    let arguments = ["login", host, "--username", USERNAME, "--password-stdin"];
    let mut command = project.command(&arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{password}").unwrap();
    ending(child)
}

#[test]
fn what_was_built_comes_back_from_a_real_registry_byte_for_byte() {
    let registry = RealRegistry::start(Access::Everybody);
    let here = project();
    let digest = build(&here);
    let reference = format!("{}/team/keeper:1.0.0", registry.host());
    assert_eq!(here.json(&["push", &reference]), json!({ "reference": reference, "digest": digest }));
    assert_eq!(bytes(&registry.blob_path(&digest)), bytes(&blob(&here, &digest)));
    let there = Project::new();
    assert_eq!(there.json(&["pull", &reference]), json!({ "reference": reference, "digest": digest }));
    let manifest: Value = serde_json::from_slice(&bytes(&blob(&there, &digest))).unwrap();
    let layers = manifest["layers"].as_array().unwrap();
    assert_eq!(layers.len(), 2);
    for part in layers.iter().chain([&manifest["config"]]) {
        let part = part["digest"].as_str().unwrap();
        assert_eq!(bytes(&blob(&there, part)), bytes(&blob(&here, part)));
    }
    let index: Value = serde_json::from_str(&there.read(".entourage/oci/index.json")).unwrap();
    assert_eq!(index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"], reference);
    assert_eq!(there.say(&["verify", &reference]).code, Some(0));
    let looked = Project::new().json(&["inspect", &reference]);
    assert_eq!(
        (&looked["digest"], &looked["name"]),
        (&json!(digest), &json!("keeper")),
        "it is fetched when asked for"
    );
}

#[test]
fn a_moved_tag_is_followed_and_a_digest_is_not() {
    let registry = RealRegistry::start(Access::Everybody);
    let here = project();
    let reference = format!("{}/keeper", registry.host());
    let first = build(&here);
    here.json(&["push", &reference]);
    let here = here.file("prompt.md", "You keep other things.\n");
    let second = build(&here);
    here.json(&["push", &reference]);
    assert_ne!(first, second);
    let there = Project::new();
    let pinned = format!("{reference}@{first}");
    assert_eq!(there.json(&["pull", &pinned])["digest"], first);
    assert_eq!(there.json(&["pull", &reference])["digest"], second);
    assert_eq!(there.json(&["inspect", &pinned])["digest"], first);
}

#[test]
fn a_spoiled_blob_in_a_registry_is_noticed_and_leaves_nothing() {
    let registry = RealRegistry::start(Access::Everybody);
    let here = project();
    let reference = format!("{}/keeper:1", registry.host());
    build(&here);
    here.json(&["push", &reference]);
    let layer = here.json(&["inspect"])["layers"][0]["digest"].as_str().unwrap().to_owned();
    spoil(&registry.blob_path(&layer));
    let there = Project::new();
    there.say(&["pull", &reference]).refused(6, &["error[B007]", &layer]);
    assert_eq!(kept(&there), (vec![], vec![]));
}

#[test]
fn a_registry_that_asks_who_we_are_takes_what_login_stored() {
    let registry = RealRegistry::start(Access::Alice);
    let reference = format!("{}/keeper:1", registry.host());
    let here = project();
    let digest = build(&here);
    here.say(&["push", &reference]).refused(3, &["error[B041]", "no credential is known", "entourage login"]);
    login(&here, registry.host(), "wrong").refused(3, &["error[B041]"]);
    let file = here.path().join("home/.config/entourage/credentials.json");
    assert!(!file.exists(), "what was refused is not stored");
    let said = login(&here, registry.host(), PASSWORD);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(!said.stderr.contains(PASSWORD) && !said.stdout.contains(PASSWORD), "{said:?}");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(here.json(&["push", &reference])["digest"], digest);
    assert_eq!(here.json(&["pull", &reference])["digest"], digest);
}

#[test]
fn docker_s_own_credentials_are_used() {
    let registry = RealRegistry::start(Access::Alice);
    let reference = format!("{}/keeper:1", registry.host());
    let auth = json!({ "auths": { registry.host(): { "auth": "YWxpY2U6b3Blbi1zZXNhbWU=" } } });
    let here = project().file("home/.docker/config.json", &auth.to_string());
    let digest = build(&here);
    assert_eq!(here.json(&["push", &reference])["digest"], digest);
    let helped = json!({ "credHelpers": { registry.host(): "test" } });
    let helper = format!(
        "#!/bin/sh\nread server\n[ \"$1 $server\" = \"get {}\" ] || exit 1\n\
         echo '{{\"ServerURL\":\"x\",\"Username\":\"{USERNAME}\",\"Secret\":\"{PASSWORD}\"}}'\n",
        registry.host()
    );
    let there =
        Project::new().file("docker/config.json", &helped.to_string()).file("bin/docker-credential-test", &helper);
    let program = there.path().join("bin/docker-credential-test");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let folder = |name: &str| there.path().join(name).display().to_string();
    let (docker, path) = (folder("docker"), folder("bin"));
    let there = there.variable("DOCKER_CONFIG", &docker).variable("PATH", &path);
    assert_eq!(there.json(&["pull", &reference])["digest"], digest);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o644)).unwrap();
    there.say(&["pull", &reference]).refused(3, &["error[B042]", "docker-credential-test"]);
}

#[test]
fn what_cannot_be_reached_or_named_is_told_by_its_exit_code() {
    let registry = RealRegistry::start(Access::Everybody);
    let here = project();
    here.say(&["push", "127.0.0.1:1/keeper"]).refused(1, &["error[B003]"]);
    build(&here);
    let host = registry.host();
    for reference in ["keeper", "host/keeper", "localhost/UP", "localhost/a:b:c", "https://localhost/a"] {
        here.say(&["push", reference]).refused(1, &["error[B001]"]);
        here.say(&["pull", reference]).refused(1, &["error[B001]"]);
    }
    here.say(&["pull", &format!("{host}/nobody:1")]).refused(3, &["error[B043]"]);
    here.say(&["login", "https://localhost", "--username", "a", "--password-stdin"]).refused(1, &["error[B047]"]);
    here.say(&["login", host, "--username", "a", "--password-stdin"]).refused(1, &["error[B048]"]);
    here.say(&["pull", "127.0.0.1:1/keeper"]).refused(3, &["error[B040]"]);
    assert_eq!(kept(&Project::new()), (vec![], vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_elsewhere_is_not_spoken_to_in_plain_http_unless_asked() {
    let registry = FakeRegistry::start(Door::Open).await;
    let here = project();
    build(&here);
    // Every address of 127.0.0.0/8 is this machine, and only one of them is its name.
    let elsewhere = registry.host().replace("127.0.0.1", "127.0.0.2");
    here.say(&["push", &format!("{elsewhere}/keeper")]).refused(3, &["error[B040]"]);
    assert_eq!(registry.log(), [""; 0], "nothing but the first bytes of TLS may have left");
}

#[test]
fn a_registry_is_believed_by_whoever_trusts_its_authority_and_by_nobody_else() {
    let registry = RealRegistry::start_encrypted(Access::Alice);
    let reference = format!("{}/keeper:1", registry.host());
    let authority = registry.authority().display().to_string();
    let here = project();
    let digest = build(&here);
    for arguments in [["push", &reference], ["pull", &reference]] {
        let said = here.say(&arguments);
        said.refused(3, &["error[B083]", "UnknownIssuer", "SSL_CERT_FILE"]);
        assert_eq!(said.stderr.matches("UnknownIssuer").count(), 1, "asked once and told once: {said:?}");
    }
    login(&here, registry.host(), PASSWORD).refused(3, &["error[B083]"]);
    assert!(!here.path().join("home/.config/entourage/credentials.json").exists());
    let here = here.variable("SSL_CERT_FILE", &authority);
    assert_eq!(login(&here, registry.host(), PASSWORD).code, Some(0));
    assert_eq!(here.json(&["push", &reference])["digest"], digest);
    assert_eq!(bytes(&registry.blob_path(&digest)), bytes(&blob(&here, &digest)));
    assert_eq!(here.json(&["pull", &reference])["digest"], digest);
    let there = Project::new().variable("SSL_CERT_FILE", &authority);
    there.say(&["pull", &reference]).refused(3, &["error[B041]"]);
    // Not to be talked into plain HTTP either.
    there.say(&["--plain-http", "pull", &reference]).refused(3, &[]);
    assert_eq!(kept(&there), (vec![], vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_artifact_above_the_limit_is_refused_before_it_is_fetched() {
    let registry = FakeRegistry::start(Door::Open).await;
    let here = project();
    build(&here);
    let reference = format!("{}/keeper:1", registry.host());
    here.json(&["push", &reference]);
    let there = Project::new().file("entourage.toml", "[limits]\nartifact_bytes = 64\n");
    there.say(&["pull", &reference]).refused(6, &["error[B008]", "artifact_bytes"]);
    assert_eq!(kept(&there), (vec![], vec![]));
    registry.lie(Lie::Busy { times: 1 });
    assert_eq!(Project::new().say(&["pull", &reference]).code, Some(0), "who is busy is asked again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_that_is_interrupted_leaves_nothing() {
    let registry = FakeRegistry::start(Door::Open).await;
    let here = project();
    build(&here);
    let reference = format!("{}/keeper:1", registry.host());
    here.json(&["push", &reference]);
    let layer = here.json(&["inspect"])["layers"][0]["digest"].as_str().unwrap().to_owned();
    registry.lie(Lie::Silent(layer.parse().unwrap()));
    let there = Project::new();
    let child = there.start(&["pull", &reference]);
    registry.until_asked(&format!("GET /v2/keeper/blobs/{layer}")).await;
    tokio::task::block_in_place(|| {
        signal(&child, Signal::INT);
        ending(child).refused(8, &["error[B054]"]);
    });
    assert_eq!(kept(&there), (vec![], vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_pull_has_left_is_gone_with_the_next_start() {
    let registry = FakeRegistry::start(Door::Open).await;
    let here = project();
    let digest = build(&here);
    let reference = format!("{}/keeper:1", registry.host());
    here.json(&["push", &reference]);
    let layer = here.json(&["inspect"])["layers"][0]["digest"].as_str().unwrap().to_owned();
    registry.lie(Lie::Silent(layer.parse().unwrap()));
    let there = Project::new();
    let mut child = there.start(&["pull", &reference]);
    registry.until_asked(&format!("GET /v2/keeper/blobs/{layer}")).await;
    tokio::task::block_in_place(|| {
        let is_left = |name: &String| name.starts_with(".new-");
        while kept(&there).1.iter().filter(|name| is_left(name)).count() < 2 {
            std::thread::yield_now();
        }
        // Whoever starts meanwhile leaves alone what somebody still writes to.
        there.say(&["inspect"]).refused(1, &["error[B003]"]);
        assert!(kept(&there).1.iter().any(is_left));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(kept(&there).1.iter().any(is_left), "nobody was there to remove it");
        there.say(&["inspect"]).refused(1, &["error[B003]"]);
        assert_eq!(kept(&there), (vec![], vec![]));
    });
    registry.be_honest();
    assert_eq!(there.json(&["pull", &reference])["digest"], digest);
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_terminal_what_moves_is_shown() {
    let registry = FakeRegistry::start(Door::Open).await;
    let here = project();
    let digest = build(&here);
    let reference = format!("{}/keeper:1", registry.host());
    let (drawn, said) = draw(&here, &["push", &reference]);
    assert!(drawn.contains("subagents ") && drawn.contains("━━━━"), "{drawn:?}");
    assert_eq!(said.trim(), digest);
    let (drawn, _) = draw(&Project::new(), &["pull", &reference]);
    assert!(drawn.contains("prompt ") && drawn.contains("17 B of 17 B"), "{drawn:?}");
}
