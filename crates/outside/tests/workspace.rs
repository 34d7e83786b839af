//! What a workspace lets through, and everything that it must not.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test builds its own files and may break")]

use entourage_outside::workspace::{PathFault, Workspace};
use proptest::prelude::*;
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Stands in every file outside, and in none inside.
const SECRET: &str = "SECRET";
const INSIDE: &str = "inside";

/// A workspace `ws` with secrets around it and links that lead to them.
struct Fixture {
    around: TempDir,
    workspace: Workspace,
}

impl Fixture {
    fn new() -> Self {
        let around = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = around.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("secret.txt", SECRET);
        write("ws-evil/secret.txt", SECRET);
        write("ws/a.txt", INSIDE);
        write("ws/sub/b.txt", INSIDE);
        let root = around.path().join("ws");
        for (target, link) in [
            ("a.txt", "link-in"),
            ("../a.txt", "sub/link-in"),
            ("/etc/passwd", "link-absolute"),
            ("../secret.txt", "link-out"),
            ("..", "link-up"),
            ("sub/../../ws-evil", "link-sibling"),
            ("/proc/self/root", "link-proc"),
            ("link-loop", "link-loop"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        let workspace = Workspace::open(&root).unwrap();
        Self { around, workspace }
    }

    fn root(&self) -> std::path::PathBuf {
        self.around.path().join("ws")
    }
}

/// Reads `path` and says what came of it: the text, or the name of the fault.
fn read(workspace: &Workspace, path: &str) -> String {
    match workspace.read_text(path, 1 << 16) {
        Ok(text) => text,
        Err(fault) => {
            assert!(!fault.to_string().contains("secret.txt") || path.contains("secret.txt"), "{fault}");
            name(&fault).to_owned()
        }
    }
}

fn name(fault: &PathFault) -> &'static str {
    match fault {
        PathFault::NotFound { .. } => "NotFound",
        PathFault::Outside { .. } => "Outside",
        PathFault::Malformed { .. } => "Malformed",
        PathFault::NotAFile { .. } => "NotAFile",
        PathFault::NotAFolder { .. } => "NotAFolder",
        PathFault::TooLarge { .. } => "TooLarge",
        PathFault::NotText { .. } => "NotText",
        PathFault::Closed { .. } => "Closed",
        PathFault::OfGit { .. } => "OfGit",
        PathFault::Io { .. } => "Io",
        PathFault::Unwritable { .. } => "Unwritable",
    }
}

/// Fails, instead of hanging, when `work` does not come back.
fn promptly<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (answer, answered) = mpsc::channel();
    thread::spawn(move || answer.send(work()));
    answered.recv_timeout(Duration::from_secs(20)).unwrap()
}

#[test]
fn a_path_is_read_beneath_the_root_or_refused() {
    let fixture = Fixture::new();
    let absolute = fixture.root().join("a.txt");
    let beside = fixture.around.path().join("ws-evil/secret.txt");
    let up = fixture.root().join("../secret.txt");
    let overlong = "a/".repeat(3000);
    for (path, expected) in [
        ("a.txt", INSIDE),
        ("./a.txt", INSIDE),
        (".//sub/./b.txt", INSIDE),
        ("sub/../a.txt", INSIDE),
        ("link-in", INSIDE),
        ("sub/link-in", INSIDE),
        ("", "NotAFile"),
        (".", "NotAFile"),
        ("sub", "NotAFile"),
        ("nothing", "NotFound"),
        ("a.txt/below", "NotFound"),
        ("a.txt ", "NotFound"),
        ("a.txt.", "NotFound"),
        ("C:\\a.txt", "NotFound"),
        ("..%2fsecret.txt", "NotFound"),
        ("~/.ssh/id_rsa", "NotFound"),
        ("..", "Outside"),
        ("../secret.txt", "Outside"),
        ("../ws-evil/secret.txt", "Outside"),
        ("../ws/a.txt", "Outside"),
        ("sub/../../secret.txt", "Outside"),
        ("/etc/passwd", "Outside"),
        ("//etc/passwd", "Outside"),
        ("/proc/self/root/etc/passwd", "Outside"),
        (absolute.to_str().unwrap(), INSIDE),
        (beside.to_str().unwrap(), "Outside"),
        (up.to_str().unwrap(), "Outside"),
        ("link-absolute", "Outside"),
        ("link-out", "Outside"),
        ("link-up/secret.txt", "Outside"),
        ("link-sibling/secret.txt", "Outside"),
        ("link-proc/etc/passwd", "Outside"),
        ("link-loop", "Io"),
        ("a.txt\0", "Malformed"),
        ("\0", "Malformed"),
        (&overlong, "Malformed"),
        (&"x".repeat(300), "Malformed"),
    ] {
        assert_eq!(read(&fixture.workspace, path), expected, "{path:?}");
    }
}

/// Whatever leads there: a name, a detour, a link, an absolute path.
#[test]
fn the_programs_own_folder_is_closed() {
    let fixture = Fixture::new();
    let root = fixture.root();
    fs::create_dir(root.join(".own")).unwrap();
    fs::write(root.join(".own/token"), SECRET).unwrap();
    symlink(".own", root.join("own-link")).unwrap();
    symlink(".own/token", root.join("token-link")).unwrap();
    let absolute = root.join(".own/token");
    let workspace = Workspace::open(&root).unwrap().without(&root.join(".own"));
    for path in [".own/token", "sub/../.own/token", "own-link/token", "token-link", absolute.to_str().unwrap()] {
        assert_eq!(read(&workspace, path), "Closed", "{path}");
    }
    assert_eq!(read(&workspace, "a.txt"), INSIDE);
    // A folder that comes later is closed as well.
    let workspace = Workspace::open(&root).unwrap().without(&root.join(".later"));
    fs::create_dir(root.join(".later")).unwrap();
    fs::write(root.join(".later/token"), SECRET).unwrap();
    assert_eq!(read(&workspace, ".later/token"), "Closed");
}

#[test]
fn a_fault_is_a_sentence_that_names_the_path_as_given() {
    let fixture = Fixture::new();
    for (path, expected) in [
        ("../x", "`../x` is not a path inside the workspace; give it relative to the root of the workspace"),
        ("link-out", "`link-out` is not a path inside the workspace; give it relative to the root of the workspace"),
        ("./sub", "`./sub` is a folder, not a file"),
        ("no\nsuch", "`no\\nsuch` does not exist"),
        ("a\0b", "`a\\u{0}b` cannot be a path: it contains a NUL"),
    ] {
        assert_eq!(fixture.workspace.read_text(path, 100).unwrap_err().to_string(), expected);
    }
    let overlong = fixture.workspace.read_text(&"x/".repeat(1 << 20), 100).unwrap_err().to_string();
    let why = "cannot be a path: it has 2097152 bytes, and at most 4096 are allowed";
    assert_eq!(overlong, format!("`{}…` {why}", "x/".repeat(100)));
}

#[test]
fn a_workspace_is_an_existing_folder() {
    let fixture = Fixture::new();
    for (path, expected) in [("ws/nothing", "NotFound"), ("ws/a.txt", "NotAFolder")] {
        let fault = Workspace::open(&fixture.around.path().join(path)).unwrap_err();
        assert_eq!(name(&fault), expected);
    }
}

#[test]
fn magic_links_of_the_kernel_are_refused() {
    let workspace = Workspace::open(Path::new("/proc/self")).unwrap();
    for path in ["root/etc/passwd", "cwd/Cargo.toml", "exe", "fd/0", "task/../root/etc/passwd"] {
        let fault = workspace.file(path).unwrap_err();
        assert!(matches!(fault, PathFault::Io { .. } | PathFault::Outside { .. }), "{path}: {fault}");
    }
}

#[test]
fn what_is_no_file_is_refused_without_waiting_for_it() {
    let fixture = Fixture::new();
    mknodat(CWD, fixture.root().join("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let _socket = UnixListener::bind(fixture.root().join("socket")).unwrap();
    let devices = Workspace::open(Path::new("/dev")).unwrap();
    promptly(move || {
        for (workspace, path, what) in [
            (&fixture.workspace, "fifo", "a FIFO"),
            (&fixture.workspace, "socket", "a socket or a device"),
            (&devices, "zero", "a device"),
            (&devices, "null", "a device"),
        ] {
            let fault = workspace.read_text(path, 1 << 16).unwrap_err();
            assert_eq!(fault.to_string(), format!("`{path}` is {what}, not a file"));
        }
    });
}

#[test]
fn a_huge_sparse_file_costs_only_the_limit() {
    let fixture = Fixture::new();
    let huge = fs::File::create(fixture.root().join("huge")).unwrap();
    huge.set_len(10 << 40).unwrap();
    let (text, size) = promptly(move || {
        let file = fixture.workspace.file("huge").unwrap();
        let size = file.size();
        (file.text(1 << 20).unwrap_err().to_string(), size)
    });
    assert_eq!(size, 10 << 40);
    assert_eq!(text, "`huge` is too large: it has 10995116277760 bytes, and at most 1048576 are read");
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_size() {
    let fixture = Fixture::new();
    let mut late_nul = vec![b'a'; 20_000];
    late_nul[15_000] = 0;
    for (bytes, expected) in [
        (&b"a\0b"[..], "`f` is not text: it is a binary file of 3 bytes"),
        (&b"a\xffb"[..], "`f` is not text: it is a binary file of 3 bytes"),
        (&b"\xe2\x82"[..], "`f` is not text: it is a binary file of 2 bytes"),
        (&late_nul[..], "`f` is not text: it is a binary file of 20000 bytes"),
    ] {
        fs::write(fixture.root().join("f"), bytes).unwrap();
        assert_eq!(fixture.workspace.read_text("f", 1 << 16).unwrap_err().to_string(), expected);
    }
    fs::write(fixture.root().join("f"), "exact").unwrap();
    assert_eq!(fixture.workspace.read_text("f", 5).unwrap(), "exact");
    assert_eq!(name(&fixture.workspace.read_text("f", 4).unwrap_err()), "TooLarge");
    // The kernel gives such files no size, which must not make them endless.
    let kernel = Workspace::open(Path::new("/proc/self")).unwrap();
    assert_eq!(name(&kernel.read_text("status", 10).unwrap_err()), "TooLarge");
}

#[test]
fn a_link_that_is_swapped_while_it_is_opened_never_leads_out() {
    let fixture = Fixture::new();
    let root = fixture.root();
    fs::create_dir(root.join("door")).unwrap();
    fs::write(root.join("door/secret.txt"), INSIDE).unwrap();
    symlink("../ws-evil", root.join("door-out")).unwrap();
    symlink("../secret.txt", root.join("swap")).unwrap();
    symlink("a.txt", root.join("swap-in")).unwrap();
    let (over, started) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let swap = |a: &str, b: &str| {
                renameat_with(CWD, root.join(a), CWD, root.join(b), RenameFlags::EXCHANGE).unwrap();
            };
            while !over.load(Ordering::Relaxed) {
                swap("swap", "swap-in");
                swap("door", "door-out");
                started.store(true, Ordering::Relaxed);
            }
        });
        while !started.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        let escapes: usize = (0..2000)
            .flat_map(|_| ["swap", "door/secret.txt", "sub/../door/secret.txt"])
            .filter(|path| fixture.workspace.read_text(path, 100).is_ok_and(|text| text.contains(SECRET)))
            .count();
        over.store(true, Ordering::Relaxed);
        assert_eq!(escapes, 0);
    });
}

/// A path put together from pieces that have caused trouble before.
fn hostile_path() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("."),
        Just(".."),
        Just("/"),
        Just("../"),
        Just("a"),
        Just("a.txt"),
        Just("sub/"),
        Just("link-up/"),
        Just("link-out"),
        Just("link-proc/"),
        Just("link-sibling/"),
        Just("secret.txt"),
        Just("ws-evil/"),
        Just("\0"),
        Just("\\"),
        Just("%2e%2e%2f"),
        Just("\u{2024}\u{2024}\u{2215}"),
        Just("é"),
        Just("\u{202e}"),
        Just("\n"),
        Just(" "),
        Just("~"),
    ];
    prop_oneof![proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat()), any::<String>()]
}

#[test]
fn no_path_at_all_reads_outside() {
    let fixture = Fixture::new();
    let around = fixture.around.path().to_str().unwrap().to_owned();
    let config = ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(path in hostile_path())| {
        match fixture.workspace.read_text(&path, 1 << 16) {
            Ok(text) => prop_assert_eq!(text, INSIDE),
            Err(fault) => prop_assert!(!fault.to_string().contains(&around)),
        }
    });
}
