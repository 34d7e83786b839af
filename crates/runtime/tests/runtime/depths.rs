//! How deep a tree may grow: each thread tries to start the next one, by every dialect and through every kind of agent.

use crate::stage::Stage;
use entourage_model::{Agent, Dialect, Limits, Role, ThreadId, ToolEntry};
use entourage_store::Store;
use entourage_testkit::cast::{self, blocking, resumable};
use entourage_testkit::{Reply, Request, any_store};
use serde_json::{Value, json};
use std::sync::Arc;

/// A way to start the next thread.
#[derive(Clone, Copy, Debug)]
enum Way {
    Spawn,
    Profile,
    Child,
    Resumable,
}

const WAYS: [Way; 4] = [Way::Spawn, Way::Profile, Way::Child, Way::Resumable];

impl Way {
    fn call(self, task: &str) -> (&'static str, Value) {
        match self {
            Self::Spawn => ("agent_spawn", json!({"agent_id": "node", "task": task})),
            Self::Profile => ("subagent", json!({"action": "run", "profile": "profile", "task": task})),
            Self::Child => ("child", json!({"message": task})),
            Self::Resumable => {
                ("subagent_create", json!({"agent": "longer", "message": task, "name": task, "blocking": true}))
            }
        }
    }

    /// What whoever is too deep is told.
    fn refusal(self, max: u32) -> String {
        match self {
            Self::Spawn => format!("(max={max})"),
            Self::Profile => "There is no tool `subagent` here.".to_owned(),
            Self::Child | Self::Resumable => "depth_limit_reached".to_owned(),
        }
    }
}

/// An agent that may go every way, declared in this format.
fn node(name: &str, format: &str) -> Agent {
    let tools: Vec<ToolEntry> = vec![blocking("child"), resumable("longer")];
    let mut agent = cast::solo(name, tools);
    format.clone_into(&mut agent.source.format);
    agent.dialects = vec![Dialect::AgentScope, Dialect::Dex];
    agent
}

/// `format` is that of the agents whom AgentScope's tools start.
fn team(format: &str) -> Vec<Agent> {
    vec![
        node("root", "test"),
        node("node", format),
        node("profile", "dex"),
        node("child", "standard-agents"),
        node("longer", "standard-agents"),
    ]
}

/// Every thread of the tree, the root first.
async fn line_of(stage: &Stage, root: ThreadId) -> Vec<ThreadId> {
    let mut line = vec![root];
    while let [kid] = stage.kids(line[line.len() - 1]).await.as_slice() {
        assert_eq!(kid.depth as usize, line.len());
        line.push(kid.id);
    }
    line
}

/// The thread at level `n` goes `ways[n]`, whether or not it is offered the tool.
async fn check(store: &Arc<dyn Store>, format: &str, ways: [Way; 4], depth: u32) {
    let brain = move |request: &Request| {
        let users = request.texts("user");
        let level: usize = users[0].strip_prefix("level ").unwrap().parse().unwrap();
        match request.assistant_turns() {
            0 => Reply::calls([ways[level % 4].call(&format!("level {}", level + 1))]),
            _ => Reply::text("enough"),
        }
    };
    let limits = Limits { depth, ..Limits::default() };
    let stage = Stage::on(Arc::clone(store), team(format), brain, limits).await;
    let (root, _) = stage.create("root", "level 0").await;
    stage.settle(root).await;
    let line = line_of(&stage, root).await;
    assert_eq!(line.len(), 1 + depth as usize, "{format} {ways:?} {depth}");
    let told = stage.texts(line[depth as usize], Role::Tool).await;
    let expected = ways[depth as usize].refusal(depth);
    assert!(told.len() == 1 && told[0].contains(&expected), "{format} {ways:?} {depth}: {told:?}");
    let deepest =
        stage.model.requests().into_iter().find(|request| request.texts("user")[0] == format!("level {depth}"));
    let offered = deepest.unwrap().tools().iter().map(|tool| (*tool).to_owned()).collect::<Vec<_>>();
    assert!(!offered.iter().any(|tool| tool == "agent_spawn" || tool == "subagent"), "{depth}: {offered:?}");
    stage.runtime.shutdown().await;
}

#[tokio::test]
async fn a_limit_of_depth_holds_in_every_dialect() {
    let store = any_store().await;
    for depth in 0..=3 {
        for way in WAYS {
            check(&store, "agentscope", [way; 4], depth).await;
        }
    }
}

#[tokio::test]
async fn a_limit_of_depth_holds_where_dialects_and_formats_meet() {
    let store = any_store().await;
    for depth in 0..=3 {
        for format in ["agentscope", "claude-code", "stax"] {
            for turn in 0..4 {
                let mut ways = WAYS;
                ways.rotate_left(turn);
                check(&store, format, ways, depth).await;
            }
        }
    }
}
