//! A line from outside.

use crate::body::{RawLine, V, answer, encode, node};
use crate::claim::RawClaim;
use crate::database::{Database, Param, token};
use crate::text::escape;
use entourage_model::{Item, JOURNAL_VERSION, NodeId, ThreadId};
use entourage_store::{EnqueueError, Enqueued, Hint, NewLine, StoreError, decode_body, encode_body, same_request};
use serde::Deserialize;
use tokio_postgres::types::Type;

#[derive(Debug, Deserialize)]
struct Answer<'a> {
    refused: Option<&'a str>,
    #[serde(default)]
    number: u64,
    /// What the key's first call queued.
    first: Option<RawLine>,
    claim: Option<RawClaim>,
    holder: Option<NodeId>,
    root: Option<ThreadId>,
    #[serde(default)]
    ready: bool,
}

/// The answer for the caller, and what others are to hear of it.
pub(crate) async fn enqueue(
    database: &Database,
    to: ThreadId,
    line: NewLine,
    claim: Option<NodeId>,
) -> Result<(Enqueued, Vec<Hint>), EnqueueError> {
    let (message, body) = (line.item.is_message(), encode_body(&line.item)?);
    let key = line.key.as_deref().map(escape);
    let run = line.run.as_ref().map(|run| encode(&crate::run::NewRow::new(run))).transpose()?;
    let (messages_max, claimer) = (i64::from(line.messages_max), node(claim));
    let params: [Param<'_>; 9] = [
        (&to.uuid(), Type::UUID),
        (&token(), Type::UUID),
        (&message, Type::BOOL),
        (&V, Type::INT4),
        (&body, Type::TEXT),
        (&key, Type::TEXT),
        (&messages_max, Type::INT8),
        (&claimer, Type::UUID),
        (&run, Type::TEXT),
    ];
    let sql = "SELECT @.enqueue($1, $2, $3, $4, $5, $6, $7, $8, $9::text::json)";
    let text: String = database.value(sql, &params).await?;
    let told: Answer<'_> = answer(&text)?;
    if let Some(reason) = told.refused {
        return Err(refusal(reason));
    }
    if let Some(first) = told.first {
        return Ok((repeated(told.number, first.item()?, &line.item)?, Vec::new()));
    }
    let mut hints = Vec::new();
    hints.extend(told.root.map(|root| Hint::Changed { root, thread: to }));
    hints.extend(told.holder.filter(|holder| claim != Some(*holder)).map(|_| Hint::Queued(to)));
    hints.extend(told.ready.then_some(Hint::Ready));
    let taken = match (told.claim, claim) {
        (Some(raw), Some(by)) => Some(raw.decode(by)?),
        _ => None,
    };
    let queued = Enqueued { number: told.number, repeated: false, first: None, claim: taken, holder: told.holder };
    Ok((queued, hints))
}

fn refusal(reason: &str) -> EnqueueError {
    match reason {
        "no_thread" => EnqueueError::NoThread,
        "terminated" => EnqueueError::Terminated,
        "full" => EnqueueError::QueueFull,
        other => StoreError::Corrupt(format!("a line was refused: {other}")).into(),
    }
}

/// Both sides go through JSON, so that a number that is rounded there is rounded on both.
fn repeated(number: u64, first: Item, item: &Item) -> Result<Enqueued, EnqueueError> {
    let item: Item = decode_body(JOURNAL_VERSION, encode_body(item)?.as_bytes())?;
    if !same_request(&first, &item) {
        return Err(EnqueueError::Conflict);
    }
    Ok(Enqueued { number, repeated: true, first: Some(first), claim: None, holder: None })
}
