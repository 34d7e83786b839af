//! Letting hooks hear of what a tool does to the transcript while it runs. What they do counts with what the tool does.

use super::super::door::ThreadDoor;
use super::shape::{self, Shape, Subject};
use super::{Aftermath, Ground, hear, is_heard};
use entourage_model::{Message, MessageId};
use entourage_outside::tool::Occasion;
use serde_json::{Map, Value};
use std::sync::Arc;

impl ThreadDoor {
    /// The message as it is to be put into the transcript. If a hook fails, it is not.
    pub(in super::super) async fn hear_of_coming(&self, message: Arc<Message>) -> Result<Arc<Message>, String> {
        let occasion = Occasion::BeforeCreateMessage { message: shape::row(&message, None) };
        let Some(after) = self.hear_inside(occasion, Subject::Message(&message)).await else { return Ok(message) };
        match (after.failure, after.shape) {
            (Some(why), _) => Err(why),
            (None, Shape::Message(changed)) => Ok(changed),
            (None, _) => Ok(message),
        }
    }

    pub(in super::super) async fn hear_of_updates(
        &self,
        id: MessageId,
        updates: Map<String, Value>,
    ) -> Map<String, Value> {
        let occasion = Occasion::BeforeUpdateMessage { id: id.to_string(), updates: updates.clone() };
        match self.hear_inside(occasion, Subject::Plain).await {
            Some(Aftermath { shape: Shape::Updates(changed), .. }) => changed,
            _ => updates,
        }
    }

    /// After the message was put into the transcript, or changed there.
    pub(in super::super) async fn hear_of(&self, event: &str, message: &Message) {
        let message = shape::row(message, None);
        let occasion = match event {
            "after_update_message" => Occasion::AfterUpdateMessage { message },
            _ => Occasion::AfterCreateMessage { message },
        };
        self.hear_inside(occasion, Subject::Plain).await;
    }

    /// Nothing where nobody hears of it: nobody hears of what a hook does.
    async fn hear_inside(&self, occasion: Occasion, subject: Subject<'_>) -> Option<Aftermath> {
        if self.is_hook || self.team.hooks.is_empty() {
            return None;
        }
        let ground = {
            let desk = self.desk();
            if !is_heard(&self.team, &desk.state, occasion.name()) {
                return None;
            }
            let (state, durable) = (desk.state.clone(), desk.durable);
            Ground { place: self.place, team: Arc::clone(&self.team), state, durable }
        };
        // Boxed, because a hook may call a tool, which leads here again.
        let mut after = Box::pin(hear(&self.inner, &ground, occasion, subject)).await;
        let acts = std::mem::take(&mut after.acts);
        if let Err(why) = self.desk().absorb(&self.world(), acts) {
            after.failure.get_or_insert(why);
        }
        Some(after)
    }
}
