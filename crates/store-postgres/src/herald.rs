//! Hints between processes: what was just made durable here is told to the others, and what they tell is heard.
//!
//! A hint goes in a transaction of its own, after the one that it tells of, and not more often than every 20 ms: the
//! server lets only one transaction with notifications end at a time. Whatever is lost on the way is found by polling.

use crate::database::{Database, token};
use crate::fault::Fault;
use entourage_model::ThreadId;
use entourage_store::{Hint, StoreError};
use futures::future::poll_fn;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, broadcast};
use tokio::task::JoinHandle;
use tokio_postgres::AsyncMessage;
use tokio_postgres::types::Type;
use uuid::Uuid;

const PAUSE: Duration = Duration::from_millis(20);
/// After this long a listener that lost its connection tries again.
const RECONNECT: Duration = Duration::from_millis(200);
/// The server takes 8000 bytes.
const PAYLOAD_MAX: usize = 7900;
/// Payloads that are sent at once; more is said as "everything".
const PAYLOADS_MAX: usize = 8;
/// A listener that is further behind looks at everything.
const BACKLOG: usize = 1024;

/// Both tasks end when this is closed or dropped.
#[derive(Debug)]
pub(crate) struct Herald {
    outbox: Arc<Outbox>,
    heard: broadcast::Sender<Hint>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Outbox {
    hints: Mutex<HashSet<Hint>>,
    filled: Notify,
}

impl Herald {
    pub(crate) fn start(database: &Arc<Database>) -> Self {
        let outbox = Arc::new(Outbox::default());
        let heard = broadcast::channel(BACKLOG).0;
        // Tells this process's hints apart from those of others.
        let name = token().simple().to_string();
        let send = send(Arc::clone(database), Arc::clone(&outbox), name.clone());
        let listen = listen(Arc::clone(database), heard.clone(), name);
        Self { outbox, heard, tasks: Mutex::new(vec![tokio::spawn(send), tokio::spawn(listen)]) }
    }

    pub(crate) fn tell(&self, hints: impl IntoIterator<Item = Hint>) {
        let mut waiting = self.outbox.hints.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.extend(hints);
        if !waiting.is_empty() {
            self.outbox.filled.notify_one();
        }
    }

    pub(crate) fn hear(&self) -> broadcast::Receiver<Hint> {
        self.heard.subscribe()
    }

    pub(crate) fn close(&self) {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(|task| task.abort());
    }
}

impl Drop for Herald {
    fn drop(&mut self) {
        self.close();
    }
}

async fn send(database: Arc<Database>, outbox: Arc<Outbox>, name: String) {
    let channel = channel(&database);
    loop {
        outbox.filled.notified().await;
        let hints = std::mem::take(&mut *outbox.hints.lock().unwrap_or_else(PoisonError::into_inner));
        let payloads = payloads(&name, hints);
        let sql = "SELECT pg_notify($1, payload) FROM unnest($2) AS payload";
        let params: [crate::database::Param<'_>; 2] = [(&channel, Type::TEXT), (&payloads, Type::TEXT_ARRAY)];
        if let Err(error) = database.rows(sql, &params).await {
            tracing::debug!(%error, "a hint was not sent");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn listen(database: Arc<Database>, heard: broadcast::Sender<Hint>, name: String) {
    loop {
        if let Err(fault) = hear(&database, &heard, &name).await {
            let error = StoreError::from(fault);
            tracing::debug!(%error, "no hints are heard");
        }
        tokio::time::sleep(RECONNECT).await;
    }
}

/// Until the connection is lost.
async fn hear(database: &Database, heard: &broadcast::Sender<Hint>, name: &str) -> Result<(), Fault> {
    let (client, mut connection) = database.connect().await?;
    let listening = format!("LISTEN {}", channel(database));
    let start = async {
        let started = client.batch_execute(&listening).await;
        // What was said before is unknown.
        let _ = heard.send(Hint::All);
        started?;
        std::future::pending::<Result<(), Fault>>().await
    };
    let messages = async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notification) = message? {
                // Nobody may listen at the moment.
                parse(notification.payload(), name).into_iter().for_each(|hint| drop(heard.send(hint)));
            }
        }
        Ok(())
    };
    tokio::select! {
        ended = start => ended,
        ended = messages => ended,
    }
}

fn channel(database: &Database) -> String {
    format!("entourage_{}", database.schema())
}

/// Each begins with the sender's name; one that would be too long begins another.
fn payloads(name: &str, hints: HashSet<Hint>) -> Vec<String> {
    let mut payloads = vec![name.to_owned()];
    for hint in hints {
        let word = word(hint);
        if payloads.last().is_some_and(|last| last.len() + word.len() > PAYLOAD_MAX) {
            payloads.push(name.to_owned());
        }
        if let Some(last) = payloads.last_mut() {
            last.push_str(&word);
        }
    }
    if payloads.len() > PAYLOADS_MAX { vec![format!("{name}{}", word(Hint::All))] } else { payloads }
}

fn word(hint: Hint) -> String {
    match hint {
        Hint::Ready => " r".to_owned(),
        Hint::Queued(thread) => format!(" q{}", thread.uuid().simple()),
        Hint::Changed { root, thread } => format!(" c{}{}", root.uuid().simple(), thread.uuid().simple()),
        Hint::All => " a".to_owned(),
    }
}

/// What a payload of another process says. Words that nobody knows are of a newer version, and only hints.
fn parse(payload: &str, own: &str) -> Vec<Hint> {
    let mut words = payload.split(' ');
    if words.next() == Some(own) {
        return Vec::new();
    }
    words.filter_map(read).collect()
}

fn read(word: &str) -> Option<Hint> {
    let id = |text: &str| Uuid::try_parse(text).ok().map(ThreadId::from_uuid);
    match word.split_at_checked(1)? {
        ("r", "") => Some(Hint::Ready),
        ("a", "") => Some(Hint::All),
        ("q", thread) => id(thread).map(Hint::Queued),
        ("c", both) => {
            let (root, thread) = both.split_at_checked(32)?;
            Some(Hint::Changed { root: id(root)?, thread: id(thread)? })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(number: u128) -> ThreadId {
        ThreadId::from_uuid(Uuid::from_u128(number))
    }

    #[test]
    fn hints_come_back_as_they_were_told() {
        let hints =
            [Hint::Ready, Hint::All, Hint::Queued(thread(7)), Hint::Changed { root: thread(1), thread: thread(2) }];
        for hint in hints {
            let sent = payloads("me", HashSet::from([hint]));
            assert_eq!(parse(&sent[0], "you"), [hint]);
            assert_eq!(parse(&sent[0], "me"), [], "nobody hears itself");
        }
        assert_eq!(parse("them x qxyz c12 ", "you"), [], "what cannot be read is left out");
    }

    #[test]
    fn many_hints_go_in_several_payloads_and_too_many_are_everything() {
        let many = |count: u128| payloads("me", (0..count).map(|number| Hint::Queued(thread(number))).collect());
        let sent = many(1000);
        assert!(sent.len() > 1 && sent.iter().all(|payload| payload.len() <= PAYLOAD_MAX));
        assert_eq!(sent.iter().map(|payload| parse(payload, "you").len()).sum::<usize>(), 1000);
        assert_eq!(many(10_000), ["me a"]);
    }
}
