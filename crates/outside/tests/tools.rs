//! The built-in tools as a model sees them: a name and a text of arguments in, a status and a text out.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test builds its own files and may break"
)]

use async_trait::async_trait;
use entourage_model::{CallId, EffectClass, Ids, Name, Timestamp, ToolSpec, ToolStatus};
use entourage_outside::tool::{Call, Caller, Output, ShellSettings, Tool, Toolbox};
use entourage_outside::workspace::Workspace;
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

const OUTPUT_BYTES_MAX: usize = 256 << 10;
const TIME_MAX: Duration = Duration::from_secs(30);

struct Fixture {
    around: TempDir,
    toolbox: Toolbox,
    caller: Caller,
}

impl Fixture {
    fn new() -> Self {
        let around = tempfile::tempdir().unwrap();
        let root = around.path().join("ws");
        fs::create_dir(&root).unwrap();
        let caller = Caller {
            thread: Ids::new(Timestamp(0), 1).thread(),
            call: CallId::from("call_1"),
            key: "the key".to_owned(),
            workspace: Arc::new(Workspace::open(&root).unwrap()),
            output_bytes_max: OUTPUT_BYTES_MAX,
            attendant: None,
        };
        Self { around, toolbox: Toolbox::builtin(), caller }
    }

    /// A small project, with what usually lies about in one.
    fn project() -> Self {
        let fixture = Self::new();
        for (path, text) in [
            ("README.md", "# Title\n\nSee `src`.\n"),
            ("src.txt", "run, said src\n"),
            ("src/lib.rs", "pub fn run() {}\n"),
            ("src/main.rs", "fn main() {\r\n    run();\r\n}"),
            ("src/deep/a.test.ts", "export {};\n"),
            ("src/deep/target/built.ts", "run()\n"),
            (".git/config", "run\n"),
            ("node_modules/x/index.ts", "run()\n"),
            ("picture.bin", "run\0run"),
            ("../outside.txt", "run SECRET\n"),
        ] {
            fixture.write(path, text);
        }
        fs::create_dir(fixture.path("empty")).unwrap();
        symlink("src/lib.rs", fixture.path("link.rs")).unwrap();
        symlink("..", fixture.path("up")).unwrap();
        fixture
    }

    fn path(&self, path: &str) -> PathBuf {
        self.around.path().join("ws").join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    async fn call(&self, tool: &str, arguments: &str) -> Output {
        self.toolbox.call(&Name::from(tool), arguments, self.caller.clone(), TIME_MAX).await
    }

    /// Calls the tool and compares the whole answer.
    async fn check(&self, tool: &str, arguments: serde_json::Value, expected: Output) {
        let arguments = arguments.to_string();
        let found = self.call(tool, &arguments).await;
        assert_eq!((found.status, found.text), (expected.status, expected.text), "{tool} {arguments}");
    }
}

fn good(text: &str) -> Output {
    Output::success(text)
}

fn bad(text: &str) -> Output {
    Output::error(text)
}

#[tokio::test]
async fn read_file_gives_the_text_or_some_of_its_lines() {
    let fixture = Fixture::project();
    fixture.write("five", "1\n2\n3\n4\n5");
    fixture.write("blank", "");
    for (arguments, expected) in [
        (json!({"path": "README.md"}), good("# Title\n\nSee `src`.\n")),
        (json!({"path": "./src/main.rs"}), good("fn main() {\r\n    run();\r\n}")),
        (json!({"path": "link.rs"}), good("pub fn run() {}\n")),
        (json!({"path": "blank"}), good("")),
        (json!({"path": "five", "limit": 2}), good("1\n2\n")),
        (json!({"path": "five", "offset": 4}), good("4\n5")),
        (json!({"path": "five", "offset": 2, "limit": 1}), good("2\n")),
        (json!({"path": "five", "offset": 5, "limit": 9}), good("5")),
        (json!({"path": "five", "offset": 6}), bad("Line 6 is past the end: there are 5 lines.")),
        (json!({"path": "README.md", "offset": 4}), bad("Line 4 is past the end: there are 3 lines.")),
        (json!({"path": "README.md", "offset": 99}), bad("Line 99 is past the end: there are 3 lines.")),
        (json!({"path": "src"}), bad("`src` is a folder, not a file")),
        (json!({"path": "nothing"}), bad("`nothing` does not exist")),
        (json!({"path": "picture.bin"}), bad("`picture.bin` is not text: it is a binary file of 7 bytes")),
        (
            json!({"path": "up/outside.txt"}),
            bad("`up/outside.txt` is not a path inside the workspace; give it relative to the root of the workspace"),
        ),
    ] {
        fixture.check("read_file", arguments, expected).await;
    }
}

#[tokio::test]
async fn read_file_cuts_a_long_text_behind_a_line_and_says_how_to_go_on() {
    let mut fixture = Fixture::new();
    fixture.caller.output_bytes_max = 200;
    let lines: String = (1..=100).map(|line| format!("line {line:03}\n")).collect();
    fixture.write("long", &lines);
    // However the file is read piece by piece, some piece ends within a character.
    fixture.write("wide", format!("a{}", "é".repeat(100_000)));
    let shown = |from: usize, to: usize| -> String { (from..=to).map(|line| format!("line {line:03}\n")).collect() };
    let first = format!("{}[cut: 126 of 900 bytes shown; read on with offset 15]", shown(1, 14));
    let second = format!("{}[cut: 126 of 900 bytes shown; read on with offset 29]", shown(15, 28));
    fixture.check("read_file", json!({"path": "long"}), good(&first)).await;
    fixture.check("read_file", json!({"path": "long", "offset": 15}), good(&second)).await;
    fixture.check("read_file", json!({"path": "long", "offset": 90}), good(&shown(90, 100))).await;
    let wide = fixture.call("read_file", r#"{"path": "wide"}"#).await;
    let mark = "[cut: 125 of 200001 bytes shown; read on with offset 1 and byte 125]";
    assert_eq!(wide.text, format!("a{}\n{mark}", "é".repeat(62)));
}

#[tokio::test]
async fn read_file_reads_a_long_line_to_its_end() {
    let mut fixture = Fixture::new();
    fixture.caller.output_bytes_max = 200;
    let lines = ["first".to_owned(), format!("a{}", "é".repeat(500)), "last".to_owned()];
    fixture.write("wide", lines.join("\n"));
    let (mut read, mut arguments) = (String::new(), json!({"path": "wide", "offset": 2}));
    loop {
        let text = fixture.call("read_file", &arguments.to_string()).await.text;
        let Some((part, mark)) = text.rsplit_once("\n[cut: ") else {
            read += &text;
            break;
        };
        read += part;
        let byte = mark.strip_suffix(']').unwrap().rsplit_once("offset 2 and byte ").unwrap().1;
        arguments = json!({"path": "wide", "offset": 2, "byte": byte.parse::<u64>().unwrap()});
    }
    assert_eq!(read, lines[1..].join("\n"));
    for (arguments, expected) in [
        // Within a character, at the end of a line, and beyond it.
        (json!({"path": "wide", "offset": 2, "byte": 998, "limit": 1}), good("é\n")),
        (json!({"path": "wide", "byte": 5, "limit": 1}), good("\n")),
        (json!({"path": "wide", "byte": 6}), bad("Line 1 has 5 bytes; byte 6 is past it.")),
        (json!({"path": "wide", "offset": 4, "byte": 6}), bad("Line 4 is past the end: there are 3 lines.")),
    ] {
        fixture.check("read_file", arguments, expected).await;
    }
}

#[tokio::test]
async fn read_file_reads_no_more_of_a_huge_file_than_it_shows() {
    let mut fixture = Fixture::new();
    fixture.write("huge", "line\n".repeat(4000));
    fs::File::options().append(true).open(fixture.path("huge")).unwrap().set_len(10 << 40).unwrap();
    fixture.caller.output_bytes_max = 10_000;
    let output = fixture.call("read_file", r#"{"path": "huge"}"#).await;
    assert!(output.text.ends_with("of 10995116277760 bytes shown; read on with offset 1982]"), "{}", output.text);
    let far = fixture.call("read_file", r#"{"path": "huge", "offset": 1000000}"#).await;
    let expected = "`huge` is too large: it has 10995116277760 bytes, and at most 268435456 are read";
    assert_eq!(far, bad(expected));
    let behind = fixture.call("read_file", r#"{"path": "huge", "offset": 3990}"#).await;
    assert_eq!(behind, bad("`huge` is not text: it is a binary file of 10995116277760 bytes"));
}

#[tokio::test]
async fn list_files_shows_one_folder() {
    let fixture = Fixture::project();
    let root = ".git/\nREADME.md\nempty/\nlink.rs -> src/lib.rs\nnode_modules/\npicture.bin\nsrc.txt\nsrc/\nup -> ..";
    for (arguments, expected) in [
        (json!({}), good(root)),
        (json!({"path": ""}), good(root)),
        (json!({"path": "."}), good(root)),
        (json!({"path": "./src/"}), good("deep/\nlib.rs\nmain.rs")),
        (json!({"path": "empty"}), good("`empty` is empty.")),
        (json!({"path": "src.txt"}), bad("`src.txt` is not a folder")),
        (json!({"path": "nothing"}), bad("`nothing` does not exist")),
        (
            json!({"path": "up"}),
            bad("`up` is not a path inside the workspace; give it relative to the root of the workspace"),
        ),
    ] {
        fixture.check("list_files", arguments, expected).await;
    }
    fixture.write("odd/one\ntwo", "");
    fixture.check("list_files", json!({"path": "odd"}), good("one\\ntwo")).await;
}

#[tokio::test]
async fn find_files_matches_globs() {
    let fixture = Fixture::project();
    for (arguments, expected) in [
        (json!({"pattern": "*.rs"}), good("link.rs\nsrc/lib.rs\nsrc/main.rs")),
        (json!({"pattern": "src*"}), good("src.txt")),
        (json!({"pattern": "src/*.rs"}), good("src/lib.rs\nsrc/main.rs")),
        (json!({"pattern": "./src/*.ts"}), good("No file matches `src/*.ts` in `.`.")),
        (json!({"pattern": "**/*.ts"}), good("src/deep/a.test.ts")),
        (json!({"pattern": "*.{ts,md}"}), good("README.md\nsrc/deep/a.test.ts")),
        (json!({"pattern": "*.ts", "path": "./src/deep/"}), good("src/deep/a.test.ts")),
        (json!({"pattern": "deep/*", "path": "src"}), good("src/deep/a.test.ts")),
        (json!({"pattern": "node_modules/**"}), good("node_modules/x/index.ts")),
        (json!({"pattern": "**/{target,x}/*"}), good("src/deep/target/built.ts")),
        (json!({"pattern": "*", "path": ".git"}), good(".git/config")),
        (json!({"pattern": "*", "path": "empty"}), good("No file matches `*` in `empty`.")),
        (json!({"pattern": "*.rs", "path": "src.txt"}), bad("`src.txt` is not a folder")),
        (
            json!({"pattern": "../*"}),
            bad("`../*` matches nothing: a pattern is relative to `path` and cannot lead out of it."),
        ),
        (
            json!({"pattern": "/etc/*"}),
            bad("`/etc/*` matches nothing: a pattern is relative to `path` and cannot lead out of it."),
        ),
        (json!({"pattern": "[a"}), bad("`[a` is not a glob pattern: unclosed character class; missing ']'.")),
    ] {
        fixture.check("find_files", arguments, expected).await;
    }
    let nested = json!({"pattern": format!("{}a{}", "{".repeat(400), "}".repeat(400))});
    let output = fixture.call("find_files", &nested.to_string()).await;
    assert!(output.text.ends_with("is not a glob pattern: error parsing pattern 0."), "{}", output.text);
}

#[tokio::test]
async fn grep_files_shows_matching_lines() {
    let fixture = Fixture::project();
    let run = "src.txt:1: run, said src\nsrc/lib.rs:1: pub fn run() {}\nsrc/main.rs:2:     run();";
    for (arguments, expected) in [
        (json!({"pattern": "run"}), good(run)),
        (json!({"pattern": r"^\s*run\(\);$"}), good("src/main.rs:2:     run();")),
        (json!({"pattern": "(?i)TITLE"}), good("README.md:1: # Title")),
        (json!({"pattern": "run", "path": "src/"}), good("src/lib.rs:1: pub fn run() {}\nsrc/main.rs:2:     run();")),
        (json!({"pattern": "run", "path": "./src.txt"}), good("src.txt:1: run, said src")),
        (json!({"pattern": "run", "path": "node_modules"}), good("node_modules/x/index.ts:1: run()")),
        (json!({"pattern": "jump"}), good("No line matches `jump` in `.`.")),
        (json!({"pattern": "jump", "path": "src/lib.rs"}), good("No line matches `jump` in `src/lib.rs`.")),
        (json!({"pattern": "run", "path": "nothing"}), bad("`nothing` does not exist")),
        (
            json!({"pattern": "run", "path": "picture.bin"}),
            bad("`picture.bin` is not text: it is a binary file of 7 bytes"),
        ),
        (
            json!({"pattern": r"\w{1000}{1000}"}),
            bad("The pattern is not a regular expression: Compiled regex exceeds size limit of 1048576 bytes."),
        ),
    ] {
        fixture.check("grep_files", arguments, expected).await;
    }
    let broken = fixture.call("grep_files", r#"{"pattern": "a(b"}"#).await;
    assert_eq!(broken.status, ToolStatus::Error);
    assert!(broken.text.contains("unclosed group"), "{}", broken.text);
}

#[tokio::test]
async fn grep_files_is_bounded_in_every_direction() {
    let fixture = Fixture::new();
    fixture.write("many", "hit\n".repeat(600));
    let output = fixture.call("grep_files", r#"{"pattern": "hit"}"#).await;
    assert_eq!(output.text.lines().count(), 501);
    assert!(output.text.ends_with("many:500: hit\n[cut: only the first 500 matches are shown]"));

    fixture.write("many", "hit".repeat(200));
    fixture.check("grep_files", json!({"pattern": "hit"}), good(&format!("many:1: {}h…", "hit".repeat(133)))).await;

    fixture.write("many", format!("{}hit", "a".repeat(70_000)));
    let long = "No line matches `hit` in `.`.\n[cut: of 1 lines only the first 64 KiB were searched]";
    fixture.check("grep_files", json!({"pattern": "hit"}), good(long)).await;

    fixture.write("many", "hit\n".repeat(3 << 20));
    let large = "No line matches `hit` in `.`.\n[cut: 1 files over 8 MiB were not searched]";
    fixture.check("grep_files", json!({"pattern": "hit"}), good(large)).await;
}

#[tokio::test]
async fn a_folder_with_thousands_of_entries_is_cut() {
    let fixture = Fixture::new();
    for number in 0..5000 {
        fixture.write(&format!("big/{number:04}"), "");
    }
    let listed = fixture.call("list_files", r#"{"path": "big"}"#).await;
    assert_eq!(listed.text.lines().count(), 1001);
    assert!(listed.text.starts_with("0000\n0001\n"), "{}", listed.text);
    assert!(listed.text.ends_with("\n0999\n[cut: 1000 of 5000 entries shown]"));
    let found = fixture.call("find_files", r#"{"pattern": "*"}"#).await;
    assert_eq!(found.text.lines().count(), 1001);
    assert!(found.text.ends_with("\nbig/0999\n[cut: only the first 1000 paths are shown]"));
}

#[tokio::test]
async fn a_walk_ends_at_its_depth_and_does_not_touch_what_is_no_file() {
    let fixture = Fixture::new();
    fixture.write(&format!("{}leaf", "d/".repeat(63)), "hit\n");
    fixture.write(&format!("{}leaf", "d/".repeat(64)), "hit\n");
    symlink("..", fixture.path("d/loop")).unwrap();
    mknodat(CWD, fixture.path("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let depth = "[cut: folders deeper than 64 levels were left out]";
    let leaf = format!("{}leaf", "d/".repeat(63));
    fixture.check("find_files", json!({"pattern": "leaf"}), good(&format!("{leaf}\n{depth}"))).await;
    fixture.check("grep_files", json!({"pattern": "hit"}), good(&format!("{leaf}:1: hit\n{depth}"))).await;
    fixture.check("read_file", json!({"path": "fifo"}), bad("`fifo` is a FIFO, not a file")).await;
}

#[tokio::test]
async fn no_tool_shows_what_lies_outside() {
    let fixture = Fixture::project();
    for path in ["..", "../", "../ws", "up", "up/ws", "/", "/etc", "src/../..", "/proc/self/root", "outside.txt\0"] {
        for (tool, arguments) in [
            ("list_files", json!({"path": path})),
            ("find_files", json!({"pattern": "*", "path": path})),
            ("grep_files", json!({"pattern": "S.CRET", "path": path})),
            ("read_file", json!({"path": format!("{path}/outside.txt")})),
        ] {
            let output = fixture.call(tool, &arguments.to_string()).await;
            assert_eq!(output.status, ToolStatus::Error, "{tool} {arguments}: {}", output.text);
            assert!(!output.text.contains("SECRET"), "{tool} {arguments}: {}", output.text);
        }
    }
}

#[tokio::test]
async fn a_folder_that_is_swapped_during_a_walk_never_leads_out() {
    let fixture = Fixture::new();
    fixture.write("../outside/door.txt", "SECRET\n");
    fixture.write("door/door.txt", "inside\n");
    symlink("../outside", fixture.path("door-out")).unwrap();
    let (door, door_out) = (fixture.path("door"), fixture.path("door-out"));
    let over = Arc::new(AtomicBool::new(false));
    let swapping = std::thread::spawn({
        let over = Arc::clone(&over);
        move || {
            while !over.load(Ordering::Relaxed) {
                renameat_with(CWD, &door, CWD, &door_out, RenameFlags::EXCHANGE).unwrap();
            }
        }
    });
    for _ in 0..2000 {
        let output = fixture.call("grep_files", r#"{"pattern": "S.CRET|inside"}"#).await;
        assert!(!output.text.contains("SECRET"), "{}", output.text);
    }
    over.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_explained() {
    let fixture = Fixture::project();
    for (tool, arguments, expected) in [
        ("list_files", "", None),
        ("list_files", "  \n", None),
        ("list_files", "null", None),
        (
            "read_file",
            "",
            Some("The arguments of `read_file` do not fit its schema:\narguments: \"path\" is a required property"),
        ),
        (
            "read_file",
            r#"{"path": 7, "offset": 0, "file": "x"}"#,
            Some(
                "The arguments of `read_file` do not fit its schema:\n\
                 arguments/path: 7 is not of type \"string\"\n\
                 arguments/offset: 0 is less than the minimum of 1\n\
                 arguments: Additional properties are not allowed ('file' was unexpected)",
            ),
        ),
        (
            "read_file",
            r#""README.md""#,
            Some(
                "The arguments of `read_file` do not fit its schema:\n\
                 arguments: \"README.md\" is not of type \"object\"",
            ),
        ),
        (
            "read_file",
            "{\"path\": \"a\"\n \"offset\": 1}",
            Some("The arguments of `read_file` are not valid JSON: expected `,` or `}` at line 2 column 2"),
        ),
        (
            "read_file",
            r#"{"path": "a"#,
            Some("The arguments of `read_file` are not valid JSON: EOF while parsing a string at line 1 column 11"),
        ),
        ("reed_file", "{}", Some("There is no tool `reed_file`. Did you mean `read_file`?")),
        ("a\nb", "{}", Some("There is no tool `a\\nb`. Did you mean `read_file`?")),
    ] {
        let output = fixture.call(tool, arguments).await;
        match expected {
            Some(text) => assert_eq!(output, bad(text), "{tool} {arguments}"),
            None => assert_eq!(output.status, ToolStatus::Success, "{tool} {arguments}: {}", output.text),
        }
    }
    let nested = fixture.call("read_file", &"[".repeat(100_000)).await;
    assert!(nested.text.contains("recursion limit exceeded"), "{}", nested.text);
}

#[tokio::test]
async fn violations_are_listed_up_to_twenty_and_none_is_long() {
    let mut fixture = Fixture::new();
    let items = json!({"type": "object", "properties": {"items": {"type": "array", "items": {"type": "integer"}}}});
    fixture.toolbox.insert(Arc::new(Dummy::new("dummy", items, Behaviour::Say(1))));
    let output = fixture.call("dummy", &json!({"items": vec!["x".repeat(1000); 30]}).to_string()).await;
    assert_eq!(output.text.lines().count(), 22);
    assert!(output.text.contains("\narguments/items/19: "), "{}", output.text);
    assert!(output.text.ends_with("\n[cut: 20 of 30 violations shown]"));
    assert!(output.text.len() < 10_000);
}

#[tokio::test]
async fn a_tool_with_a_broken_schema_says_so() {
    let mut fixture = Fixture::new();
    fixture.toolbox.insert(Arc::new(Dummy::new("dummy", json!({"type": "nonsense"}), Behaviour::Say(1))));
    let output = fixture.call("dummy", "{}").await;
    assert_eq!(output.status, ToolStatus::Error);
    assert!(output.text.starts_with("`dummy` cannot be called: its own schema is not valid:"), "{}", output.text);
}

#[test]
fn the_names_of_other_harnesses_lead_to_registered_tools() {
    let mut toolbox = Toolbox::builtin();
    for (ours, theirs) in [
        ("read_file", &["read_file", "read", "Read", "view"][..]),
        ("list_files", &["list_files", "ls", "LS", "list"]),
        ("find_files", &["find_files", "glob", "Glob", "find"]),
        ("grep_files", &["grep_files", "grep", "Grep", "search"]),
        ("write_file", &["write_file", "write", "Write", "create_file"]),
        ("edit_file", &["edit_file", "edit", "Edit", "str_replace"]),
    ] {
        for name in theirs {
            assert_eq!(toolbox.canonical(name).map(Name::as_str), Some(ours), "{name}");
            assert_eq!(toolbox.spec(name).unwrap().name.as_str(), ours);
        }
    }
    for absent in ["bash", "shell", "READ", ""] {
        assert_eq!(toolbox.canonical(absent), None, "{absent}");
    }
    toolbox.insert(Arc::new(Dummy::new("shell", json!({}), Behaviour::Say(1))));
    toolbox.insert(Arc::new(Dummy::new("search", json!({}), Behaviour::Say(1))));
    assert_eq!(toolbox.canonical("Bash").map(Name::as_str), Some("shell"));
    assert_eq!(toolbox.canonical("search").map(Name::as_str), Some("search"), "its own name goes first");
}

#[test]
fn the_specs_are_sorted_and_say_what_may_be_repeated() {
    use EffectClass::{AtMostOnce, Idempotent, Pure};
    let toolbox = Toolbox::builtin().with_shell(ShellSettings::new(0, |_| None));
    let found: Vec<_> = toolbox.specs().map(|spec| (spec.name.as_str(), spec.class)).collect();
    let expected = [
        ("edit_file", AtMostOnce),
        ("find_files", Pure),
        ("grep_files", Pure),
        ("list_files", Pure),
        ("read_file", Pure),
        ("shell", AtMostOnce),
        ("write_file", Idempotent),
    ];
    assert_eq!(found, expected);
    assert!(toolbox.specs().all(|spec| spec.parameters["type"] == "object"));
}

#[tokio::test]
async fn a_panic_in_a_tool_is_an_output() {
    let mut fixture = Fixture::new();
    fixture.toolbox.insert(Arc::new(Dummy::new("dummy", json!({}), Behaviour::Panic)));
    let expected = bad("`dummy` broke down. That is a defect of the tool, not of the arguments.");
    fixture.check("dummy", json!({}), expected.clone()).await;
    fixture.check("dummy", json!({}), expected).await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_does_not_end_is_stopped() {
    let mut fixture = Fixture::new();
    fixture.toolbox.insert(Arc::new(Dummy::new("dummy", json!({}), Behaviour::Wait)));
    let start = tokio::time::Instant::now();
    fixture.check("dummy", json!({}), bad("`dummy` did not end within 30s and was stopped.")).await;
    assert!((TIME_MAX..TIME_MAX * 2).contains(&start.elapsed()));
}

#[tokio::test]
async fn an_output_is_bounded_with_a_mark() {
    let mut fixture = Fixture::new();
    fixture.caller.output_bytes_max = 100;
    for (chars, expected) in [(50, "é".repeat(50)), (51, format!("{}\n[cut: 70 of 102 bytes shown]", "é".repeat(35)))]
    {
        fixture.toolbox.insert(Arc::new(Dummy::new("dummy", json!({}), Behaviour::Say(chars))));
        fixture.check("dummy", json!({}), good(&expected)).await;
    }
}

#[tokio::test]
async fn a_call_knows_its_key() {
    let mut fixture = Fixture::new();
    fixture.toolbox.insert(Arc::new(Dummy::new("dummy", json!({}), Behaviour::Key)));
    fixture.check("dummy", json!({}), good("the key")).await;
}

/// A tool that behaves as the test says.
#[derive(Debug)]
struct Dummy {
    spec: Arc<ToolSpec>,
    behaviour: Behaviour,
}

#[derive(Clone, Copy, Debug)]
enum Behaviour {
    /// Says as many two-byte characters.
    Say(usize),
    Key,
    Panic,
    Wait,
}

impl Dummy {
    fn new(name: &str, parameters: serde_json::Value, behaviour: Behaviour) -> Self {
        let spec = ToolSpec {
            name: name.into(),
            description: String::new(),
            parameters: Arc::new(parameters),
            class: EffectClass::Pure,
        };
        Self { spec: Arc::new(spec), behaviour }
    }
}

#[async_trait]
impl Tool for Dummy {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, call: Call) -> Output {
        match self.behaviour {
            Behaviour::Say(chars) => Output::success("é".repeat(chars)),
            Behaviour::Key => Output::success(call.key),
            Behaviour::Panic => panic!("as the test says"),
            Behaviour::Wait => std::future::pending().await,
        }
    }
}
