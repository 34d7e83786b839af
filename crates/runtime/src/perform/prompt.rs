//! Asking a prompt of the team within a call: one model call, and the tools that it asks for.

use super::model::ask;
use super::script::{Scene, script};
use super::tool::{Caller, tool};
use super::{Flight, Place};
use crate::runtime::Inner;
use entourage_engine::{Input, ThreadState, World, foresee, server, subprompt_request};
use entourage_model::{
    Act, Attachment, Fact, Ids, Message, ModelAnswer, Outcome, PromptEntry, Role, Team, ToolCall, Usage,
};
use futures::FutureExt as _;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A prompt, and the thread that asks it.
#[derive(Debug)]
pub(crate) struct Interview {
    pub(crate) place: Place,
    pub(crate) team: Arc<Team>,
    pub(crate) entry: PromptEntry,
    /// As it is when the call begins.
    pub(crate) state: ThreadState,
}

/// What the prompt said and did so far.
#[derive(Debug, Default)]
struct Answer {
    /// One of its calls has failed.
    has_failed: bool,
    parts: Vec<String>,
    attachments: Vec<Attachment>,
    acts: Vec<Act>,
    facts: Vec<Fact>,
}

/// Dropping the flight closes the connection and ends the tool that runs.
pub(crate) fn prompt(
    inner: &Arc<Inner>,
    interview: Interview,
    (call, key): (ToolCall, String),
    repeatable: bool,
) -> Flight {
    let inner = Arc::clone(inner);
    async move {
        let name = call.name.clone();
        let (outcome, answer) = match interview.conduct(&inner, &call, &key).boxed().await {
            Ok(answer) if answer.has_failed => (Outcome::Failed, answer),
            Ok(answer) => (Outcome::Done, answer),
            Err(why) => {
                let text = format!("`{name}` failed: {why}");
                (Outcome::Failed, Answer { parts: vec![text], ..Answer::default() })
            }
        };
        let Answer { has_failed, mut parts, attachments, acts, facts } = answer;
        if has_failed && parts.is_empty() {
            parts.push(format!("`{name}` failed: a tool that it called has failed"));
        }
        let ended = Input::ToolEnded { call: call.id, outcome, text: parts.join("\n\n"), attachments, acts, facts };
        (ended, repeatable)
    }
    .boxed()
}

impl Interview {
    async fn conduct(mut self, inner: &Arc<Inner>, call: &ToolCall, key: &str) -> Result<Answer, String> {
        let files = match &self.entry.attachments_property {
            Some(_) => inner.files_by_path(self.place.thread).await.map_err(|error| error.to_string())?,
            None => BTreeMap::new(),
        };
        self.equip(inner).await?;
        let request = {
            let world = World { files: &files, ..inner.world(&self.team, 0) };
            subprompt_request(&world, &self.state, &self.entry, call)?
        };
        let said = ask(inner, self.place, &request).await?;
        let mut answer = Answer::default();
        answer.acts.push(self.record(inner, &said));
        if self.entry.include_text_response && !said.text.trim().is_empty() {
            answer.parts.push(said.text);
        }
        let offered: Vec<_> = request.tools.iter().map(|spec| spec.name.clone()).collect();
        for (place, call) in said.calls.into_iter().enumerate() {
            if offered.contains(&call.name) {
                self.call(inner, (call, format!("{key}/{place}")), &mut answer).await;
            } else {
                answer.has_failed = true;
                if self.entry.include_errors {
                    answer.parts.push(format!("`{}` failed: there is no such tool here", call.name));
                }
            }
        }
        Ok(answer)
    }

    /// Has the servers ready whose tools the prompt may call.
    async fn equip(&self, inner: &Inner) -> Result<(), String> {
        let prompt = self.team.prompts.get(&self.entry.prompt);
        for entry in prompt.iter().flat_map(|prompt| &prompt.servers) {
            let tried = inner.servers.ready(&entry.key).await;
            if entry.required {
                tried?;
            }
        }
        Ok(())
    }

    /// What was asked and paid for, for the journal.
    fn record(&self, inner: &Inner, said: &ModelAnswer) -> Act {
        let now = inner.store.now();
        let id = Ids::new(now, fastrand::u64(..)).message();
        let mut message = Message::new(id, Role::Assistant, said.text.clone(), now);
        message.tool_calls.clone_from(&said.calls);
        let usage = Usage { steps: 1, ..said.usage };
        Act::AskPrompt { prompt: self.entry.prompt.clone(), answer: Arc::new(message), usage }
    }

    /// One tool after the other: each sees what those before it have done.
    async fn call(&mut self, inner: &Arc<Inner>, (call, key): (ToolCall, String), answer: &mut Answer) {
        let name = call.name.clone();
        let flight = match self.team.tools.get(&call.name) {
            Some(code) => {
                let scene = Scene {
                    place: self.place,
                    team: Arc::clone(&self.team),
                    tool: Arc::clone(code),
                    subprompt: Some(self.entry.prompt.clone()),
                    state: self.state.clone(),
                };
                script(inner, scene, (call, key), false)
            }
            None => {
                let prompt = self.team.prompts.get(&self.entry.prompt);
                let server = prompt.and_then(|prompt| Some(server(prompt, &call.name)?.key.clone()));
                let folder = self.state.folder(&self.team);
                tool(
                    inner,
                    Caller { place: self.place, team: Arc::clone(&self.team), folder, server },
                    (call, key),
                    false,
                )
            }
        };
        let (Input::ToolEnded { outcome, text, attachments, acts, facts, .. }, _) = flight.await else { return };
        acts.iter().for_each(|act| foresee(&mut self.state, act));
        answer.acts.extend(acts);
        answer.facts.extend(facts);
        let is_done = outcome == Outcome::Done;
        answer.has_failed |= !is_done;
        if if is_done { self.entry.include_tool_calls } else { self.entry.include_errors } {
            let verb = if is_done { "returned" } else { "failed" };
            answer.parts.push(format!("`{name}` {verb}:\n{text}"));
            answer.attachments.extend(attachments);
        }
    }
}
