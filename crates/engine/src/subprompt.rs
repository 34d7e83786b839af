//! Prompts that another prompt may call: asked once, on the same thread, and answering as a tool does.

use crate::attachment;
use crate::context;
use crate::dialect::schema;
use crate::dialect::standard::{attach, is_enabled, mapped_parameters, pretty};
use crate::offer::{self, World};
use crate::state::ThreadState;
use entourage_model::{EffectClass, Line, Message, ModelRequest, Name, Prompt, PromptEntry, Role, ToolCall, ToolSpec};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The prompt as a tool; nothing for one that is switched off.
pub(crate) fn spec(
    world: &World<'_>,
    state: &ThreadState,
    caller: &Prompt,
    entry: &PromptEntry,
) -> Option<Arc<ToolSpec>> {
    let prompt = world.team.prompts.get(&entry.prompt)?;
    if !is_enabled(world, state, caller, entry.optional.as_deref()) {
        return None;
    }
    let parameters = prompt.required_schema.clone().unwrap_or_else(|| {
        let message = entry.message_property.as_deref();
        let message = message.or_else(|| entry.attachments_property.is_none().then_some("message"));
        mapped_parameters(message, entry.attachments_property.as_deref(), None)
    });
    let class = class(world, &entry.prompt)?;
    let (name, description) = (entry.prompt.clone(), entry.description.clone());
    Some(Arc::new(ToolSpec { name, description, parameters: Arc::new(parameters), class }))
}

/// Asking a model may be repeated; a tool that it calls perhaps not.
pub(crate) fn class(world: &World<'_>, prompt: &Name) -> Option<EffectClass> {
    let prompt = world.team.prompts.get(prompt)?;
    let is_pure = |tool: &Arc<ToolSpec>| tool.class == EffectClass::Pure;
    Some(if tools(world, prompt).iter().all(is_pure) { EffectClass::Pure } else { EffectClass::AtMostOnce })
}

/// Only tools: what starts or changes agents belongs to the thread's own sides.
fn tools(world: &World<'_>, prompt: &Prompt) -> Vec<Arc<ToolSpec>> {
    offer::listed(prompt).flat_map(|name| world.expand(prompt, name)).collect()
}

/// What the prompt's model is asked when it is called so; otherwise what is wrong with the call.
pub fn request(
    world: &World<'_>,
    state: &ThreadState,
    entry: &PromptEntry,
    call: &ToolCall,
) -> Result<ModelRequest, String> {
    let session = state.session.as_ref().ok_or("the thread is at rest")?;
    let prompt = world.team.prompts.get(&entry.prompt);
    let prompt = prompt.ok_or_else(|| format!("there is no prompt `{}`", entry.prompt))?;
    let message = question(world, state, (prompt, entry), call)?;
    let mut lines = context::lines(world, &before(state, prompt), prompt, session.acting);
    lines.push(Line::Message { role: Role::User, message: Arc::new(message), calls: false });
    Ok(ModelRequest {
        agent: state.agent.clone(),
        side: session.acting,
        step: session.steps[session.acting as usize],
        is_root: state.started.parent.is_none(),
        models: prompt.model.iter().chain(&prompt.fallbacks).cloned().collect(),
        lines,
        tools: tools(world, prompt),
        tool_choice: prompt.tool_choice,
        parallel_tool_calls: prompt.parallel_tool_calls,
        reasoning: prompt.reasoning.clone(),
        sampling: prompt.sampling,
        provider_options: prompt.provider_options.clone(),
        remote: None,
    })
}

/// The thread as the prompt knows it: what was said before the call, if it wants to know that, and nothing else.
fn before(state: &ThreadState, prompt: &Prompt) -> ThreadState {
    let mut past = state.clone();
    past.started.instructions = None;
    past.children.clear();
    let answer = state.session.as_ref().and_then(|session| session.answer.as_ref());
    let said = answer.and_then(|answer| past.transcript.iter().rposition(|message| message.id == answer.id));
    past.transcript.truncate(if prompt.include_chat { said.unwrap_or_default() } else { 0 });
    past
}

fn question(
    world: &World<'_>,
    state: &ThreadState,
    (prompt, entry): (&Prompt, &PromptEntry),
    call: &ToolCall,
) -> Result<Message, String> {
    let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    let arguments: Map<String, Value> =
        serde_json::from_str(text).map_err(|fault| format!("the arguments are not a JSON object: {fault}"))?;
    let named = entry.attachments_property.as_ref().and_then(|property| arguments.get(property));
    let attachments = attachment::find(world.files, named)?;
    let property = entry.message_property.as_deref().unwrap_or("message");
    let said = arguments.get(property).and_then(Value::as_str).map(str::to_owned);
    let arguments = Value::Object(arguments);
    let mut content = match (&prompt.required_schema, said) {
        (Some(schema), said) => {
            schema::check(schema, &arguments).map_err(|refusal| refusal.message())?;
            said.unwrap_or_else(|| pretty(&arguments))
        }
        (None, Some(said)) => said,
        (None, None) if entry.attachments_property.is_some() => String::new(),
        (None, None) => return Err(format!("`{property}` must be a text")),
    };
    attach(&mut content, &attachments);
    // It is asked once and kept by nobody, so any id will do.
    let id = state.session.as_ref().and_then(|session| session.answer.as_ref()).map(|answer| answer.id);
    let (id, at) = (id.ok_or("nobody has called")?, state.started.at);
    Ok(Message::new(id, Role::User, content, at))
}
