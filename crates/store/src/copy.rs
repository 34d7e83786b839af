//! Moving everything from one store to another: a stream of plain rows, whatever engine they lie in.
//!
//! What is copied is read back and compared. What somebody worked on is `ready` in the copy: leases stay behind, and
//! epochs grow, so that nobody who held one can write into the copy.

use crate::store::{Store, StoreError};
use async_trait::async_trait;
use entourage_model::{Digest, Report};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// What a store consists of, in the order in which it is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    Blobs,
    Threads,
    Events,
    Lines,
    Keys,
    RootKeys,
    Runs,
    Files,
    DeadLetters,
    /// One row: a position behind which all those lie that will be given.
    Position,
}

impl Table {
    pub const ALL: [Self; 10] = [
        Self::Blobs,
        Self::Threads,
        Self::Events,
        Self::Lines,
        Self::Keys,
        Self::RootKeys,
        Self::Runs,
        Self::Files,
        Self::DeadLetters,
        Self::Position,
    ];

    /// As people read it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Blobs => "blobs",
            Self::Threads => "threads",
            Self::Events => "events",
            Self::Lines => "lines",
            Self::Keys => "keys",
            Self::RootKeys => "root keys",
            Self::Runs => "runs",
            Self::Files => "files",
            Self::DeadLetters => "dead letters",
            Self::Position => "position",
        }
    }

    /// The columns of a row, by the names that they have in every engine.
    ///
    /// Ids, digests and bodies are bytes, times microseconds, booleans 0 or 1; a status is the number that SQLite's schema
    /// gives it; tags are a JSON text.
    pub fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Blobs => &["digest", "body"],
            Self::Threads => &[
                "id",
                "epoch",
                "seq",
                "last_line",
                "status",
                "attempts",
                "wake_at",
                "terminated_at",
                "root",
                "input_tokens",
                "output_tokens",
                "steps",
                "below",
                "ready_at",
                "bundle",
                "parent",
                "depth",
                "created_at",
                "agent",
                "user_id",
                "tags",
            ],
            Self::Events => &["position", "thread", "seq", "epoch", "v", "body"],
            Self::Lines => &["thread", "number", "message", "v", "body"],
            Self::Keys => &["thread", "key", "number", "v", "body"],
            Self::RootKeys => &["key", "thread", "request", "run"],
            Self::Runs => &[
                "id",
                "thread",
                "parent",
                "status",
                "cancel_requested",
                "created_at",
                "started_at",
                "ended_at",
                "delivered_at",
                "agent",
                "request",
                "result",
                "error",
            ],
            Self::Files => &["thread", "path", "digest", "size", "mime_type", "created_at"],
            Self::DeadLetters => &["thread", "number", "at", "reason", "v", "body"],
            Self::Position => &["value"],
        }
    }

    /// The columns that rows are sorted by, bytes and texts compared byte by byte.
    pub fn order(self) -> &'static [&'static str] {
        match self {
            // Their burials have an order, which is no part of them.
            Self::DeadLetters => &["id"],
            Self::Blobs | Self::Threads | Self::Events | Self::RootKeys | Self::Runs => &self.columns()[..1],
            Self::Lines | Self::Keys | Self::Files => &self.columns()[..2],
            Self::Position => &[],
        }
    }

    /// How many rows are moved at once: fewer where one row can be large.
    pub fn batch(self) -> usize {
        match self {
            Self::Blobs => 8,
            Self::Threads
            | Self::Events
            | Self::Lines
            | Self::Keys
            | Self::RootKeys
            | Self::Runs
            | Self::Files
            | Self::DeadLetters
            | Self::Position => 500,
        }
    }
}

/// One value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Null,
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

/// Rows of one table, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub table: Table,
    pub rows: Vec<Vec<Cell>>,
}

/// Everything that a store holds at one moment, table by table in the order of [`Table::ALL`].
#[async_trait]
pub trait Export: Debug + Send {
    /// The next rows; nothing at the end.
    async fn next(&mut self) -> Result<Option<Batch>, StoreError>;
}

/// An empty store that is being filled. Nothing of it is there before `finish`, all of it afterwards.
#[async_trait]
pub trait Import: Debug + Send {
    async fn put(&mut self, batch: Batch) -> Result<(), StoreError>;

    async fn finish(self: Box<Self>) -> Result<(), StoreError>;
}

/// How many rows of each table were copied.
pub type Copied = BTreeMap<Table, u64>;

/// Copies everything into an empty store, and reads it back to see that it is the same. `told` hears of every batch.
pub async fn copy(
    from: &dyn Store,
    to: &dyn Store,
    mut told: impl FnMut(Table, u64) + Send,
) -> Result<Copied, StoreError> {
    let mut source = from.export().await?;
    let mut target = to.import().await?;
    let mut sent = Tally::default();
    while let Some(batch) = source.next().await? {
        sent.add(&batch);
        told(batch.table, sent.count(batch.table));
        target.put(batch).await?;
    }
    target.finish().await?;
    let mut arrived = Tally::default();
    let mut back = to.export().await?;
    while let Some(batch) = back.next().await? {
        arrived.add(&batch);
    }
    // Every engine has its own way to give positions; what was given is in the events.
    for table in Table::ALL.into_iter().filter(|table| *table != Table::Position) {
        if sent.0.get(&table) != arrived.0.get(&table) {
            return Err(differs(table, sent.count(table), arrived.count(table)));
        }
    }
    Ok(sent.0.into_iter().map(|(table, (count, _))| (table, count)).collect())
}

/// Whoever copies into a store that holds something would mix two histories.
pub fn not_empty() -> StoreError {
    let report = Report::error("S036", "the store to copy into holds threads already");
    StoreError::Refused(Box::new(report.hint("give an empty folder or database")))
}

/// Whoever copies a store that others work on would leave behind what they do meanwhile.
pub fn in_use(nodes: u64) -> StoreError {
    let report = Report::error("S037", format!("the store is in use by {nodes} nodes"));
    StoreError::Refused(Box::new(report.hint("stop every node that works on it, then copy again")))
}

fn differs(table: Table, sent: u64, arrived: u64) -> StoreError {
    let what = format!("the copy is not the same: {sent} {} were sent, {arrived} arrived", table.word());
    let hint = "throw the copy away; `entourage store check` looks for damage in the store that was copied";
    StoreError::Refused(Box::new(Report::error("S038", what).hint(hint)))
}

/// Of each table the number of rows and a digest over all of them.
#[derive(Debug, Default)]
struct Tally(BTreeMap<Table, (u64, Digest)>);

impl Tally {
    fn count(&self, table: Table) -> u64 {
        self.0.get(&table).map_or(0, |(count, _)| *count)
    }

    fn add(&mut self, batch: &Batch) {
        for row in &batch.rows {
            let (count, digest) = self.0.entry(batch.table).or_insert_with(|| (0, Digest::of(&[])));
            let mut bytes = digest.as_bytes().to_vec();
            row.iter().for_each(|cell| write(cell, &mut bytes));
            (*count, *digest) = (*count + 1, Digest::of(&bytes));
        }
    }
}

/// Each value with its kind and length, so that no two rows look alike.
fn write(cell: &Cell, bytes: &mut Vec<u8>) {
    let (kind, value): (u8, &[u8]) = match cell {
        Cell::Null => (0, &[]),
        Cell::Integer(number) => (1, &number.to_be_bytes()),
        Cell::Text(text) => (2, text.as_bytes()),
        Cell::Bytes(value) => (3, value),
    };
    bytes.push(kind);
    bytes.extend((value.len() as u64).to_be_bytes());
    bytes.extend(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(rows: &[&[Cell]]) -> Option<(u64, Digest)> {
        let mut tally = Tally::default();
        for row in rows {
            tally.add(&Batch { table: Table::Lines, rows: vec![row.to_vec()] });
        }
        tally.0.get(&Table::Lines).copied()
    }

    #[test]
    fn a_digest_tells_every_difference() {
        let (a, b) = (Cell::Text("a".to_owned()), Cell::Text("b".to_owned()));
        let whole = tally(&[&[a.clone(), b.clone()], &[Cell::Null]]);
        for other in [
            tally(&[&[b.clone(), a.clone()], &[Cell::Null]]),
            tally(&[&[Cell::Null], &[a.clone(), b.clone()]]),
            tally(&[&[Cell::Text("ab".to_owned())], &[Cell::Null]]),
            tally(&[&[a.clone(), Cell::Bytes(b"b".to_vec())], &[Cell::Null]]),
            tally(&[&[a, b], &[Cell::Integer(0)]]),
        ] {
            assert_ne!(whole, other);
        }
        assert_eq!(tally(&[]), None);
    }
}
