//! Deciding about what happens when a prompt becomes active: its immediate children start by themselves.

use super::Desk;
use crate::dialect::standard::{self, CREATE};
use crate::dialect::{Dowry, Order, Patience, Wish};
use crate::variable;
use entourage_model::{ChildEntry, Dialect, Ending, Event, Immediate, Outcome, Prompt, Role, SessionEnd, ToolCall};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// How many instances of one immediate child the variables may name.
const INSTANCES_MAX: usize = 100;

impl<'a> Desk<'a> {
    /// Whether the thread begins although nobody has said anything: its immediate children wait for nobody. One that has
    /// begun before, and could not start them, does not try again until somebody writes to it.
    pub(super) fn begins_by_itself(&self) -> bool {
        let first = self.world.side(self.state, self.state.first_side());
        let can_step = first.is_some_and(|side| side.steps_max != Some(0)) && self.world.limits.steps > 0;
        self.state.session.is_none() && self.state.transcript.is_empty() && can_step && self.is_inactive()
    }

    /// Whether an immediate child waits to be started.
    fn is_inactive(&self) -> bool {
        let acting = self.state.session.as_ref().map_or(self.state.first_side(), |session| session.acting);
        let side = self.world.side(self.state, acting);
        !self.state.activated[acting as usize]
            && side.is_some_and(|side| side.prompt.children().any(|entry| entry.immediate.is_some()))
    }

    /// Starts the acting side's immediate children, once. Returns whether one of them is waited for.
    pub(super) fn activate(&mut self) -> bool {
        if !self.is_inactive() {
            return false;
        }
        let Some(prompt) = self.world.prompt(self.state) else { return false };
        let orders = self.immediate_orders(prompt);
        let mut message = self.message(Role::Assistant, "");
        message.side = self.state.session.as_ref().map(|session| session.acting);
        let number = self.state.seq + 1;
        message.tool_calls = (1..).zip(&orders).map(|(place, order)| as_call(number, place, order)).collect();
        let calls = message.tool_calls.clone();
        self.emit(Event::Activated { message: Arc::new(message) });
        for (call, order) in calls.iter().zip(orders) {
            self.grant(call, Wish::Spawn(order));
        }
        self.settled = false;
        self.state.session.as_ref().is_some_and(|session| session.open > 0)
    }

    fn immediate_orders(&self, prompt: &'a Prompt) -> Vec<Order<'a>> {
        let enabled = prompt
            .children()
            .filter(|entry| standard::is_enabled(self.world, self.state, prompt, entry.optional.as_deref()));
        let entries = enabled.filter_map(|entry| Some((entry, entry.immediate.as_ref()?)));
        entries.flat_map(|(entry, hints)| self.instances(prompt, entry, hints)).collect()
    }

    /// One order; more where the variables are numbered: `NAME`, `NAME__2`, `NAME__3` …
    fn instances(&self, prompt: &'a Prompt, entry: &'a ChildEntry, hints: &Immediate) -> Vec<Order<'a>> {
        let held = |name: &Option<String>, place: usize| {
            let name = name.as_ref()?;
            let numbered = if place == 1 { name.clone() } else { format!("{name}__{place}") };
            let held = variable::of_prompt(self.world, self.state, prompt, &numbered)?;
            Some(held.trim().to_owned()).filter(|held| !held.is_empty())
        };
        let max = entry.resumable.as_ref().and_then(|resumable| resumable.instances_max);
        let max = max.map_or(INSTANCES_MAX, |max| INSTANCES_MAX.min(max as usize));
        let order = |place: usize| {
            let (name, message) = (held(&hints.name_env, place), held(&hints.description_env, place));
            (place == 1 || name.is_some() || message.is_some()).then(|| Order {
                entry: Cow::Borrowed(entry),
                dialect: Dialect::Standard,
                message,
                // A child that is addressed later has a name.
                name: name.or_else(|| entry.resumable.is_some().then(|| entry.name().to_string())),
                attachments: Vec::new(),
                arguments: None,
                patience: Patience::of(entry.blocking),
                dowry: Dowry::default(),
            })
        };
        (1..=max).map_while(order).collect()
    }

    /// Nobody has asked anything: the children are started, and the thread rests as it did.
    pub(super) fn rest_unasked(&mut self) {
        let ending = Ending { outcome: Outcome::Done, text: String::new(), attachments: Vec::new(), limit: None };
        let rest = self.state.rest;
        self.emit(Event::SessionEnded(Box::new(SessionEnd { ending, rest })));
    }
}

/// The call that a model would have made. Its id is unlike that of any other activation of the thread.
fn as_call(number: u64, place: usize, order: &Order<'_>) -> ToolCall {
    let entry = &order.entry;
    let said = |property: Option<&str>, text: &Option<String>| Some((property?.to_owned(), text.clone()?.into()));
    let id = format!("immediate_{number}_{place}").into();
    let (name, arguments): (_, Map<String, Value>) = if entry.resumable.is_some() {
        let agent = ("agent".to_owned(), Value::from(entry.name().as_str()));
        let rest = [said(Some("message"), &order.message), said(Some("name"), &order.name)];
        (CREATE.into(), std::iter::once(agent).chain(rest.into_iter().flatten()).collect())
    } else {
        let message = entry.message_property.as_deref().or(Some("message"));
        let rest = [said(message, &order.message), said(entry.name_property.as_deref(), &order.name)];
        (entry.name().clone(), rest.into_iter().flatten().collect())
    };
    ToolCall { id, name, arguments: Value::Object(arguments).to_string() }
}
