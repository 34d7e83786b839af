//! The tools that change files: what they write, what they keep, and everything that they must not touch.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test builds its own files and may break")]

use entourage_model::{CallId, Fact, Ids, Name, Timestamp, ToolStatus};
use entourage_outside::tool::{Caller, Output, Toolbox};
use entourage_outside::workspace::Workspace;
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

const TIME_MAX: Duration = Duration::from_secs(30);

struct Fixture {
    around: TempDir,
    toolbox: Toolbox,
    caller: Caller,
}

impl Fixture {
    /// A workspace `ws` with a secret beside it, links that lead out, and a closed folder.
    fn new() -> Self {
        let around = tempfile::tempdir().unwrap();
        let root = around.path().join("ws");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::create_dir_all(root.join(".own")).unwrap();
        fs::create_dir_all(around.path().join("out")).unwrap();
        for path in ["secret.txt", "out/secret.txt", "ws/.own/token"] {
            fs::write(around.path().join(path), "SECRET").unwrap();
        }
        fs::write(root.join("a.txt"), "inside\n").unwrap();
        for (target, link) in [
            ("a.txt", "link-in"),
            ("../secret.txt", "link-out"),
            ("..", "link-up"),
            ("/etc", "link-etc"),
            ("/proc/self/root", "link-proc"),
            ("nothing", "link-nowhere"),
            (".own", "link-own"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        let caller = Caller {
            thread: Ids::new(Timestamp(0), 1).thread(),
            call: CallId::from("call_1"),
            key: "the key".to_owned(),
            workspace: Arc::new(Workspace::open(&root).unwrap().without(&root.join(".own"))),
            output_bytes_max: 256 << 10,
            attendant: None,
        };
        Self { around, toolbox: Toolbox::builtin(), caller }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.around.path().join("ws").join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    async fn call(&self, tool: &str, arguments: Value) -> Output {
        self.toolbox.call(&Name::from(tool), &arguments.to_string(), self.caller.clone(), TIME_MAX).await
    }

    async fn write(&self, path: &str, content: &str) -> Output {
        self.call("write_file", json!({"path": path, "content": content})).await
    }

    async fn edit(&self, path: &str, old: &str, new: &str) -> Output {
        self.call("edit_file", json!({"path": path, "old": old, "new": new})).await
    }
}

#[tokio::test]
async fn write_file_makes_a_file_or_replaces_it() {
    let fixture = Fixture::new();
    let absolute = fixture.path("sub/by-its-whole-path");
    for (path, content, expected, place) in [
        ("new.txt", "one\n", "Wrote `new.txt`: 4 bytes.", "new.txt"),
        ("./new.txt", "two", "Replaced `./new.txt`: 3 bytes.", "new.txt"),
        ("deep/er/f", "é", "Wrote `deep/er/f`: 2 bytes.", "deep/er/f"),
        ("deep/../sub/g", "", "Wrote `deep/../sub/g`: 0 bytes.", "sub/g"),
        ("link-in", "by a link", "Replaced `link-in`: 9 bytes.", "link-in"),
        (absolute.to_str().unwrap(), "x", "by-its-whole-path`: 1 bytes.", "sub/by-its-whole-path"),
    ] {
        let output = fixture.write(path, content).await;
        assert!(output.text.ends_with(expected) || output.text == expected, "{}", output.text);
        assert_eq!(output.facts, [Fact::ChangedFile { path: place.to_owned() }]);
        assert_eq!(fixture.text(place), content, "{path}");
    }
    assert!(fs::symlink_metadata(fixture.path("link-in")).unwrap().is_symlink(), "the link stays one");
    assert_eq!(fixture.text("a.txt"), "by a link");
    let left: Vec<_> = fs::read_dir(fixture.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".tmp")), "{left:?}");
}

#[tokio::test]
async fn a_file_keeps_its_mode_and_its_line_ends() {
    let fixture = Fixture::new();
    fs::write(fixture.path("run.sh"), "#!/bin/sh\r\necho one\r\n").unwrap();
    fs::set_permissions(fixture.path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    let output = fixture.edit("run.sh", "sh\necho one\n", "sh\necho two\necho three\n").await;
    assert_eq!(output.text, "Changed `run.sh` at line 1.");
    assert_eq!(fixture.text("run.sh"), "#!/bin/sh\r\necho two\r\necho three\r\n");
    fixture.write("run.sh", "new\n").await;
    let metadata = fs::metadata(fixture.path("run.sh")).unwrap();
    assert_eq!(metadata.mode() & 0o7777, 0o750);
}

#[tokio::test]
async fn edit_file_changes_one_place_or_nothing() {
    let fixture = Fixture::new();
    fs::write(fixture.path("f"), "one\ntwo\none\n").unwrap();
    fs::write(fixture.path("bytes"), b"a\0b").unwrap();
    for (path, old, new, expected) in [
        (
            "f",
            "one",
            "1",
            "`f` was not changed: `old` stands there more than once, at lines 1, 3; give more of what is around it.",
        ),
        ("f", "three", "3", "`f` was not changed: `old` does not stand there. Read the file and copy it exactly."),
        (
            "f",
            "one two",
            "3",
            "`f` was not changed: `old` does not stand there: it differs in spaces or line breaks. Read the file and copy it exactly.",
        ),
        ("f", "two", "two", "`f` was not changed: `old` and `new` are the same."),
        ("nothing", "a", "b", "`nothing` does not exist"),
        ("no/thing", "a", "b", "`no/thing` does not exist"),
        ("sub", "a", "b", "`sub` is a folder, not a file"),
        ("bytes", "a", "b", "`bytes` is not text: it is a binary file of 3 bytes"),
    ] {
        let output = fixture.edit(path, old, new).await;
        assert_eq!((output.status, output.text.as_str()), (ToolStatus::Error, expected));
        assert_eq!(output.facts, [], "a failed call changes nothing");
    }
    assert_eq!(fixture.text("f"), "one\ntwo\none\n");
    let output = fixture.edit("./f", "two\n", "").await;
    assert_eq!((output.text.as_str(), fixture.text("f").as_str()), ("Changed `./f` at line 2.", "one\none\n"));
    assert_eq!(output.facts, [Fact::ChangedFile { path: "f".to_owned() }]);
}

#[tokio::test]
async fn nothing_is_written_outside_or_in_the_closed_folder() {
    let fixture = Fixture::new();
    mknodat(CWD, fixture.path("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let outside = fixture.around.path().join("secret.txt");
    let sibling = fixture.around.path().join("ws-evil/made");
    for path in [
        "../secret.txt",
        "../made",
        "sub/../../made",
        "link-out",
        "link-up/secret.txt",
        "link-up/made/deep",
        "link-etc/made-by-a-test",
        "link-proc/etc/made-by-a-test",
        "/etc/made-by-a-test",
        "/proc/self/root/etc/made-by-a-test",
        "/proc/self/cwd/made",
        "link-nowhere",
        ".own/token",
        ".own/new/deep",
        ".own",
        "sub/../.own/token",
        "link-own/token",
        "link-own/made",
        "a.txt/below",
        "fifo",
        "sub",
        ".",
        "a\0b",
        outside.to_str().unwrap(),
        sibling.to_str().unwrap(),
    ] {
        for output in [fixture.write(path, "changed").await, fixture.edit(path, "SECRET", "changed").await] {
            assert_eq!(output.status, ToolStatus::Error, "{path}: {}", output.text);
            assert!(output.text.starts_with('`') && !output.text.contains("SECRET"), "{path}: {}", output.text);
            assert_eq!(output.facts, []);
        }
    }
    for path in ["../secret.txt", "../out/secret.txt", ".own/token"] {
        assert_eq!(fixture.text(path), "SECRET", "{path}");
    }
    for path in ["../made", "nothing", ".own/new", ".own/made", "../ws-evil", "/etc/made-by-a-test"] {
        assert!(!fixture.path(path).exists(), "{path}");
    }
    assert_eq!(fixture.text("a.txt"), "inside\n");
}

/// Git runs what stands there, for a person and outside of any sandbox. Whatever leads there, and however deep it lies.
#[tokio::test]
async fn nothing_of_git_is_written() {
    let fixture = Fixture::new();
    for repository in [".git", "sub/nested/.git"] {
        fs::create_dir_all(fixture.path(repository).join("hooks")).unwrap();
        fs::write(fixture.path(repository).join("config"), "old").unwrap();
    }
    fs::write(fixture.path(".gitignore"), "old").unwrap();
    for (target, link) in [
        (".git", "link-git"),
        ("../.git/hooks", "sub/link-hooks"),
        (".git/config", "link-config"),
        ("sub/nested", "deep"),
    ] {
        symlink(target, fixture.path(link)).unwrap();
    }
    let absolute = fixture.path(".git/config");
    for path in [
        ".git/config",
        ".git/hooks/pre-commit",
        ".git/commondir",
        ".git/made/deep",
        ".git",
        "sub/../.git/config",
        "link-git/config",
        "link-git/../.git/hooks/pre-commit",
        "sub/link-hooks/pre-commit",
        "link-config",
        "sub/nested/.git/config",
        "deep/.git/hooks/pre-commit",
        "sub/new/.git/config",
        "sub/.git",
        "sub/.GIT/config",
        absolute.to_str().unwrap(),
    ] {
        for output in [fixture.write(path, "evil").await, fixture.edit(path, "old", "evil").await] {
            assert_eq!(output.status, ToolStatus::Error, "{path}: {}", output.text);
            let is_told = output.text.contains("belongs to git, which may run what stands there")
                || output.text.ends_with("does not exist");
            assert!(is_told, "{path}: {}", output.text);
        }
    }
    for repository in [".git", "sub/nested/.git"] {
        let entries = fs::read_dir(fixture.path(repository)).unwrap().count();
        assert_eq!((fixture.text(&format!("{repository}/config")).as_str(), entries), ("old", 2), "{repository}");
        assert_eq!(fs::read_dir(fixture.path(repository).join("hooks")).unwrap().count(), 0, "{repository}");
    }
    assert!(!fixture.path("sub/new/.git").exists() && !fixture.path("sub/.git").exists());
    assert_eq!(fixture.edit(".gitignore", "old", "new").await.text, "Changed `.gitignore` at line 1.");
    assert_eq!(fixture.write(".github/x", "new").await.text, "Wrote `.github/x`: 3 bytes.");
}

/// Only the workspace's own folder is asked whether it lies in a repository: where it lies itself is a person's choice.
#[tokio::test]
async fn a_workspace_may_lie_in_a_folder_of_that_name() {
    let mut fixture = Fixture::new();
    let root = fixture.path(".git/ws");
    fs::create_dir_all(&root).unwrap();
    fixture.caller.workspace = Arc::new(Workspace::open(&root).unwrap());
    assert_eq!(fixture.write("a/b", "x").await.text, "Wrote `a/b`: 1 bytes.");
}

/// Whoever put the link there may have written the file itself; the tools never do.
#[tokio::test]
async fn a_hard_link_to_a_file_outside_is_replaced_and_not_written_through() {
    let fixture = Fixture::new();
    let outside = fixture.path("../secret.txt");
    for (link, change) in [("one", "write"), ("two", "edit")] {
        fs::hard_link(&outside, fixture.path(link)).unwrap();
        let output = match change {
            "write" => fixture.write(link, "changed").await,
            _ => fixture.edit(link, "SECRET", "changed").await,
        };
        assert_eq!(output.status, ToolStatus::Success, "{}", output.text);
        assert_eq!((fixture.text(link), fixture.text("../secret.txt")), ("changed".to_owned(), "SECRET".to_owned()));
    }
}

#[tokio::test]
async fn a_content_that_is_too_large_is_not_written() {
    let fixture = Fixture::new();
    let output = fixture.write("large", &"x".repeat((8 << 20) + 1)).await;
    let expected = "`large` was not written: it would have 8388609 bytes, and at most 8388608 are written.";
    assert_eq!((output.status, output.text.as_str()), (ToolStatus::Error, expected));
    fs::write(fixture.path("large"), vec![b'x'; (8 << 20) + 1]).unwrap();
    let output = fixture.edit("large", "y", "z").await;
    assert_eq!(output.text, "`large` is too large: it has 8388609 bytes, and at most 8388608 are read");
}

/// Doors and files are exchanged for links to the outside as fast as it goes, while the tools write through them.
#[tokio::test]
async fn a_link_that_is_swapped_while_it_is_written_through_never_leads_out() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.path("door")).unwrap();
    fs::write(fixture.path("door/secret.txt"), "inside").unwrap();
    symlink("../out", fixture.path("door-out")).unwrap();
    fs::write(fixture.path("file"), "inside").unwrap();
    symlink("../secret.txt", fixture.path("file-out")).unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let swapping = std::thread::spawn({
        let (over, root) = (Arc::clone(&over), fixture.path(""));
        move || {
            while !over.load(Ordering::Relaxed) {
                for (a, b) in [("door", "door-out"), ("file", "file-out")] {
                    // A tool may just have put a file in the place of a link.
                    _ = renameat_with(CWD, root.join(a), CWD, root.join(b), RenameFlags::EXCHANGE);
                }
            }
        }
    });
    let mut wrote = 0;
    for number in 0..1500 {
        let fresh = format!("door/made-{}", number % 5);
        for output in [
            fixture.write("door/secret.txt", "inside").await,
            fixture.write(&fresh, "inside").await,
            fixture.write("file", "inside").await,
            fixture.edit("door/secret.txt", "inside", "inside, too").await,
            fixture.edit("door/secret.txt", "SECRET", "stolen").await,
        ] {
            wrote += usize::from(output.status == ToolStatus::Success);
        }
        if !fs::symlink_metadata(fixture.path("file-out")).unwrap().is_symlink()
            && !fs::symlink_metadata(fixture.path("file")).unwrap().is_symlink()
        {
            _ = fs::remove_file(fixture.path("file-out"));
            symlink("../secret.txt", fixture.path("file-out")).unwrap();
        }
    }
    over.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    assert!(wrote > 0, "some of it went the right way");
    for path in ["../secret.txt", "../out/secret.txt"] {
        assert_eq!(fixture.text(path), "SECRET", "{path}");
    }
    let outside: Vec<_> =
        fs::read_dir(fixture.path("../out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(outside, ["secret.txt"]);
}

#[tokio::test]
async fn two_edits_at_once_lose_nothing() {
    let fixture = Fixture::new();
    let names: Vec<String> = (0..40).map(|number| format!("<{number:02}>")).collect();
    fs::write(fixture.path("f"), names.concat()).unwrap();
    let edits = names.iter().map(|name| fixture.edit("f", name, "x"));
    for output in futures::future::join_all(edits).await {
        assert_eq!(output.status, ToolStatus::Success, "{}", output.text);
    }
    assert_eq!(fixture.text("f"), "x".repeat(40));
}
