//! Where threads work: the five rows of what agents may wish, and the prompts that definition folders hold.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test builds its own files and may break")]

use entourage_model::{CallId, Fact, Ids, Name, Timestamp, WorkspaceMode, WorkspaceWish};
use entourage_outside::tool::{Caller, Toolbox};
use entourage_outside::workspace::{PathFault, Reach, Workspace};
use entourage_outside::workspaces::Workspaces;
use serde_json::json;
use std::fs;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

fn project() -> (TempDir, Workspaces, Workspaces) {
    let around = tempfile::tempdir().unwrap();
    let root = around.path().join("project");
    fs::create_dir_all(root.join("defs/reviewer")).unwrap();
    fs::create_dir_all(root.join(".own")).unwrap();
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    for folder in ["elsewhere", "secrets"] {
        fs::create_dir_all(around.path().join(folder)).unwrap();
    }
    fs::write(root.join("defs/reviewer/AGENTS.md"), "You review.\n").unwrap();
    fs::write(root.join(".own/AGENTS.md"), "SECRET").unwrap();
    fs::write(around.path().join("elsewhere/AGENTS.md"), "You are elsewhere.").unwrap();
    let workspaces = |reach| {
        let project = Workspace::open(&root).unwrap().without(&root.join(".own")).reaching(reach);
        Workspaces::new(Arc::new(project))
    };
    let (near, far) = (workspaces(Reach::Definitions), workspaces(Reach::Anywhere));
    (around, near, far)
}

/// Writes `made` in the folder of such an agent, and says where it lies as the project knows it.
async fn place_of(workspaces: &Workspaces, wish: Option<WorkspaceWish>) -> Result<String, PathFault> {
    let agent = Name::from("digger");
    let root = wish.and_then(|wish| wish.root(&agent));
    let caller = Caller {
        thread: Ids::new(Timestamp(0), 1).thread(),
        call: CallId::from("call_1"),
        key: String::new(),
        workspace: workspaces.root(root.as_deref())?,
        output_bytes_max: 1000,
        attendant: None,
    };
    let arguments = json!({"path": "made", "content": "x"}).to_string();
    let output = Toolbox::builtin().call(&"write_file".into(), &arguments, caller, Duration::from_secs(9)).await;
    match output.facts.as_slice() {
        [Fact::ChangedFile { path }] => Ok(path.clone()),
        other => unreachable!("{other:?}: {}", output.text),
    }
}

fn wish(mode: WorkspaceMode, path: Option<&str>) -> Option<WorkspaceWish> {
    Some(WorkspaceWish { mode, path: path.map(str::to_owned) })
}

#[tokio::test]
async fn each_wish_has_its_folder() {
    use WorkspaceMode::{Isolated, Shared};
    let (around, near, far) = project();
    let absolute = around.path().join("project/defs/reviewer");
    for (wish, expected) in [
        (None, "made"),
        (wish(Isolated, Some("./defs/reviewer")), "defs/reviewer/made"),
        (wish(Isolated, absolute.to_str()), "defs/reviewer/made"),
        (wish(Shared, Some("./defs/reviewer")), "made"),
        (wish(Isolated, None), "agents/digger/workspace/made"),
        (wish(Shared, None), "made"),
    ] {
        assert_eq!(place_of(&near, wish.clone()).await.unwrap(), expected, "{wish:?}");
        assert!(around.path().join("project").join(expected).is_file());
    }
    let outside = |folder: &str| fs::canonicalize(around.path()).unwrap().join(folder);
    let wished = |folder: &str| wish(Isolated, outside(folder).to_str());
    let made = |folder: &str| outside(folder).join("made").display().to_string();
    for workspaces in [&near, &far] {
        let found = place_of(workspaces, wished("elsewhere")).await.unwrap();
        assert_eq!(found, made("elsewhere"), "a file that is not the project's has a whole path");
    }
    // A folder that no agent is meant to work in needs somebody's trust.
    let refused = place_of(&near, wished("secrets")).await;
    assert!(matches!(refused, Err(PathFault::Outside { .. })), "{refused:?}");
    assert_eq!(place_of(&far, wished("secrets")).await.unwrap(), made("secrets"));
    for path in ["../elsewhere", "defs/../../elsewhere", ".own", "defs/reviewer/AGENTS.md", ".git/hooks"] {
        assert!(place_of(&far, wish(Isolated, Some(path))).await.is_err(), "{path}");
    }
}

#[tokio::test]
async fn an_isolated_agent_sees_nothing_of_the_project() {
    let (_around, near, _) = project();
    let own = near.root(Some("agents/digger/workspace")).unwrap();
    for path in ["../../../defs/reviewer/AGENTS.md", "defs/reviewer/AGENTS.md"] {
        assert!(own.read_text(path, 1000).is_err(), "{path}");
    }
    assert!(own.read_text(near.project().file("defs/reviewer/AGENTS.md").map(|_| "/AGENTS.md").unwrap(), 9).is_err());
}

#[test]
fn a_definition_folder_is_read_as_it_is_now() {
    let (around, near, far) = project();
    let read = |workspaces: &Workspaces, folder: &str| workspaces.definition(folder);
    let file = around.path().join("project/defs/reviewer/AGENTS.md");
    assert_eq!(read(&near, "./defs/reviewer").unwrap().as_deref(), Some("You review.\n"));
    fs::write(&file, "You review twice.").unwrap();
    assert_eq!(read(&near, "defs/reviewer/").unwrap().as_deref(), Some("You review twice."));
    fs::remove_file(&file).unwrap();
    assert_eq!(read(&near, "defs/reviewer").unwrap(), None);
    assert_eq!(read(&near, "defs/nobody").unwrap(), None);
    let elsewhere = around.path().join("elsewhere").display().to_string();
    for text in ["You are elsewhere.", "You have moved."] {
        fs::write(around.path().join("elsewhere/AGENTS.md"), text).unwrap();
        assert_eq!(read(&near, &elsewhere).unwrap().as_deref(), Some(text));
    }
    fs::remove_file(around.path().join("elsewhere/AGENTS.md")).unwrap();
    std::os::unix::fs::symlink(&file, around.path().join("elsewhere/AGENTS.md")).unwrap();
    assert!(read(&far, &elsewhere).is_err(), "a link leads out of the folder");
    for folder in ["../elsewhere", ".own"] {
        assert!(read(&far, folder).is_err(), "{folder}");
    }
}
