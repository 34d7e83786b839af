//! What was thrown, told as a fault of the TypeScript that threw it.

use crate::fault::{Fault, FaultKind, Spot};
use crate::limits::{FRAME_BYTES_MAX, FRAMES_MAX, Limits, MESSAGE_CHARS_MAX};
use crate::places;
use crate::sandbox::Scene;
use crate::supply::Supply;
use rquickjs::convert::Coerced;
use rquickjs::{Array, Ctx, Error, Exception, Function, Symbol, Type, Value};

/// What an error of the engine means. Takes the pending exception away.
pub(crate) fn fault(scene: &Scene, ctx: &Ctx<'_>, error: &Error) -> Fault {
    // The engine sometimes reports the consequence and leaves the cause pending.
    let thrown = if error.is_exception() || ctx.has_exception() { Some(ctx.catch()) } else { None };
    let endless = thrown.as_ref().filter(|_| scene.watch.is_over()).and_then(|value| interrupted(scene, value));
    let fault = match thrown {
        Some(value) => from_value(scene, &value),
        None if matches!(error, Error::Allocation) => out_of_memory(scene),
        None => Fault::new(FaultKind::Value, &scene.entry, cut(&error.to_string())),
    };
    // Asking an error what it says may run a script, which may throw or take its time.
    ctx.catch();
    if scene.watch.is_over() { endless.unwrap_or_else(|| out_of_time(scene)) } else { fault }
}

/// The time limit, placed at what the module was about when it was stopped: the outermost frame, since whatever it calls
/// may be called by others without harm. So a fault in another file than the entry is that file's own.
fn interrupted(scene: &Scene, value: &Value<'_>) -> Option<Fault> {
    let exception = value.as_object().cloned().and_then(Exception::from_object)?;
    let stack = exception.stack()?;
    let (file, spot) = stack.lines().rev().find_map(|frame| place(scene, frame))?;
    let fault = too_long(&file, scene.limits);
    Some(match spot {
        Some(spot) => fault.at(spot),
        None => fault,
    })
}

/// The time limit was reached, or nobody waits any more.
pub(crate) fn out_of_time(scene: &Scene) -> Fault {
    too_long(&scene.entry, scene.limits)
}

/// The same, while something was at work. Takes the pending exception away.
pub(crate) fn stopped(scene: &Scene, ctx: &Ctx<'_>) -> Fault {
    let pending = ctx.has_exception().then(|| ctx.catch());
    pending.and_then(|value| interrupted(scene, &value)).unwrap_or_else(|| out_of_time(scene))
}

pub(crate) fn too_long(entry: &str, limits: Limits) -> Fault {
    Fault::new(FaultKind::Time, entry, format!("did not end within {} seconds", limits.time.as_secs_f64()))
}

/// It awaits what no job, answer or timer will bring.
pub(crate) fn never_settled(scene: &Scene) -> Fault {
    let what = "waits for something that never happens: a promise that nobody settles";
    Fault::new(FaultKind::Threw, &scene.entry, what)
}

fn out_of_memory(scene: &Scene) -> Fault {
    let bytes = scene.limits.bytes;
    let limit = if bytes < 1 << 20 { format!("{bytes} bytes") } else { format!("{} MiB", bytes >> 20) };
    Fault::new(FaultKind::Memory, &scene.entry, format!("needs more than {limit} of memory"))
}

fn from_value(scene: &Scene, value: &Value<'_>) -> Fault {
    let Some(exception) = value.as_object().cloned().and_then(Exception::from_object) else {
        // Without memory for an error, the engine throws `null`, as hardly any script does, or nothing.
        if value.is_null() || value.type_of() == Type::Uninitialized {
            return out_of_memory(scene);
        }
        let mark = mark_of(value).and_then(|mark| mark.place(&*scene.library.borrow().supply));
        let text = value.get::<Coerced<String>>().map(|text| text.0).unwrap_or_default();
        return match mark {
            Some((file, spot)) => Fault::new(FaultKind::Threw, &file, cut(&text)).at(spot),
            None => Fault::new(FaultKind::Threw, &scene.entry, cut(&text)),
        };
    };
    let message = exception.message().unwrap_or_default();
    let name = exception.get::<_, Coerced<String>>("name").map(|name| name.0).unwrap_or_default();
    // Or an error without memory for its message. A text that the engine calls too long has a gibibyte.
    if name == "InternalError" && matches!(message.as_str(), "out of memory" | "string too long" | "") {
        return out_of_memory(scene);
    }
    if let Some(fault) = scene.library.borrow().faults.iter().find(|fault| fault.what == message) {
        return fault.clone();
    }
    if let Some(fault) = missing_export(scene, &message) {
        return fault;
    }
    let stack = exception.stack().unwrap_or_default();
    let of_source = name == "SyntaxError" && is_of_the_source(scene, &stack);
    let kind = if of_source { FaultKind::Syntax } else { FaultKind::Threw };
    let what = match name.as_str() {
        "Error" | "" => cut(&message),
        name => cut(&format!("{name}: {message}")),
    };
    let what = match (message.as_str(), callee(scene, &stack)) {
        ("not a function", Some(callee)) => cut(&format!("{name}: `{callee}` is not a function")),
        _ => what,
    };
    match place(scene, &stack) {
        Some((file, Some(spot))) => Fault::new(kind, &file, what).at(spot),
        Some((file, None)) => Fault::new(kind, &file, what),
        None => Fault::new(kind, &scene.entry, what),
    }
}

/// Where a value was marked.
struct Mark {
    spot: Spot,
    stack: String,
}

impl Mark {
    /// The spot in its file, which is that of the topmost frame in the project.
    fn place(&self, supply: &dyn Supply) -> Option<(String, Spot)> {
        let (file, _) = find_place(supply, &self.stack)?;
        Some((file, self.spot))
    }
}

fn mark_of(value: &Value<'_>) -> Option<Mark> {
    let ctx = value.ctx();
    let find = || -> rquickjs::Result<Option<Mark>> {
        let symbol = Symbol::new_global(ctx.clone(), "entourage.where")?;
        let find: Function<'_> = ctx.globals().get(symbol.as_atom())?;
        let Some(mark): Option<Array<'_>> = find.call((value.clone(),))? else { return Ok(None) };
        Ok(Some(Mark { spot: Spot { line: mark.get(0)?, column: mark.get(1)? }, stack: mark.get(2)? }))
    };
    find().unwrap_or_else(|_| {
        // There is none, or no memory to look for it.
        ctx.catch();
        None
    })
}

/// Where an import was asked for whose specifier is computed.
pub(crate) fn import_spot(ctx: &Ctx<'_>, supply: &dyn Supply, base: &str, specifier: &str) -> Option<Spot> {
    let specifier = rquickjs::String::from_str(ctx.clone(), specifier).ok()?;
    let (file, spot) = mark_of(&specifier.into_value())?.place(supply)?;
    (file == base).then_some(spot)
}

/// Whether a syntax error is one of a module, rather than of a text that a script has parsed. Then no function is at
/// work, and the first frame, if there is one, is a mere place.
fn is_of_the_source(scene: &Scene, stack: &str) -> bool {
    let Some(frame) = stack.lines().next() else { return true };
    let place = frame.trim().strip_prefix("at ").and_then(|place| place.rsplitn(3, ':').nth(2));
    place.is_some_and(|file| scene.library.borrow().supply.javascript(file).is_some())
}

/// A named import that the other module does not have, which the engine reports without a place.
fn missing_export(scene: &Scene, message: &str) -> Option<Fault> {
    let rest = message.strip_prefix("Could not find export '")?;
    let (name, rest) = rest.split_once("' in module '")?;
    let module = rest.strip_suffix('\'')?;
    let what = format!("`{module}` has no export `{name}`; a type is imported by `import type`");
    let fault = |file: &str| Fault::new(FaultKind::Import, file, what.clone());
    match scene.library.borrow().supply.importer(module, name) {
        Some((file, spot)) => Some(fault(&file).at(spot)),
        None => Some(fault(&scene.entry)),
    }
}

/// What the topmost frame calls, as it is written: the engine places a call at the last name of it.
fn callee(scene: &Scene, stack: &str) -> Option<String> {
    let frame = stack.lines().next()?.trim().trim_end_matches(')');
    let (rest, column) = frame.rsplit_once(':')?;
    let (rest, line) = rest.rsplit_once(':')?;
    let (line, column): (usize, usize) = (line.parse().ok()?, column.parse().ok()?);
    let file = &rest[rest.rfind(['(', ' '])? + 1..];
    let javascript = scene.library.borrow().supply.javascript(file)?;
    let text = javascript.split('\n').nth(line.checked_sub(1)?)?;
    let (before, from) = text.split_at_checked(column.checked_sub(1)?)?;
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let last = &from[..from.find(|c| !in_name(c)).unwrap_or(from.len())];
    let first = before.rfind(|c| !in_name(c) && c != '.').map_or(0, |end| end + 1);
    let owner = before.get(first..).filter(|owner| owner.ends_with('.') && !owner.starts_with('.')).unwrap_or_default();
    // What else is called, such as an item of a list, has no name there.
    let is_called = !last.is_empty() && from[last.len()..].starts_with('(');
    (is_called && last.len() + owner.len() <= FRAME_BYTES_MAX).then(|| format!("{owner}{last}"))
}

/// The topmost frame of a stack that lies in a module of the project.
fn place(scene: &Scene, stack: &str) -> Option<(String, Option<Spot>)> {
    find_place(&*scene.library.borrow().supply, stack)
}

fn find_place(supply: &dyn Supply, stack: &str) -> Option<(String, Option<Spot>)> {
    let frames = stack.lines().take(FRAMES_MAX).filter(|frame| frame.len() <= FRAME_BYTES_MAX);
    frames.into_iter().find_map(|frame| {
        let frame = frame.trim().trim_end_matches(')');
        let (rest, column) = frame.rsplit_once(':')?;
        let (rest, line) = rest.rsplit_once(':')?;
        let (line, column) = (line.parse().ok()?, column.parse().ok()?);
        // A function may be called anything, so the file is whatever end of the frame is the name of a module.
        let starts = rest.match_indices(['(', ' ']).map(|(index, _)| index + 1);
        starts.map(|start| &rest[start..]).find_map(|file| {
            let javascript = supply.javascript(file)?;
            Some((file.to_owned(), places::find(&javascript, line, column)))
        })
    })
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None if text.is_empty() => "threw something without a message".to_owned(),
        None => text.to_owned(),
    }
}
