//! What a running tool sees of its thread, and what it has done to it so far.

use entourage_engine::{ThreadState, World, foresee, permit};
use entourage_model::{Act, FileRow};
use std::collections::BTreeMap;

/// Acts that one call may do.
const ACTS_MAX: usize = 1000;

/// A call inside a call has a desk of its own, whose acts join the outer one when it ends in order.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    /// The thread as it would be if the acts were durable.
    pub(super) state: ThreadState,
    /// How many events are durable: what has a greater number is this call's own.
    pub(super) durable: u64,
    acts: Vec<Act>,
    /// The thread ends with this call.
    is_over: bool,
    /// How much room the acts take, and the bytes of the files that they write.
    weight: usize,
    /// The thread's files by their paths, once they were read.
    files: Option<BTreeMap<String, FileRow>>,
}

impl Desk {
    pub(super) fn new(state: ThreadState, files: Option<BTreeMap<String, FileRow>>) -> Self {
        Self { durable: state.seq, state, acts: Vec::new(), is_over: false, weight: 0, files }
    }

    /// Of a thread of which only so many events are durable.
    pub(super) fn at(durable: u64, state: ThreadState) -> Self {
        Self { durable, ..Self::new(state, None) }
    }

    /// For a call inside this one: it sees what this one has done.
    pub(super) fn inner(&self) -> Self {
        let is_over = self.is_over;
        Self { durable: self.durable, is_over, ..Self::new(self.state.clone(), self.files.clone()) }
    }

    /// Takes the act in, or says what is wrong with it. What is read from now on shows it.
    pub(super) fn act(&mut self, world: &World<'_>, act: Act) -> Result<(), String> {
        permit(world, &self.state, &act)?;
        let me = self.state.id();
        match &act {
            Act::QueueMessage { to, .. } if self.is_over && *to == me => {
                return Err(format!("the thread `{me}` is terminated"));
            }
            Act::Terminate { thread } if *thread == me => self.is_over = true,
            _ => {}
        }
        if self.acts.len() >= ACTS_MAX {
            return Err(format!("one call may change its thread at most {ACTS_MAX} times"));
        }
        self.charge(world, act.weight())?;
        foresee(&mut self.state, &act);
        match (&act, &mut self.files) {
            (Act::PutFile(file), Some(files)) => _ = files.insert(file.path.clone(), file.clone()),
            (Act::RemoveFile { path }, Some(files)) => _ = files.remove(path),
            _ => {}
        }
        self.acts.push(act);
        Ok(())
    }

    /// Counts bytes that the call leaves behind.
    pub(super) fn charge(&mut self, world: &World<'_>, bytes: usize) -> Result<(), String> {
        let max = world.limits.script_bytes;
        let weight = self.weight.saturating_add(bytes);
        if weight > max {
            return Err(format!("one call may leave at most {max} bytes behind (the limit `script_bytes`)"));
        }
        self.weight = weight;
        Ok(())
    }

    /// Takes over what a call inside this one did: all of it or nothing.
    pub(super) fn absorb(&mut self, world: &World<'_>, acts: Vec<Act>) -> Result<(), String> {
        if acts.is_empty() {
            return Ok(());
        }
        let mut whole = self.clone();
        acts.into_iter().try_for_each(|act| whole.act(world, act))?;
        *self = whole;
        Ok(())
    }

    /// What the call did, in its order.
    pub(super) fn take_acts(&mut self) -> Vec<Act> {
        std::mem::take(&mut self.acts)
    }

    pub(super) fn has_files(&self) -> bool {
        self.files.is_some()
    }

    /// What the store has; a second reading changes nothing.
    pub(super) fn set_files(&mut self, rows: Vec<FileRow>) {
        self.files.get_or_insert_with(|| rows.into_iter().map(|file| (file.path.clone(), file)).collect());
    }

    /// The files, which were read before.
    pub(super) fn files(&self) -> impl Iterator<Item = &FileRow> {
        self.files.iter().flat_map(BTreeMap::values)
    }

    pub(super) fn file(&self, path: &str) -> Option<&FileRow> {
        self.files.as_ref()?.get(path)
    }
}
