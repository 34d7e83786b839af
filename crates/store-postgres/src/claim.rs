//! Taking threads up and giving them back.

use crate::body::{RawLine, answer, from_hex, limit, node, signed};
use crate::database::{Database, token};
use entourage_model::{NodeId, ThreadId};
use entourage_store::{Claim, Lease, SUSPECT_ATTEMPTS, StoreError};
use serde::Deserialize;
use tokio_postgres::types::Type;

/// A claim as functions answer it.
#[derive(Debug, Deserialize)]
pub(crate) struct RawClaim {
    thread: ThreadId,
    epoch: u64,
    attempts: u32,
    seq: u64,
    root: ThreadId,
    bundle: String,
    lines: Vec<RawLine>,
}

impl RawClaim {
    pub(crate) fn decode(self, node: NodeId) -> Result<Claim, StoreError> {
        Ok(Claim {
            lease: Lease { thread: self.thread, node, epoch: self.epoch },
            attempts: self.attempts,
            seq: self.seq,
            root: self.root,
            bundle: from_hex(&self.bundle)?,
            lines: self.lines.iter().map(RawLine::decode).collect::<Result<_, _>>()?,
            journal: None,
        })
    }
}

#[derive(Debug, Deserialize)]
struct Answer {
    #[serde(default)]
    dead: bool,
    #[serde(default)]
    claims: Vec<RawClaim>,
}

pub(crate) async fn take_up(
    database: &Database,
    by: NodeId,
    max: usize,
    root: Option<ThreadId>,
) -> Result<Vec<Claim>, StoreError> {
    let (max, root) = (limit(max), root.map(ThreadId::uuid));
    let suspect = i32::try_from(SUSPECT_ATTEMPTS).unwrap_or(i32::MAX);
    let params: [crate::database::Param<'_>; 5] = [
        (&node(Some(by)), Type::UUID),
        (&max, Type::INT8),
        (&root, Type::UUID),
        (&suspect, Type::INT4),
        (&token(), Type::UUID),
    ];
    let text: String = database.value("SELECT @.claim($1, $2, $3, $4, $5)", &params).await?;
    let told: Answer = answer(&text)?;
    if told.dead {
        return Err(StoreError::NodeDead);
    }
    told.claims.into_iter().map(|claim| claim.decode(by)).collect()
}

/// A lost lease is a no-op.
pub(crate) async fn release(database: &Database, lease: Lease) -> Result<(), StoreError> {
    let sql = "UPDATE @.threads SET status = 1, owner = NULL, ready_at = @.micros(),
                      attempts = greatest(attempts - 1, 0)
               WHERE id = $1 AND owner = $2 AND epoch = $3";
    let (thread, by, epoch) = (lease.thread.uuid(), lease.node.uuid(), signed(lease.epoch));
    database.rows(sql, &[(&thread, Type::UUID), (&by, Type::UUID), (&epoch, Type::INT8)]).await.map(drop)
}
