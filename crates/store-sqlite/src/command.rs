//! Everything that writes: one file per command.

pub(crate) mod claim;
pub(crate) mod commit;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod enqueue;
pub(crate) mod file;
pub(crate) mod line;
pub(crate) mod node;
pub(crate) mod run;

use crate::session::Session;
use entourage_store::StoreError;
use std::fmt::Debug;
use tokio::sync::oneshot;

/// One change, made inside a transaction that it shares with others.
pub(crate) trait Command: Debug + Send + 'static {
    type Answer: Debug + Send + 'static;

    /// Checks first, then writes: a refusal is an answer and leaves nothing behind. An error takes the whole
    /// transaction back; the command may then be run again in one of its own.
    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<Self::Answer>;
}

/// A command on its way through the writer, whatever it is.
pub(crate) trait Order: Debug + Send {
    /// Runs it and keeps the answer back, because it is not durable yet.
    fn run(&mut self, session: &mut Session<'_>) -> rusqlite::Result<()>;

    fn fail(&mut self, error: StoreError);

    /// Tells the caller. One who has gone away is no reason to stop.
    fn reply(self: Box<Self>);
}

#[derive(Debug)]
pub(crate) struct Sent<C: Command> {
    command: C,
    answer: Option<Result<C::Answer, StoreError>>,
    reply: oneshot::Sender<Result<C::Answer, StoreError>>,
}

impl<C: Command> Sent<C> {
    pub(crate) fn new(command: C) -> (Self, oneshot::Receiver<Result<C::Answer, StoreError>>) {
        let (reply, answer) = oneshot::channel();
        (Self { command, answer: None, reply }, answer)
    }
}

impl<C: Command> Order for Sent<C> {
    fn run(&mut self, session: &mut Session<'_>) -> rusqlite::Result<()> {
        self.answer = Some(Ok(self.command.run(session)?));
        Ok(())
    }

    fn fail(&mut self, error: StoreError) {
        self.answer = Some(Err(error));
    }

    fn reply(self: Box<Self>) {
        if let Some(answer) = self.answer {
            // The caller may have been cancelled; its command has happened all the same.
            let _ = self.reply.send(answer);
        }
    }
}
