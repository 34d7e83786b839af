//! Where threads work: an agent without a folder of its own where its caller does, also after a restart.

use crate::stage::{LONG, Stage, is};
use entourage_model::{Agent, Dialect, ThreadStatus, WorkspaceMode, WorkspaceWish};
use entourage_testkit::cast::{self, tool};
use entourage_testkit::{Reply, Request};
use serde_json::json;
use std::time::Duration;

/// An agent that may write, and start others by both dialects.
fn agent(name: &str, format: &str) -> Agent {
    let mut agent = cast::solo(name, vec![tool("write_file")]);
    format.clone_into(&mut agent.source.format);
    agent.dialects = vec![Dialect::AgentScope, Dialect::Dex];
    agent
}

fn team() -> Vec<Agent> {
    let isolated = WorkspaceWish { mode: WorkspaceMode::Isolated, path: None };
    let digger = Agent { workspace: Some(isolated), ..agent("digger", "agentscope") };
    let shared = WorkspaceWish { mode: WorkspaceMode::Shared, path: None };
    let sharer = Agent { workspace: Some(shared), ..agent("sharer", "agentscope") };
    vec![agent("lead", "test"), digger, sharer, agent("mate", "claude-code"), agent("worker", "dex")]
}

fn brain(request: &Request) -> Reply {
    let turn = request.assistant_turns();
    let spawn = |id: &str, label: &str| ("agent_spawn", json!({"agent_id": id, "task": label}));
    let write = |name: &str| Reply::call("write_file", json!({"path": name, "content": "x"}));
    match (turn, request.last_text().as_str()) {
        (0, "go") => Reply::calls([
            spawn("digger", "dig"),
            spawn("sharer", "share above"),
            ("subagent", json!({"action": "run", "profile": "worker", "task": "profile above"})),
        ]),
        (0, "dig") => Reply::calls([
            spawn("mate", "help"),
            spawn("sharer", "share"),
            ("subagent", json!({"action": "run", "profile": "worker", "task": "profile"})),
        ]),
        // The mate of a mate works there too; it is held up long enough for a restart.
        (0, "help") => Reply::calls([spawn("mate", "deeper")]),
        (0, "deeper") => write("deeper.txt").after(Duration::from_millis(300)),
        (0, task) if task.starts_with("share") => write("shared.txt"),
        (0, task) if task.starts_with("profile") => write("profile.txt"),
        _ if is(request, "lead") => Reply::text("over"),
        _ => Reply::text("done"),
    }
}

#[tokio::test]
async fn the_folder_of_an_agent_is_there_before_it_is_needed() {
    let stage = Stage::new(team(), |_: &Request| Reply::text("nothing to write")).await;
    let (thread, _) = stage.create("digger", "idle").await;
    stage.settle(thread).await;
    assert!(stage.path().join("agents/digger/workspace").is_dir());
}

#[tokio::test]
async fn a_child_without_a_folder_works_where_its_caller_does_and_nobody_leaves_its_folder_by_a_child() {
    for restarts in [false, true] {
        let mut stage = Stage::new(team(), brain).await;
        let (thread, _) = stage.create("lead", "go").await;
        if restarts {
            let asked = async {
                while !stage.model.requests().iter().any(|request| request.last_text() == "deeper") {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(LONG, asked).await.unwrap();
            stage.runtime.shutdown().await;
            stage.restart().await;
        }
        assert_eq!(stage.settle(thread).await.status, ThreadStatus::Idle);
        let made = |path: &str| assert!(stage.path().join(path).is_file(), "{path}, restarts: {restarts}");
        for name in ["deeper.txt", "shared.txt", "profile.txt"] {
            made(&format!("agents/digger/workspace/{name}"));
        }
        // Whoever works in the project shares the project.
        made("shared.txt");
        made("profile.txt");
        assert!(!stage.path().join("deeper.txt").exists());
    }
}
