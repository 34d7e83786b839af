//! Messages as lines for people.

use crate::screen::Paint;
use entourage_model::{Message, Role, Side, ThreadId, ToolStatus};
use entourage_store::{Store, StoreError};
use std::sync::Arc;

/// How many events are read at once.
const PAGE: usize = 1000;

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

/// The messages of a thread in order, at most the `last` ones.
pub(crate) async fn read(
    store: &dyn Store,
    thread: ThreadId,
    audience: Audience,
    last: usize,
) -> Result<Vec<Numbered>, StoreError> {
    let mut messages = std::collections::VecDeque::new();
    let mut after = 0;
    loop {
        let page = store.journal(thread, after, PAGE).await?;
        let is_last = page.len() < PAGE;
        for stored in page {
            after = stored.seq;
            let Some(message) = stored.event.message().cloned() else { continue };
            if audience == Audience::Everybody || !message.silent {
                messages.push_back(Numbered { seq: stored.seq, message });
            }
            if messages.len() > last {
                messages.pop_front();
            }
        }
        if is_last {
            return Ok(messages.into());
        }
    }
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
