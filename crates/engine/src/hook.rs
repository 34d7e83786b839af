//! Hooks: code of the team that hears of what happens on a thread, and may change it.
//!
//! A hook is code, so that the engine cannot run it. It asks: a decision that comes to an occasion which hooks wait for
//! is given up there, with the occasion and the state of that moment. Whoever drives the thread lets the hooks hear of
//! it and decides the same input again, with what came of it in the world. The moment and the seed being the same, the
//! decision comes to the same occasions in the same order.

use crate::state::ThreadState;
use entourage_model::{Act, Attachment, Hook, HookStage, Message, Name, Outcome, Side, Team, ThreadId, ToolCall};
use std::sync::Arc;

/// Something that happens in a decision, and of which hooks may want to hear.
#[derive(Clone, Debug, PartialEq)]
pub enum Occasion {
    /// The thread is made and has not begun.
    ThreadCreated,
    /// A child is made.
    ChildCreated(ThreadId),
    /// A message is about to join the transcript.
    MessageComing(Arc<Message>),
    /// It has joined.
    MessageCreated(Arc<Message>),
    /// A model has begun to ask for this call.
    CallAsked(ToolCall),
    /// The call is complete and about to be made.
    CallComing(ToolCall),
    CallSucceeded {
        call: ToolCall,
        result: CallResult,
    },
    CallFailed {
        call: ToolCall,
        result: CallResult,
    },
    /// The result of a call is about to be kept.
    ResultComing {
        call: ToolCall,
        result: CallResult,
    },
}

/// What a call has come to.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    pub outcome: Outcome,
    pub text: String,
    pub attachments: Vec<Attachment>,
}

impl Occasion {
    /// Its name in Standard Agents.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ThreadCreated => THREAD_CREATED,
            Self::ChildCreated(_) => "after_subagent_created",
            Self::MessageComing(_) => MESSAGE_COMING,
            Self::MessageCreated(_) => MESSAGE_CREATED,
            Self::CallAsked(_) => "tool_call_started",
            Self::CallComing(_) => "tool_call_done",
            Self::CallSucceeded { .. } => "after_tool_call_success",
            Self::CallFailed { .. } => "after_tool_call_failure",
            Self::ResultComing { .. } => "before_store_tool_result",
        }
    }
}

const THREAD_CREATED: &str = "after_thread_created";
const MESSAGE_COMING: &str = "before_create_message";
const MESSAGE_CREATED: &str = "after_create_message";

/// What became of an occasion once the hooks had heard of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Echo {
    pub occasion: Occasion,
    pub change: Change,
    /// What the hooks did to the thread: part of the decision, all of it or nothing, once.
    pub acts: Vec<Act>,
}

/// What hooks put in the place of what they were told of.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Change {
    #[default]
    Nothing,
    Message(Arc<Message>),
    Call(ToolCall),
    /// The call is not to be made, for this reason.
    Blocked(String),
    Result(CallResult),
    /// The call and its result are not to be shown to a model again.
    Removed,
}

/// Where a decision was given up: hooks have to hear of this first.
#[derive(Clone, Debug, PartialEq)]
pub struct Pause {
    pub occasion: Occasion,
    /// As it is at this point of the decision.
    pub state: ThreadState,
}

/// The hooks that run for a side of an agent, in their order: those of its prompt, or the agent's where the prompt names
/// none; around them those that the agents which it may start bring along for their parent. Each runs once.
pub(crate) fn hooks_of<'t>(team: &'t Team, agent: &Name, side: Side) -> Vec<(&'t Name, &'t Arc<Hook>)> {
    let Some(agent) = team.agent(agent).filter(|_| !team.hooks.is_empty()) else { return Vec::new() };
    let Some(prompt) = agent.side(side).map(|side| &side.prompt) else { return Vec::new() };
    let own = if prompt.hooks.is_empty() { &agent.hooks } else { &prompt.hooks };
    let brought = |stage: HookStage| {
        let children = prompt.children().filter_map(|entry| team.agent(&entry.agent));
        let hooks = children.flat_map(|child| &child.parent_hooks);
        hooks.filter(move |hook| hook.stage == stage).map(|hook| &hook.hook)
    };
    let mut found: Vec<(&Name, &Arc<Hook>)> = Vec::new();
    for name in brought(HookStage::BeforeParent).chain(own).chain(brought(HookStage::AfterParent)) {
        if let Some((name, hook)) = team.hooks.get_key_value(name)
            && found.iter().all(|(known, _)| *known != name)
        {
            found.push((name, hook));
        }
    }
    found
}

/// The hooks of a thread that wait for what has this name. While nobody acts, they are those of the side that everything
/// begins with. Whoever works as another agent does is heard by that one's hooks: nobody gets around them by delegating.
pub fn listeners<'t>(team: &'t Team, state: &ThreadState, event: &str) -> Vec<(&'t Name, &'t Arc<Hook>)> {
    let side = state.session.as_ref().map_or_else(|| state.first_side(), |session| session.acting);
    let mut hooks = hooks_of(team, state.started.mirrors.as_ref().unwrap_or(&state.agent), side);
    hooks.retain(|(_, hook)| hook.event == event);
    hooks
}

/// Whether hooks are to hear of the creation of a thread with this agent, and whether they, or others, are to hear of
/// its first message: then the thread is not born at work, but finds the message in its queue.
pub fn hears_birth(team: &Team, agent: &Name, first: Side) -> (bool, bool) {
    let hooks = hooks_of(team, agent, first);
    let waits = |event: &str| hooks.iter().any(|(_, hook)| hook.event == event);
    let creation = waits(THREAD_CREATED);
    (creation, creation || waits(MESSAGE_COMING) || waits(MESSAGE_CREATED))
}
