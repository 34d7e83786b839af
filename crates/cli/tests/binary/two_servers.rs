//! Two servers, one remote for the other, and neither of them is safe.

use crate::project::{Project, ending, signal};
use crate::serve::Serving;
use entourage_testkit::{FakeModel, Reply, Request};
use entourage_trial::remote::{Settings, run};
use rustix::process::Signal;
use serde_json::json;
use std::path::PathBuf;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killing_either_of_two_servers_in_the_middle_every_run_ends_once() {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_entourage"));
    let tried = run(Settings { program, rounds: 5 }).await.unwrap();
    assert_eq!(tried.violations, Vec::<String>::new(), "{tried:?}");
    assert!(tried.asked >= tried.jobs, "{tried:?}");
}

/// Attack 27: neither what the environment gives nor what the settings write out.
#[tokio::test(flavor = "multi_thread")]
async fn headers_of_a_remote_agent_lie_nowhere() {
    const SECRETS: [&str; 2] = ["canary-55319", "written-out-81743"];
    let model = FakeModel::start(|request: &Request| {
        match (request.system().contains("[[far]]"), request.tool_results().len()) {
            (true, _) => Reply::text("far away"),
            (false, 0) => Reply::call("agent_spawn", json!({ "agent_id": "far", "task": "go" })),
            (false, _) => Reply::text(request.tool_results()[0].text.clone()),
        }
    })
    .await;
    let far = Project::new().with_model(&model).file("subagents/far.md", "---\ndescription: Far.\n---\n[[far]]\n");
    tokio::task::block_in_place(|| {
        let far_server = Serving::start_with(&far, &["--model", "openai:fake"]);
        let settings = format!(
            "model = \"openai:fake\"\n[subagents.far]\ndescription = \"Far.\"\nurl = \"http://{}\"\n[subagents.far.headers]\n\
             Authorization = \"Bearer ${{FAR_TOKEN}}\"\nX-Given = \"${{CANARY}}\"\nX-Written = \"{}\"\n",
            far_server.address, SECRETS[1]
        );
        let near = Project::new().with_model(&model).file("entourage.toml", &settings);
        let near = near.variable("FAR_TOKEN", &far_server.token).variable("CANARY", SECRETS[0]);
        let server = Serving::start_with(&near, &["--log", "debug"]);
        let (status, made) = server.ask("POST", "/threads", &json!({ "agent": "lead", "message": "go" }));
        assert_eq!(status, 201, "{made}");
        let thread = made["thread_id"].as_str().unwrap();
        assert_eq!(server.settle(thread)["status"], "idle");
        let messages = server.get(&format!("/threads/{thread}/messages")).to_string();
        assert!(messages.contains("far away"), "{messages}");
        let mut seen = vec![("messages".to_owned(), messages.into_bytes())];
        for path in ["/agents/far", "/agents", "/threads", "/runs"] {
            seen.push((path.to_owned(), server.get(path).to_string().into_bytes()));
        }
        signal(&server.child, Signal::TERM);
        let said = ending(server.child);
        seen.push(("the log".to_owned(), format!("{said:?}").into_bytes()));
        seen.extend(near.kept(".entourage").into_iter().map(|(path, bytes)| (path.display().to_string(), bytes)));
        seen.extend(far.kept(".entourage").into_iter().map(|(path, bytes)| (path.display().to_string(), bytes)));
        assert!(seen.len() > 8, "the stores, the keys and the tokens are files");
        for (place, bytes) in &seen {
            let found = SECRETS.iter().find(|secret| bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
            assert_eq!(found, None, "in {place}");
        }
        far_server.kill();
    });
}
