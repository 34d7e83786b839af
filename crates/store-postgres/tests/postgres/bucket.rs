//! Long blobs in a bucket, on a server that nobody here wrote.

use crate::wire::Wire;
use crate::world::World;
use entourage_model::Digest;
use entourage_store::{Store, StoreError};
use entourage_store_postgres::{Options, PostgresStore};
use entourage_testkit::BucketServer;
use entourage_testkit::bucket_server::Credentials;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::block_in_place;

const LONG: &[u8] = b"longer than four";

fn tiny() -> World {
    World::with("&blobs=s3://bucket/a/b&blob_bytes=4")
}

fn options(variables: Vec<(String, String)>) -> Options {
    Options { variables: Some(variables.into_iter().collect()), ..Options::default() }
}

fn name_of(digest: Digest) -> String {
    format!("a/b/{}", digest.to_string().replace(':', "-"))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_node_puts_another_reads_and_damage_is_found() {
    let server = block_in_place(BucketServer::start);
    let world = tiny();
    let open = async || {
        let options = options(server.variables(&server.writer, server.port()));
        PostgresStore::open(&world.url(), options).await.expect("it can be opened")
    };
    let (here, there) = (open().await, open().await);
    let digest = Digest::of(LONG);
    for _ in 0..2 {
        here.put_blob(digest, LONG).await.expect("it can be kept");
    }
    here.put_blob(Digest::of(b"four"), b"four").await.expect("it can be kept");
    let names = block_in_place(|| server.names());
    assert!(names.len() == 2 && names.contains(&name_of(digest)), "it and the store's mark: {names:?}");
    assert_eq!(there.blob(digest).await.expect("it can be read").as_deref(), Some(LONG));
    assert_eq!(there.check().await.expect("it can be checked"), []);
    let big = vec![7; 9_000_000];
    here.put_blob(Digest::of(&big), &big).await.expect("it can be kept");
    assert!(there.blob(Digest::of(&big)).await.expect("it can be read").as_deref() == Some(&big));
    let shown = format!("{here:?}");
    assert!(!shown.contains(&server.writer.secret) && !shown.contains(&server.writer.key), "{shown}");
    block_in_place(|| server.spoil(&name_of(digest)));
    assert!(matches!(there.blob(digest).await, Err(StoreError::Corrupt(_))), "something else lies there");
    let found = |reports: Vec<entourage_model::Report>| reports.iter().map(|report| report.code.0).collect::<Vec<_>>();
    assert_eq!(found(there.check().await.expect("it can be checked")), ["S008"]);
    block_in_place(|| server.remove(&name_of(digest)));
    assert!(matches!(there.blob(digest).await, Err(StoreError::Corrupt(_))), "it is lost");
    assert_eq!(found(there.check().await.expect("it can be checked")), ["S049"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_cannot_be_used_is_refused_and_no_secret_is_told() {
    let server = block_in_place(BucketServer::start);
    let wrong = Credentials { secret: "hidden-secret".to_owned(), ..server.writer.clone() };
    let nobody = Credentials { key: "HIDDENKEY".to_owned(), secret: "hidden-secret".to_owned() };
    let with = |who: &Credentials| server.variables(who, server.port());
    let without = |name: &str| with(&server.writer).into_iter().filter(|pair| pair.0 != name).collect::<Vec<_>>();
    let nowhere = vec![("AWS_METADATA_ENDPOINT".to_owned(), "http://127.0.0.1:1".to_owned())];
    let cases = [
        ("bucket", with(&wrong), "SignatureDoesNotMatch"),
        ("bucket", with(&nobody), "InvalidAccessKeyId"),
        ("bucket", with(&server.reader), "AccessDenied"),
        ("none", with(&server.writer), "no such bucket"),
        ("bucket", without("AWS_ALLOW_HTTP"), "speaks no TLS"),
        ("bucket", server.variables(&server.writer, 1), "refused"),
        ("bucket", nowhere, "refused"),
    ];
    for (bucket, variables, word) in cases {
        let url = format!("{}&blobs=s3://{bucket}", World::new().url());
        let options = Options { patience: Duration::from_millis(300), ..options(variables) };
        let refused = PostgresStore::open(&url, options).await.expect_err(word);
        let told = format!("{refused:?}");
        assert!(told.contains("S046") && told.contains(word), "`{word}` is not in {told}");
        for secret in [&server.writer.secret, &server.writer.key, &wrong.secret, &nobody.key] {
            assert!(!told.contains(secret.as_str()), "{told}");
        }
    }
    assert_eq!(block_in_place(|| server.names()), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_is_away_is_waited_for() {
    let server = block_in_place(BucketServer::start);
    let wire = Wire::before(&server.address(), None).await;
    let world = tiny();
    let variables = server.variables(&server.writer, wire.port);
    let patient = Options { patience: Duration::from_secs(60), ..options(variables.clone()) };
    let hasty = Options { patience: Duration::from_millis(200), ..options(variables) };
    let patient = Arc::new(PostgresStore::open(&world.url(), patient).await.expect("it can be opened"));
    let hasty = PostgresStore::open(&world.url(), hasty).await.expect("it can be opened");
    let digest = Digest::of(LONG);
    wire.cut();
    assert!(matches!(hasty.put_blob(digest, LONG).await, Err(StoreError::Unavailable(_))), "nobody is there");
    assert_eq!(patient.blob(digest).await.expect("the database answers"), None, "it was not put");
    wire.cut();
    let putting = tokio::spawn({
        let patient = Arc::clone(&patient);
        async move { patient.put_blob(digest, LONG).await }
    });
    wire.until_turned_away(3).await;
    assert!(!putting.is_finished());
    wire.mend();
    putting.await.expect("nothing panics").expect("the bucket is back");
    assert_eq!(hasty.blob(digest).await.expect("it can be read").as_deref(), Some(LONG));
}
