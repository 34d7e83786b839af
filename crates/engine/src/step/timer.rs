//! Deciding about time: a session that lasts too long is ended, and a call that waits long enough is answered.

use super::Desk;
use entourage_model::{Ending, Event, Outcome};
use std::time::Duration;

impl Desk<'_> {
    pub(super) fn tick(&mut self) {
        let Some(session) = self.state.session.as_ref().filter(|session| !session.interrupted) else { return };
        if self.now < session.deadline {
            return self.release_due();
        }
        // Nobody worked on it while no process was there. One that takes up what another left gives it the whole time.
        let deadline = self.world.since.after(Duration::from_secs(self.world.limits.run_seconds));
        if self.now < deadline {
            self.emit(Event::SessionResumed { deadline });
            return self.release_due();
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
