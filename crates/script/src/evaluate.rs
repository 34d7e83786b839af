//! A definition, evaluated: its value with places, and the program that it is.
//!
//! The work is done on a thread of its own: parsers and engines need a stack whose size is known, and a script that does
//! not end can be left behind. Files are still read by the caller, whose `Sources` need not be shared between threads:
//! the worker asks, the caller answers.

use crate::fault::{Fault, FaultKind};
use crate::limits::{GRACE, Limits, STACK_BYTES};
use crate::located::Located;
use crate::outline::Double;
use crate::project::{Project, Read};
use crate::remembered::{self, Endless, Seen, Watched};
use crate::sandbox::{Sandbox, Watch};
use crate::sources::{Memory, Sources};
use crate::thrown;
use crate::value;
use crate::worker::Worker;
use entourage_model::{Digest, Program};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::mpsc;
use std::time::Instant;

/// What a definition gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// The module's default export, awaited if it is a promise.
    pub value: Located,
    /// Keys that are written twice in one object of the export.
    pub doubles: Vec<Double>,
    /// All of the project's modules that it is made of.
    pub program: Program,
}

/// Evaluates the module at `path`, a path relative to the project, within `Limits::DEFINITION`.
///
/// What `memory` knows of it is taken from there, as long as every file that it was made of is still the same.
pub fn evaluate(path: &str, sources: &dyn Sources, memory: &dyn Memory) -> Result<Evaluated, Fault> {
    evaluate_within(Limits::DEFINITION, path, sources, memory)
}

fn evaluate_within(limits: Limits, path: &str, sources: &dyn Sources, memory: &dyn Memory) -> Result<Evaluated, Fault> {
    let entry = sources.read(path).ok().map(|bytes| remembered::key(path, &Digest::of(&bytes)));
    if let Some(fault) = entry.as_ref().and_then(|key| memory.recall_fault(key)) {
        return Err(fault);
    }
    if let Some(evaluated) = entry.as_ref().and_then(|key| remembered::recall(key, path, sources, memory)) {
        return Ok(evaluated);
    }
    let endless = entry.as_ref().and_then(|key| memory.recall_endless(key));
    if let Some(fault) = endless.and_then(|endless| endless.fault(sources)) {
        return Err(fault);
    }
    let sources = Watched::new(sources);
    match run(path, &sources, memory, limits) {
        Ok((evaluated, seen)) => {
            remembered::keep(path, &evaluated, seen, memory);
            Ok(evaluated)
        }
        Err(fault) => {
            if let Some(key) = &entry {
                memory.keep_fault(key, &fault);
            }
            keep_shared(path, &fault, &sources, memory);
            if let Some(key) = entry.filter(|_| fault.kind == FaultKind::Time) {
                memory.keep_endless(&key, Endless::new(fault.clone(), sources.into_seen()));
            }
            Err(fault)
        }
    }
}

/// What the thread wants of the caller.
enum Request {
    Read(String),
    Done(Result<(Evaluated, Seen), Fault>),
}

/// Keeps that a module which others import never ends, so that each of them need not wait for it.
fn keep_shared(entry: &str, fault: &Fault, sources: &dyn Sources, memory: &dyn Memory) {
    if fault.kind == FaultKind::Time
        && fault.file != entry
        && let Ok(bytes) = sources.read(&fault.file)
    {
        memory.keep_fault(&remembered::key(&fault.file, &Digest::of(&bytes)), fault);
    }
}

/// What is known of a module that never ends.
fn recall_shared(path: &str, bytes: &io::Result<Vec<u8>>, memory: &dyn Memory) -> Option<Fault> {
    let key = remembered::key(path, &Digest::of(bytes.as_ref().ok()?));
    memory.recall_fault(&key).filter(|fault| fault.kind == FaultKind::Time)
}

fn run(path: &str, sources: &dyn Sources, memory: &dyn Memory, limits: Limits) -> Result<(Evaluated, Seen), Fault> {
    let (ask, asked) = mpsc::channel();
    let (answer, answered) = mpsc::channel();
    let deadline = Instant::now() + limits.time + GRACE;
    let entry = path.to_owned();
    let _worker = Worker::start(path, STACK_BYTES, move |bond| {
        let watch = Watch::new(limits, bond);
        let project = Project::new(reader(ask.clone(), answered));
        // The caller may have given up; then nobody wants to know.
        let _ = ask.send(Request::Done(definition(&entry, project, limits, watch)));
    })?;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match asked.recv_timeout(left) {
            Ok(Request::Read(path)) => {
                let bytes = sources.read(&path);
                if let Some(fault) = recall_shared(&path, &bytes, memory) {
                    return Err(fault);
                }
                // If the worker is gone, the next turn learns why.
                let _ = answer.send(bytes);
            }
            Ok(Request::Done(result)) => return result,
            Err(mpsc::RecvTimeoutError::Timeout) => return Err(thrown::too_long(path, limits)),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(Fault::new(FaultKind::Syntax, path, "the evaluation broke down: this is a bug"));
            }
        }
    }
}

/// Reads through the caller.
fn reader(ask: mpsc::Sender<Request>, answered: mpsc::Receiver<io::Result<Vec<u8>>>) -> Read {
    Box::new(move |path| {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        ask.send(Request::Read(path.to_owned())).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?
    })
}

fn definition(path: &str, mut project: Project, limits: Limits, watch: Watch) -> Result<(Evaluated, Seen), Fault> {
    let outline = project.enter(path)?;
    let project = Rc::new(RefCell::new(project));
    let sandbox = Sandbox::new(path, limits, watch, Box::new(Rc::clone(&project)))?;
    let value = sandbox.run(|ctx| {
        sandbox.scene.prepare(ctx, |level, text| tracing::debug!(level, "{text}"))?;
        let export = sandbox.scene.default_export(ctx)?;
        value::read(&sandbox.scene, ctx, &export, &outline)
    })?;
    drop(sandbox);
    let mut project = project.borrow_mut();
    project.read_ahead()?;
    let doubles = outline.doubles().to_vec();
    Ok((Evaluated { value, doubles, program: project.program(path) }, project.take_seen()))
}

#[cfg(test)]
mod tests;
