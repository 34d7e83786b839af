//! What the acting side's model is shown.

use crate::dialect::standard;
use crate::offer::{World, offered};
use crate::state::ThreadState;
use crate::variable;
use entourage_model::{Line, Message, ModelRequest, Prompt, Role, Side};
use std::sync::Arc;

/// The next model call of the acting side; nothing while no model has to act.
pub fn request(world: &World<'_>, state: &ThreadState) -> Option<ModelRequest> {
    let session = state.session.as_ref()?;
    let prompt = &world.side(state, session.acting)?.prompt;
    Some(ModelRequest {
        agent: state.agent.clone(),
        side: session.acting,
        step: session.steps[session.acting as usize],
        models: prompt.model.iter().chain(&prompt.fallbacks).cloned().collect(),
        lines: lines(world, state, prompt, session.acting),
        tools: offered(world, state, prompt),
        tool_choice: prompt.tool_choice,
        parallel_tool_calls: prompt.parallel_tool_calls,
        reasoning: prompt.reasoning.clone(),
        sampling: prompt.sampling,
        provider_options: prompt.provider_options.clone(),
    })
}

fn lines(world: &World<'_>, state: &ThreadState, prompt: &Prompt, side: Side) -> Vec<Line> {
    let (session_first, turn_first) = state.session.as_ref().map_or((0, 0), |s| (s.first, s.turn_first));
    let first = if prompt.include_chat { 0 } else { session_first };
    let mut lines =
        vec![Line::System(prompt.instructions.render(|name| variable::for_model(world, state, prompt, name)))];
    lines.extend(standard::registry(state).map(Line::System));
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
            (role, _) => lines.push(Line::Message { role, message: Arc::clone(message), calls: false }),
        }
    }
    lines
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
