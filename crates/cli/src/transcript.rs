//! Messages as lines for people.

use crate::screen::Paint;
use entourage_engine::{ThreadState, apply};
use entourage_model::{Message, Role, Side, ThreadId, ToolStatus};
use entourage_store::{JournalReader, Store, StoreError};
use std::sync::Arc;

/// A message and its number in the thread.
#[derive(Clone, Debug)]
pub(crate) struct Numbered {
    pub(crate) seq: u64,
    pub(crate) message: Arc<Message>,
}

/// Which messages are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// People: silent messages are left out.
    People,
    Everybody,
}

impl Audience {
    pub(crate) fn sees(self, message: &Message) -> bool {
        self == Self::Everybody || !message.silent
    }
}

/// At most the last ones of these.
pub(crate) fn last(mut messages: Vec<Numbered>, count: usize) -> Vec<Numbered> {
    messages.drain(..messages.len().saturating_sub(count));
    messages
}

/// The messages of a thread in order.
pub(crate) async fn read(store: &dyn Store, thread: ThreadId, audience: Audience) -> Result<Vec<Numbered>, StoreError> {
    let mut journal = JournalReader::of_thread(store, thread);
    let mut state: Option<ThreadState> = None;
    while let Some(stored) = journal.next().await? {
        // Tools may have changed what was said, so the messages are what the whole journal leads to.
        match &mut state {
            Some(state) => apply(state, &stored.event),
            None => state = ThreadState::born(&stored.event),
        }
    }
    let lines = state.into_iter().flat_map(|state| state.transcript.into_iter().zip(state.numbers));
    let shown = lines.filter(|(message, _)| audience.sees(message));
    Ok(shown.map(|(message, seq)| Numbered { seq, message }).collect())
}

/// How much of each message is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    Whole,
    /// So many lines, then how many were left out.
    Lines(usize),
}

/// One message: who, then what was said, its further lines below, and the calls.
pub(crate) fn lines(message: &Message, length: Length, paint: Paint) -> String {
    let who = who(message);
    let failed = message.tool_status == Some(ToolStatus::Error);
    let who = if failed { paint.bad(&format!("{who} (error)")) } else { paint.strong(&who) };
    let mut said: Vec<String> = Vec::new();
    if !message.content.is_empty() {
        said.extend(cut(&message.content, length));
    }
    said.extend(message.attachments.iter().map(|attachment| format!("attached: {}", attachment.path)));
    said.extend(message.tool_calls.iter().map(|call| format!("calls {} {}", call.name, call.arguments)));
    format!("{who}: {}", said.join("\n    "))
}

fn who(message: &Message) -> String {
    match (message.role, &message.tool_name, message.side) {
        (Role::Tool, Some(tool), _) => format!("  {tool}"),
        (Role::Tool, None, _) => "  tool".to_owned(),
        (Role::Assistant, _, Some(Side::B)) => "assistant b".to_owned(),
        (Role::Assistant, _, _) => "assistant".to_owned(),
        (Role::User, _, _) => "user".to_owned(),
        (Role::System, _, _) => "system".to_owned(),
    }
}

fn cut(text: &str, length: Length) -> Vec<String> {
    let lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let Length::Lines(max) = length else { return lines };
    let more = lines.len().saturating_sub(max);
    let mut shown: Vec<_> = lines.into_iter().take(max).collect();
    if more > 0 {
        shown.push(format!("… {more} more lines"));
    }
    shown
}
