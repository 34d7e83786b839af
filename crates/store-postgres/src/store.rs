//! The store itself: every method is one statement.

use crate::blob::Outside;
use crate::clock::DatabaseClock;
use crate::copy::{PostgresExport, PostgresImport};
use crate::database::Database;
use crate::herald::Herald;
use crate::lane::Lanes;
use crate::settings::{Address, Options};
use crate::text::escape;
use crate::{blob, check, claim, commit, create, enqueue, file, journal, migration, node, run, thread};
use async_trait::async_trait;
use entourage_model::{Digest, NewThread, NodeId, Report, RunId, ThreadId, Timestamp};
use entourage_store::{
    Blob, Claim, Commit, CommitError, Committed, DeadLetter, EnqueueError, Enqueued, Export, FileRow, Hint, Import,
    Lease, NewLine, Page, QueueLine, RootKey, RootMade, RunFilter, RunRow, Store, StoreError, StoredEvent,
    ThreadFilter, ThreadRow,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio_postgres::types::Type;

/// Threads in a PostgreSQL database that any number of processes use.
#[derive(Debug)]
pub struct PostgresStore {
    options: Options,
    database: Arc<Database>,
    /// Where long blobs lie, if not in the database.
    outside: Option<Arc<Outside>>,
    clock: DatabaseClock,
    lanes: Lanes,
    /// None where sessions do not last.
    herald: Option<Herald>,
}

impl PostgresStore {
    /// Opens the store at this address, and makes or migrates its tables. What other processes hold stays theirs.
    pub async fn open(url: &str, options: Options) -> Result<Self, StoreError> {
        let address = Address::parse(url)?;
        let database = Arc::new(Database::new(&address, options.patience)?);
        migration::prepare(&database, &address).await?;
        let outside = Outside::open(&database, &address, &options).await?;
        let clock = DatabaseClock::new(options.clock.clone());
        clock.set(database.value("SELECT @.micros()", &[]).await?);
        let lanes = Lanes::start(&database);
        let herald = address.listen.then(|| Herald::start(&database));
        Ok(Self { options, database, outside, clock, lanes, herald })
    }

    /// Lets commits of whoever has lost its lease through, from now on and for all processes of the database: so that
    /// a test can show that it would notice.
    #[cfg(feature = "trial")]
    pub async fn remove_guard(&self) -> Result<(), StoreError> {
        migration::remove_guard(&self.database).await
    }

    fn tell(&self, hints: impl IntoIterator<Item = Hint>) {
        if let Some(herald) = &self.herald {
            herald.tell(hints);
        }
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn register(&self, node: NodeId) -> Result<(), StoreError> {
        node::register(&self.database, &self.clock, node, self.options.node_life).await
    }

    async fn heartbeat(&self, node: NodeId) -> Result<(), StoreError> {
        node::heartbeat(&self.database, &self.clock, node, self.options.node_life).await
    }

    async fn sweep(&self) -> Result<usize, StoreError> {
        let swept = node::sweep(&self.database).await?;
        self.tell((swept > 0).then_some(Hint::Ready));
        Ok(swept)
    }

    async fn create(&self, thread: NewThread, claim: Option<NodeId>) -> Result<Option<Claim>, StoreError> {
        match self.make(thread, None, claim).await? {
            RootMade::New(claim) => Ok(claim),
            RootMade::Repeated { .. } | RootMade::Conflict => {
                Err(StoreError::Corrupt("a thread without a key was taken for a repetition".to_owned()))
            }
        }
    }

    async fn create_once(
        &self,
        thread: NewThread,
        key: RootKey,
        claim: Option<NodeId>,
    ) -> Result<RootMade, StoreError> {
        self.make(thread, Some(key), claim).await
    }

    async fn made_once(&self, key: &RootKey) -> Result<Option<RootMade>, StoreError> {
        create::known(&self.database, key).await
    }

    async fn enqueue(&self, to: ThreadId, line: NewLine, claim: Option<NodeId>) -> Result<Enqueued, EnqueueError> {
        let (queued, hints) = enqueue::enqueue(&self.database, to, line, claim).await?;
        self.tell(hints);
        Ok(queued)
    }

    async fn claim(&self, node: NodeId, max: usize, root: Option<ThreadId>) -> Result<Vec<Claim>, StoreError> {
        claim::take_up(&self.database, node, max, root).await
    }

    async fn commit(&self, lease: Lease, commit: Commit) -> Result<Committed, CommitError> {
        let (append, kept) = commit::prepare(lease, commit)?;
        let text = self.lanes.commit(append).await?;
        let (committed, hints) = commit::assemble(&text, kept)?;
        self.tell(hints);
        Ok(committed)
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        claim::release(&self.database, lease).await?;
        self.tell([Hint::Ready]);
        Ok(())
    }

    async fn lines(&self, thread: ThreadId, after: u64) -> Result<Vec<QueueLine>, StoreError> {
        journal::lines(&self.database, thread, after).await
    }

    async fn journal(&self, thread: ThreadId, after: u64, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        journal::of_thread(&self.database, thread, after, limit).await
    }

    async fn tree_journal(&self, root: ThreadId, after: u64, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        journal::of_tree(&self.database, root, after, limit).await
    }

    async fn thread(&self, id: ThreadId) -> Result<Option<ThreadRow>, StoreError> {
        thread::one(&self.database, id).await
    }

    async fn threads(&self, filter: &ThreadFilter, page: Page<ThreadId>) -> Result<Vec<ThreadRow>, StoreError> {
        thread::list(&self.database, filter, page).await
    }

    async fn delete(&self, id: ThreadId) -> Result<Vec<ThreadId>, StoreError> {
        let gone = thread::delete(&self.database, id).await?;
        self.tell(gone.iter().map(|&thread| Hint::Changed { root: id, thread }));
        Ok(gone)
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRow>, StoreError> {
        run::one(&self.database, id).await
    }

    async fn runs(&self, filter: &RunFilter, page: Page<RunId>) -> Result<Vec<RunRow>, StoreError> {
        run::list(&self.database, filter, &page).await
    }

    async fn request_cancel(&self, id: &RunId) -> Result<Option<RunRow>, StoreError> {
        run::request_cancel(&self.database, id).await
    }

    async fn mark_delivered(&self, id: &RunId) -> Result<(), StoreError> {
        run::mark_delivered(&self.database, id).await
    }

    async fn put_blob(&self, digest: Digest, bytes: &[u8]) -> Result<(), StoreError> {
        blob::put(&self.database, self.outside.as_deref(), digest, bytes).await
    }

    async fn blob(&self, digest: Digest) -> Result<Option<Blob>, StoreError> {
        blob::read(&self.database, self.outside.as_deref(), digest).await
    }

    async fn put_file(&self, thread: ThreadId, file: FileRow) -> Result<(), StoreError> {
        file::put(&self.database, thread, &file).await
    }

    async fn files(&self, thread: ThreadId) -> Result<Vec<FileRow>, StoreError> {
        file::list(&self.database, thread).await
    }

    async fn delete_file(&self, thread: ThreadId, path: &str) -> Result<bool, StoreError> {
        file::delete(&self.database, thread, path).await
    }

    async fn dead_letters(&self, thread: Option<ThreadId>) -> Result<Vec<DeadLetter>, StoreError> {
        journal::dead_letters(&self.database, thread).await
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn node_life(&self) -> Duration {
        self.options.node_life
    }

    fn hints(&self) -> Option<broadcast::Receiver<Hint>> {
        self.herald.as_ref().map(Herald::hear)
    }

    async fn waiting(&self, node: NodeId) -> Result<Vec<(ThreadId, u64)>, StoreError> {
        node::waiting(&self.database, node).await
    }

    async fn heads(&self, roots: &[ThreadId]) -> Result<Vec<(ThreadId, u64)>, StoreError> {
        journal::heads(&self.database, roots).await
    }

    async fn held(&self, node: NodeId) -> Result<Vec<Lease>, StoreError> {
        node::held(&self.database, node).await
    }

    async fn retire(&self, node: NodeId) -> Result<(), StoreError> {
        let released = node::retire(&self.database, node).await?;
        self.tell((released > 0).then_some(Hint::Ready));
        Ok(())
    }

    async fn remember(&self, name: &str, value: &str) -> Result<String, StoreError> {
        let sql = "WITH kept AS (INSERT INTO @.meta (name, value) VALUES ($1, $2) ON CONFLICT (name)
                     DO UPDATE SET value = @.meta.value RETURNING value)
                   SELECT value FROM kept";
        let name = format!("kept {}", escape(name));
        let kept: String = self.database.value(sql, &[(&name, Type::TEXT), (&escape(value), Type::TEXT)]).await?;
        Ok(crate::text::unescape(kept))
    }

    async fn export(&self) -> Result<Box<dyn Export>, StoreError> {
        Ok(Box::new(PostgresExport::start(&self.database, self.outside.clone()).await?))
    }

    async fn import(&self) -> Result<Box<dyn Import>, StoreError> {
        Ok(Box::new(PostgresImport::start(&self.database, self.outside.clone()).await?))
    }

    async fn check(&self) -> Result<Vec<Report>, StoreError> {
        check::check(&self.database, self.outside.as_deref()).await
    }

    async fn close(&self) {
        self.lanes.close().await;
        if let Some(herald) = &self.herald {
            herald.close();
        }
        self.database.close();
    }
}

impl PostgresStore {
    async fn make(
        &self,
        thread: NewThread,
        key: Option<RootKey>,
        claim: Option<NodeId>,
    ) -> Result<RootMade, StoreError> {
        let (id, root, ready) = (thread.id, thread.root, thread.at_work && claim.is_none());
        let made = create::root(&self.database, thread, key, claim).await?;
        if matches!(made, RootMade::New(_)) {
            self.tell([Hint::Changed { root, thread: id }].into_iter().chain(ready.then_some(Hint::Ready)));
        }
        Ok(made)
    }
}
