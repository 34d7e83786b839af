//! Long blobs of a PostgreSQL store outside of it, by the binary: in a folder that nodes share, in a bucket.

use crate::project::Project;
use entourage_testkit::BucketServer;
use entourage_testkit::postgres::Database;
use serde_json::json;
use std::path::PathBuf;
use tempfile::TempDir;

const RUN: [&str; 6] = ["--model", "script:script.json", "run", "hello", "--file", "script.json"];

#[test]
fn long_blobs_lie_in_a_shared_folder_and_go_along_with_copies() {
    let (database, shared) = (Database::new(), TempDir::new().unwrap());
    let store = format!("{}?blobs=file://{}&blob_bytes=16", database.url(), shared.path().display());
    let project = Project::with_echo().variable("ENTOURAGE_STORE", &store);
    assert_eq!(project.say(&RUN).code, Some(0));
    let outside: i32 = database.run("SELECT count(*) FROM entourage.blobs WHERE body IS NULL").trim().parse().unwrap();
    assert!(outside > 1, "a team and a file: {outside}");
    assert_eq!(project.json(&["store", "check"])["reports"], json!([]));
    assert_eq!(project.say(&["store", "copy", "--to", "sqlite:back"]).code, Some(0));
    let thread = project.root();
    for store in [store.as_str(), "sqlite:back"] {
        let on = ["--store", store, "--model", "script:script.json", "send", thread.as_str(), "and on"];
        assert!(project.say(&on).stdout.contains("I heard: and on"), "{store}");
    }

    project.say(&["--store", database.url(), "threads"]).refused(9, &["error[S048]", "hint: add `blobs=…`"]);
    let elsewhere = format!("{}?blobs=file:///nowhere/at/all", database.url());
    project
        .say(&["--store", &elsewhere, "threads"])
        .refused(9, &["error[S046]", "No such file", "hint: make the folder"]);
    let strange = format!("{}?blobs=ftp://hidden/", database.url());
    let said = project.say(&["--store", &strange, "threads"]);
    said.refused(1, &["error[S045]", "hint: `blobs` in the store's address is"]);
    assert!(!said.stderr.contains("hidden"), "{said:?}");

    let files: Vec<PathBuf> = shared.path().read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    let lost = files.iter().find(|file| !text(file).starts_with("Here lie")).unwrap();
    std::fs::remove_file(lost).unwrap();
    let checked = project.say(&["store", "check"]);
    assert!(checked.code == Some(9) && checked.stdout.contains("error[S049]"), "{checked:?}");
}

#[expect(clippy::disallowed_methods, reason = "a test reads what the binary wrote")]
fn text(path: &PathBuf) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_bucket_is_opened_by_the_credentials_of_the_environment_and_nobody_prints_them() {
    let (database, server) = (Database::new(), BucketServer::start());
    let store = format!("{}?blobs=s3://bucket/blobs&blob_bytes=16", database.url());
    let node = |secret: &str| {
        let project = Project::with_echo().variable("ENTOURAGE_STORE", &store);
        let variables = server.variables(&server.writer, server.port()).into_iter();
        variables.fold(project, |project, (name, value)| {
            let value = if name == "AWS_SECRET_ACCESS_KEY" { secret.to_owned() } else { value };
            project.variable(&name, &value)
        })
    };
    let (good, bad) = (node(&server.writer.secret), node("hidden-secret"));
    bad.say(&RUN).refused(9, &["error[S046]", "SignatureDoesNotMatch", "hint: look at `AWS_ACCESS_KEY_ID`"]);
    assert_eq!(good.say(&RUN).code, Some(0));
    assert!(server.names().iter().all(|name| name.starts_with("blobs/sha256-")) && server.names().len() > 2);
    assert_eq!(good.json(&["store", "check"])["reports"], json!([]));
    for said in [bad.say(&["--log", "trace", "threads"]), good.say(&["--log", "trace", "threads"])] {
        for secret in [server.writer.secret.as_str(), server.writer.key.as_str(), "hidden-secret"] {
            assert!(!said.stderr.contains(secret) && !said.stdout.contains(secret), "{said:?}");
        }
    }
    let kept = database.run("SELECT value FROM entourage.meta");
    assert!(!kept.contains(&server.writer.secret) && !kept.contains(&server.writer.key), "{kept}");
}
