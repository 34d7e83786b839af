//! The offline model.

use super::{Heard, request};
use entourage_model::{ModelAnswer, ModelRequest, Side};
use entourage_outside::model::{FailureKind, ModelFailure, ModelSettings, Models, Script, ScriptReader};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn models(script: &serde_json::Value) -> Models {
    let script = Script::parse(&script.to_string()).unwrap();
    Models::new(ModelSettings { scripts: BTreeMap::from([("demo".to_owned(), script)]), ..ModelSettings::default() })
}

fn from(agent: &str, side: Side, step: u32, text: &str) -> ModelRequest {
    ModelRequest { agent: agent.into(), side, step, ..request(&["script:demo"], text) }
}

async fn ask(models: &Models, request: &ModelRequest) -> Result<ModelAnswer, ModelFailure> {
    models.ask(request, &()).await
}

#[tokio::test]
async fn the_first_rule_that_matches_replies() {
    let models = models(&json!({ "rules": [
        { "agent": "lead", "side": "a", "step": 0, "contains": "please", "reply": { "text": "all four" } },
        { "agent": "lead", "side": "b", "reply": { "text": "side b" } },
        { "agent": "lead", "step": 1, "reply": { "text": "step 1" } },
        { "agent": "lead", "reply": { "text": "lead" } },
        { "contains": "please", "reply": { "text": "anybody who asks nicely" } },
        { "reply": { "text": "anything" } },
    ] }));
    for (request, expected) in [
        (from("lead", Side::A, 0, "yes please!"), "all four"),
        (from("lead", Side::B, 0, "yes please!"), "side b"),
        (from("lead", Side::A, 1, "yes please!"), "step 1"),
        (from("lead", Side::A, 0, "now"), "lead"),
        (from("other", Side::A, 0, "please"), "anybody who asks nicely"),
        (from("other", Side::A, 0, "now"), "anything"),
    ] {
        assert_eq!(ask(&models, &request).await.unwrap().text, expected);
    }
}

#[tokio::test]
async fn a_rule_replies_as_often_as_it_may() {
    let models = models(&json!({ "rules": [
        { "times": 2, "reply": { "text": "early" } },
        { "reply": { "text": "late" } },
    ] }));
    let asked = from("lead", Side::A, 0, "hi");
    let answers = futures::future::join_all([(); 4].map(|()| ask(&models, &asked))).await;
    let texts = answers.into_iter().map(|answer| answer.unwrap().text).collect::<Vec<_>>();
    assert_eq!(texts, ["early", "early", "late", "late"]);
}

#[tokio::test]
async fn text_comes_word_by_word_and_quotes_what_it_answers() {
    let models = models(&json!({ "rules": [{ "reply": { "text": "you said: {{last}}.", "delay_ms": 3 } }] }));
    let heard = Heard::default();
    let answer = models.ask(&from("lead", Side::A, 0, "good day"), &heard).await.unwrap();
    assert_eq!(answer.text, "you said: good day.");
    assert_eq!(heard.lines(), ["you ", "said: ", "good ", "day."]);
    assert_eq!(answer.usage.steps, 1);
}

#[tokio::test]
async fn calls_get_ids_and_their_arguments() {
    let models = models(&json!({ "rules": [{ "reply": { "calls": [
        { "tool": "ask", "arguments": { "to": ["x", "{{last}}"], "n": 1 } },
        { "tool": "stop" },
        { "tool": "ask", "arguments": "{not json" },
    ] } }] }));
    let answer = ask(&models, &from("lead", Side::A, 0, "say \"hi\"")).await.unwrap();
    let arguments = answer.calls.iter().map(|call| call.arguments.as_str()).collect::<Vec<_>>();
    assert_eq!(arguments, [r#"{"to":["x","say \"hi\""],"n":1}"#, "{}", "{not json"]);
    assert_ne!(answer.calls[0].id, answer.calls[2].id);
}

#[tokio::test]
async fn a_rule_can_fail_and_nobody_matching_fails() {
    let models = models(&json!({ "rules": [{ "agent": "lead", "reply": { "fail": "no ink" } }] }));
    let failure = ask(&models, &from("lead", Side::A, 0, "hi")).await.unwrap_err();
    assert_eq!((failure.kind, failure.attempts), (FailureKind::Script, 1));
    assert_eq!(failure.message, "`script:demo` was told to fail: no ink");
    let failure = ask(&models, &from("other", Side::B, 7, "hi")).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Script);
    assert_eq!(failure.message, "`script:demo` has no rule for agent `other`, side `b`, step 7");
}

#[tokio::test]
async fn a_file_is_read_once_and_hidden_by_a_known_name() {
    let reads = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&reads);
    let script_reader = ScriptReader::new(move |path| {
        count.fetch_add(1, Ordering::Relaxed);
        match path {
            "a.json" => Ok(r#"{ "rules": [{ "reply": { "text": "from file" } }] }"#.to_owned()),
            "b.json" => Ok("{ \"rulez\": [] }".to_owned()),
            _ => Err("no such file".to_owned()),
        }
    });
    let known = Script::parse(r#"{ "rules": [{ "reply": { "text": "known" } }] }"#).unwrap();
    let scripts = BTreeMap::from([("demo".to_owned(), known)]);
    let models = Models::new(ModelSettings { scripts, script_reader, ..ModelSettings::default() });
    for _ in 0..3 {
        assert_eq!(ask(&models, &request(&["script:a.json"], "hi")).await.unwrap().text, "from file");
        assert_eq!(ask(&models, &request(&["script:demo"], "hi")).await.unwrap().text, "known");
    }
    assert_eq!(reads.load(Ordering::Relaxed), 1);
    let failure = ask(&models, &request(&["script:c.json"], "hi")).await.unwrap_err();
    assert_eq!(failure.message, "`script:c.json` cannot be read: no such file");
    let failure = ask(&models, &request(&["script:b.json"], "hi")).await.unwrap_err();
    assert!(failure.message.contains("cannot be read: not a script: unknown field `rulez`"), "{failure}");
}
