//! The store itself: every method is one command or one read.

use crate::body::EncodedItem;
use crate::command::create::{Create, CreateOnce, EncodedThread};
use crate::command::enqueue::{Enqueue, Enqueued as Answer};
use crate::command::{claim, commit, delete, file, node, run};
use crate::connection::open_writer;
use crate::copy::{SqliteExport, SqliteImport};
use crate::folder::Folder;
use crate::read::{self, Readers};
use crate::writer::{Fatal, Writer};
use crate::{check, command::line::RawClaim};
use async_trait::async_trait;
use entourage_model::{Digest, Item, NewThread, NodeId, Report, RunId, ThreadId, Timestamp};
use entourage_store::{
    Blob, Claim, Clock, Commit, CommitError, Committed, DeadLetter, EnqueueError, Enqueued, Export, FileRow, Import,
    Lease, NewLine, Page, QueueLine, RootKey, RootMade, RunFilter, RunRow, Store, StoreError, StoredEvent,
    ThreadFilter, ThreadRow, same_request,
};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a store is opened.
#[derive(Clone)]
pub struct Options {
    pub clock: Clock,
    /// Called once, on the writer's thread, when the disk failed or the file is damaged; nothing is written after
    /// that. It ends the process unless it is told otherwise: start-up finds out what is really there.
    pub fatal: Arc<dyn Fn(&StoreError) + Send + Sync>,
}

impl Default for Options {
    fn default() -> Self {
        Self { clock: Clock::system(), fatal: Arc::new(|_| std::process::abort()) }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("clock", &self.clock).finish_non_exhaustive()
    }
}

/// Threads in `entourage.db` of a folder that this process has for itself.
#[derive(Debug)]
pub struct SqliteStore {
    clock: Clock,
    readers: Readers,
    database: PathBuf,
    pub(crate) writer: Writer,
}

impl SqliteStore {
    /// Opens the store in this folder, or makes one. Threads that an earlier process held are `ready` afterwards.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Self::open_with(folder, Options::default())
    }

    pub fn open_with(folder: &Path, options: Options) -> Result<Self, StoreError> {
        let Options { clock, fatal } = options;
        let folder = Folder::lock(folder)?;
        let database = folder.database();
        let readers = Readers::new(database.clone());
        let connection = open_writer(&folder, clock.now())?;
        let fatal: Fatal = fatal;
        let writer = Writer::start(folder, connection, clock.clone(), fatal)?;
        Ok(Self { clock, readers, database, writer })
    }

    /// How many transactions were committed since it was opened: fewer than commands, when those come at once.
    pub fn transactions(&self) -> u64 {
        self.writer.transactions()
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn register(&self, node: NodeId) -> Result<(), StoreError> {
        self.writer.write(node::Register(node)).await
    }

    async fn heartbeat(&self, node: NodeId) -> Result<(), StoreError> {
        if self.writer.write(node::Heartbeat(node)).await? { Ok(()) } else { Err(StoreError::NodeDead) }
    }

    async fn sweep(&self) -> Result<usize, StoreError> {
        self.writer.write(node::Sweep).await
    }

    async fn create(&self, thread: NewThread, claim: Option<NodeId>) -> Result<Option<Claim>, StoreError> {
        let (thread, born) = EncodedThread::new(thread)?;
        let taken = claim.map(|node| thread.claim(node, born));
        self.writer.write(Create { thread, claim }).await?;
        Ok(taken)
    }

    async fn create_once(
        &self,
        thread: NewThread,
        key: RootKey,
        claim: Option<NodeId>,
    ) -> Result<RootMade, StoreError> {
        let (thread, born) = EncodedThread::new(thread)?;
        let taken = claim.map(|node| thread.claim(node, born));
        let request = key.request;
        Ok(match self.writer.write(CreateOnce { thread, key, claim }).await? {
            None => RootMade::New(taken),
            Some(first) => first.made(request),
        })
    }

    async fn made_once(&self, key: &RootKey) -> Result<Option<RootMade>, StoreError> {
        let RootKey { name, request } = key.clone();
        let first = self.readers.read(move |file| read::thread::first_of(file, &name)).await?;
        Ok(first.map(|first| first.made(request)))
    }

    async fn enqueue(&self, to: ThreadId, line: NewLine, claim: Option<NodeId>) -> Result<Enqueued, EnqueueError> {
        let NewLine { item, key, run, messages_max } = line;
        let encoded = EncodedItem::new(&item)?;
        match self.writer.write(Enqueue { to, item: encoded, key, run, messages_max, claim }).await?? {
            Answer::New { number, claim, holder } => {
                let claim = claim.map(|claim| claim.decode([QueueLine { number, item }])).transpose()?;
                Ok(Enqueued { number, repeated: false, first: None, claim, holder })
            }
            Answer::Known { number, first } => repeated(number, first.item()?, &item),
        }
    }

    async fn claim(&self, node: NodeId, max: usize, root: Option<ThreadId>) -> Result<Vec<Claim>, StoreError> {
        let claims: Vec<RawClaim> = self.writer.write(claim::TakeUp { node, max, root }).await??;
        claims.into_iter().map(|claim| claim.decode([])).collect()
    }

    async fn commit(&self, lease: Lease, commit: Commit) -> Result<Committed, CommitError> {
        let (append, kept) = commit::encode(lease, commit)?;
        let appended = self.writer.write(append).await??;
        Ok(commit::assemble(appended, kept)?)
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.writer.write(node::Release(lease)).await
    }

    async fn lines(&self, thread: ThreadId, after: u64) -> Result<Vec<QueueLine>, StoreError> {
        self.readers.read(move |file| read::journal::lines(file, thread, after)).await
    }

    async fn journal(&self, thread: ThreadId, after: u64, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        self.readers.read(move |file| read::journal::of_thread(file, thread, after, limit)).await
    }

    async fn tree_journal(&self, root: ThreadId, after: u64, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        self.readers.read(move |file| read::journal::of_tree(file, root, after, limit)).await
    }

    async fn thread(&self, id: ThreadId) -> Result<Option<ThreadRow>, StoreError> {
        self.readers.read(move |file| read::thread::one(file, id)).await
    }

    async fn threads(&self, filter: &ThreadFilter, page: Page<ThreadId>) -> Result<Vec<ThreadRow>, StoreError> {
        let filter = filter.clone();
        self.readers.read(move |file| read::thread::list(file, &filter, page)).await
    }

    async fn delete(&self, id: ThreadId) -> Result<Vec<ThreadId>, StoreError> {
        self.writer.write(delete::Delete(id)).await
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRow>, StoreError> {
        let id = id.clone();
        self.readers.read(move |file| read::run::one(file, &id)).await
    }

    async fn runs(&self, filter: &RunFilter, page: Page<RunId>) -> Result<Vec<RunRow>, StoreError> {
        let filter = filter.clone();
        self.readers.read(move |file| read::run::list(file, &filter, &page)).await
    }

    async fn request_cancel(&self, id: &RunId) -> Result<Option<RunRow>, StoreError> {
        self.writer.write(run::RequestCancel(id.clone())).await
    }

    async fn mark_delivered(&self, id: &RunId) -> Result<(), StoreError> {
        self.writer.write(run::MarkDelivered(id.clone())).await
    }

    async fn put_blob(&self, digest: Digest, bytes: &[u8]) -> Result<(), StoreError> {
        self.writer.write(file::PutBlob { digest, bytes: bytes.to_vec() }).await
    }

    async fn blob(&self, digest: Digest) -> Result<Option<Blob>, StoreError> {
        self.readers.read(move |file| read::file::blob(file, digest)).await
    }

    async fn put_file(&self, thread: ThreadId, file: FileRow) -> Result<(), StoreError> {
        self.writer.write(file::PutFile { thread, file }).await?
    }

    async fn files(&self, thread: ThreadId) -> Result<Vec<FileRow>, StoreError> {
        self.readers.read(move |file| read::file::list(file, thread)).await
    }

    async fn delete_file(&self, thread: ThreadId, path: &str) -> Result<bool, StoreError> {
        self.writer.write(file::DeleteFile { thread, path: path.to_owned() }).await
    }

    async fn dead_letters(&self, thread: Option<ThreadId>) -> Result<Vec<DeadLetter>, StoreError> {
        self.readers.read(move |file| read::journal::dead_letters(file, thread)).await
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    async fn export(&self) -> Result<Box<dyn Export>, StoreError> {
        Ok(Box::new(SqliteExport::start(self.database.clone())))
    }

    async fn import(&self) -> Result<Box<dyn Import>, StoreError> {
        Ok(Box::new(SqliteImport::start(self.database.clone()).await?))
    }

    async fn check(&self) -> Result<Vec<Report>, StoreError> {
        self.readers.read(check::check).await
    }

    async fn close(&self) {
        self.readers.close();
        self.writer.close().await;
    }
}

/// Both sides go through JSON, so that a number that is rounded there is rounded on both.
fn repeated(number: u64, first: Item, item: &Item) -> Result<Enqueued, EnqueueError> {
    let item = EncodedItem::new(item)?.decode()?;
    if !same_request(&first, &item) {
        return Err(EnqueueError::Conflict);
    }
    Ok(Enqueued { number, repeated: true, first: Some(first), claim: None, holder: None })
}
