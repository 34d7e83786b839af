//! What the models of the kill test say. It depends on the conversation alone, so a repeated call says the same.

use entourage_testkit::{Reply, Request};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// Words like `say-3-14`: a message, a job to wait for (`job`), or a job in the background (`bgd`).
fn words(text: &str) -> Vec<String> {
    let is_word = |word: &&str| ["say-", "job-", "bgd-"].iter().any(|kind| word.starts_with(kind));
    let clean = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    clean.filter(is_word).map(str::to_owned).collect()
}

pub(crate) fn reply(request: &Request) -> Reply {
    let wait = Duration::from_millis(fastrand::u64(0..30));
    if request.system().contains("[[boss]]") { boss(request).after(wait) } else { worker(request).after(wait) }
}

/// Hands out each job once, as far as its context shows, and acknowledges every message once.
fn boss(request: &Request) -> Reply {
    let told: Vec<String> = request
        .texts("user")
        .iter()
        .filter(|text| !text.starts_with("Subagent ("))
        .flat_map(|text| words(text))
        .collect();
    let asked = asked(request.body());
    let jobs: Vec<_> = told.iter().filter(|word| !word.starts_with("say-") && !asked.contains(*word)).collect();
    if !jobs.is_empty() {
        let tool = |job: &str| if job.starts_with("job-") { "worker" } else { "runner" };
        return Reply::calls(jobs.into_iter().map(|job| (tool(job), json!({"message": job}))));
    }
    let acknowledged: BTreeSet<_> = request.texts("assistant").iter().flat_map(|text| words(text)).collect();
    let left: Vec<_> = told.into_iter().filter(|word| !acknowledged.contains(word)).collect();
    Reply::text(if left.is_empty() { "noted".to_owned() } else { format!("ack {}", left.join(" ")) })
}

/// The jobs that were handed out already.
fn asked(body: &Value) -> BTreeSet<String> {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let calls = messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
    calls.flat_map(|call| words(call["function"]["arguments"].as_str().unwrap_or_default())).collect()
}

fn worker(request: &Request) -> Reply {
    let job = request.texts("user").iter().flat_map(|text| words(text)).next().unwrap_or_default();
    if request.assistant_turns() == 0 {
        Reply::call("note", json!({"text": job}))
    } else {
        Reply::text(format!("result-of {job}"))
    }
}
