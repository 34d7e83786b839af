//! Deciding about time: a session that lasts too long is ended.

use super::Desk;
use entourage_model::{Ending, Outcome};

impl Desk<'_> {
    pub(super) fn tick(&mut self) {
        if self.state.session.as_ref().is_none_or(|session| self.now < session.deadline) {
            return;
        }
        let limit = format!("run_seconds: the limit of {} seconds is reached", self.world.limits.run_seconds);
        self.interrupt("The time for this run is over.");
        self.end_session(Ending {
            outcome: Outcome::Failed,
            text: limit.clone(),
            attachments: Vec::new(),
            limit: Some(limit),
        });
    }
}
