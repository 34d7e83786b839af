//! `entourage send ID MESSAGE`: writes to a thread, durably, and lets it work.

use crate::commands::run::{conclude, spoken, until_quiet};
use crate::errand::Errand;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::models;
use crate::readiness::Readiness;
use crate::remote_server::RemoteServer;
use crate::source::Holder;
use crate::storage::Storage;
use crate::verdict::{Verdict, Work};
use crate::{identifier, wish};
use clap::Args;
use entourage_model::{Item, Message, MessageId, Posted, Role};
use entourage_runtime::{Outgoing, RuntimeError};
use serde_json::{Value, json};
use uuid::Uuid;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  entourage send 7f3a 'And now the tests, please'")]
pub(crate) struct Arguments {
    /// The thread's id, or a part of it
    #[arg(value_name = "ID")]
    thread: String,
    /// What to say; `-` reads it from standard input
    message: String,
    /// Only queue it; `entourage resume` works on it
    #[arg(long)]
    detach: bool,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let message = spoken(&arguments.message)?;
    let storage = match Holder::look(invocation).await? {
        Holder::Store(storage) => storage,
        Holder::Server(server) => return tell(invocation, &server, &arguments, &message).await,
    };
    if arguments.detach {
        return queue(invocation, storage, &arguments.thread, message).await;
    }
    let models = models::settings(invocation)?;
    let readiness = Readiness::new(invocation, &models)?;
    let mut errand = Errand::open(invocation, storage, models).await?;
    let row = identifier::thread(errand.bench.storage(), &arguments.thread).await?;
    // What was left unfinished in its tree goes on as well.
    let concerned = errand.bench.unfinished(Some(row.root)).await?.into_iter().chain([row.clone()]).collect();
    readiness.insist_for(&errand.bench, concerned).await?;
    let past = Work::rest(errand.bench.storage(), row.id).await?;
    let runtime = errand.bench.runtime.clone();
    let live = errand.live(row.root, invocation.show()).after_past().await;
    let live = live.map_err(|error| errand.bench.refused(&error))?;
    runtime.send(row.id, Outgoing::user(message), None).await.map_err(|error| errand.bench.refused(&error))?;
    // A thread that a process left unfinished is taken up again by it.
    runtime.resume(Some(row.root));
    errand.wait(live, until_quiet(&runtime, row.root)).await?;
    conclude(invocation, &errand, row.id, past).await
}

/// Puts the message into the queue and leaves it there.
async fn queue(invocation: &Invocation, storage: Storage, thread: &str, content: String) -> Result<(), Failure> {
    let row = identifier::thread(&storage, thread).await?;
    let limits = &invocation.settings.limits;
    if content.len() > limits.message_bytes {
        let error = RuntimeError::MessageTooLarge { found: content.len(), max: limits.message_bytes };
        return Err(Failure::of_runtime(&error, &storage.place));
    }
    let id = MessageId::from_uuid(Uuid::now_v7());
    let message = Message::new(id, Role::User, content, storage.store.now());
    wish::queue(invocation, &storage, row.id, Item::Message(Posted::plain(message))).await?;
    storage.store.close().await;
    let document = json!({ "message_id": id, "status": "queued" });
    print_queued(invocation, &document, &format!("`entourage resume {}`", row.id));
    Ok(())
}

/// Gives the message to the server, which works on it whoever waits.
async fn tell(
    invocation: &Invocation,
    server: &RemoteServer,
    arguments: &Arguments,
    content: &str,
) -> Result<(), Failure> {
    let row = identifier::thread(server, &arguments.thread).await?;
    let past = Work::rest(server, row.id).await?;
    let queued = server.send(row.id, content).await?;
    if arguments.detach {
        print_queued(invocation, &queued, "the server");
        return Ok(());
    }
    server.until_quiet(row.root).await?;
    let verdict = Verdict::read(server, row.id, past).await?;
    let verdict = verdict.ok_or_else(|| Failure::of_runtime(&RuntimeError::NoThread(row.id), ""))?;
    verdict.deliver(invocation, server).await?;
    verdict.outcome(invocation)
}

fn print_queued(invocation: &Invocation, document: &Value, worker: &str) {
    if invocation.is_json() {
        invocation.screen.json(document);
    } else {
        invocation.screen.note(&format!("queued; {worker} works on it"));
    }
}
