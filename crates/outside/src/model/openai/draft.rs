//! An answer while it is put together: text as it grows, and calls whose pieces may come interleaved.

use super::chunk::{Choice, Said, WireCall, WireUsage};
use crate::model::call::{SaidCall, distinct};
use crate::model::failure::{FailedAttempt, FailureKind};
use crate::model::watch::Watch;
use entourage_model::{ModelAnswer, Usage};

/// Text and arguments of one answer together.
pub(super) const ANSWER_BYTES_MAX: usize = 16 << 20;

#[derive(Debug, Default)]
pub(super) struct Draft {
    text: String,
    calls: Vec<DraftCall>,
    usage: Usage,
    bytes: usize,
    /// The model said why it stopped, or the answer that it is over.
    finished: bool,
}

#[derive(Debug)]
struct DraftCall {
    index: Option<u64>,
    said: SaidCall,
}

impl Draft {
    /// Adds what one choice says, telling the watcher of new text.
    pub(super) fn take(&mut self, choice: &Choice<'_>, watch: &dyn Watch) -> Result<(), FailedAttempt> {
        if let Some(delta) = &choice.delta {
            self.take_text(delta, watch)?;
            for call in delta.tool_calls.iter().flatten() {
                let slot = self.slot(call);
                self.take_call(slot, call)?;
            }
        }
        if let Some(message) = &choice.message {
            self.take_text(message, watch)?;
            for call in message.tool_calls.iter().flatten() {
                self.take_call(None, call)?;
            }
        }
        self.finished |= choice.finish_reason.as_ref().is_some_and(|reason| !reason.0.is_empty());
        Ok(())
    }

    pub(super) fn mark_finished(&mut self) {
        self.finished = true;
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    /// A later count replaces an earlier one: some servers send it with every piece.
    pub(super) fn take_usage(&mut self, usage: &WireUsage) {
        self.usage.input_tokens = usage.prompt_tokens.unwrap_or(self.usage.input_tokens);
        self.usage.output_tokens = usage.completion_tokens.unwrap_or(self.usage.output_tokens);
    }

    pub(super) fn finish(self) -> Result<ModelAnswer, FailedAttempt> {
        if self.calls.iter().any(|call| call.said.name.is_empty()) {
            return Err(FailedAttempt::passing(FailureKind::Malformed, "called a tool without naming it"));
        }
        let usage = Usage { steps: 1, ..self.usage };
        let calls = self.calls.into_iter().map(|call| call.said).collect();
        Ok(ModelAnswer { text: self.text, calls: distinct(calls), usage, ..ModelAnswer::default() })
    }

    fn take_text(&mut self, said: &Said<'_>, watch: &dyn Watch) -> Result<(), FailedAttempt> {
        for text in [&said.content, &said.refusal].into_iter().flatten().filter(|text| !text.0.is_empty()) {
            self.grow(text.0.len())?;
            self.text.push_str(&text.0);
            watch.delta(&text.0);
        }
        Ok(())
    }

    /// Where a piece of a call belongs; nowhere yet if it begins one.
    fn slot(&self, piece: &WireCall<'_>) -> Option<usize> {
        let begins = !piece.name().is_empty();
        let Some(index) = piece.index else {
            // Without numbers only a name tells where the next call begins.
            return if begins { None } else { self.calls.len().checked_sub(1) };
        };
        let slot = self.calls.iter().rposition(|call| call.index == Some(index))?;
        // Some servers number every call 0, and only the id tells them apart.
        let known = &self.calls[slot].said.id;
        let is_other = begins && !piece.id().is_empty() && !known.is_empty() && piece.id() != known;
        (!is_other).then_some(slot)
    }

    fn take_call(&mut self, slot: Option<usize>, piece: &WireCall<'_>) -> Result<(), FailedAttempt> {
        let arguments = piece.arguments();
        self.grow(piece.id().len() + piece.name().len() + arguments.len())?;
        let slot = slot.unwrap_or(self.calls.len());
        if slot == self.calls.len() {
            self.calls.push(DraftCall { index: piece.index, said: SaidCall::default() });
        }
        let call = &mut self.calls[slot].said;
        // Id and name come once; a server that repeats them does not mean them twice.
        if call.id.is_empty() {
            call.id.push_str(piece.id());
        }
        if call.name.is_empty() {
            call.name.push_str(piece.name());
        }
        call.arguments.push_str(&arguments);
        Ok(())
    }

    fn grow(&mut self, bytes: usize) -> Result<(), FailedAttempt> {
        self.bytes += bytes;
        if self.bytes > ANSWER_BYTES_MAX { Err(too_long()) } else { Ok(()) }
    }
}

pub(super) fn too_long() -> FailedAttempt {
    let why = format!("said more than {} MiB in one answer", ANSWER_BYTES_MAX >> 20);
    FailedAttempt::lasting(FailureKind::Malformed, why)
}
