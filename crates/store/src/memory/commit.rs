//! One decision made durable: all of it or nothing, and only for the holder of the newest epoch.

use super::table::Tables;
use crate::row::{Claim, Commit, Committed, DeadLetter, Lease, QueueLine};
use crate::store::{CommitError, StoreError};
use entourage_model::{Item, NewThread, NodeId, ThreadId, ThreadStatus, Timestamp, Write};

/// What the writes of one commit share, and what has come of them so far.
struct Writing {
    node: NodeId,
    /// Takes up what is spawned and woken; otherwise it becomes ready.
    claim: bool,
    now: Timestamp,
    done: Committed,
}

impl Writing {
    /// A claim that this same commit has made already: one thread is never claimed twice.
    fn claim_of(&mut self, thread: ThreadId) -> Option<&mut Claim> {
        self.done.claims.iter_mut().find(|claim| claim.lease.thread == thread)
    }

    fn claimer(&self) -> Option<NodeId> {
        self.claim.then_some(self.node)
    }

    fn notify(&mut self, thread: ThreadId) {
        if !self.done.notified.contains(&thread) {
            self.done.notified.push(thread);
        }
    }
}

impl Tables {
    pub(super) fn commit(
        &mut self,
        lease: Lease,
        mut commit: Commit,
        now: Timestamp,
    ) -> Result<Committed, CommitError> {
        // Everything that can be refused is refused here, before the first write.
        let root = self.guard(lease, &commit)?;
        self.find_blobs(&commit)?;
        let spawned = self.make_room(root, &commit)?;
        let before = self.position;
        self.append(lease.thread, lease.epoch, std::mem::take(&mut commit.events));
        if let Some(root) = self.threads.get_mut(&root) {
            root.below += spawned;
        }
        self.take_lines(lease.thread, &commit, now);
        let mut writing = Writing { node: lease.node, claim: commit.claim, now, done: Committed::default() };
        for write in std::mem::take(&mut commit.writes) {
            self.write(write, &mut writing);
        }
        let mut done = writing.done;
        done.position = if self.position > before { self.position } else { 0 };
        done.parked = self.settle(lease, &commit, now);
        Ok(done)
    }

    fn guard(&mut self, lease: Lease, commit: &Commit) -> Result<ThreadId, CommitError> {
        let thread = self.held(lease).filter(|thread| thread.row.seq == commit.seq).ok_or(CommitError::Fenced)?;
        Ok(thread.row.root)
    }

    /// Whether every file that is written has its content.
    fn find_blobs(&self, commit: &Commit) -> Result<(), CommitError> {
        for write in &commit.writes {
            let Write::PutFile { file, .. } = write else { continue };
            if !self.blobs.contains_key(&file.digest) {
                return Err(StoreError::Unavailable(format!("there is no blob {}", file.digest)).into());
            }
        }
        Ok(())
    }

    /// How many threads are spawned, if that many fit.
    fn make_room(&self, root: ThreadId, commit: &Commit) -> Result<u32, CommitError> {
        let mut spawned = 0;
        for write in &commit.writes {
            let Write::Spawn(child) = write else { continue };
            if self.threads.contains_key(&child.id) {
                return Err(StoreError::Unavailable(format!("thread {} exists already", child.id)).into());
            }
            spawned += 1;
        }
        let below = self.threads.get(&root).map_or(0, |root| root.below);
        let left = commit.children_total.saturating_sub(below);
        if spawned > left { Err(CommitError::TreeFull { left }) } else { Ok(spawned) }
    }

    fn take_lines(&mut self, id: ThreadId, commit: &Commit, now: Timestamp) {
        let Some(thread) = self.threads.get_mut(&id) else { return };
        for number in &commit.consumed {
            thread.queue.remove(number);
        }
        for &number in &commit.buried {
            let Some(item) = thread.queue.remove(&number) else { continue };
            let reason = commit.burial.clone().unwrap_or_default();
            self.dead_letters.push(DeadLetter { thread: id, number, item, reason, at: now });
        }
    }

    fn write(&mut self, write: Write, writing: &mut Writing) {
        let now = writing.now;
        match write {
            Write::Spawn(child) => self.spawn(*child, writing),
            Write::Deliver { to, item } => self.deliver(to, *item, writing),
            Write::NewRun(run) => self.new_run(run, now),
            Write::StartRun { run } => self.start_run(&run, now),
            Write::InterruptRun { run } => self.interrupt_run(&run),
            Write::EndRun { run, ending } => self.end_run(&run, &ending, now),
            Write::CancelRun { run } => _ = self.request_cancel(&run),
            Write::DeliveredRun { run } => self.mark_delivered(&run, now),
            Write::PutFile { thread, file } => {
                if let Some(thread) = self.threads.get_mut(&thread) {
                    thread.files.insert(file.path.clone(), file);
                }
            }
            Write::SetAgent { thread, agent } => {
                if let Some(thread) = self.threads.get_mut(&thread) {
                    thread.row.agent = agent;
                }
            }
            Write::RemoveFile { thread, path } => {
                if let Some(thread) = self.threads.get_mut(&thread) {
                    thread.files.remove(&path);
                }
            }
        }
    }

    fn spawn(&mut self, child: NewThread, writing: &mut Writing) {
        let claim = self.insert(child, writing.claimer(), writing.now);
        writing.done.claims.extend(claim);
    }

    fn deliver(&mut self, to: ThreadId, item: Item, writing: &mut Writing) {
        let Some(thread) = self.threads.get_mut(&to).filter(|thread| !thread.is_terminated()) else { return };
        let number = thread.queue_line(item.clone());
        if let Some(claim) = writing.claim_of(to) {
            claim.lines.push(QueueLine { number, item });
            return;
        }
        if thread.is_parked() {
            match writing.claimer() {
                Some(node) => writing.done.claims.push(thread.take_up(node)),
                None => thread.make_ready(writing.now),
            }
        } else if thread.owner == Some(writing.node) {
            writing.notify(to);
        }
    }

    /// Returns whether the lease was given back.
    fn settle(&mut self, lease: Lease, commit: &Commit, now: Timestamp) -> bool {
        let Some(thread) = self.threads.get_mut(&lease.thread) else { return false };
        thread.row.usage += commit.usage;
        thread.row.attempts = 0;
        thread.row.wake_at = commit.wake_at;
        if commit.status == ThreadStatus::Terminated {
            thread.row.terminated_at.get_or_insert(now);
            thread.row.wake_at = None;
        }
        let waiting = thread.queue.keys().next_back().copied().unwrap_or(0);
        let parked = commit.status != ThreadStatus::Running && waiting <= commit.seen;
        if parked {
            thread.owner = None;
            thread.row.status = commit.status;
            thread.ready_at = now;
        }
        parked
    }
}
