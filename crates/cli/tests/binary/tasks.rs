//! Background tasks as a server keeps them: told once, promoted without loss, taken up again after `kill -9`.

use crate::project::Project;
use crate::serve::Serving;
use entourage_testkit::{FakeModel, Reply, Request};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const KID: &str = "---\ndescription: Does kid work.\n---\nYou are KID.\n";

fn project(model: &FakeModel) -> Project {
    let settings = "[agentscope]\ntask_files = true\n";
    let project = Project::new().with_model(model).file("AGENTS.md", "You are LEAD.\n");
    project.file("subagents/kid.md", KID).file("entourage.toml", settings)
}

fn is_kid(request: &Request) -> bool {
    request.system().contains("You are KID.")
}

fn spawn(task: &str, more: &Value) -> (&'static str, Value) {
    let mut call = json!({"agent_id": "kid", "task": task});
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    ("agent_spawn", call)
}

fn create(serving: &Serving, body: &Value) -> String {
    let (status, created) = serving.ask("POST", "/threads", body);
    assert_eq!(status, 201, "{created}");
    created["thread_id"].as_str().unwrap().to_owned()
}

/// The kid's runs once all of them were delivered.
fn delivered(serving: &Serving, count: usize) -> Vec<Value> {
    let start = Instant::now();
    loop {
        let document = serving.get("/runs?limit=1000");
        let runs = document["runs"].as_array().unwrap().iter().filter(|run| run["agent"] == "kid");
        let runs: Vec<Value> = runs.filter(|run| run["delivered_at"].is_i64()).cloned().collect();
        if runs.len() == count {
            return runs;
        }
        // On a store of many nodes a killed one is missed after its life, which is 15 seconds.
        assert!(start.elapsed() < Duration::from_secs(40), "{document}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// How often each of these runs is told to the thread by a message of its own, which people do not see.
fn told(serving: &Serving, thread: &str, runs: &[Value]) -> Vec<usize> {
    let document = serving.get(&format!("/threads/{thread}/messages?include_silent=true&limit=1000"));
    let messages = document["messages"].as_array().unwrap();
    let silent = |message: &&Value| message["role"] == "user" && message["silent"] == true;
    let texts: Vec<&str> = messages.iter().filter(silent).map(|message| message["content"].as_str().unwrap()).collect();
    let times = |run: &Value| texts.iter().filter(|text| text.contains(run["run_id"].as_str().unwrap())).count();
    runs.iter().map(times).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resting_parent_is_told_once_of_what_it_did_not_wait_for() {
    let brain = |request: &Request| match (is_kid(request), request.assistant_turns(), request.last_text().as_str()) {
        (true, _, "slow") => Reply::text("slow report").after(Duration::from_millis(2500)),
        (true, ..) => Reply::text("quick report").after(Duration::from_millis(300)),
        (false, 0, _) => Reply::calls([
            spawn("quick", &json!({"label": "Ann", "timeout_seconds": 0})),
            spawn("slow", &json!({"timeout_seconds": 1})),
        ]),
        (false, ..) => Reply::text("noted"),
    };
    let model = FakeModel::start(brain).await;
    let project = project(&model);
    tokio::task::block_in_place(|| {
        let serving = Serving::start(&project);
        let root = create(&serving, &json!({"agent": "lead", "message": "go", "user_id": "alice"}));
        let runs = delivered(&serving, 2);
        assert!(runs.iter().all(|run| run["status"] == "done"), "{runs:?}");
        serving.settle(&root);
        assert_eq!(told(&serving, &root, &runs), [1, 1]);
        let children = serving.get(&format!("/threads?parent={root}"));
        let children = children["threads"].as_array().unwrap();
        assert!(children.len() == 2 && children.iter().all(|child| child["user_id"] == "alice"), "{children:?}");
        assert!(children.iter().any(|child| child["tags"] == json!(["name:Ann"])), "{children:?}");
        let tasks: Value = serde_json::from_str(&project.read(&format!("agents/lead/tasks/{root}.json"))).unwrap();
        for run in &runs {
            let task = &tasks[run["run_id"].as_str().unwrap()];
            assert_eq!((&task["status"], &task["result"]), (&json!("COMPLETED"), &run["result"]), "{tasks}");
            assert_eq!((&task["parentSessionId"], &task["cancelRequested"]), (&json!(root), &json!(false)), "{tasks}");
        }
        serving.kill();
    });
    let is_promoted = |request: &Request| {
        request.tool_results().iter().any(|result| result.text.contains("status: timeout_promoted"))
    };
    assert!(model.requests().iter().any(|request| is_promoted(request)));
    assert_eq!(model.requests().iter().filter(|request| is_kid(request)).count(), 2, "nothing is done twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_whose_server_was_killed_is_taken_up_and_told_once() {
    let brain = |is_dying: bool| {
        move |request: &Request| match (is_kid(request), request.assistant_turns()) {
            (true, _) if is_dying => Reply::hang(),
            (true, _) => Reply::text("after all"),
            (false, 0) => Reply::calls([spawn("work", &json!({"timeout_seconds": 0}))]),
            (false, _) => Reply::text("noted"),
        }
    };
    let model = FakeModel::start(brain(true)).await;
    let project = project(&model);
    let serving = tokio::task::block_in_place(|| Serving::start(&project));
    let root = tokio::task::block_in_place(|| create(&serving, &json!({"agent": "lead", "message": "go"})));
    model.until_requests(3).await;
    tokio::task::block_in_place(|| {
        let runs = serving.get("/runs?status=running");
        assert_eq!(runs["runs"][0]["agent"], "kid", "{runs}");
        serving.kill();
        // Whoever looks, from whichever process, sees how it stands.
        let runs = project.json(&["runs"]);
        assert!(runs["runs"].as_array().unwrap().iter().any(|run| run["status"] == "running"), "{runs}");
    });
    let model = FakeModel::start(brain(false)).await;
    let project = project.with_model(&model);
    tokio::task::block_in_place(|| {
        let serving = Serving::start(&project);
        let runs = delivered(&serving, 1);
        assert_eq!((&runs[0]["status"], &runs[0]["result"]), (&json!("done"), &json!("after all")));
        serving.settle(&root);
        assert_eq!(told(&serving, &root, &runs), [1]);
        serving.kill();
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ten_newest_of_twelve_tasks_are_in_the_system_prompt_at_every_step() {
    let brain = |request: &Request| match (is_kid(request), request.assistant_turns()) {
        (true, _) => Reply::hang(),
        (false, 0) => Reply::calls((0..12).map(|_| spawn("work", &json!({"timeout_seconds": 0}))).collect::<Vec<_>>()),
        (false, 1 | 2) => Reply::call("agent_list", json!({})),
        (false, _) => Reply::text("noted"),
    };
    let model = FakeModel::start(brain).await;
    let project = project(&model);
    tokio::task::block_in_place(|| {
        let serving = Serving::start(&project);
        let root = create(&serving, &json!({"agent": "lead", "message": "go"}));
        serving.settle(&root);
        serving.kill();
    });
    let asked: Vec<_> = model.requests().into_iter().filter(|request| !is_kid(request)).collect();
    assert_eq!(asked.len(), 4);
    assert!(!asked[0].system().contains("task_id: task_"));
    let answers = asked[1].tool_results();
    let ids: Vec<&str> = answers
        .iter()
        .filter_map(|answer| answer.text.lines().find_map(|line| line.strip_prefix("task_id: ")))
        .collect();
    for request in &asked[1..] {
        let system = request.system();
        let shown: Vec<_> = ids.iter().filter(|id| system.contains(**id)).collect();
        assert_eq!(shown, ids[2..].iter().collect::<Vec<_>>());
        assert!(system.contains("(2 older tasks are not shown;"), "{system}");
        assert_eq!(system.matches("- `kid`: Does kid work.").count(), 1);
    }
}
