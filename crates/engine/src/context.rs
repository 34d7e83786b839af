//! What the acting side's model is shown.

use crate::dialect::{self, standard::attach};
use crate::limit;
use crate::offer::{World, offered};
use crate::state::ThreadState;
use crate::variable;
use entourage_model::{Line, Message, ModelRef, ModelRequest, Prompt, RemoteTask, Role, Side, ToolChoice};
use std::sync::Arc;

/// The next model call of the acting side; nothing while no model has to act.
pub fn request(world: &World<'_>, state: &ThreadState) -> Option<ModelRequest> {
    let session = state.session.as_ref()?;
    let prompt = &world.side(state, session.acting)?.prompt;
    // A model that still has tools would call them once more.
    let closing = limit::is_closing(world, state);
    let ways = world.mirrored(state).map_or(prompt, |side| &side.prompt);
    Some(ModelRequest {
        agent: state.agent.clone(),
        side: session.acting,
        step: session.steps[session.acting as usize],
        is_root: state.started.parent.is_none(),
        models: models(state, prompt),
        lines: lines(world, state, prompt, session.acting),
        tools: if closing { Vec::new() } else { offered(world, state, prompt) },
        // Not mirrored: who must call a tool at every step ends by a tool, which a mirror may not have.
        tool_choice: if closing { ToolChoice::Auto } else { prompt.tool_choice },
        parallel_tool_calls: ways.parallel_tool_calls,
        reasoning: ways.reasoning.clone(),
        sampling: ways.sampling,
        remote: remote_task(world, state).map(Box::new),
        provider_options: ways.provider_options.clone(),
    })
}

/// What another server is asked at this point, where it runs the agent.
pub(crate) fn remote_task(world: &World<'_>, state: &ThreadState) -> Option<RemoteTask> {
    let remote = world.agent(state)?.remote.clone()?;
    let session = state.session.as_ref()?;
    let said = state.transcript.get(session.first..)?.iter();
    let asked: Vec<_> = said.filter(|message| message.role == Role::User).map(|m| m.content.as_str()).collect();
    Some(RemoteTask {
        agent: state.agent.clone(),
        remote,
        // A session asks once; what came of the one before, if anything, is no answer to this one.
        id: format!("{}-{}", state.id(), state.sessions.saturating_sub(1)),
        session: state.id(),
        parent: state.started.parent,
        user_id: state.started.user_id.clone(),
        denied: state.started.denied.clone(),
        input: asked.join("\n\n"),
        resumed: false,
    })
}

/// The prompt's own; for one that names none those of the thread's caller, if there is one that names some.
fn models(state: &ThreadState, prompt: &Prompt) -> Vec<ModelRef> {
    let given = state.started.models.iter().filter(|_| prompt.model.is_none());
    prompt.model.iter().chain(given).chain(&prompt.fallbacks).cloned().collect()
}

pub(crate) fn lines(world: &World<'_>, state: &ThreadState, prompt: &Prompt, side: Side) -> Vec<Line> {
    let (session_first, turn_first) = state.session.as_ref().map_or((0, 0), |s| (s.first, s.turn_first));
    let first = if prompt.include_chat { 0 } else { session_first };
    let own = state.started.instructions.clone().filter(|_| state.agent == state.started.agent);
    let render = || prompt.instructions.render(|name| variable::for_model(world, state, prompt, name));
    let mut lines = vec![Line::System(dialect::prompt(world, state, own.unwrap_or_else(render)))];
    lines.extend(dialect::system(world, state).into_iter().map(Line::System));
    if limit::is_closing(world, state) {
        lines.push(Line::System(limit::CLOSING.into()));
    }
    let mut index = first;
    while index < state.transcript.len() {
        let message = &state.transcript[index];
        index += 1;
        let past_tools = prompt.include_past_tools || index > turn_first;
        match (message.role, message.side) {
            // Shown behind the answer that made the call.
            (Role::Tool, _) => {}
            (Role::Assistant, Some(own)) if own == side => {
                let calls = past_tools && !message.tool_calls.is_empty();
                if calls || !message.content.trim().is_empty() {
                    lines.push(Line::Message { role: Role::Assistant, message: Arc::clone(message), calls });
                }
                if calls {
                    results(&state.transcript[index..], message, &mut lines);
                }
            }
            // The other side's words, without its tool traffic.
            (Role::Assistant, Some(_)) => {
                if !message.content.trim().is_empty() {
                    lines.push(Line::Message { role: Role::User, message: Arc::clone(message), calls: false });
                }
            }
            (role, _) => {
                // What no side has said itself, but is said as an assistant, is side A's.
                let is_others = role == Role::Assistant && side == Side::B;
                let role = if is_others { Role::User } else { role };
                lines.push(Line::Message { role, message: with_paths(message), calls: false });
            }
        }
    }
    lines
}

/// The message, with the paths of its files below what it says of them.
fn with_paths(message: &Arc<Message>) -> Arc<Message> {
    let unnamed = |file: &&entourage_model::Attachment| !message.content.contains(&file.path);
    let files: Vec<_> = message.attachments.iter().filter(unnamed).cloned().collect();
    if files.is_empty() {
        return Arc::clone(message);
    }
    let mut shown = (**message).clone();
    attach(&mut shown.content, &files);
    Arc::new(shown)
}

/// The results of `answer`'s calls, in call order, however they came in.
fn results(behind: &[Arc<Message>], answer: &Message, lines: &mut Vec<Line>) {
    // Nobody answers while a call is open. Behind the next answer, whosever it is, the same ids mean other calls.
    let next = behind.iter().position(|m| m.role == Role::Assistant && m.side.is_some()).unwrap_or(behind.len());
    let places: std::collections::BTreeMap<_, _> =
        answer.tool_calls.iter().enumerate().map(|(place, call)| (&call.id, place)).collect();
    let mut found: Vec<Option<&Arc<Message>>> = vec![None; answer.tool_calls.len()];
    for message in behind[..next].iter().filter(|m| m.role == Role::Tool) {
        if let Some(&place) = message.tool_call_id.as_ref().and_then(|id| places.get(id)) {
            found[place] = Some(message);
        }
    }
    let shown = found.into_iter().flatten();
    lines.extend(shown.map(|m| Line::Message { role: Role::Tool, message: Arc::clone(m), calls: false }));
}
