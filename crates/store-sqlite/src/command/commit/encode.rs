//! The caller's side of a commit: JSON is made before it is sent, and claims out of what stayed here.

use super::{Append, Appended, Effect, EncodedWrite};
use crate::body::{EncodedItem, encode_events};
use crate::command::create::EncodedThread;
use entourage_model::{Event, Item, ThreadId, Timestamp, Write};
use entourage_store::{Claim, Commit, Committed, Lease, QueueLine, StoreError};

/// What the caller keeps of one write, to say what became of it.
#[derive(Debug)]
pub(crate) enum Kept {
    Nothing,
    Child(Claim),
    Item(ThreadId, Item),
}

pub(crate) fn encode(lease: Lease, commit: Commit) -> Result<(Append, Vec<Kept>), StoreError> {
    let mut kept = Vec::with_capacity(commit.writes.len());
    let mut writes = Vec::with_capacity(commit.writes.len());
    for write in commit.writes {
        let (write, keep) = encode_write(lease, write)?;
        writes.push(write);
        kept.push(keep);
    }
    let append = Append {
        lease,
        seq: commit.seq,
        events: encode_events(&commit.events)?,
        terminated_at: commit.events.iter().rev().find_map(terminated_at),
        writes,
        consumed: commit.consumed,
        buried: commit.buried,
        burial: commit.burial.unwrap_or_default(),
        status: commit.status,
        seen: commit.seen,
        wake_at: commit.wake_at,
        usage: commit.usage,
        claim: commit.claim,
        children_total: commit.children_total,
    };
    Ok((append, kept))
}

fn encode_write(lease: Lease, write: Write) -> Result<(EncodedWrite, Kept), StoreError> {
    Ok(match write {
        Write::Spawn(child) => {
            let (child, born) = EncodedThread::new(*child)?;
            let claim = child.claim(lease.node, born);
            (EncodedWrite::Spawn(Box::new(child)), Kept::Child(claim))
        }
        Write::Deliver { to, item } => {
            (EncodedWrite::Deliver { to, item: EncodedItem::new(&item)? }, Kept::Item(to, *item))
        }
        Write::NewRun(new) => (EncodedWrite::NewRun(new), Kept::Nothing),
        Write::StartRun { run } => (EncodedWrite::StartRun(run), Kept::Nothing),
        Write::InterruptRun { run } => (EncodedWrite::InterruptRun(run), Kept::Nothing),
        Write::EndRun { run, ending } => (EncodedWrite::EndRun(run, ending), Kept::Nothing),
        Write::CancelRun { run } => (EncodedWrite::CancelRun(run), Kept::Nothing),
        Write::DeliveredRun { run } => (EncodedWrite::DeliveredRun(run), Kept::Nothing),
        Write::PutFile { thread, file } => (EncodedWrite::PutFile(thread, file), Kept::Nothing),
        Write::SetAgent { thread, agent } => (EncodedWrite::SetAgent(thread, agent), Kept::Nothing),
        Write::RemoveFile { thread, path } => (EncodedWrite::RemoveFile(thread, path), Kept::Nothing),
    })
}

fn terminated_at(event: &Event) -> Option<Timestamp> {
    if let Event::Terminated { at } = event { Some(*at) } else { None }
}

/// Claims and notices, out of what was kept and what the writer said.
pub(crate) fn assemble(appended: Appended, kept: Vec<Kept>) -> Result<Committed, StoreError> {
    let mut done = Committed { position: appended.position, parked: appended.parked, ..Committed::default() };
    for (keep, effect) in kept.into_iter().zip(appended.effects) {
        match (keep, effect) {
            (Kept::Child(claim), Effect::SpawnedHeld) => done.claims.push(claim),
            (Kept::Item(_, item), Effect::Woke { number, claim }) => {
                done.claims.push(claim.decode([QueueLine { number, item }])?);
            }
            (Kept::Item(to, item), Effect::Joined { number }) => {
                if let Some(claim) = done.claims.iter_mut().find(|claim| claim.lease.thread == to) {
                    claim.lines.push(QueueLine { number, item });
                }
            }
            (Kept::Item(to, _), Effect::Notified) => notify(&mut done, to),
            // A row was written, or a line was dropped; there is nothing to tell.
            (Kept::Nothing | Kept::Child(_) | Kept::Item(..), _) => {}
        }
    }
    Ok(done)
}

fn notify(done: &mut Committed, thread: ThreadId) {
    if !done.notified.contains(&thread) {
        done.notified.push(thread);
    }
}
