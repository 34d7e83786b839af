//! Where threads live: the `Store` trait, the memory store, and the contract that every store passes.

mod body;
mod clock;
#[cfg(feature = "contract")]
pub mod contract;
mod copy;
mod key;
mod memory;
mod reading;
mod row;
mod store;
mod suspect;

pub use body::{decode_body, encode_body};
pub use clock::Clock;
pub use copy::{Batch, Cell, Copied, Export, Import, Table, copy, in_use, not_empty};
pub use key::same_request;
pub use memory::MemoryStore;
pub use reading::{JournalReader, all_runs, all_threads};
pub use row::{
    Blob, Claim, Commit, Committed, DeadLetter, Enqueued, FileRow, Hint, Lease, NewLine, Page, QueueLine, RootKey,
    RootMade, RunEnd, RunFilter, RunRow, StoredEvent, ThreadFilter, ThreadRow,
};
pub use store::{CommitError, EnqueueError, NODE_LIFE, Store, StoreError};
pub use suspect::{Candidate, SUSPECT_ATTEMPTS, leave_one_suspect};
