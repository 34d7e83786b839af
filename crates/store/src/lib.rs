//! Where threads live: the `Store` trait, the memory store, and the contract that every store passes.

mod clock;
#[cfg(feature = "contract")]
pub mod contract;
mod key;
mod memory;
mod row;
mod store;

pub use clock::Clock;
pub use key::same_request;
pub use memory::MemoryStore;
pub use row::{
    Blob, Claim, Commit, Committed, DeadLetter, Enqueued, FileRow, Lease, NewLine, Page, QueueLine, RunEnd, RunFilter,
    RunRow, StoredEvent, ThreadFilter, ThreadRow,
};
pub use store::{CommitError, EnqueueError, NODE_LIFE, Store, StoreError};
