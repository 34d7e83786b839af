//! The script's side of a call: its thread, its engine, and its mail.

use super::{Reply, Wish};
use crate::fault::{Fault, FaultKind};
use crate::limits::{ASKED_MAX, Limits, TIMERS_MAX};
use crate::modules;
use crate::sandbox::{Sandbox, Scene, Watch};
use crate::thrown;
use crate::worker::Bond;
use entourage_model::Program;
use rquickjs::function::This;
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Exception, Function, Module, Object, Promise, Result as JsResult, Value as JsValue};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;
use tokio::sync::mpsc as mail;

/// All that a script needs to run.
pub(super) struct Script {
    pub(super) program: Program,
    pub(super) property: String,
    pub(super) arguments: Value,
    pub(super) facts: Value,
    pub(super) limits: Limits,
    pub(super) wish: mail::UnboundedSender<Wish>,
    pub(super) replies: mpsc::Receiver<Reply>,
}

impl Script {
    pub(super) fn work(self, bond: &Arc<Bond>) {
        let wish = self.wish.clone();
        // Whoever called may be gone; then nobody wants to know.
        let _ = wish.send(Wish::Done(self.run(bond)));
    }

    fn run(self, bond: &Arc<Bond>) -> Result<Value, Fault> {
        let Self { program, property, arguments, facts, limits, wish, replies } = self;
        let watch = Watch::new(limits, bond);
        let entry = program.entry.clone();
        let sandbox = Sandbox::new(&entry, limits, watch, Box::new(program))?;
        let scene = &sandbox.scene;
        sandbox.run(|ctx| {
            let fault = |error: rquickjs::Error| scene.fault(ctx, &error);
            let waiting = Rc::new(RefCell::new(Waiting::default()));
            let desk = open(ctx, &Outbox { wish, waiting: Rc::clone(&waiting), limits }).map_err(fault)?;
            scene.prepare(ctx)?;
            let mut actor = Actor { scene, ctx, waiting, replies, desk };
            let state = actor.state(&facts)?;
            let result = actor.perform(&property, state, &arguments)?;
            actor.finish()?;
            Ok(result)
        })
    }
}

/// What the script waits for, by number.
#[derive(Default)]
struct Waiting {
    last: u32,
    /// With the size of what it asked.
    asked: HashMap<u32, usize>,
    timers: HashSet<u32>,
}

impl Waiting {
    fn number(&mut self) -> u32 {
        self.last = self.last.wrapping_add(1);
        self.last
    }
}

#[derive(Clone)]
struct Outbox {
    wish: mail::UnboundedSender<Wish>,
    waiting: Rc<RefCell<Waiting>>,
    limits: Limits,
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

/// The functions by which the outside reaches into the script, and the one by which the script asks.
struct Desk<'js> {
    ask: Function<'js>,
    answer: Function<'js>,
    ring: Function<'js>,
}

/// Promises and callbacks stay in JavaScript, where they are collected with everything else; numbers go out.
const DESK: &str = "((ask, timer, forget) => {
    const asked = new Map(), timers = new Map(), { stringify } = JSON;
    globalThis.setTimeout = function setTimeout(callback, milliseconds = 0, ...values) {
        if (typeof callback !== 'function') throw new TypeError('setTimeout needs a function');
        const id = timer(Number(milliseconds) || 0);
        timers.set(id, () => callback(...values));
        return id;
    };
    globalThis.clearTimeout = function clearTimeout(id) {
        if (timers.delete(id)) forget(id);
    };
    return {
        ask: (method, values) => new Promise((resolve, reject) => {
            asked.set(ask(String(method), stringify(values) ?? 'null'), { resolve, reject });
        }),
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
    };
})";

fn open<'js>(ctx: &Ctx<'js>, outbox: &Outbox) -> JsResult<Desk<'js>> {
    let make: Function<'js> = ctx.eval(DESK)?;
    let (asking, timing, forgetting) = (outbox.clone(), outbox.clone(), outbox.clone());
    let ask = move |ctx: Ctx<'js>, method: String, arguments: String| asking.ask(&ctx, method, &arguments);
    let timer = move |ctx: Ctx<'js>, milliseconds: f64| timing.timer(&ctx, milliseconds);
    let forget = move |id: u32| forgetting.forget(id);
    let desk: Object<'js> = make.call((
        Function::new(ctx.clone(), ask)?,
        Function::new(ctx.clone(), timer)?,
        Function::new(ctx.clone(), forget)?,
    ))?;
    Ok(Desk { ask: desk.get("ask")?, answer: desk.get("answer")?, ring: desk.get("ring")? })
}

/// The script at work.
struct Actor<'a, 'js> {
    scene: &'a Scene,
    ctx: &'a Ctx<'js>,
    waiting: Rc<RefCell<Waiting>>,
    replies: mpsc::Receiver<Reply>,
    desk: Desk<'js>,
}

/// What `entourage:state` gives.
struct State<'js> {
    state: JsValue<'js>,
    prepare: Function<'js>,
    settled: Function<'js>,
}

impl<'js> Actor<'_, 'js> {
    fn fault(&self, error: &rquickjs::Error) -> Fault {
        self.scene.fault(self.ctx, error)
    }

    fn state(&mut self, facts: &Value) -> Result<State<'js>, Fault> {
        const NAME: &str = "entourage:state";
        let source = modules::source(NAME).expect("the state's module comes with the program");
        let module = Module::declare(self.ctx.clone(), NAME, source).and_then(Module::eval);
        let (module, promise) = module.map_err(|error| self.fault(&error))?;
        self.settle(&promise)?;
        let make = || -> JsResult<State<'js>> {
            let make: Function<'js> = module.get("makeState")?;
            let facts = self.ctx.json_parse(facts.to_string())?;
            let state = make.call((facts, self.desk.ask.clone()))?;
            Ok(State { state, prepare: module.get("prepareArguments")?, settled: module.get("settled")? })
        };
        make().map_err(|error| self.fault(&error))
    }

    fn perform(&mut self, property: &str, state: State<'js>, arguments: &Value) -> Result<Value, Fault> {
        let export = self.scene.default_export(self.ctx)?;
        let refuse = |what: &str| Fault::new(FaultKind::Value, &self.scene.entry, what);
        let definition = export.into_object().ok_or_else(|| refuse("the default export is not an object"))?;
        let function: JsValue<'js> = definition.get(property).map_err(|error| self.fault(&error))?;
        let Some(function) = function.into_function() else {
            return Err(refuse(&format!("the default export has no function `{property}`")));
        };
        let args: JsValue<'js> = definition.get("args").map_err(|error| self.fault(&error))?;
        let this = This(definition.clone());
        let result: JsResult<JsValue<'js>> = if args.is_null() {
            function.call((this, state.state.clone()))
        } else {
            let arguments = self.ctx.json_parse(arguments.to_string());
            let prepared = arguments.and_then(|arguments| state.prepare.call((definition, arguments)));
            let prepared = self.awaited(prepared)?;
            function.call((this, state.state.clone(), prepared))
        };
        let result = self.awaited(result)?;
        let result = self.json(result)?;
        let settled = state.settled.call((state.state,));
        self.awaited(settled)?;
        Ok(result)
    }

    /// Waits for what else was asked for and not waited for. It has been asked, so it is done, whatever comes of it.
    fn finish(&mut self) -> Result<(), Fault> {
        self.run_jobs()?;
        while !self.waiting.borrow().asked.is_empty() {
            self.hear()?;
            self.run_jobs()?;
        }
        Ok(())
    }

    fn awaited(&mut self, result: JsResult<JsValue<'js>>) -> Result<JsValue<'js>, Fault> {
        match result.map_err(|error| self.fault(&error))?.try_into_promise() {
            Ok(promise) => self.settle(&promise),
            Err(value) => Ok(value),
        }
    }

    fn settle(&mut self, promise: &Promise<'js>) -> Result<JsValue<'js>, Fault> {
        loop {
            self.run_jobs()?;
            if promise.state() != PromiseState::Pending {
                return self.scene.settle(self.ctx, promise);
            }
            let idle = {
                let waiting = self.waiting.borrow();
                waiting.asked.is_empty() && waiting.timers.is_empty()
            };
            if idle {
                return Err(thrown::never_settled(self.scene));
            }
            self.hear()?;
        }
    }

    fn run_jobs(&self) -> Result<(), Fault> {
        while self.ctx.execute_pending_job() {
            if self.scene.watch.is_over() {
                return Err(thrown::out_of_time(self.scene));
            }
        }
        Ok(())
    }

    /// Waits for the next letter and hands it over.
    fn hear(&mut self) -> Result<(), Fault> {
        // Time is up, or whoever called has gone and taken the other end along.
        let reply = self.replies.recv_timeout(self.scene.watch.left());
        let reply = reply.map_err(|_| thrown::out_of_time(self.scene))?;
        self.deliver(reply).map_err(|error| self.fault(&error))
    }

    fn deliver(&self, reply: Reply) -> JsResult<()> {
        match reply {
            Reply::Answer { id, result } => {
                self.waiting.borrow_mut().asked.remove(&id);
                match result {
                    Ok(value) => self.desk.answer.call((id, false, self.ctx.json_parse(value.to_string())?)),
                    Err(message) => self.desk.answer.call((id, true, message)),
                }
            }
            Reply::Ring { id } => {
                self.waiting.borrow_mut().timers.remove(&id);
                self.desk.ring.call((id,))
            }
        }
    }

    fn json(&self, value: JsValue<'js>) -> Result<Value, Fault> {
        let refuse = |why: &str| {
            Fault::new(FaultKind::Value, &self.scene.entry, format!("gave a result that JSON cannot hold: {why}"))
        };
        let text = self.ctx.json_stringify(value).map_err(|error| {
            let fault = self.fault(&error);
            if fault.kind == FaultKind::Threw { refuse(&fault.what) } else { fault }
        })?;
        let Some(text) = text else { return Ok(Value::Null) };
        let text = text.to_string().map_err(|error| self.fault(&error))?;
        serde_json::from_str(&text).map_err(|error| refuse(&error.to_string()))
    }
}
