//! The local store: blobs first, the index last, and nothing left behind.

use crate::kit::{Shop, agent, codes};
use entourage_bundle::{Blobs as _, Descriptor, Layout, Target, names};
use entourage_model::Digest;
use std::io::Write as _;

#[test]
fn a_change_is_whole_or_not_at_all() {
    let shop = Shop::new();
    let before = shop.snapshot();
    let mut change = shop.layout.begin();
    let blob = change.put("text/plain", b"hello").unwrap();
    assert!(change.has(&blob) && shop.layout.size(blob.digest).is_none());
    assert_eq!(change.read(&blob, 10).unwrap(), b"hello", "what is staged can be looked into");
    let mut writer = change.writer().unwrap();
    writer.write_all(b"half").unwrap();
    drop(writer);
    drop(change);
    assert_eq!(shop.snapshot(), before);
    let mut change = shop.layout.begin();
    let blob = change.put(names::MANIFEST, b"hello").unwrap();
    change.tag(&blob, "h.io/a:1");
    change.commit().unwrap();
    assert_eq!(shop.layout.read(&blob, 10).unwrap(), b"hello");
    assert_eq!(shop.snapshot().len(), 3, "marker, index and blob");
    let target = Target::parse(Some("h.io/a:1")).unwrap();
    assert_eq!(shop.layout.find(&target).unwrap().digest, blob.digest);
}

#[test]
fn a_blob_that_is_not_what_was_promised_is_refused() {
    let shop = Shop::new();
    let change = shop.layout.begin();
    let promised = Descriptor::of("text/plain", b"hello");
    for bytes in [b"hallo".as_slice(), b"hell", b"hello!"] {
        let mut writer = change.writer().unwrap();
        writer.write_all(bytes).unwrap();
        assert_eq!(codes(writer.finish_as(&promised).unwrap_err()), (6, vec!["B007"]));
    }
    drop(change);
    assert_eq!(shop.snapshot().len(), 1, "only the marker is there");
}

#[test]
fn a_changed_blob_is_noticed_and_a_new_build_heals_it() {
    let shop = Shop::new();
    let definition = agent(r#","prompt":"./p.md""#);
    let files = [("agent.json", definition.as_str()), ("p.md", "You are it.")];
    let built = shop.build(&files);
    for blob in built.manifest.blobs().chain([&built.descriptor]) {
        let path = shop.layout.path().join("blobs/sha256").join(blob.digest.to_string().trim_start_matches("sha256:"));
        let whole = shop.layout.read(blob, 1 << 20).unwrap();
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        for tampered in [flipped, whole[..whole.len() - 1].to_vec(), [whole.as_slice(), b"x"].concat()] {
            overwrite(&path, &tampered);
            let (exit, _) = codes(shop.open(built.descriptor.digest).unwrap_err());
            assert_eq!(exit, 6, "{}", blob.media_type);
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(codes(shop.open(built.descriptor.digest).unwrap_err()), (6, vec!["B006"]));
        shop.build(&files);
        shop.open(built.descriptor.digest).unwrap();
    }
}

#[expect(clippy::disallowed_methods, reason = "a test tampers with what was stored")]
fn overwrite(path: &std::path::Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn what_is_no_layout_is_refused() {
    let folder = tempfile::TempDir::with_prefix("entourage-").unwrap();
    let open = |path: &std::path::Path| codes(Layout::open(path).unwrap_err());
    assert_eq!(open(&folder.path().join("nowhere")), (6, vec!["B005"]));
    assert_eq!(open(folder.path()), (6, vec!["B005"]));
    overwrite(&folder.path().join("oci-layout"), br#"{"imageLayoutVersion":"2.0.0"}"#);
    assert_eq!(open(folder.path()), (6, vec!["B005"]));
    overwrite(&folder.path().join("oci-layout"), br#"{"imageLayoutVersion":"1.0.0"}"#);
    let layout = Layout::open(folder.path()).unwrap();
    overwrite(&folder.path().join("index.json"), b"{");
    assert_eq!(codes(layout.index().unwrap_err()), (6, vec!["B005"]));
}

#[test]
fn what_is_not_there_is_said_so() {
    let shop = Shop::new();
    let missing = Digest::of(b"x").to_string();
    let cases = [(None, (1, "B003")), (Some("h.io/a:1"), (1, "B002")), (Some(missing.as_str()), (6, "B006"))];
    for (text, (exit, code)) in cases {
        let target = Target::parse(text).unwrap();
        assert_eq!(codes(shop.layout.find(&target).unwrap_err()), (exit, vec![code]), "{text:?}");
    }
    assert_eq!(codes(Target::parse(Some("nonsense")).unwrap_err()), (1, vec!["B001"]));
}

#[test]
fn two_processes_change_one_layout() {
    let shop = Shop::new();
    std::thread::scope(|scope| {
        for at in 0..8 {
            let layout = Layout::open(shop.layout.path()).unwrap();
            scope.spawn(move || {
                let mut change = layout.begin();
                let blob = change.put(names::MANIFEST, format!("{at}").as_bytes()).unwrap();
                change.tag(&blob, format!("h.io/a:{at}"));
                change.commit().unwrap();
            });
        }
    });
    assert_eq!(shop.layout.index().unwrap().manifests.len(), 8);
    assert_eq!(shop.snapshot().len(), 10);
}

#[test]
fn what_a_killed_process_left_is_swept_away() {
    let shop = Shop::new();
    let left = shop.layout.path().join(".new-1-0");
    overwrite(&left, b"half a blob");
    let file = std::fs::OpenOptions::new().write(true).open(&left).unwrap();
    file.lock().unwrap();
    Layout::create(shop.layout.path()).unwrap();
    assert!(left.exists(), "its process lives");
    drop(file);
    Layout::create(shop.layout.path()).unwrap();
    assert!(!left.exists());
}

#[test]
fn whoever_starts_meanwhile_takes_nothing_away() {
    let shop = Shop::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let layout = &shop.layout;
            scope.spawn(move || {
                for at in 0..25 {
                    let mut change = layout.begin();
                    let blob = change.put(names::MANIFEST, format!("{writer} {at}").as_bytes()).unwrap();
                    change.add(&blob);
                    change.commit().unwrap();
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| (0..100).for_each(|_| drop(Layout::create(shop.layout.path()).unwrap())));
        }
    });
    assert_eq!(shop.layout.index().unwrap().manifests.len(), 100);
    assert_eq!(shop.snapshot().len(), 102);
}
