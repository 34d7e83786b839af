//! The pieces of work: who takes part in each, and what the models say is in `brain`.

use clap::ValueEnum;
use entourage_model::{Agent, Binding, ChildEntry, HandoffEntry, Immediate, Team, ToolEntry, Variable};
use entourage_testkit::cast;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// A call waits for a child.
    Blocking,
    /// A child's result comes as a message.
    Background,
    /// A child is made, answers, is written to again and answers again.
    Resumable,
    /// The same, with its results as messages.
    ResumableBackground,
    /// A child starts once somebody has given it a variable.
    Variables,
    /// Another agent takes the thread over.
    Handoff,
    /// A child starts by itself before the first step.
    Immediate,
    /// A file goes to a child and comes back.
    Attachments,
    /// A child does something that must not happen twice.
    Effects,
    /// The work is cancelled while a child is at it.
    Cancelled,
    /// The thread is terminated while a child works for it.
    Terminated,
}

impl Scenario {
    pub(super) fn word(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    pub(super) fn team(self) -> Arc<Team> {
        let worker = || cast::pair("worker");
        let (entry, other) = match self {
            Self::Blocking => (cast::blocking("worker"), worker()),
            Self::Background => (cast::background("worker"), worker()),
            Self::Resumable => (cast::resumable("worker"), worker()),
            Self::ResumableBackground => (in_background(cast::resumable("worker")), worker()),
            Self::Variables => (cast::resumable("worker"), needing(worker())),
            Self::Handoff => (ToolEntry::Handoff(HandoffEntry::new("clerk".into())), cast::solo("clerk", Vec::new())),
            Self::Immediate => {
                (changed(cast::blocking("worker"), |child| child.immediate = Some(Immediate::default())), worker())
            }
            Self::Attachments => (with_papers(cast::blocking("worker")), returning_papers(worker())),
            Self::Effects => (cast::blocking("noter"), cast::solo("noter", vec![cast::tool("note")])),
            Self::Cancelled | Self::Terminated => {
                (cast::blocking("sleeper"), cast::solo("sleeper", vec![cast::tool("note")]))
            }
        };
        let mut boss = cast::solo("boss", vec![entry]);
        boss.side_a.prompt.instructions = format!("{}{}", cast::mark("boss"), cast::mark(&self.word())).into();
        cast::team([boss, other])
    }
}

fn changed(entry: ToolEntry, change: impl FnOnce(&mut ChildEntry)) -> ToolEntry {
    let ToolEntry::Child(mut child) = entry else { return entry };
    change(&mut child);
    ToolEntry::Child(child)
}

fn in_background(entry: ToolEntry) -> ToolEntry {
    changed(entry, |child| child.blocking = false)
}

fn with_papers(entry: ToolEntry) -> ToolEntry {
    changed(entry, |child| {
        child.message_property = Some("message".to_owned());
        child.attachments_property = Some("papers".to_owned());
    })
}

/// Cannot start without `TOKEN`.
fn needing(mut agent: Agent) -> Agent {
    let name = "TOKEN".to_owned();
    agent.side_a.prompt.variables =
        vec![Variable { name, secret: true, required: true, scoped: true, description: None }];
    agent
}

/// Ends its session with `find_files`, whose pattern is the file to hand back.
fn returning_papers(mut agent: Agent) -> Agent {
    agent.side_a.prompt.tools = vec![cast::tool("find_files")];
    agent.side_a.session_stop = Some(Binding {
        tool: "find_files".into(),
        message_property: None,
        attachments_property: Some("pattern".to_owned()),
    });
    agent
}
