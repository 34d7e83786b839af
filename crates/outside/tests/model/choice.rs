//! Which model is asked, and what is known without asking.

use super::{request, settings};
use entourage_model::{ModelRef, ModelRequest};
use entourage_outside::model::{FailureKind, ModelFailure, ModelSettings, Models, ProviderSettings};
use entourage_testkit::{FakeModel, Reply};

async fn check_unasked(settings: ModelSettings, model: &str, kind: FailureKind, message: &str) {
    let failure = Models::new(settings).ask(&request(&[model], "hi"), &()).await.unwrap_err();
    assert_eq!(failure, ModelFailure { kind, message: message.to_owned(), attempts: 0, status: None });
}

#[tokio::test]
async fn the_override_is_asked_whatever_the_request_names() {
    let fake = FakeModel::start(Reply::text("ok")).await;
    let models = Models::new(ModelSettings { override_model: ModelRef::parse("openai:c"), ..settings(fake.url()) });
    models.ask(&request(&["openai:a", "openai:b"], "hi"), &()).await.unwrap();
    models.ask(&request(&[], "hi"), &()).await.unwrap();
    assert!(fake.requests().iter().all(|request| request.model() == "c"));
}

#[tokio::test]
async fn the_default_is_asked_where_the_request_names_none() {
    let fake = FakeModel::start(Reply::text("ok")).await;
    let models = Models::new(ModelSettings { default_model: ModelRef::parse("openai:d"), ..settings(fake.url()) });
    models.ask(&request(&[], "hi"), &()).await.unwrap();
    models.ask(&request(&["openai:a"], "hi"), &()).await.unwrap();
    assert_eq!(fake.requests().iter().map(|request| request.model().to_owned()).collect::<Vec<_>>(), ["d", "a"]);
}

#[tokio::test]
async fn a_request_that_nobody_gave_a_model_fails() {
    let asked: ModelRequest = request(&[], "hi");
    let failure = Models::new(ModelSettings::default()).ask(&asked, &()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoModel);
    assert_eq!(failure.message, "agent `writer` names no model, and the settings have none");
}

#[tokio::test]
async fn a_provider_of_no_known_name_fails() {
    let known = "known are `anthropic:`, `gemini:`, `ollama:`, `openai:`, `script:`";
    let message = format!("`acme:x` names no provider; {known}");
    check_unasked(ModelSettings::default(), "acme:x", FailureKind::UnknownProvider, &message).await;
}

#[tokio::test]
async fn a_remote_provider_without_a_key_is_not_asked() {
    for (model, host, variable) in [
        ("openai:x", "api.openai.com", "OPENAI_API_KEY"),
        ("anthropic:x", "api.anthropic.com", "ANTHROPIC_API_KEY"),
        ("gemini:x", "generativelanguage.googleapis.com", "GEMINI_API_KEY"),
    ] {
        let message = format!("`{model}` at `{host}` was not asked: there is no key for it (`{variable}` is not set)");
        check_unasked(ModelSettings::default(), model, FailureKind::MissingKey, &message).await;
    }
}

#[tokio::test]
async fn an_address_that_is_none_is_told() {
    let settings = ModelSettings { openai: ProviderSettings::at("localhost"), ..ModelSettings::default() };
    let message = "`openai:x` cannot be asked: its base URL is no http or https address";
    check_unasked(settings, "openai:x", FailureKind::BadRequest, message).await;
}

#[tokio::test]
async fn a_fallback_needs_no_first_model_that_works() {
    let fake = FakeModel::start(Reply::text("ok")).await;
    let models = Models::new(settings(fake.url()));
    let answer = models.ask(&request(&["anthropic:x", "openai:a"], "hi"), &()).await.unwrap();
    assert_eq!((answer.text.as_str(), fake.requests().len()), ("ok", 1));
}
