//! Making threads.

use crate::body::{V, answer, encode, encode_events, get, hex, node, thread_id};
use crate::database::Database;
use crate::fault::Fault;
use crate::text::{escape, unescape};
use entourage_model::{NewThread, NodeId, RunId, ThreadId};
use entourage_store::{Claim, Lease, QueueLine, RootKey, RootMade, StoreError, encode_body};
use serde::{Deserialize, Serialize};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

/// A new thread as functions take it.
#[derive(Debug, Serialize)]
pub(crate) struct NewRow {
    id: ThreadId,
    root: ThreadId,
    parent: Option<ThreadId>,
    depth: u32,
    at_work: bool,
    bundle: String,
    agent: String,
    user_id: Option<String>,
    tags: Vec<String>,
    events: Vec<String>,
    items: Vec<NewItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<crate::run::NewRow>,
}

#[derive(Debug, Serialize)]
struct NewItem {
    message: bool,
    body: String,
}

impl NewRow {
    /// The row, and what whoever takes it up at once holds: nothing of it need be read back.
    pub(crate) fn new(new: NewThread, node: NodeId) -> Result<(Self, Claim), StoreError> {
        let item = |item: &entourage_model::Item| Ok(NewItem { message: item.is_message(), body: encode_body(item)? });
        let row = Self {
            id: new.id,
            root: new.root,
            parent: new.parent,
            depth: new.depth,
            at_work: new.at_work,
            bundle: hex(new.bundle),
            agent: escape(new.agent.as_str()).into_owned(),
            user_id: new.user_id.as_deref().map(|user| escape(user).into_owned()),
            tags: new.tags.iter().map(|tag| escape(tag).into_owned()).collect(),
            events: encode_events(&new.events)?,
            items: new.items.iter().map(item).collect::<Result<_, StoreError>>()?,
            run: new.run.as_ref().map(crate::run::NewRow::new),
        };
        let claim = Claim {
            lease: Lease { thread: new.id, node, epoch: 1 },
            attempts: 1,
            seq: new.events.len() as u64,
            root: new.root,
            bundle: new.bundle,
            lines: (1..).zip(new.items).map(|(number, item)| QueueLine { number, item }).collect(),
            journal: Some(new.events),
        };
        Ok((row, claim))
    }

    pub(crate) fn event_count(&self) -> usize {
        self.events.len()
    }
}

/// What a key was used for before; empty if the thread is new.
#[derive(Debug, Deserialize)]
struct Answer {
    thread: Option<ThreadId>,
    #[serde(default)]
    same: bool,
    run: Option<String>,
}

/// A root thread, once for each key if there is one.
pub(crate) async fn root(
    database: &Database,
    new: NewThread,
    key: Option<RootKey>,
    claim: Option<NodeId>,
) -> Result<RootMade, StoreError> {
    let (id, holder) = (new.id, claim.unwrap_or_else(|| NodeId::from_uuid(uuid::Uuid::nil())));
    let (row, born) = NewRow::new(new, holder)?;
    let born = claim.map(|_| born);
    let name = key.as_ref().map(|key| escape(&key.name));
    let request = key.as_ref().map(|key| &key.request.as_bytes()[..]);
    let (row, claimer) = (encode(&row)?, node(claim));
    let params: [crate::database::Param<'_>; 5] =
        [(&row, Type::TEXT), (&claimer, Type::UUID), (&V, Type::INT4), (&name, Type::TEXT), (&request, Type::BYTEA)];
    let sql = "SELECT @.create($1::text::json, $2, $3, $4, $5)";
    let tried = database.patiently(sql, &params).await;
    let rows = match tried.result {
        Ok(rows) => rows,
        Err(fault) if is_known(&fault) => {
            // If its answer was lost, it had happened: nobody else draws the same id.
            let exists = || StoreError::Unavailable(format!("thread {id} exists already"));
            return if tried.again { Ok(RootMade::New(born)) } else { Err(exists()) };
        }
        Err(fault) => return Err(fault.into()),
    };
    let row = rows.first().ok_or_else(|| StoreError::Corrupt("a thread had no answer".to_owned()))?;
    let text: String = get(row, 0)?;
    let told: Answer = answer(&text)?;
    Ok(match told.thread {
        None => RootMade::New(born),
        Some(thread) if thread == id && tried.again => RootMade::New(born),
        Some(thread) if told.same => RootMade::Repeated { thread, run: told.run.map(|run| RunId::from(unescape(run))) },
        Some(_) => RootMade::Conflict,
    })
}

/// What a key for root threads was used for.
pub(crate) async fn known(database: &Database, key: &RootKey) -> Result<Option<RootMade>, StoreError> {
    let sql = "SELECT thread, request = $2, run FROM @.root_keys WHERE key = $1";
    let request = &key.request.as_bytes()[..];
    let rows = database.rows(sql, &[(&escape(&key.name), Type::TEXT), (&request, Type::BYTEA)]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let run = get::<Option<String>>(row, 2)?.map(|run| RunId::from(unescape(run)));
    let thread = thread_id(row, 0)?;
    Ok(Some(if get(row, 1)? { RootMade::Repeated { thread, run } } else { RootMade::Conflict }))
}

fn is_known(fault: &Fault) -> bool {
    matches!(fault, Fault::Sql(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION))
}
