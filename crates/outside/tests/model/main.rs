//! The models' door, asked over loopback: every provider, every fault.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

mod canned;
mod choice;
mod openai;
mod retry;
mod script;
mod vendor;

use entourage_model::{
    Ids, Line, Message, ModelRef, ModelRequest, Name, Role, Sampling, Side, Timestamp, ToolChoice, ToolSpec,
};
use entourage_outside::model::{Backoff, ModelLimits, ModelSettings, ProviderSettings, Watch};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Long enough for a loopback answer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// Short enough to wait for.
const INSTANT: Duration = Duration::from_millis(40);

/// What a watcher was told, in order.
#[derive(Debug, Default)]
struct Heard(Mutex<Vec<String>>);

impl Heard {
    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Watch for Heard {
    fn delta(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }

    fn retrying(&self, attempt: u32, _: Duration, why: &str) {
        self.0.lock().unwrap().push(format!("[{attempt}] {why}"));
    }
}

/// OpenAI at this address; three attempts with next to no waits between them.
fn settings(openai_base_url: &str) -> ModelSettings {
    ModelSettings { openai: ProviderSettings::at(openai_base_url), limits: limits(), ..ModelSettings::default() }
}

fn limits() -> ModelLimits {
    let backoff = Backoff { base: Duration::from_millis(1), max: Duration::from_millis(2) };
    ModelLimits { first_byte: PATIENCE, stall: PATIENCE, attempts: 3, backoff }
}

/// One user line, put to these models.
fn request(models: &[&str], text: &str) -> ModelRequest {
    ModelRequest {
        agent: Name::from("writer"),
        side: Side::A,
        step: 0,
        is_root: true,
        models: models.iter().map(|model| ModelRef::parse(model).unwrap()).collect(),
        lines: vec![line(message(Role::User, text))],
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        parallel_tool_calls: None,
        reasoning: None,
        sampling: Sampling::default(),
        remote: None,
        provider_options: serde_json::Map::new(),
    }
}

fn message(role: Role, text: &str) -> Message {
    Message::new(Ids::new(Timestamp(0), 0).message(), role, text, Timestamp(0))
}

fn line(message: Message) -> Line {
    Line::Message { role: message.role, message: Arc::new(message), calls: true }
}

fn tool(name: &str) -> Arc<ToolSpec> {
    Arc::new(ToolSpec {
        name: name.into(),
        description: format!("what {name} does"),
        parameters: Arc::new(serde_json::json!({ "type": "object", "properties": {} })),
        class: entourage_model::EffectClass::Pure,
    })
}
