//! The JavaScript engine with its limits, and the module loader that it asks.

use crate::fault::{Fault, FaultKind};
use crate::limits::{CAUGHT_MAX, Limits};
use crate::modules;
use crate::supply::Supply;
use crate::thrown;
use crate::worker::Bond;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Exception, Function, Module, Promise, Runtime, Value};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What JavaScript may use of the thread's stack. The thread itself has more: see `STACK_BYTES`.
const SCRIPT_STACK_BYTES: usize = 1 << 20;

/// One engine for one evaluation. It never leaves its thread.
pub(crate) struct Sandbox {
    context: Context,
    pub(crate) scene: Scene,
}

/// What must be at hand to say why a script failed.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) entry: String,
    pub(crate) limits: Limits,
    pub(crate) watch: Watch,
    pub(crate) library: Rc<RefCell<Library>>,
}

/// When a script has to end.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    deadline: Instant,
    bond: Arc<Bond>,
}

/// The modules, and the faults that the script met while it asked for some: it sees them as errors, and the one that
/// it does not catch is reported as it was.
pub(crate) struct Library {
    pub(crate) supply: Box<dyn Supply>,
    pub(crate) faults: Vec<Fault>,
}

impl Watch {
    pub(crate) fn new(limits: Limits, bond: &Arc<Bond>) -> Self {
        Self { deadline: Instant::now() + limits.time, bond: Arc::clone(bond) }
    }

    pub(crate) fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    pub(crate) fn is_over(&self) -> bool {
        self.bond.is_abandoned() || Instant::now() >= self.deadline
    }
}

impl Sandbox {
    pub(crate) fn new(entry: &str, limits: Limits, watch: Watch, supply: Box<dyn Supply>) -> Result<Self, Fault> {
        let library = Rc::new(RefCell::new(Library { supply, faults: Vec::new() }));
        let scene = Scene { entry: entry.to_owned(), limits, watch, library };
        let start = || -> rquickjs::Result<Context> {
            let runtime = Runtime::new()?;
            runtime.set_memory_limit(limits.bytes);
            runtime.set_max_stack_size(SCRIPT_STACK_BYTES);
            let watch = scene.watch.clone();
            runtime.set_interrupt_handler(Some(Box::new(move || watch.is_over())));
            let host = Host { library: Rc::clone(&scene.library) };
            runtime.set_loader(host.clone(), host);
            Context::full(&runtime)
        };
        match start() {
            Ok(context) => Ok(Self { context, scene }),
            Err(error) => Err(Fault::new(FaultKind::Memory, entry, format!("the engine does not start: {error}"))),
        }
    }

    /// Tells of every promise that is rejected without anybody listening, and of those that somebody listens to later.
    pub(crate) fn on_rejection(&self, tell: impl for<'js> Fn(Ctx<'js>, Value<'js>, Value<'js>, bool) + Send + 'static) {
        self.context.runtime().set_host_promise_rejection_tracker(Some(Box::new(tell)));
    }

    /// Runs something in the engine.
    pub(crate) fn run<T>(&self, run: impl FnOnce(&Ctx<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
        self.context.with(|ctx| run(&ctx))
    }
}

impl Scene {
    /// What an error of the engine means to the author.
    pub(crate) fn fault(&self, ctx: &Ctx<'_>, error: &rquickjs::Error) -> Fault {
        thrown::fault(self, ctx, error)
    }

    /// Makes the globals that scripts rely on. Where timers exist, they are there before. `hear` is given what `console`
    /// says, with its level.
    pub(crate) fn prepare(&self, ctx: &Ctx<'_>, hear: impl Fn(String, String) + 'static) -> Result<(), Fault> {
        prepare(ctx, hear).map_err(|error| self.fault(ctx, &error))
    }

    /// Evaluates the entry and gives its default export.
    pub(crate) fn default_export<'js>(&self, ctx: &Ctx<'js>) -> Result<Value<'js>, Fault> {
        let javascript = self.library.borrow().supply.javascript(&self.entry);
        let Some(javascript) = javascript else {
            return Err(Fault::new(FaultKind::Read, &self.entry, "the program lacks the module that it begins with"));
        };
        let fault = |error: rquickjs::Error| self.fault(ctx, &error);
        let module = Module::declare(ctx.clone(), self.entry.as_str(), javascript.as_bytes()).map_err(fault)?;
        let (module, promise) = module.eval().map_err(fault)?;
        self.settle(ctx, &promise)?;
        let exports = module.namespace().map_err(fault)?;
        if !exports.contains_key("default").map_err(fault)? {
            return Err(Fault::new(FaultKind::Value, &self.entry, "there is no default export"));
        }
        let value: Value<'js> = exports.get("default").map_err(fault)?;
        match value.try_into_promise() {
            Ok(promise) => self.settle(ctx, &promise),
            Err(value) => Ok(value),
        }
    }

    /// Runs jobs until a promise is settled.
    pub(crate) fn settle<'js>(&self, ctx: &Ctx<'js>, promise: &Promise<'js>) -> Result<Value<'js>, Fault> {
        while promise.state() == PromiseState::Pending {
            if self.watch.is_over() {
                return Err(thrown::stopped(self, ctx));
            }
            if !ctx.execute_pending_job() {
                return Err(thrown::never_settled(self));
            }
        }
        promise.result().unwrap_or(Err(rquickjs::Error::WouldBlock)).map_err(|error| self.fault(ctx, &error))
    }
}

/// Gives the engine the functions that `entourage:globals` builds upon, runs it, and takes away what makes code of text.
fn prepare<'js>(ctx: &Ctx<'js>, hear: impl Fn(String, String) + 'static) -> rquickjs::Result<()> {
    let globals = ctx.globals();
    let load = |ctx: Ctx<'js>, name: String| load(&ctx, &name);
    let random = |ctx: Ctx<'js>, count: usize| random(&ctx, count);
    globals.set("__entourage_load", Function::new(ctx.clone(), load)?)?;
    globals.set("__entourage_random", Function::new(ctx.clone(), random)?)?;
    globals.set("__entourage_log", Function::new(ctx.clone(), hear)?)?;
    if let Some(source) = modules::source("entourage:globals") {
        ctx.eval::<(), _>(source)?;
    }
    ctx.eval::<(), _>(NO_CODE_FROM_TEXT)
}

/// There is nothing that such code could reach, but nothing needs it either. `Function` stays for `instanceof`.
const NO_CODE_FROM_TEXT: &str = "
for (const kind of [function () {}, async function () {}, function* () {}, async function* () {}])
    delete Object.getPrototypeOf(kind).constructor;
globalThis.Function = (prototype => {
    function Function() { throw new EvalError('code cannot be made of text here'); }
    Function.prototype = prototype;
    return Function;
})(Function.prototype);
delete globalThis.eval;
";

fn load<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Value<'js>> {
    match modules::source(name) {
        Some(source) => ctx.eval(source),
        None => Err(Exception::throw_message(ctx, &format!("there is no script `{name}`"))),
    }
}

fn random(ctx: &Ctx<'_>, count: usize) -> rquickjs::Result<Vec<u8>> {
    let mut bytes = vec![0; count.min(65_536)];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(Exception::throw_message(ctx, &format!("no random bytes: {error}"))),
    }
}

#[derive(Clone)]
struct Host {
    library: Rc<RefCell<Library>>,
}

impl Host {
    fn refuse(&self, ctx: &Ctx<'_>, fault: Fault) -> rquickjs::Error {
        let error = Exception::throw_message(ctx, &fault.what);
        let faults = &mut self.library.borrow_mut().faults;
        if faults.len() == CAUGHT_MAX {
            // Whoever caught so many does not wait for the first.
            faults.remove(0);
        }
        faults.push(fault);
        error
    }
}

impl Resolver for Host {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        let resolved = self.library.borrow_mut().supply.resolve(base, name);
        resolved.map_err(|fault| {
            let is_unplaced = fault.line.is_none() && fault.kind == FaultKind::Import;
            let spot = || thrown::import_spot(ctx, &*self.library.borrow().supply, base, name);
            let fault = match is_unplaced.then(spot).flatten() {
                Some(spot) => fault.at(spot),
                None => fault,
            };
            self.refuse(ctx, fault)
        })
    }
}

impl Loader for Host {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        if let Some(source) = modules::source(name) {
            return Module::declare(ctx.clone(), name, source);
        }
        let javascript = self.library.borrow().supply.javascript(name);
        match javascript {
            Some(javascript) => Module::declare(ctx.clone(), name, javascript.as_bytes()),
            None => Err(self.refuse(ctx, Fault::new(FaultKind::Import, name, format!("`{name}` does not exist")))),
        }
    }
}
