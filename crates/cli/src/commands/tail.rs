//! `entourage tail ID`: the messages of a thread, oldest first, and with `--follow` those to come.

use crate::failure::Failure;
use crate::identifier;
use crate::invocation::Invocation;
use crate::remote_server::{self, RemoteServer};
use crate::source::{Holder, Source};
use crate::storage::Storage;
use crate::transcript::{self, Audience, Length, Numbered};
use clap::Args;
use entourage_model::ThreadId;
use entourage_store::ThreadRow;
use serde_json::json;
use std::time::Duration;

/// How often it is looked whether another process has written anything.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage tail 7f3a --last 5
  entourage tail 7f3a --follow     until the thread is terminated, or Ctrl-C

What a server works on is followed as it happens; what another command works on is printed once that has ended.
With `--json`, `--follow` prints a document a line.")]
pub(crate) struct Arguments {
    /// The thread's id, or a part of it
    #[arg(value_name = "ID")]
    thread: String,
    /// Only so many of the last messages
    #[arg(long, value_name = "N")]
    last: Option<usize>,
    /// Also silent messages, which models see and people need not
    #[arg(long)]
    all: bool,
    /// Go on with what is said from now on
    #[arg(long, short)]
    follow: bool,
}

impl Arguments {
    fn audience(&self) -> Audience {
        if self.all { Audience::Everybody } else { Audience::People }
    }
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    if arguments.follow {
        let follower = Follower { invocation, arguments: &arguments, at: None };
        // Who has read enough, as `head` has, is not told any more.
        return tokio::select! {
            ended = follower.follow() => ended,
            () = invocation.screen.abandoned() => Ok(()),
        };
    }
    let holder = Holder::look(invocation).await?;
    let source = holder.source();
    let row = identifier::thread(source, &arguments.thread).await?;
    let messages = source.messages(row.id, arguments.audience()).await?;
    source.close().await;
    let messages = transcript::last(messages, arguments.last.unwrap_or(usize::MAX));
    if invocation.is_json() {
        let messages: Vec<_> = messages.iter().map(|line| line.message.shown(Some(line.seq))).collect();
        invocation.screen.json(&json!({ "messages": messages }));
        return Ok(());
    }
    messages.iter().for_each(|line| print(invocation, line));
    Ok(())
}

fn print(invocation: &Invocation, line: &Numbered) {
    invocation.screen.data(&transcript::lines(&line.message, Length::Whole, invocation.screen.data_paint()));
}

/// Prints what is said, whoever has the store: a server may come and go meanwhile, and so may other commands.
struct Follower<'a> {
    invocation: &'a Invocation,
    arguments: &'a Arguments,
    /// The thread and the number of the last message that was printed.
    at: Option<(ThreadId, u64)>,
}

/// Whether more may be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prospect {
    More,
    Over,
}

impl Follower<'_> {
    async fn follow(mut self) -> Result<(), Failure> {
        loop {
            let (prospect, seen) = match Holder::look(self.invocation).await {
                Ok(Holder::Store(storage)) => {
                    let prospect = self.catch_up(&storage).await?;
                    // Others need the store: it is not kept while nothing happens.
                    storage.close().await;
                    (prospect, Storage::fingerprint(self.invocation))
                }
                Ok(Holder::Server(server)) => (self.listen(&server).await?, None),
                Err(failure) if failure.is_locked() => (Prospect::More, None),
                Err(failure) => return Err(failure),
            };
            if prospect == Prospect::Over {
                return Ok(());
            }
            tokio::time::sleep(LOOK_AGAIN).await;
            // To open the store for nothing could keep it from another command.
            while seen.is_some() && seen == Storage::fingerprint(self.invocation) {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        }
    }

    /// Prints what was said since the last look.
    async fn catch_up(&mut self, source: &dyn Source) -> Result<Prospect, Failure> {
        let (row, after) = match self.at {
            Some((thread, after)) => match source.thread(thread).await? {
                Some(row) => (row, Some(after)),
                None => return Ok(Prospect::Over),
            },
            None => (identifier::thread(source, &self.arguments.thread).await?, None),
        };
        self.at = Some((row.id, after.unwrap_or_default()));
        let messages = source.messages(row.id, self.arguments.audience()).await?;
        let messages = match after {
            Some(after) => messages.into_iter().filter(|line| line.seq > after).collect(),
            None => transcript::last(messages, self.arguments.last.unwrap_or(usize::MAX)),
        };
        messages.iter().for_each(|line| self.print(line));
        Ok(prospect(&row))
    }

    /// Prints what is said while the server works, until the thread is terminated or the server ends.
    async fn listen(&mut self, server: &RemoteServer) -> Result<Prospect, Failure> {
        let caught_up = self.catch_up(server).await;
        let (Ok(Prospect::More), Some((thread, after))) = (&caught_up, self.at) else {
            return or_gone(caught_up);
        };
        let mut events = match server.events(thread, after).await {
            Ok(events) => events,
            Err(failure) => return or_gone(Err(failure)),
        };
        while let Some(event) = events.next().await {
            match remote_server::said(&event.document)? {
                Some(line) if self.arguments.audience().sees(&line.message) => self.print(&line),
                Some(_) | None => {}
            }
        }
        // A server that ended says nothing of the thread: whoever has the store next does.
        match server.thread(thread).await {
            Ok(row) => Ok(row.as_ref().map_or(Prospect::Over, prospect)),
            Err(failure) => or_gone(Err(failure)),
        }
    }

    fn print(&mut self, line: &Numbered) {
        if let Some((_, after)) = &mut self.at {
            *after = line.seq.max(*after);
        }
        if self.invocation.is_json() {
            self.invocation.screen.data(&line.message.shown(Some(line.seq)).to_string());
        } else {
            print(self.invocation, line);
        }
    }
}

fn prospect(row: &ThreadRow) -> Prospect {
    if row.terminated_at.is_some() { Prospect::Over } else { Prospect::More }
}

/// A server that does not answer any more has ended, which ends nothing here.
fn or_gone(looked: Result<Prospect, Failure>) -> Result<Prospect, Failure> {
    match looked {
        Err(failure) if failure.is_unanswered() => Ok(Prospect::More),
        looked => looked,
    }
}
