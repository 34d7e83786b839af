//! The same files are the same bytes, and what could harm is refused.

use super::header::{FILE, FOLDER, Header, LONG_NAME, PAX, PAX_GLOBAL};
use super::*;
use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use std::io::{Read as _, Write as _};

const MEDIA_TYPE: &str = "application/vnd.stax.skills.v1.tar+gzip";
const BYTES_MAX: u64 = 1 << 20;

fn packed(files: &[(&str, &str, bool)], style: ArchiveStyle) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new(), style);
    for (path, text, is_executable) in files {
        writer.file(path, text.len() as u64, *is_executable, text.as_bytes()).expect("a vector takes everything");
    }
    writer.finish().expect("a vector takes everything")
}

fn unpacked(archive: &[u8]) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    let mut visit = |entry: &Entry, bytes: &mut dyn std::io::Read| {
        let mut text = String::new();
        bytes.read_to_string(&mut text).expect("our texts are UTF-8");
        let mark = match entry.kind {
            EntryKind::Folder => "/",
            EntryKind::File { is_executable: true, .. } => "*",
            EntryKind::File { is_executable: false, .. } => "",
        };
        found.push((format!("{}{mark}", entry.path), text));
        Ok(())
    };
    match read_archive(archive, MEDIA_TYPE, BYTES_MAX, &mut visit) {
        Ok(()) => Ok(found),
        Err(fault) => {
            assert_eq!(fault.exit() as u8, 6);
            Err(fault.into_reports().remove(0).what)
        }
    }
}

/// An archive of blocks as somebody else could write them, ended properly.
fn foreign(entries: &[(Header, &[u8])]) -> Vec<u8> {
    let mut tar = Vec::new();
    for (header, bytes) in entries {
        tar.extend_from_slice(&header.0);
        tar.extend_from_slice(bytes);
        tar.resize(tar.len().next_multiple_of(BLOCK), 0);
    }
    tar.extend_from_slice(&[0; 2 * BLOCK]);
    zipped(&tar)
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzBuilder::new().write(Vec::new(), Compression::fast());
    gzip.write_all(bytes).expect("a vector takes everything");
    gzip.finish().expect("a vector takes everything")
}

fn header(path: &str, kind: u8, size: usize) -> Header {
    Header::new(b"", path.as_bytes(), kind, size as u64, 0o644)
}

#[test]
fn files_come_back_with_their_folders_and_modes() {
    let long = format!("{}/{}", "d".repeat(120), "f".repeat(90));
    let longer = format!("{}/{}", "d".repeat(200), "f".repeat(200));
    let files = [
        ("a-b/y", "y", false),
        ("a.txt", "", false),
        ("a/b.txt", "q", false),
        ("a/b/c/deep.sh", "deep", true),
        (long.as_str(), "long", false),
        (longer.as_str(), "longer", true),
        ("日本語.txt", "c", false),
    ];
    let archive = packed(&files, ArchiveStyle::Specification);
    let expected = [
        ("a-b/", ""),
        ("a-b/y", "y"),
        ("a.txt", ""),
        ("a/", ""),
        ("a/b.txt", "q"),
        ("a/b/", ""),
        ("a/b/c/", ""),
        ("a/b/c/deep.sh*", "deep"),
        (&format!("{}/", "d".repeat(120)), ""),
        (&long, "long"),
        (&format!("{}/", "d".repeat(200)), ""),
        (&format!("{longer}*"), "longer"),
        ("日本語.txt", "c"),
    ];
    let expected: Vec<_> = expected.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    assert_eq!(unpacked(&archive), Ok(expected));
}

#[test]
fn the_gzip_header_names_no_time_and_no_system() {
    let archive = packed(&[("a", "a", false)], ArchiveStyle::Specification);
    assert_eq!(archive[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
    let mut tar = Vec::new();
    GzDecoder::new(archive.as_slice()).read_to_end(&mut tar).expect("we wrote it");
    assert_eq!(tar.len(), 4 * BLOCK, "two blocks of zeros end it, and nothing rounds it up");
}

#[test]
fn the_reference_program_has_no_executables_and_cuts_names() {
    let path = "n".repeat(133);
    let archive = packed(&[(&path, "x", true)], ArchiveStyle::Reference);
    assert_eq!(unpacked(&archive), Ok(vec![("n".repeat(100), "x".to_owned())]));
}

#[test]
fn a_file_that_changes_while_it_is_read_is_noticed() {
    for size in [2, 4] {
        let mut writer = ArchiveWriter::new(Vec::new(), ArchiveStyle::Specification);
        writer.file("a", size, false, b"abc".as_slice()).expect_err("it has three bytes");
    }
}

#[test]
fn what_could_harm_is_refused() {
    let file = |path: &str| (header(path, FILE, 1), b"x".as_slice());
    let mut damaged = header("a", FILE, 0);
    damaged.0[0] = b'b';
    let mut unnumbered = Header::new(b"", b"a", FILE, 0, 0o644);
    unnumbered.0[124] = 0x80;
    let big = vec![b'x'; 600 << 10];
    let cases = [
        ("`.` or `..`", vec![file("../a")]),
        ("`.` or `..`", vec![file("a/../../b")]),
        ("`.` or `..`", vec![file("./a")]),
        ("absolute", vec![file("/etc/passwd")]),
        ("backslash", vec![file("..\\a")]),
        ("empty part", vec![file("a/")]),
        ("empty", vec![file("")]),
        ("there twice", vec![file("a"), file("a")]),
        ("there twice", vec![(header("a/", FOLDER, 0), b""), (header("a", FOLDER, 0), b"")]),
        ("there twice", vec![(header("a/", FOLDER, 0), b""), file("a")]),
        ("leads through a file", vec![file("a"), file("a/b")]),
        ("there twice", vec![file("a/b"), file("a")]),
        ("hard link", vec![(header("a", b'1', 0), b"")]),
        ("symbolic link", vec![(header("a", b'2', 0), b"")]),
        ("device", vec![(header("a", b'3', 0), b"")]),
        ("device", vec![(header("a", b'4', 0), b"")]),
        ("pipe", vec![(header("a", b'6', 0), b"")]),
        ("sparse", vec![(header("a", b'S', 0), b"")]),
        ("unknown kind", vec![(header("a", b'7', 0), b"")]),
        ("as somebody else", vec![(Header::new(b"", b"a", FILE, 0, 0o4755), b"")]),
        ("as somebody else", vec![(Header::new(b"", b"a", FILE, 0, 0o2755), b"")]),
        ("contents of its own", vec![(header("a", FOLDER, 1), b"x")]),
        ("damaged", vec![(damaged, b"")]),
        ("damaged", vec![(header("a", PAX, 4), b"9 =\n")]),
        ("a header in it", vec![(unnumbered, b"")]),
        ("more than 1048576 bytes", vec![(header("a", FILE, big.len()), &big), (header("b", FILE, big.len()), &big)]),
        ("ends before", vec![(header("a", LONG_NAME, 2), b"b\0")]),
        ("`.` or `..`", vec![(header("a", LONG_NAME, 5), b"../b\0"), file("c")]),
        ("`.` or `..`", vec![(header("a", PAX, 13), b"13 path=../b\n"), file("c")]),
        ("where an entry ends", vec![(header("a", PAX, 9), b"9 size=9\n"), file("c")]),
        ("for all entries", vec![(header("a", PAX_GLOBAL, 10), b"10 path=b\n"), file("c")]),
        ("not UTF-8", vec![(Header::new(b"", b"a\xff", FILE, 0, 0o644), b"")]),
    ];
    for (expected, entries) in cases {
        let what = unpacked(&foreign(&entries)).expect_err(expected);
        assert!(what.contains(expected), "{expected}: {what}");
    }
}

#[test]
fn an_archive_ends_where_it_says() {
    let whole = foreign(&[(header("a", FILE, 3), b"abc")]);
    unpacked(&whole).expect("it is whole");
    for length in [0, 5, whole.len() / 2, whole.len() - 1] {
        unpacked(&whole[..length]).expect_err("cut short");
    }
    unpacked(&[whole.as_slice(), b"x"].concat()).expect_err("a byte behind the end");
    unpacked(&[whole.as_slice(), &whole].concat()).expect_err("a second archive behind the end");
    unpacked(&zipped(&[[0; 2 * BLOCK].as_slice(), &header("a", FILE, 0).0].concat()))
        .expect_err("an entry behind the end");
    unpacked(&zipped(&header("a", FILE, 600).0)).expect_err("no bytes of the entry");
    unpacked(b"neither").expect_err("not gzip");
}

#[test]
fn no_more_entries_are_read_than_anybody_packs() {
    let mut gzip = GzBuilder::new().write(Vec::new(), Compression::fast());
    for at in 0..=ENTRIES_MAX {
        gzip.write_all(&header(&format!("f{at}"), FILE, 0).0).expect("a vector takes everything");
    }
    let archive = gzip.finish().expect("a vector takes everything");
    let what = unpacked(&archive).expect_err("too many");
    assert!(what.contains("more than 100000 entries"), "{what}");
}

#[test]
fn archives_of_other_programs_are_read() {
    let file = |path: &str| (header(path, FILE, 1), b"x".as_slice());
    let cases = [
        (vec![file("a/b")], "a/b"),
        (vec![(header("g", PAX_GLOBAL, 13), b"13 comment=x\n".as_slice()), file("a")], "a"),
        (vec![(header("l", LONG_NAME, 3), b"ab\0"), file("c")], "ab"),
        (vec![(header("p", PAX, 20), b"11 mtime=1\n9 path=d\n"), file("c")], "d"),
        (vec![(header("a", 0, 1), b"x")], "a"),
    ];
    for (entries, expected) in cases {
        assert_eq!(unpacked(&foreign(&entries)), Ok(vec![(expected.to_owned(), "x".to_owned())]));
    }
}
