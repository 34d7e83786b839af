//! Commits on their way. Those that come at once share a transaction, and so one flush of the server's disk.
//!
//! Each lane has at most one transaction under way; whatever arrives meanwhile goes together next. Commits that write to
//! the same queue go by the same lane, so that they do not wait for each other's flush.

use crate::database::{Database, Param};
use crate::fault::Fault;
use deadpool_postgres::Object;
use entourage_store::StoreError;
use futures::future::{BoxFuture, FutureExt, poll_fn};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

const LANES: usize = 8;
/// Commits that may share a transaction. More wait for the next one.
const BATCH_MAX: usize = 64;
/// Commits that may wait in a lane; whoever comes later waits to be let in.
const WAITING_MAX: usize = 1024;

/// A commit as its function takes it.
#[derive(Debug)]
pub(crate) struct Append {
    pub(crate) thread: Uuid,
    pub(crate) node: Uuid,
    pub(crate) epoch: i64,
    pub(crate) seq: i64,
    pub(crate) token: Uuid,
    pub(crate) events: Vec<String>,
    pub(crate) version: i32,
    pub(crate) status: i16,
    pub(crate) seen: i64,
    pub(crate) wake_at: Option<i64>,
    pub(crate) terminated_at: Option<i64>,
    pub(crate) usage: Vec<i64>,
    /// Everything that a plain step does not have, as JSON.
    pub(crate) more: Option<String>,
    /// The threads that it writes to, beside its own.
    pub(crate) targets: Vec<Uuid>,
    pub(crate) spawns: bool,
    /// Of its own and of the threads that it makes.
    pub(crate) event_count: i64,
}

const COMMIT: &str = "SELECT @.commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::text::json)";
const LOCK: &str = "SELECT @.lock_threads($1, $2)";

impl Append {
    /// `offset` events of the same transaction come before.
    fn params<'p>(&'p self, offset: &'p i64) -> [Param<'p>; 14] {
        [
            (&self.thread, Type::UUID),
            (&self.node, Type::UUID),
            (&self.epoch, Type::INT8),
            (&self.seq, Type::INT8),
            (&self.token, Type::UUID),
            (&self.events, Type::TEXT_ARRAY),
            (&self.version, Type::INT4),
            (&self.status, Type::INT2),
            (&self.seen, Type::INT8),
            (&self.wake_at, Type::INT8),
            (&self.terminated_at, Type::INT8),
            (&self.usage, Type::INT8_ARRAY),
            (offset, Type::INT8),
            (&self.more, Type::TEXT),
        ]
    }
}

struct Order {
    append: Append,
    reply: oneshot::Sender<Result<String, StoreError>>,
}

/// The lanes as callers see them. They end when this is closed, after what was sent to them.
#[derive(Debug)]
pub(crate) struct Lanes {
    orders: Mutex<Vec<mpsc::Sender<Order>>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Lanes {
    pub(crate) fn start(database: &Arc<Database>) -> Self {
        let (mut orders, mut tasks) = (Vec::new(), Vec::new());
        for _ in 0..LANES {
            let (sender, inbox) = mpsc::channel(WAITING_MAX);
            orders.push(sender);
            tasks.push(tokio::spawn(work(Arc::clone(database), inbox)));
        }
        Self { orders: Mutex::new(orders), tasks: Mutex::new(tasks) }
    }

    /// Returns what the function answered, once that is durable. Dropping the future does not take the commit back.
    pub(crate) async fn commit(&self, append: Append) -> Result<String, StoreError> {
        let closed = || StoreError::Unavailable("the store is closed".to_owned());
        let (reply, answer) = oneshot::channel();
        let lane = lane(append.targets.first().unwrap_or(&append.thread));
        let orders =
            self.orders.lock().unwrap_or_else(PoisonError::into_inner).get(lane).cloned().ok_or_else(closed)?;
        orders.send(Order { append, reply }).await.map_err(|_| closed())?;
        drop(orders);
        answer.await.map_err(|_| StoreError::Unavailable("a lane has ended".to_owned()))?
    }

    /// Finishes what was sent.
    pub(crate) async fn close(&self) {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            // One that panicked has told its callers already.
            let _ = task.await;
        }
    }
}

fn lane(key: &Uuid) -> usize {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    usize::try_from(hasher.finish() % LANES as u64).unwrap_or_default()
}

async fn work(database: Arc<Database>, mut inbox: mpsc::Receiver<Order>) {
    let mut batch = Vec::with_capacity(BATCH_MAX);
    while inbox.recv_many(&mut batch, BATCH_MAX).await > 0 {
        match together(&database, &batch).await {
            Some(answers) => {
                for (order, answer) in batch.drain(..).zip(answers) {
                    // The caller may have gone; its commit has happened all the same.
                    let _ = order.reply.send(Ok(answer));
                }
            }
            // One is alone, or one of them is guilty, or nobody knows what happened: each has to stand for itself.
            // Those that were durable already find themselves by their tokens.
            None => {
                for order in batch.drain(..) {
                    let _ = order.reply.send(alone(&database, &order.append).await);
                }
            }
        }
    }
}

async fn alone(database: &Database, append: &Append) -> Result<String, StoreError> {
    answer(&database.rows(COMMIT, &append.params(&0)).await?)
}

fn answer(rows: &[Row]) -> Result<String, StoreError> {
    let row = rows.first().ok_or_else(|| StoreError::Corrupt("a commit had no answer".to_owned()))?;
    crate::body::get(row, 0)
}

/// All of them in one transaction and one round trip; nothing if there is any trouble.
async fn together(database: &Database, batch: &[Order]) -> Option<Vec<String>> {
    if batch.len() < 2 {
        return None;
    }
    match send_together(database, batch).await {
        Ok(answers) => Some(answers),
        Err(fault) => {
            let error = StoreError::from(fault);
            tracing::debug!(%error, commits = batch.len(), "commits go one by one");
            None
        }
    }
}

async fn send_together(database: &Database, batch: &[Order]) -> Result<Vec<String>, Fault> {
    let client = database.client().await?;
    let appends = || batch.iter().map(|order| &order.append);
    let threads: Vec<Uuid> =
        appends().flat_map(|append| append.targets.iter().copied().chain([append.thread])).collect();
    let spawning: Vec<Uuid> = appends().filter(|append| append.spawns).map(|append| append.thread).collect();
    let lock = (database.spell(LOCK), [(&threads as _, Type::UUID_ARRAY), (&spawning as _, Type::UUID_ARRAY)]);
    let before = appends().scan(0, |sum, append| Some(std::mem::replace(sum, *sum + append.event_count)));
    let offsets: Vec<i64> = before.collect();
    let commits: Vec<_> = appends().zip(&offsets).map(|(append, offset)| append.params(offset)).collect();
    let commit = database.spell(COMMIT);
    // What has to be prepared is prepared first: nothing may come between the messages.
    database.prepare(&client, &lock.0, &lock.1).await?;
    database.prepare(&client, &commit, &commits[0]).await?;
    let mut sent: Vec<BoxFuture<'_, Result<Vec<Row>, Fault>>> = Vec::with_capacity(batch.len() + 3);
    sent.push(plain(&client, "BEGIN").boxed());
    sent.push(database.ask(&client, &lock.0, &lock.1).boxed());
    sent.extend(commits.iter().map(|params| database.ask(&client, &commit, params).boxed()));
    sent.push(plain(&client, "COMMIT").boxed());
    let results = in_order(sent).await;
    // After a failed statement the server answers `COMMIT` well and rolls back: every answer counts.
    let rows = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    rows[2..rows.len() - 1].iter().map(|rows| answer(rows).map_err(Fault::Store)).collect()
}

async fn plain(client: &Object, sql: &str) -> Result<Vec<Row>, Fault> {
    client.batch_execute(sql).await?;
    Ok(Vec::new())
}

/// Runs them all at once, each begun after the one before: so that is the order in which their messages are sent.
async fn in_order<T>(futures: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut running: Vec<(BoxFuture<'_, T>, Option<T>)> = futures.into_iter().map(|future| (future, None)).collect();
    poll_fn(|context| {
        let mut all = true;
        for (future, done) in &mut running {
            if done.is_none() {
                match future.as_mut().poll(context) {
                    Poll::Ready(value) => *done = Some(value),
                    Poll::Pending => all = false,
                }
            }
        }
        if all { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    running.into_iter().filter_map(|(_, done)| done).collect()
}
