//! Delegation by `dex` through the binary: what the runtime saw of a worker's calls is what its result says.

use crate::project::Project;
use entourage_testkit::{FakeModel, Reply, Request};
use serde_json::{Value, json};

fn project(model: &FakeModel) -> Project {
    Project::new()
        .with_model(model)
        .file("AGENTS.md", "You are LEAD.\n")
        .file("notes/one.txt", "one\n")
        .file("entourage.toml", "dialects = [\"dex\"]\n")
        .variable("ENTOURAGE_SHELL_SANDBOX", "none")
}

/// The lead runs `coding` once; the worker makes these calls, then reports.
async fn calling(calls: Vec<(&'static str, Value)>, report: &'static str) -> FakeModel {
    FakeModel::start(move |request: &Request| {
        let turn = request.assistant_turns();
        if request.system().contains("You are LEAD.") {
            return match turn {
                0 => Reply::call("subagent", json!({"action": "run", "profile": "coding", "task": "work"})),
                _ => Reply::text("over"),
            };
        }
        calls.get(turn).map_or_else(|| Reply::text(report), |(tool, arguments)| Reply::call(*tool, arguments.clone()))
    })
    .await
}

/// What the lead was answered, which the files on disk say too.
fn result_of(project: &Project, model: &FakeModel) -> Value {
    let said = tokio::task::block_in_place(|| project.say(&["run", "go"]));
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "over\n"), "{said:?}");
    let told = model.requests().pop().unwrap().tool_results().remove(0).text;
    let told: Value = serde_json::from_str(&told).unwrap();
    let status = project.read(&format!(".entourage/runs/{}/status.json", told["runId"].as_str().unwrap()));
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!((&status["status"], &status["result"]), (&told["status"], &told["result"]));
    told["result"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_says_what_was_really_read_changed_and_run() {
    let calls = vec![
        ("read_file", json!({"path": "notes/one.txt"})),
        ("read_file", json!({"path": "./notes/../notes/one.txt"})),
        ("write_file", json!({"path": "made/two.txt", "content": "two"})),
        ("edit_file", json!({"path": "made/two.txt", "old": "two", "new": "2"})),
        ("list_files", json!({"path": "."})),
        ("shell", json!({"command": "exit 3"})),
        ("shell", json!({"command": "true"})),
    ];
    let claims = r#"{"decision": {"outcome": "made", "summary": "It is made.", "confidence": "high"},
        "changes": {"filesRead": ["lie"], "filesChanged": ["lie"], "commandsRun": ["lie"], "toolsUsed": ["lie"]},
        "run": {"status": "failed"}, "schemaVersion": 1, "validation": {"status": "passed"}}"#;
    let model = calling(calls, claims).await;
    let result = result_of(&project(&model), &model);
    let changes = json!({
        "filesRead": ["notes/one.txt"],
        "filesChanged": ["made/two.txt"],
        "commandsRun": [{"command": "exit 3", "exitCode": 3}, {"command": "true", "exitCode": 0}],
        "toolsUsed": ["edit_file", "list_files", "read_file", "shell", "write_file"],
    });
    assert_eq!(result["changes"], changes);
    assert_eq!((&result["schemaVersion"], &result["run"]["status"]), (&json!(2), &json!("completed")));
    assert_eq!((&result["decision"]["summary"], &result["validation"]), (&json!("It is made."), &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_failed_changes_nothing_in_the_result() {
    let calls = vec![
        ("read_file", json!({"path": "nothing.txt"})),
        ("read_file", json!({"path": "/etc/passwd"})),
        ("write_file", json!({"path": "../outside.txt", "content": "x"})),
        ("write_file", json!({"path": "notes", "content": "x"})),
        ("edit_file", json!({"path": "notes/one.txt", "old": "absent", "new": "x"})),
        ("shell", json!({"command": ""})),
        ("grep_files", json!({"pattern": "("})),
        ("no_such_tool", json!({})),
        ("read_file", json!("not an object")),
    ];
    let model = calling(calls, "nothing worked").await;
    let project = project(&model);
    let result = result_of(&project, &model);
    let nothing = json!({"filesRead": [], "filesChanged": [], "commandsRun": [], "toolsUsed": []});
    assert_eq!(result["changes"], nothing);
    assert_eq!(result["decision"]["summary"], "nothing worked");
    assert_eq!(project.read("notes/one.txt"), "one\n");
}
