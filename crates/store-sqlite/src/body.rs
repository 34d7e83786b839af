//! Events and items as JSON bytes. They are written on the caller's side, so that the writer only binds bytes.

use entourage_model::{Event, Item, JOURNAL_VERSION};
use entourage_store::{QueueLine, StoreError, decode_body, encode_body};
use rusqlite::Row;
use serde_json::Value;

/// An item ready to be bound.
#[derive(Debug)]
pub(crate) struct EncodedItem {
    pub(crate) message: bool,
    pub(crate) body: Vec<u8>,
}

impl EncodedItem {
    pub(crate) fn new(item: &Item) -> Result<Self, StoreError> {
        Ok(Self { message: item.is_message(), body: encode_body(item)?.into_bytes() })
    }

    /// The item as it would be read back.
    pub(crate) fn decode(self) -> Result<Item, StoreError> {
        RawBody { version: JOURNAL_VERSION, bytes: self.body }.item()
    }
}

/// A queue line as it lies in the file; whoever asked for it decodes it, not the writer.
#[derive(Debug)]
pub(crate) struct RawLine {
    pub(crate) number: u64,
    pub(crate) body: RawBody,
}

impl RawLine {
    pub(crate) fn decode(&self) -> Result<QueueLine, StoreError> {
        Ok(QueueLine { number: self.number, item: self.body.item()? })
    }
}

#[derive(Debug)]
pub(crate) struct RawBody {
    version: u32,
    bytes: Vec<u8>,
}

impl RawBody {
    /// Of the two columns `v` and `body`, of which `column` is the first.
    pub(crate) fn read(row: &Row<'_>, column: usize) -> rusqlite::Result<Self> {
        Ok(Self { version: row.get(column)?, bytes: row.get(column + 1)? })
    }

    pub(crate) fn item(&self) -> Result<Item, StoreError> {
        decode_body(self.version, &self.bytes)
    }

    pub(crate) fn event(&self) -> Result<Event, StoreError> {
        decode_body(self.version, &self.bytes)
    }
}

pub(crate) fn encode_events(events: &[Event]) -> Result<Vec<Vec<u8>>, StoreError> {
    events.iter().map(|event| encode_body(event).map(String::into_bytes)).collect()
}

pub(crate) fn encode_tags(tags: &[String]) -> String {
    Value::from(tags).to_string()
}
