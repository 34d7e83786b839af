//! Long blobs in a folder that all nodes share.

use crate::contract::{InDatabase, made};
use crate::open::refusal;
use crate::world::{World, new_thread};
use entourage_model::Digest;
use entourage_store::{Store, StoreError, Table, copy};
use entourage_store_postgres::{Options, PostgresStore};
use std::fs::{OpenOptions, create_dir, read_dir, remove_file, rename};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const LONG: &[u8] = b"longer than four";

thread_local! {
    /// One for all cases of a test, whose stores share it. Removed when that ends.
    static FOLDER: TempDir = TempDir::new().expect("a folder can be made");
}

fn tiny(folder: &Path) -> String {
    format!("&blobs=file://{}&blob_bytes=4", folder.display())
}

async fn make() -> InDatabase {
    made(World::with(&FOLDER.with(|folder| tiny(folder.path())))).await
}

entourage_store::contract!(make);

fn names(folder: &Path) -> Vec<String> {
    let entries = read_dir(folder).expect("it can be listed").map(|entry| entry.expect("it can be listed").file_name());
    entries.map(|name| name.to_string_lossy().into_owned()).collect()
}

fn path_of(folder: &Path, digest: Digest) -> PathBuf {
    folder.join(digest.to_string().replace(':', "-"))
}

fn code(refused: &StoreError) -> &'static str {
    match refused {
        StoreError::Refused(report) => report.code.0,
        other => unreachable!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_node_puts_another_reads_and_damage_is_found() {
    let folder = TempDir::new().expect("a folder can be made");
    let world = World::with(&tiny(folder.path()));
    let (here, there) = (world.open().await, world.open().await);
    let digest = Digest::of(LONG);
    for _ in 0..2 {
        here.put_blob(digest, LONG).await.expect("it can be kept");
    }
    here.put_blob(Digest::of(b"four"), b"four").await.expect("it can be kept");
    let path = path_of(folder.path(), digest);
    assert!(path.exists() && names(folder.path()).len() == 2, "it and the store's mark: {:?}", names(folder.path()));
    assert_eq!(there.blob(digest).await.expect("it can be read").as_deref(), Some(LONG));
    assert_eq!(there.check().await.expect("it can be checked"), []);
    let mut file = OpenOptions::new().write(true).open(&path).expect("it is there");
    file.write_all(b"L").expect("it can be changed");
    assert!(matches!(there.blob(digest).await, Err(StoreError::Corrupt(_))), "one byte is wrong");
    let found = |reports: Vec<entourage_model::Report>| reports.iter().map(|report| report.code.0).collect::<Vec<_>>();
    assert_eq!(found(there.check().await.expect("it can be checked")), ["S008"]);
    here.put_blob(digest, LONG).await.expect("it can be kept");
    assert_eq!(there.blob(digest).await.expect("it was put again").as_deref(), Some(LONG));
    remove_file(&path).expect("it is there");
    assert!(matches!(there.blob(digest).await, Err(StoreError::Corrupt(_))), "it is lost");
    assert_eq!(found(there.check().await.expect("it can be checked")), ["S049"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_into_a_folder_where_nothing_is_mounted_any_more() {
    let place = TempDir::new().expect("a folder can be made");
    let (folder, away) = (place.path().join("shared"), place.path().join("away"));
    create_dir(&folder).expect("it can be made");
    let world = World::with(&tiny(&folder));
    let store = world.open().await;
    let digest = Digest::of(LONG);
    store.put_blob(digest, LONG).await.expect("it can be kept");
    for empty in [false, true] {
        rename(&folder, &away).expect("it can be moved");
        if empty {
            create_dir(&folder).expect("it can be made");
        }
        assert!(matches!(store.put_blob(digest, LONG).await, Err(StoreError::Unavailable(_))));
        assert!(matches!(store.blob(digest).await, Err(StoreError::Unavailable(_))), "not lost, but away");
        let refused = PostgresStore::open(&world.url(), Options::default()).await.expect_err("it is another folder");
        assert_eq!(code(&refused), if empty { "S047" } else { "S046" });
        if empty {
            assert_eq!(names(&folder), [""; 0]);
            std::fs::remove_dir(&folder).expect("it is empty");
        }
        rename(&away, &folder).expect("it can be moved");
        assert_eq!(store.blob(digest).await.expect("it is back").as_deref(), Some(LONG));
    }
    let bare = world.url().replace(&tiny(&folder), "");
    assert_eq!(code(&PostgresStore::open(&bare, Options::default()).await.expect_err("nobody said where")), "S048");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_can_be_changed_as_long_as_it_is_empty_and_moved_as_a_whole() {
    let places: Vec<TempDir> = (0..3).map(|_| TempDir::new().expect("a folder can be made")).collect();
    let world = World::new();
    let url = |place: usize| format!("{}{}", world.url(), tiny(places[place].path()));
    let open = async |place: usize| PostgresStore::open(&url(place), Options::default()).await;
    let old = open(0).await.expect("it has none yet");
    let new = open(1).await.expect("nothing lies in the first one");
    let digest = Digest::of(LONG);
    assert!(matches!(old.put_blob(digest, LONG).await, Err(StoreError::Unavailable(_))), "it was changed");
    assert_eq!(new.blob(digest).await.expect("it can be asked"), None);
    new.put_blob(digest, LONG).await.expect("it can be kept");
    assert_eq!(code(&open(2).await.expect_err("something lies elsewhere")), "S047");
    for name in names(places[1].path()) {
        std::fs::copy(places[1].path().join(&name), places[2].path().join(&name)).expect("it can be copied");
    }
    let moved = open(2).await.expect("everything is there");
    assert_eq!(moved.blob(digest).await.expect("it can be read").as_deref(), Some(LONG));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_takes_long_blobs_along_both_ways() {
    let folders = [TempDir::new().expect("a folder can be made"), TempDir::new().expect("a folder can be made")];
    let worlds = [World::with(&tiny(folders[0].path())), World::with(&tiny(folders[1].path())), World::new()];
    let mut before = worlds[0].open().await;
    before.create(new_thread(1), None).await.expect("it can be made");
    for blob in [LONG, b"four", b"another long one"] {
        before.put_blob(Digest::of(blob), blob).await.expect("it can be kept");
    }
    for (world, outside) in worlds[1..].iter().zip([2, 0]) {
        let after = world.open().await;
        let copied = copy(&before, &after, |_, _| ()).await.expect("it can be copied");
        assert_eq!(copied.get(&Table::Blobs), Some(&3));
        assert_eq!(after.blob(Digest::of(LONG)).await.expect("it can be read").as_deref(), Some(LONG));
        let lying: i64 = world
            .client()
            .await
            .query_one("SELECT count(*) FROM blobs WHERE body IS NULL", &[])
            .await
            .expect("it can be counted")
            .get(0);
        assert_eq!(lying, outside);
        before = after;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_that_cannot_be_used_is_refused_at_once() {
    let file = tempfile::NamedTempFile::new().expect("a file can be made");
    let file = format!("file://{}", file.path().display());
    let cases = [
        ("file:///nowhere/at/all", "S046"),
        (file.as_str(), "S046"),
        // Nobody may make files there, not even root.
        ("file:///sys/kernel", "S046"),
        ("file:///proc/self", "S046"),
        ("file://relative", "S045"),
        ("ftp://host/folder", "S045"),
        ("s3://key:hidden@bucket", "S045"),
    ];
    for (place, expected) in cases {
        let url = format!("{}&blobs={place}", World::new().url());
        let (code, what) = refusal(&url).await;
        assert_eq!(code, expected, "{place}: {what}");
        assert!(!what.contains("hidden"), "{what}");
    }
}
