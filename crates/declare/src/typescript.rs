//! A definition in TypeScript → tree with places, and the code that its functions need.

use crate::faults::{Faults, quoted};
use crate::files::{self, Files};
use crate::tree::{Node, Tree};
use entourage_model::{Place, Program, Report, has_half};
use entourage_script::{Double, Evaluated, Fault, FaultKind, Found, Located, Memory, Sources};
use std::io;

/// What a definition's file may end with.
pub(crate) const EXTENSIONS: [&str; 4] = [".ts", ".mts", ".js", ".mjs"];

/// A key that an object has twice.
pub(crate) const DOUBLE: &str = "D038";

/// A definition that reached a limit.
pub(crate) const GIVEN_UP: &str = "D025";

/// What the module at `path` exports by default. Absent: it went away, or the reason is reported, in whichever module
/// it lies.
pub(crate) fn evaluate(
    path: &str,
    files: &dyn Files,
    memory: &dyn Memory,
    faults: &mut Faults,
) -> Option<(Node, Program)> {
    let (mut node, program) = evaluate_raw(path, files, memory, faults)?;
    let is_half = |tree: &Tree| matches!(tree, Tree::Text(text) if has_half(text));
    estrange(&mut node, &|tree| is_half(tree).then_some("half a character (a lone surrogate)"));
    report_aliens(&node, &mut String::new(), faults);
    Some((node, program))
}

/// The same, before anything is said about what no declaration can hold.
fn evaluate_raw(path: &str, files: &dyn Files, memory: &dyn Memory, faults: &mut Faults) -> Option<(Node, Program)> {
    // The text is asked for first, because its faults are the same for every format.
    let text = files::text(files, path).map_err(|report| faults.reports.push(report)).ok()??;
    let sources = Modules { files, entry: (path, text.as_bytes()) };
    match entourage_script::evaluate(path, &sources, memory) {
        Ok(Evaluated { value, doubles, program }) => {
            for Double { key, spot } in doubles {
                let what = format!("the key {} is in its object twice, and only the last counts", quoted(&key));
                faults.push(spot, Report::warning(DOUBLE, what).hint("remove one of the two"));
            }
            Some((node(value), program))
        }
        Err(fault) => {
            faults.reports.push(report(fault));
            None
        }
    }
}

/// The same for a definition that is nothing but data: code within it is reported as well. Half a character in a text is
/// marked, see `mark_halves`.
pub(crate) fn evaluate_data(path: &str, files: &dyn Files, memory: &dyn Memory, faults: &mut Faults) -> Option<Node> {
    let (mut node, _) = evaluate_raw(path, files, memory, faults)?;
    // One in the place of the definition is told as that.
    if !matches!(node.tree, Tree::Function) {
        estrange(&mut node, &|tree| matches!(tree, Tree::Function).then_some("a function"));
    }
    report_aliens(&node, &mut String::new(), faults);
    Some(node)
}

/// A project's modules; the one that was read already is not read again.
struct Modules<'a> {
    files: &'a dyn Files,
    entry: (&'a str, &'a [u8]),
}

impl Sources for Modules<'_> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let (entry, bytes) = self.entry;
        if path == entry { Ok(bytes.to_vec()) } else { self.files.read(path) }
    }
}

fn node(located: Located) -> Node {
    let tree = match located.found {
        Found::Null => Tree::Null,
        Found::Flag(flag) => Tree::Flag(flag),
        Found::Number(number) => Tree::Number(number),
        Found::Text(text) => Tree::Text(text),
        Found::Function => Tree::Function,
        Found::Alien(what) => Tree::Alien(what),
        Found::List(items) => Tree::List(items.into_iter().map(node).collect()),
        Found::Object(entries) => Tree::Object(entries.into_iter().map(|(key, value)| (key, node(value))).collect()),
    };
    Node { spot: located.spot, tree }
}

/// Makes what `stranger` has a name for what no declaration can hold.
fn estrange(node: &mut Node, stranger: &dyn Fn(&Tree) -> Option<&'static str>) {
    if let Some(what) = stranger(&node.tree) {
        node.tree = Tree::Alien(what.to_owned());
        return;
    }
    match &mut node.tree {
        Tree::List(items) => items.iter_mut().for_each(|item| estrange(item, stranger)),
        Tree::Object(entries) => entries.iter_mut().for_each(|(_, inner)| estrange(inner, stranger)),
        Tree::Null | Tree::Flag(_) | Tree::Number(_) | Tree::Text(_) | Tree::Function | Tree::Alien(_) => {}
    }
}

/// Reports everything in a value that no declaration can hold. The rest is still looked at.
fn report_aliens(node: &Node, path: &mut String, faults: &mut Faults) {
    let mut within = |step: &str, inner: &Node, faults: &mut Faults| {
        let length = path.len();
        path.push_str(if length == 0 { step.trim_start_matches('.') } else { step });
        report_aliens(inner, path, faults);
        path.truncate(length);
    };
    match &node.tree {
        Tree::List(items) => {
            items.iter().enumerate().for_each(|(index, item)| within(&format!("[{index}]"), item, faults));
        }
        Tree::Object(entries) => entries.iter().for_each(|(key, inner)| within(&format!(".{key}"), inner, faults)),
        Tree::Alien(what) => {
            let what = format!("{} is {what}, which no declaration can hold", quoted(path));
            let hint = "write a text, a number, `true`, `false`, `null`, an array or an object";
            faults.push(node.spot, Report::error("D026", what).hint(hint));
        }
        Tree::Null | Tree::Flag(_) | Tree::Number(_) | Tree::Text(_) | Tree::Function => {}
    }
}

fn report(fault: Fault) -> Report {
    let Fault { kind, what, file, line, column } = fault;
    let report = match kind {
        FaultKind::Read => Report::error("D001", format!("`{file}` cannot be read: {what}"))
            .hint("check that it is there and that you may read it"),
        // A module may import data.
        FaultKind::Syntax => match what.strip_prefix("not JSON: ") {
            Some(what) => Report::error("D004", format!("this is not valid JSON: {what}")),
            None => Report::error("D022", format!("this is not valid TypeScript: {what}")),
        }
        .hint("mend the text at the place shown"),
        FaultKind::Import => Report::error("D023", what)
            .hint("import modules of the project by a relative path, or one of those that come with entourage"),
        FaultKind::Threw => {
            let hint =
                missing_global(&what).unwrap_or("a definition is evaluated whenever it is read, and must not throw");
            Report::error("D024", format!("the definition threw: {what}")).hint(hint)
        }
        FaultKind::Time => Report::error(GIVEN_UP, format!("the definition was not evaluated: {what}"))
            .hint("only say what is defined; work belongs into `execute` of a tool"),
        FaultKind::Memory => Report::error(GIVEN_UP, format!("the definition was not evaluated: {what}"))
            .hint("only say what is defined; data belongs into a file that a tool reads"),
        FaultKind::Value | FaultKind::Arguments => {
            Report::error("D026", format!("the module gives no definition: {what}"))
                .hint("write `export default` before the definition, and plain values within it")
        }
    };
    // What lies nowhere in particular is about the whole file.
    report.at(Place::at(file, line.unwrap_or(1), column.unwrap_or(1)))
}

/// What to do instead, where a definition reaches for what only Node has.
fn missing_global(what: &str) -> Option<&'static str> {
    let name = what.strip_prefix("ReferenceError: ")?.strip_suffix(" is not defined")?;
    Some(match name {
        "module" | "exports" => "write `export default` before the definition: definitions are modules",
        "process" => "declare a variable, and read it by `env` in the prompt or by `state.env` in a tool",
        "__dirname" | "__filename" | "Buffer" => {
            "definitions are evaluated without Node; a tool has files by `state.readFile`"
        }
        "defineAgent" | "definePrompt" | "defineTool" | "defineModel" | "defineHook" => {
            "import it from `@standardagents/spec`"
        }
        "z" => "write `import { z } from 'zod'`",
        _ => return None,
    })
}
