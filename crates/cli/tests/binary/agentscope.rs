//! Delegation by `agentscope`, which `lead` speaks unless the settings say otherwise.

use crate::project::Project;
use entourage_testkit::{FakeModel, Reply, Request};
use serde_json::json;
use std::time::Duration;

const KID: &str = "---\ndescription: Does kid work.\n---\nYou are KID.\n";

fn project(model: &FakeModel, settings: &str) -> Project {
    let project = Project::new().with_model(model).file("AGENTS.md", "You are LEAD.\n").file("subagents/kid.md", KID);
    project.file("entourage.toml", settings)
}

/// The lead starts one task in the background, says so, and says what it is told later.
fn brain(request: &Request) -> Reply {
    if request.system().contains("You are KID.") {
        return Reply::text("kid's report").after(Duration::from_millis(700));
    }
    match request.assistant_turns() {
        0 => Reply::call("agent_spawn", json!({"agent_id": "kid", "task": "work", "timeout_seconds": 0})),
        1 => Reply::text("it is on its way"),
        _ => Reply::text(format!("heard: {}", request.last_text().lines().last().unwrap_or_default())),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn run_waits_for_background_tasks_and_gives_the_last_word() {
    let model = FakeModel::start(brain).await;
    let project = project(&model, "[agentscope]\ntask_files = true\n");
    let said = tokio::task::block_in_place(|| project.say(&["run", "go"]));
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "heard: kid's report\n"), "{said:?}");
    let runs = tokio::task::block_in_place(|| project.json(&["runs"]));
    let kid = runs["runs"].as_array().unwrap().iter().find(|run| run["agent"] == "kid").unwrap();
    assert!(kid["run_id"].as_str().unwrap().starts_with("task_") && kid["delivered_at"].is_i64(), "{kid}");
    assert_eq!((&kid["status"], &kid["result"]), (&json!("done"), &json!("kid's report")));
    let file = project.read(&format!("agents/lead/tasks/{}.json", kid["parent_thread_id"].as_str().unwrap()));
    assert!(file.contains("\"status\": \"COMPLETED\""), "{file}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_detached_run_leaves_its_tasks_to_resume() {
    let model = FakeModel::start(brain).await;
    let project = project(&model, "");
    tokio::task::block_in_place(|| {
        let said = project.say(&["run", "--detach", "go"]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(0), "it is on its way\n"), "{said:?}");
        let said = project.say(&["resume"]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(0), "heard: kid's report\n"), "{said:?}");
        assert!(!project.path().join("agents/lead").exists(), "nobody asked for task files");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn the_settings_decide_which_agents_lead_may_start_and_how() {
    let model = FakeModel::start(Reply::text("hello")).await;
    for (settings, tool, general_purpose) in [
        ("", "agent_spawn", true),
        ("[agentscope]\ngeneral_purpose = false\n", "agent_spawn", false),
        ("dialects = [\"standard\"]\n", "kid", false),
    ] {
        let project = project(&model, settings);
        tokio::task::block_in_place(|| assert_eq!(project.say(&["run", "go"]).code, Some(0)));
        let request = model.requests().pop().unwrap();
        assert!(request.tools().contains(&tool), "{settings}: {:?}", request.tools());
        assert_eq!(request.tools().contains(&"agent_spawn"), tool == "agent_spawn", "{settings}");
        assert_eq!(request.system().contains("- `general-purpose`: "), general_purpose, "{settings}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_takes_longer_than_its_caller_waits_goes_on_as_a_task() {
    let brain = |request: &Request| {
        if request.system().contains("You are KID.") {
            return Reply::text("kid's report").after(Duration::from_secs(4));
        }
        match request.assistant_turns() {
            0 => Reply::call("agent_spawn", json!({"agent_id": "kid", "task": "work", "timeout_seconds": 1})),
            1 => Reply::text(request.last_text()),
            _ => Reply::text(format!("heard: {}", request.last_text().lines().last().unwrap_or_default())),
        }
    };
    let model = FakeModel::start(brain).await;
    let project = project(&model, "");
    let said = tokio::task::block_in_place(|| project.say(&["run", "go"]));
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "heard: kid's report\n"), "{said:?}");
    assert!(model.requests().iter().any(|request| request.last_text().contains("status: timeout_promoted")));
}
