//! What a thread did outside, as the runtime saw it: never by its own word.

use entourage_model::{Fact, Message, Name, Outcome};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Entries of each kind that are kept: a state lies in memory.
const ENTRIES_MAX: usize = 1000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Doings {
    files_read: BTreeSet<String>,
    files_changed: BTreeSet<String>,
    /// In their order, with their exit codes.
    commands: Vec<(String, Option<i32>)>,
    tools: BTreeSet<Name>,
}

impl Doings {
    /// Takes in one call. One that failed did nothing, unless there is a fact about it.
    pub(crate) fn add(&mut self, message: &Message, outcome: Outcome, facts: &[Fact]) {
        for fact in facts {
            match fact {
                Fact::ReadFile { path } => put(&mut self.files_read, path.clone()),
                Fact::ChangedFile { path } => put(&mut self.files_changed, path.clone()),
                Fact::RanCommand { command, exit_code } => {
                    if self.commands.len() < ENTRIES_MAX {
                        self.commands.push((command.clone(), *exit_code));
                    }
                }
            }
        }
        if let Some(tool) = message.tool_name.clone().filter(|_| outcome == Outcome::Done || !facts.is_empty()) {
            put(&mut self.tools, tool);
        }
    }

    /// The block `changes` of a result.
    pub(crate) fn shown(&self) -> Value {
        let command = |(command, code): &(String, Option<i32>)| json!({"command": command, "exitCode": code});
        json!({
            "filesRead": self.files_read,
            "filesChanged": self.files_changed,
            "commandsRun": self.commands.iter().map(command).collect::<Vec<_>>(),
            "toolsUsed": self.tools,
        })
    }
}

fn put<T: Ord>(set: &mut BTreeSet<T>, entry: T) {
    if set.len() < ENTRIES_MAX {
        set.insert(entry);
    }
}
