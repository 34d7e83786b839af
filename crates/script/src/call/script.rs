//! The script's side of a call: its thread, its engine, and what it makes of its mail.

use super::desk::{self, Desk, Mail, Outbox, Waiting};
use super::{Door, Given, Reply, Wish};
use crate::fault::{Fault, FaultKind};
use crate::limits::Limits;
use crate::modules;
use crate::sandbox::{Sandbox, Scene, Watch};
use crate::thrown;
use crate::worker::Bond;
use entourage_model::Program;
use rquickjs::function::{Args, This};
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Function, Module, Object, Promise, Result as JsResult, Value as JsValue};
use serde_json::Value;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::mpsc;
use std::sync::{Arc, Weak};
use tokio::sync::mpsc as mail;

/// All that a script needs to run.
pub(super) struct Script {
    pub(super) program: Program,
    pub(super) property: String,
    pub(super) given: Given,
    pub(super) facts: Value,
    /// Who hears what it says, while its call lasts: a script that is left behind holds on to nobody.
    pub(super) ear: Weak<dyn Door>,
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

    fn run(self, bond: &Arc<Bond>) -> Result<Option<Value>, Fault> {
        let Self { program, property, given, facts, ear, limits, wish, replies } = self;
        let watch = Watch::new(limits, bond);
        let entry = program.entry.clone();
        let sandbox = Sandbox::new(&entry, limits, watch.clone(), Box::new(program))?;
        sandbox.on_rejection(|ctx, promise, reason, heeded| desk::note_rejection(&ctx, promise, reason, heeded));
        let scene = &sandbox.scene;
        sandbox.run(|ctx| {
            let fault = |error: rquickjs::Error| scene.fault(ctx, &error);
            let (waiting, mail) = (Rc::new(RefCell::new(Waiting::default())), Rc::new(Mail::new(replies, watch)));
            let outbox = Outbox { wish, waiting: Rc::clone(&waiting), mail: Rc::clone(&mail), limits };
            let desk = desk::open(ctx, &outbox).map_err(fault)?;
            scene.prepare(ctx, move |level, text| {
                if let Some(door) = ear.upgrade() {
                    door.hear(&level, text);
                }
            })?;
            let mut actor = Actor { scene, ctx, waiting, mail, desk };
            let state = actor.state(&facts)?;
            let result = actor.perform(&property, &state, given)?;
            actor.finish()?;
            Ok(result)
        })
    }
}

/// The script at work.
struct Actor<'a, 'js> {
    scene: &'a Scene,
    ctx: &'a Ctx<'js>,
    waiting: Rc<RefCell<Waiting>>,
    mail: Rc<Mail>,
    desk: Desk<'js>,
}

/// What `entourage:state` gives.
struct State<'js> {
    state: JsValue<'js>,
    prepare: Function<'js>,
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
            let state = make.call((facts, self.desk.ask.clone(), self.desk.ask_now.clone()))?;
            Ok(State { state, prepare: module.get("prepareArguments")? })
        };
        make().map_err(|error| self.fault(&error))
    }

    fn perform(&mut self, property: &str, state: &State<'js>, given: Given) -> Result<Option<Value>, Fault> {
        let export = self.scene.default_export(self.ctx)?;
        let refuse = |what: &str| Fault::new(FaultKind::Value, &self.scene.entry, what);
        let definition = export.into_object().ok_or_else(|| refuse("the default export is not an object"))?;
        let function: JsValue<'js> = definition.get(property).map_err(|error| self.fault(&error))?;
        let Some(function) = function.into_function() else {
            return Err(refuse(&format!("the default export has no function `{property}`")));
        };
        let values = self.values(&definition, state, given)?;
        let result = self.call(&function, definition, state, values);
        let result = self.awaited(result)?;
        self.json(result)
    }

    /// What the function is given behind its state.
    fn values(
        &mut self,
        definition: &Object<'js>,
        state: &State<'js>,
        given: Given,
    ) -> Result<Vec<JsValue<'js>>, Fault> {
        let (value, misfit) = match given {
            Given::Payload(values) => {
                let values = values.into_iter().map(|value| self.ctx.json_parse(value.to_string()));
                return values.collect::<JsResult<_>>().map_err(|error| self.fault(&error));
            }
            Given::Arguments { value, misfit } => (value, misfit),
        };
        let args: JsValue<'js> = definition.get("args").map_err(|error| self.fault(&error))?;
        if args.is_null() {
            let refuse = |what| Fault::new(FaultKind::Arguments, &self.scene.entry, what);
            return misfit.map_or(Ok(Vec::new()), |what| Err(refuse(what)));
        }
        let value = self.ctx.json_parse(value.to_string());
        let prepared = value.and_then(|value| state.prepare.call((definition.clone(), value, misfit)));
        let prepared = self.awaited(prepared).map_err(|fault| match fault.kind {
            // What a function of the schema throws has a place, and is a fault of that function.
            FaultKind::Threw if fault.line.is_none() => Fault { kind: FaultKind::Arguments, ..fault },
            _ => fault,
        })?;
        Ok(vec![prepared])
    }

    fn call(
        &self,
        function: &Function<'js>,
        definition: Object<'js>,
        state: &State<'js>,
        values: Vec<JsValue<'js>>,
    ) -> JsResult<JsValue<'js>> {
        let mut args = Args::new(self.ctx.clone(), values.len() + 1);
        args.this(This(definition).0)?;
        args.push_arg(state.state.clone())?;
        args.push_args(values)?;
        function.call_arg(args)
    }

    /// Waits for what else was asked for and not waited for: it has been asked, so it is done. If it could not be done
    /// and nobody has taken note, the call has failed, as a program ends whose promises fail unheeded.
    fn finish(&mut self) -> Result<(), Fault> {
        self.run_jobs()?;
        while !self.waiting.borrow().asked.is_empty() {
            self.hear()?;
            self.run_jobs()?;
        }
        self.desk.unheeded.call(()).map_err(|error| self.fault(&error))
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
        let reply = self.mail.next().ok_or_else(|| thrown::out_of_time(self.scene))?;
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

    /// Nothing for what JSON leaves out.
    fn json(&self, value: JsValue<'js>) -> Result<Option<Value>, Fault> {
        let refuse = |why: &str| {
            Fault::new(FaultKind::Value, &self.scene.entry, format!("gave a result that JSON cannot hold: {why}"))
        };
        let text = self.ctx.json_stringify(value).map_err(|error| {
            let fault = self.fault(&error);
            if fault.kind == FaultKind::Threw { refuse(&fault.what) } else { fault }
        })?;
        let Some(text) = text else { return Ok(None) };
        let text = text.to_string().map_err(|error| self.fault(&error))?;
        serde_json::from_str(&text).map(Some).map_err(|error| refuse(&error.to_string()))
    }
}
