//! A function of a definition, called: a tool's `execute`, a hook.
//!
//! The script runs on a thread of its own and never waits for anything but its mail; this future does what it wishes
//! for: it asks the door, lets timers run, and sends the answers. Nothing is shared but the two channels, a flag, and the
//! door's ear for what `console` says.

mod desk;
mod script;

use crate::fault::{Fault, FaultKind};
use crate::limits::{CALL_STACK_BYTES, GRACE, Limits};
use crate::thrown;
use crate::worker::Worker;
use async_trait::async_trait;
use entourage_model::Program;
use futures::future::{AbortHandle, Abortable};
use futures::stream::{FuturesUnordered, StreamExt};
use script::Script;
use serde_json::Value;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc as mail;

/// What a running function may ask for.
#[async_trait]
pub trait Door: Send + Sync + 'static {
    /// What the function knows without asking. Read once, before it begins.
    fn facts(&self) -> Value;

    /// Does what the function asks for. Several may be under way at once, and one is dropped half done when the call
    /// ends by its limit or is dropped itself. An `Err` is thrown in the script, as an `Error` with that message.
    async fn ask(&self, method: &str, arguments: Value) -> Result<Value, String>;

    /// Hears what the function says by `console`, on the script's thread; `level` is `debug`, `info`, `warn` or `error`.
    /// It may hold what the function has read, secrets included.
    fn hear(&self, _level: &str, _text: String) {}
}

/// What a function is given behind its state.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// The arguments of a tool, which its own schema has to take first. A definition whose `args` is null gets none.
    Arguments {
        value: Value,
        /// What the JSON Schema that models are shown has against them. It counts only where the definition has no
        /// schema that parses: one that does may take more than JSON Schema can say, and decides alone.
        misfit: Option<String>,
    },
    /// These values, as they are.
    Payload(Vec<Value>),
}

impl From<Value> for Given {
    fn from(value: Value) -> Self {
        Self::Arguments { value, misfit: None }
    }
}

/// Calls the function `property` of a program's default export with its state and what it is given. Gives its result
/// as JSON would hold it: `Null` for `undefined`, without functions.
///
/// What the function asked for without waiting is waited for. A promise that is rejected without anybody listening
/// fails the call. Dropping the future ends the script soon, whatever it is doing.
pub async fn call(
    program: &Program,
    property: &str,
    given: impl Into<Given>,
    door: Arc<dyn Door>,
    limits: Limits,
) -> Result<Value, Fault> {
    call_or_nothing(program, property, given.into(), door, limits).await.map(Option::unwrap_or_default)
}

/// The same, with nothing for `undefined`.
pub(crate) async fn call_or_nothing(
    program: &Program,
    property: &str,
    given: Given,
    door: Arc<dyn Door>,
    limits: Limits,
) -> Result<Option<Value>, Fault> {
    let (wish, wishes) = mail::unbounded_channel();
    let (reply, replies) = mpsc::channel();
    let script = Script {
        program: program.clone(),
        property: property.to_owned(),
        given,
        facts: door.facts(),
        ear: Arc::downgrade(&door),
        limits,
        wish,
        replies,
    };
    let _worker = Worker::start(&program.entry, CALL_STACK_BYTES, move |bond| script.work(bond))?;
    let mut host =
        Host { door, reply, asks: FuturesUnordered::new(), timers: FuturesUnordered::new(), rings: HashMap::new() };
    host.serve(wishes, &program.entry, limits).await
}

/// What a script wishes for. Its numbers are its own.
enum Wish {
    Ask { id: u32, method: String, arguments: Value },
    Timer { id: u32, after: Duration },
    Forget { id: u32 },
    Done(Result<Option<Value>, Fault>),
}

/// What it is told.
enum Reply {
    Answer { id: u32, result: Result<Value, String> },
    Ring { id: u32 },
}

type Pending<T> = FuturesUnordered<Pin<Box<dyn Future<Output = T> + Send>>>;

/// What is under way for one script. Dropping it drops all of that.
struct Host {
    door: Arc<dyn Door>,
    reply: mpsc::Sender<Reply>,
    asks: Pending<Reply>,
    timers: Pending<Option<Reply>>,
    rings: HashMap<u32, AbortHandle>,
}

impl Host {
    async fn serve(
        &mut self,
        mut wishes: mail::UnboundedReceiver<Wish>,
        entry: &str,
        limits: Limits,
    ) -> Result<Option<Value>, Fault> {
        let deadline = Instant::now() + limits.time + GRACE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let reply = tokio::select! {
                wish = wishes.recv() => match wish {
                    Some(Wish::Done(result)) => return result,
                    Some(wish) => {
                        self.begin(wish);
                        continue;
                    }
                    None => return Err(Fault::new(FaultKind::Threw, entry, "the call broke down: this is a bug")),
                },
                Some(reply) = self.asks.next() => reply,
                Some(reply) = self.timers.next() => match reply {
                    Some(reply) => reply,
                    None => continue,
                },
                // The script ends itself in time. One that cannot, inside a built-in function, is left behind.
                () = tokio::time::sleep(left), if !left.is_zero() => continue,
                () = std::future::ready(()), if left.is_zero() => {
                    return Err(thrown::too_long(entry, limits));
                }
            };
            // A script that has ended hears nothing; its result is on the way.
            let _ = self.reply.send(reply);
        }
    }

    fn begin(&mut self, wish: Wish) {
        match wish {
            Wish::Ask { id, method, arguments } => {
                let door = Arc::clone(&self.door);
                self.asks
                    .push(Box::pin(async move { Reply::Answer { id, result: door.ask(&method, arguments).await } }));
            }
            Wish::Timer { id, after } => {
                let (handle, registration) = AbortHandle::new_pair();
                self.rings.insert(id, handle);
                let timer = Abortable::new(tokio::time::sleep(after), registration);
                self.timers.push(Box::pin(async move { timer.await.ok().map(|()| Reply::Ring { id }) }));
            }
            Wish::Forget { id } => {
                if let Some(handle) = self.rings.remove(&id) {
                    handle.abort();
                }
            }
            Wish::Done(_) => {}
        }
    }
}
