//! What passes between a script and the outside: its wishes, and the mail that answers them.

use super::{Reply, Wish};
use crate::limits::{ASKED_MAX, Limits, TIMERS_MAX};
use crate::sandbox::Watch;
use rquickjs::{Ctx, Exception, Function, Object, Result as JsResult, Symbol, Value as JsValue};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::mpsc;
use std::time::Duration;
use tokio::sync::mpsc as mail;

/// What the script waits for, by number.
#[derive(Default)]
pub(super) struct Waiting {
    last: u32,
    /// With the size of what it asked.
    pub(super) asked: HashMap<u32, usize>,
    pub(super) timers: HashSet<u32>,
}

impl Waiting {
    fn number(&mut self) -> u32 {
        self.last = self.last.wrapping_add(1);
        self.last
    }
}

/// The letters that reach a script. While it waits for one of them on the spot, the others are put aside.
pub(super) struct Mail {
    replies: mpsc::Receiver<Reply>,
    aside: RefCell<VecDeque<Reply>>,
    watch: Watch,
}

impl Mail {
    pub(super) fn new(replies: mpsc::Receiver<Reply>, watch: Watch) -> Self {
        Self { replies, aside: RefCell::default(), watch }
    }

    /// The next letter. Nothing: time is up, or whoever called has gone and taken the other end along.
    pub(super) fn next(&self) -> Option<Reply> {
        let aside = self.aside.borrow_mut().pop_front();
        aside.or_else(|| self.replies.recv_timeout(self.watch.left()).ok())
    }

    /// The answer with that number, which nobody else waits for.
    fn answer(&self, wanted: u32) -> Option<Result<Value, String>> {
        loop {
            match self.replies.recv_timeout(self.watch.left()).ok()? {
                Reply::Answer { id, result } if id == wanted => return Some(result),
                other @ (Reply::Answer { .. } | Reply::Ring { .. }) => self.aside.borrow_mut().push_back(other),
            }
        }
    }
}

#[derive(Clone)]
pub(super) struct Outbox {
    pub(super) wish: mail::UnboundedSender<Wish>,
    pub(super) waiting: Rc<RefCell<Waiting>>,
    pub(super) mail: Rc<Mail>,
    pub(super) limits: Limits,
}

impl Outbox {
    fn ask(&self, ctx: &Ctx<'_>, method: String, arguments: &str) -> JsResult<u32> {
        let mut waiting = self.waiting.borrow_mut();
        // All of this lies outside of the script's own memory, so its limit does not count it.
        let bytes = arguments.len() + method.len();
        let bytes_all = waiting.asked.values().sum::<usize>() + bytes;
        if waiting.asked.len() >= ASKED_MAX || bytes_all > self.limits.bytes {
            return Err(Exception::throw_message(ctx, "too much is asked for at once: wait for some of it first"));
        }
        let arguments: Value = serde_json::from_str(arguments)
            .map_err(|error| Exception::throw_message(ctx, &format!("cannot ask with these arguments: {error}")))?;
        let id = waiting.number();
        waiting.asked.insert(id, bytes);
        // If nobody listens any more, nobody waits for this script either.
        let _ = self.wish.send(Wish::Ask { id, method, arguments });
        Ok(id)
    }

    /// Asks and waits. The script's thread has nothing else to do meanwhile.
    fn ask_now<'js>(&self, ctx: &Ctx<'js>, method: String, arguments: &str) -> JsResult<JsValue<'js>> {
        let id = self.ask(ctx, method, arguments)?;
        let answer = self.mail.answer(id);
        self.waiting.borrow_mut().asked.remove(&id);
        match answer {
            Some(Ok(value)) => ctx.json_parse(value.to_string()),
            Some(Err(message)) => Err(Exception::throw_message(ctx, &message)),
            None => Err(Exception::throw_message(ctx, "there is no time left")),
        }
    }

    fn timer(&self, ctx: &Ctx<'_>, milliseconds: f64) -> JsResult<u32> {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.timers.len() >= TIMERS_MAX {
            return Err(Exception::throw_message(ctx, "too many timers run at once"));
        }
        let id = waiting.number();
        waiting.timers.insert(id);
        // Not a number is no time at all; longer than the whole call is as good as for ever.
        let after = Duration::try_from_secs_f64(milliseconds.max(0.0) / 1000.0).unwrap_or(Duration::MAX);
        let _ = self.wish.send(Wish::Timer { id, after: after.min(self.limits.time * 2) });
        Ok(id)
    }

    fn forget(&self, id: u32) {
        if self.waiting.borrow_mut().timers.remove(&id) {
            let _ = self.wish.send(Wish::Forget { id });
        }
    }
}

/// The functions by which the outside reaches into the script, and those by which the script asks.
pub(super) struct Desk<'js> {
    pub(super) ask: Function<'js>,
    pub(super) ask_now: Function<'js>,
    pub(super) answer: Function<'js>,
    pub(super) ring: Function<'js>,
    /// Throws what a promise was rejected with whose rejection nobody took note of, if there is one.
    pub(super) unheeded: Function<'js>,
}

/// Promises and callbacks stay in JavaScript, where they are collected with everything else; numbers go out.
const DESK: &str = "((ask, askNow, timer, forget) => {
    const asked = new Map(), timers = new Map(), rejected = new Map(), { stringify } = JSON;
    globalThis.setTimeout = function setTimeout(callback, milliseconds = 0, ...values) {
        if (typeof callback !== 'function') throw new TypeError('setTimeout needs a function');
        const id = timer(Number(milliseconds) || 0);
        timers.set(id, () => callback(...values));
        return id;
    };
    globalThis.clearTimeout = function clearTimeout(id) {
        if (timers.delete(id)) forget(id);
    };
    Object.defineProperty(globalThis, Symbol.for('entourage.rejected'), {
        value(promise, reason, heeded) {
            if (heeded) rejected.delete(promise); else rejected.set(promise, reason);
        },
    });
    return {
        ask: (method, values) => new Promise((resolve, reject) => {
            asked.set(ask(String(method), stringify(values) ?? 'null'), { resolve, reject });
        }),
        askNow: (method, values) => askNow(String(method), stringify(values) ?? 'null'),
        answer(id, failed, value) {
            const { resolve, reject } = asked.get(id);
            asked.delete(id);
            if (failed) reject(new Error(value)); else resolve(value);
        },
        ring(id) {
            const callback = timers.get(id);
            timers.delete(id);
            callback?.();
        },
        unheeded() {
            for (const reason of rejected.values()) throw reason;
        },
    };
})";

pub(super) fn open<'js>(ctx: &Ctx<'js>, outbox: &Outbox) -> JsResult<Desk<'js>> {
    let make: Function<'js> = ctx.eval(DESK)?;
    let (asking, asking_now) = (outbox.clone(), outbox.clone());
    let (timing, forgetting) = (outbox.clone(), outbox.clone());
    let ask = move |ctx: Ctx<'js>, method: String, arguments: String| asking.ask(&ctx, method, &arguments);
    let ask_now = move |ctx: Ctx<'js>, method: String, arguments: String| asking_now.ask_now(&ctx, method, &arguments);
    let timer = move |ctx: Ctx<'js>, milliseconds: f64| timing.timer(&ctx, milliseconds);
    let forget = move |id: u32| forgetting.forget(id);
    let desk: Object<'js> = make.call((
        Function::new(ctx.clone(), ask)?,
        Function::new(ctx.clone(), ask_now)?,
        Function::new(ctx.clone(), timer)?,
        Function::new(ctx.clone(), forget)?,
    ))?;
    Ok(Desk {
        ask: desk.get("ask")?,
        ask_now: desk.get("askNow")?,
        answer: desk.get("answer")?,
        ring: desk.get("ring")?,
        unheeded: desk.get("unheeded")?,
    })
}

/// Tells the script's own list of a promise that was rejected without anybody listening, or that somebody listens to
/// after all.
pub(super) fn note_rejection<'js>(ctx: &Ctx<'js>, promise: JsValue<'js>, reason: JsValue<'js>, heeded: bool) {
    let note = || -> JsResult<()> {
        let symbol = Symbol::new_global(ctx.clone(), "entourage.rejected")?;
        let note: Function<'js> = ctx.globals().get(symbol.as_atom())?;
        note.call((promise, reason, heeded))
    };
    if note().is_err() {
        // There is no memory left for it, which the script itself is about to find out.
        ctx.catch();
    }
}
