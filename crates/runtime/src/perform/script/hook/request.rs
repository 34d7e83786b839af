//! Letting hooks hear of a request before a model is asked.
//!
//! What they make of the request is seen by the model and by nobody else: a request that is repeated after a crash is
//! heard of again. What they do to the thread becomes durable with the answer.

use super::super::super::Flight;
use super::super::super::model::ask;
use super::shape::{self, Shape, Subject};
use super::{Aftermath, Ground, hear, is_heard};
use crate::runtime::Inner;
use entourage_engine::{Input, ThreadState, foresee, request};
use entourage_model::{Act, Line, Message, ModelRequest, Role, Team, ToolCall, ToolStatus};
use entourage_outside::tool::Occasion;
use futures::FutureExt as _;
use std::sync::Arc;

const EVENTS: [&str; 3] = ["after_system_message", "filter_messages", "prefilter_llm_history"];

/// What the model reads where hooks left a call without its result: no provider accepts the one without the other.
const HIDDEN: &str = "The result of this call is not shown.";

/// Whether hooks of the thread hear of its requests.
pub(crate) fn is_advised(team: &Team, state: &ThreadState) -> bool {
    !team.hooks.is_empty() && EVENTS.into_iter().any(|event| is_heard(team, state, event))
}

/// Asks the model once the hooks have heard of the request. Dropping the flight ends the hook that runs, or closes the
/// connection.
pub(crate) fn advised(inner: &Arc<Inner>, ground: Ground, request: ModelRequest) -> Flight {
    let inner = Arc::clone(inner);
    async move {
        let place = ground.place;
        let mut advice = Advice { inner: Arc::clone(&inner), ground, acts: Vec::new() };
        let answer = match advice.take(request).await {
            Ok(request) => ask(&inner, place, &request).await,
            Err(reason) => Err(reason),
        };
        (Input::Advised { answer, acts: advice.acts }, true)
    }
    .boxed()
}

/// What the hooks have made of a request so far.
struct Advice {
    inner: Arc<Inner>,
    /// With what they have done to the thread.
    ground: Ground,
    acts: Vec<Act>,
}

impl Advice {
    /// The request as it is to be sent, or why it must not be.
    async fn take(&mut self, mut request: ModelRequest) -> Result<ModelRequest, String> {
        let system = self.system(&request.lines).await;
        if let Some(lines) = self.filtered().await {
            request.lines = mended(lines);
        }
        if let (Some(system), Some(first)) = (system, request.lines.first_mut()) {
            *first = Line::System(system.into());
        }
        self.prefiltered(request).await
    }

    async fn system(&mut self, lines: &[Line]) -> Option<String> {
        let Some(Line::System(text)) = lines.first() else { return None };
        let occasion = Occasion::SystemMessage { text: text.to_string() };
        match self.hear(occasion, Subject::Plain).await.shape {
            Shape::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The lines that are made of the transcript as the hooks left it, if they changed it.
    async fn filtered(&mut self) -> Option<Vec<Line>> {
        let transcript = self.ground.state.transcript.clone();
        let lines = transcript.iter().zip(&self.ground.state.numbers);
        let durable = self.ground.durable;
        let row = |(message, number): (&Arc<Message>, &u64)| {
            shape::row(message, Some(*number).filter(|number| *number <= durable)).into()
        };
        let occasion = Occasion::FilterMessages { messages: lines.map(row).collect() };
        let Shape::Transcript(rows) = self.hear(occasion, Subject::Transcript(&transcript)).await.shape else {
            return None;
        };
        let state = with_transcript(self.ground.state.clone(), rows);
        Some(request(&self.inner.world(&self.ground.team, 0), &state)?.lines)
    }

    async fn prefiltered(&mut self, mut request: ModelRequest) -> Result<ModelRequest, String> {
        let messages = request.lines.iter().map(shape::shown_line).collect();
        let after = self.hear(Occasion::PrefilterHistory { messages }, Subject::Lines(&request.lines)).await;
        if let Some(reason) = after.blocked {
            return Err(reason);
        }
        if let Shape::Lines(lines) = after.shape {
            request.lines = mended(lines);
        }
        Ok(request)
    }

    /// The next hooks see what these have done to the thread.
    async fn hear(&mut self, occasion: Occasion, subject: Subject<'_>) -> Aftermath {
        let mut after = if is_heard(&self.ground.team, &self.ground.state, occasion.name()) {
            hear(&self.inner, &self.ground, occasion, subject).await
        } else {
            Aftermath { shape: Shape::Same, acts: Vec::new(), blocked: None, failure: None }
        };
        after.acts.iter().for_each(|act| foresee(&mut self.ground.state, act));
        self.acts.append(&mut after.acts);
        after
    }
}

/// The state as if this had been said. What counts lines counts those that are left.
fn with_transcript(mut state: ThreadState, rows: Vec<Arc<Message>>) -> ThreadState {
    let place = |message: &Arc<Message>| state.transcript.iter().position(|known| known.id == message.id);
    // A new row belongs to what comes behind it; the last ones are as new as anything.
    let mut places: Vec<usize> = Vec::new();
    for row in rows.iter().rev() {
        let next = places.last().copied().unwrap_or(usize::MAX);
        places.push(place(row).unwrap_or(next));
    }
    places.reverse();
    let moved = |mark: usize| places.iter().position(|place| *place >= mark).unwrap_or(rows.len());
    if let Some(session) = &mut state.session {
        (session.first, session.turn_first) = (moved(session.first), moved(session.turn_first));
    }
    state.numbers = vec![0; rows.len()];
    state.transcript = rows;
    state
}

/// The lines with every call next to its result, and no result without its call.
fn mended(lines: Vec<Line>) -> Vec<Line> {
    let mut mended = Vec::new();
    let mut open: Vec<ToolCall> = Vec::new();
    for line in lines {
        if let Line::Message { role: Role::Tool, message, .. } = &line {
            let place = open.iter().position(|call| Some(&call.id) == message.tool_call_id.as_ref());
            if let Some(place) = place {
                open.remove(place);
                mended.push(line);
            }
            continue;
        }
        close(&mut open, &mut mended);
        open = line.tool_calls().to_vec();
        mended.push(line);
    }
    close(&mut open, &mut mended);
    mended
}

/// Gives every open call of the last answer a result.
fn close(open: &mut Vec<ToolCall>, lines: &mut Vec<Line>) {
    let Some(Line::Message { message: answer, .. }) = lines.iter().rev().find(|line| line.role() != Role::Tool) else {
        return;
    };
    let answer = Arc::clone(answer);
    for call in open.drain(..) {
        let mut message = Message::new(answer.id, Role::Tool, HIDDEN, answer.created_at);
        message.tool_status = Some(ToolStatus::Error);
        (message.tool_call_id, message.tool_name) = (Some(call.id), Some(call.name));
        lines.push(Line::Message { role: Role::Tool, message: Arc::new(message), calls: false });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use entourage_model::{Ids, Timestamp};

    fn line(role: Role, text: &str) -> Line {
        let mut message = Message::new(Ids::new(Timestamp(0), 1).message(), role, text, Timestamp(0));
        let call = |id: &str| ToolCall { id: id.into(), name: "t".into(), arguments: "{}".to_owned() };
        if role == Role::Assistant {
            message.tool_calls = text.split(' ').map(call).collect();
        }
        if role == Role::Tool {
            message.tool_call_id = Some(text.into());
        }
        Line::Message { role, message: Arc::new(message), calls: role == Role::Assistant }
    }

    #[test]
    fn calls_and_results_are_never_alone() {
        let (answer, result) = (|calls| line(Role::Assistant, calls), |call| line(Role::Tool, call));
        let user = || line(Role::User, "u");
        let ids = |lines: Vec<Line>| -> Vec<String> {
            let id = |line: &Line| match line {
                Line::Message { role: Role::Tool, message, .. } => {
                    let hidden = if message.content == HIDDEN { "!" } else { "" };
                    format!("{}{hidden}", message.tool_call_id.as_ref().expect("a result has one"))
                }
                _ => line.text().to_owned(),
            };
            mended(lines).iter().map(id).collect()
        };
        assert_eq!(ids(vec![user(), answer("a b"), result("a"), result("b")]), ["u", "a b", "a", "b"]);
        assert_eq!(ids(vec![answer("a b"), result("b"), user()]), ["a b", "b", "a!", "u"]);
        assert_eq!(ids(vec![result("a"), user(), result("a")]), ["u"]);
        assert_eq!(ids(vec![answer("a"), answer("a"), result("a")]), ["a", "a!", "a", "a"]);
        assert_eq!(ids(vec![answer("a")]), ["a", "a!"]);
    }
}
