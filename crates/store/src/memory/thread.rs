//! Making, listing and removing threads, and their files.

use super::table::{RootEntry, Tables, Thread};
use crate::row::{Claim, FileRow, Page, RootKey, RootMade, ThreadFilter, ThreadRow};
use crate::store::StoreError;
use entourage_model::{NewThread, NodeId, ThreadId, ThreadStatus, Timestamp, Usage};
use std::collections::{BTreeMap, BTreeSet};

impl Tables {
    pub(super) fn create(
        &mut self,
        new: NewThread,
        claim: Option<NodeId>,
        now: Timestamp,
    ) -> Result<Option<Claim>, StoreError> {
        if self.threads.contains_key(&new.id) {
            return Err(StoreError::Unavailable(format!("thread {} exists already", new.id)));
        }
        Ok(self.insert(new, claim, now))
    }

    pub(super) fn create_once(
        &mut self,
        new: NewThread,
        key: RootKey,
        claim: Option<NodeId>,
        now: Timestamp,
    ) -> Result<RootMade, StoreError> {
        if let Some(made) = self.made_once(&key) {
            return Ok(made);
        }
        let run = new.run.as_ref().map(|run| run.id.clone());
        let entry = RootEntry { request: key.request, thread: new.id, run };
        let claim = self.create(new, claim, now)?;
        self.root_keys.insert(key.name, entry);
        Ok(RootMade::New(claim))
    }

    pub(super) fn made_once(&self, key: &RootKey) -> Option<RootMade> {
        let first = self.root_keys.get(&key.name)?;
        let is_same = first.request == key.request;
        let repeated = || RootMade::Repeated { thread: first.thread, run: first.run.clone() };
        Some(if is_same { repeated() } else { RootMade::Conflict })
    }

    /// A thread that does not exist yet: its row, its events, its queue and its run.
    pub(super) fn insert(&mut self, new: NewThread, claim: Option<NodeId>, now: Timestamp) -> Option<Claim> {
        let id = new.id;
        if let Some(run) = new.run {
            self.new_run(run, now);
        }
        let row = ThreadRow {
            id,
            parent: new.parent,
            root: new.root,
            depth: new.depth,
            agent: new.agent,
            bundle: new.bundle,
            status: if new.at_work { ThreadStatus::Ready } else { ThreadStatus::Idle },
            user_id: new.user_id,
            tags: new.tags,
            created_at: now,
            terminated_at: None,
            usage: Usage::default(),
            seq: 0,
            attempts: 0,
            epoch: 0,
            wake_at: None,
        };
        let thread = Thread {
            row,
            owner: None,
            ready_at: now,
            below: 0,
            journal: Vec::new(),
            last_line: 0,
            queue: BTreeMap::new(),
            keys: BTreeMap::new(),
            files: BTreeMap::new(),
        };
        self.threads.insert(id, thread);
        self.append(id, 0, new.events.clone());
        let thread = self.threads.get_mut(&id)?;
        for item in new.items {
            thread.queue_line(item);
        }
        claim.map(|node| Claim { journal: Some(new.events), ..thread.take_up(node) })
    }

    pub(super) fn list_threads(&self, filter: &ThreadFilter, page: Page<ThreadId>) -> Vec<ThreadRow> {
        let rows = self.threads.values().rev().map(|thread| &thread.row);
        let behind = rows.filter(|row| page.after.is_none_or(|after| row.id < after));
        behind.filter(|row| matches(filter, row)).take(page.limit).cloned().collect()
    }

    pub(super) fn delete(&mut self, id: ThreadId) -> Vec<ThreadId> {
        let Some(top) = self.threads.get(&id) else { return Vec::new() };
        let root = top.row.root;
        let gone = self.subtree(id);
        self.threads.retain(|id, _| !gone.contains(id));
        self.root_keys.retain(|_, entry| !gone.contains(&entry.thread));
        self.runs.retain(|_, run| !gone.contains(&run.thread));
        self.dead_letters.retain(|letter| !gone.contains(&letter.thread));
        if let Some(root) = self.threads.get_mut(&root) {
            root.below = root.below.saturating_sub(u32::try_from(gone.len()).unwrap_or(u32::MAX));
        }
        gone.into_iter().collect()
    }

    fn subtree(&self, top: ThreadId) -> BTreeSet<ThreadId> {
        let mut found = BTreeSet::from([top]);
        let mut unsearched = vec![top];
        while let Some(parent) = unsearched.pop() {
            for thread in self.threads.values().filter(|thread| thread.row.parent == Some(parent)) {
                if found.insert(thread.row.id) {
                    unsearched.push(thread.row.id);
                }
            }
        }
        found
    }

    pub(super) fn put_file(&mut self, thread: ThreadId, file: FileRow) -> Result<(), StoreError> {
        if !self.blobs.contains_key(&file.digest) {
            return Err(StoreError::Unavailable(format!("there is no blob {}", file.digest)));
        }
        let missing = || StoreError::Unavailable(format!("there is no thread {thread}"));
        let thread = self.threads.get_mut(&thread).ok_or_else(missing)?;
        thread.files.insert(file.path.clone(), file);
        Ok(())
    }
}

fn matches(filter: &ThreadFilter, row: &ThreadRow) -> bool {
    filter.agent.as_ref().is_none_or(|agent| row.agent == *agent)
        && filter.status.is_none_or(|status| row.status == status)
        && !(filter.unsettled && row.status.is_settled())
        && filter.parent.is_none_or(|parent| row.parent == Some(parent))
        && filter.root.is_none_or(|root| row.root == root)
        && (!filter.roots || row.parent.is_none())
        && filter.tag.as_ref().is_none_or(|tag| row.tags.contains(tag))
        && filter.user_id.as_ref().is_none_or(|user| row.user_id.as_ref() == Some(user))
}
