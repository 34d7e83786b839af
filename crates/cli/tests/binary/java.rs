//! A client on the JVM: a program that nobody adapted to this server plays the remote task protocol.

use crate::project::Project;
use crate::serve::Serving;
use entourage_testkit::{FakeModel, Reply, Request};
use std::process::Command;

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/binary/Tasks.java");

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_methods, reason = "the test starts somebody else's client")]
async fn a_java_client_submits_waits_listens_and_cancels_over_both_versions() {
    let model = FakeModel::start(|request: &Request| match request.last_text().as_str() {
        "slow" => Reply::hang(),
        text => Reply::text(format!("heard {text}")),
    })
    .await;
    let project = Project::new().with_model(&model);
    tokio::task::block_in_place(|| {
        let serving = Serving::start(&project);
        let base = format!("http://{}/", serving.address);
        let played = Command::new("java").args([PROGRAM, &base, &serving.token]).output();
        let played = played.expect("a JDK is there: `cargo x setup` installs the package `default-jdk-headless`");
        let said = String::from_utf8_lossy(&played.stdout);
        assert!(played.status.success(), "{said}{}", String::from_utf8_lossy(&played.stderr));
        assert!(said.ends_with("all tasks were played\n"), "{said}");
        let threads = serving.get("/threads");
        let users: Vec<_> = threads["threads"].as_array().unwrap().iter().map(|thread| &thread["user_id"]).collect();
        assert!(users.contains(&&serde_json::json!("ann")), "{users:?}");
        serving.kill();
    });
}
