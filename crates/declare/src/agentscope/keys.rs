//! The keys of an AgentScope declaration, of both versions of the format.

use super::{remote, workspace};
use crate::Format;
use crate::exchange::{complete, rest};
use crate::faults::{Faults, did_you_mean, quoted};
use crate::fields::Fields;
use crate::solo::{ModelWish, Said, Solo};
use crate::tree::{At, Node, Tree};
use entourage_model::{ModelRef, Report};
use serde_json::Value;

/// Where a declaration lies, which says what it may say.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whence<'a> {
    /// Front matter: nothing of another server is read there.
    File { body: &'a str },
    /// A table of a settings file, with the prompt as `body`.
    Settings,
    /// What an agent keeps of either.
    Kept { body: &'a str },
}

/// Where an agent keeps what a file said of another server: it had no effect there, and is to have none here.
pub(super) const IGNORED: &str = "ignored";

/// Who may be started by whom.
const MODES: [&str; 3] = ["primary", "subagent", "all"];

/// Absent: it is no object, and reported. What is given may be broken all the same.
pub(super) fn read(id: &str, node: &Node, path: &str, whence: Whence<'_>, faults: &mut Faults) -> Option<Solo> {
    let fields = Fields::of(node, path, faults)?;
    let mut keys = Keys { fields };
    let mut solo = Solo::new(Format::AgentScope, "");
    solo.description = keys.description();
    solo.workspace = workspace::read(&mut keys);
    solo.folder_spot = node.field("workspace").and_then(|workspace| workspace.field("path")).map(|path| path.spot);
    solo.model = keys.model();
    solo.steps_max = keys.steps();
    solo.temperature = keys.said("temperature", "a number", number);
    solo.top_p = keys.said("top_p", "a number", number).or_else(|| keys.said("topP", "a number", number));
    solo.tools = keys.tools();
    solo.skills =
        keys.said("skills", "a list of names", |node| Some(names(node)?.into_iter().map(|name| name.value).collect()));
    solo.hidden = keys.said("hidden", "`true` or `false`", flag);
    keys.compare_stored(id);
    remote::read(&mut keys, &mut solo, whence);
    _ = keys.fields.finish();
    let is_id = node.field("name").and_then(Node::scalar_text).is_some_and(|name| name == id);
    // Front matter has no such key; elsewhere it is the prompt.
    let has_body = !matches!(whence, Whence::File { .. });
    let ignored = node.field(IGNORED).filter(|_| has_body);
    let implied = [Some("name").filter(|_| is_id), Some("body").filter(|_| has_body), ignored.map(|_| IGNORED)];
    complete(&mut solo, node, &implied.into_iter().flatten().collect::<Vec<_>>());
    solo.rest.extend(ignored.map(|ignored| rest(ignored, "", &[])).unwrap_or_default());
    if has_body {
        solo.verbatim.remove("body");
    }
    remote::forget_values(&mut solo.verbatim);
    if !has_body {
        remote::set_aside(&mut solo.verbatim);
    }
    Some(solo)
}

/// The fields of a declaration.
pub(super) struct Keys<'a> {
    pub(super) fields: Fields<'a>,
}

pub(super) fn said<T>(key: &str, node: &Node, value: T) -> Said<T> {
    Said { key: key.to_owned(), spot: node.spot, value }
}

impl<'a> Keys<'a> {
    /// A key without a value says nothing.
    pub(super) fn node(&mut self, key: &'static str) -> Option<&'a Node> {
        self.fields.node(key).filter(|node| !matches!(node.tree, Tree::Null))
    }

    /// A field; one that is not what it must be is left out, since an agent can do without any of them.
    fn said<T>(&mut self, key: &'static str, expected: &str, read: impl Fn(&Node) -> Option<T>) -> Option<Said<T>> {
        let node = self.node(key)?;
        let Some(value) = read(node) else {
            let what = format!("{} must be {expected}, not {}: it is ignored", self.fields.named(key), node.describe());
            self.fields.report(node, Report::warning("D086", what).hint(format!("write {expected}")));
            return None;
        };
        Some(said(key, node, value))
    }

    /// Without it no parent knows when to call the agent.
    fn description(&mut self) -> Option<Said<String>> {
        let node = self.fields.require("description")?;
        match node.scalar_text().map(|text| text.trim().to_owned()) {
            Some(text) if !text.is_empty() => Some(said("description", node, text)),
            _ => self.fields.wrong("description", "a text that is not blank", node),
        }
    }

    fn model(&mut self) -> Option<Said<ModelWish>> {
        self.said("model", "a model such as `openai:gpt-5`", |node| {
            let text = node.scalar_text()?;
            let text = text.trim();
            Some(match ModelRef::parse(text) {
                _ if text.is_empty() => ModelWish::Inherit,
                Some(model) => {
                    ModelWish::Named { provider: model.provider().to_owned(), model: model.model().to_owned() }
                }
                None => ModelWish::Word(text.to_owned()),
            })
        })
    }

    /// The newer key counts where both are there.
    fn steps(&mut self) -> Option<Said<u32>> {
        let expected = "a whole number above zero";
        let steps = self.said("steps", expected, count);
        let older = self.said("maxIters", expected, count);
        if let (Some(newer), Some(older)) = (&steps, &older)
            && newer.value != older.value
            && let Some(node) = self.fields.node("maxIters")
        {
            let (ignored, counting) = (self.fields.named("maxIters"), self.fields.named("steps"));
            let what = format!("{ignored} is ignored: {counting} says {}", newer.value);
            self.fields.report(node, Report::warning("D086", what).hint("remove one of them"));
        }
        steps.or(older)
    }

    /// A list that cannot be read is an error: without it the agent would have every tool.
    fn tools(&mut self) -> Option<Said<Vec<At<String>>>> {
        let node = self.node("tools")?;
        let Some(tools) = names(node) else {
            return self.fields.wrong("tools", "a list of names, or names with commas between them", node);
        };
        // An empty list allows what no list allows: everything.
        if tools.is_empty() {
            return None;
        }
        Some(said("tools", node, tools))
    }

    /// Keys that are known, looked at and kept, and that no other format has a word for.
    fn compare_stored(&mut self, id: &str) {
        let _ = self.fields.node("variant");
        for key in ["expose_to_user", "exposeToUser"] {
            self.said(key, "`true` or `false`", flag);
        }
        if let Some(node) = self.node("mode") {
            let word = node.scalar_text().unwrap_or_default();
            if !MODES.iter().any(|mode| word.trim().eq_ignore_ascii_case(mode)) {
                let (key, found) = (self.fields.named("mode"), node.describe());
                let what = format!("{key} must be `primary`, `subagent` or `all`, not {found}: it is ignored");
                let hint = did_you_mean(&word, MODES);
                self.fields.report(node, Report { hint, ..Report::warning("D086", what) });
            }
        }
        if let Some(node) = self.node("name")
            && node.scalar_text().is_none_or(|name| name != id)
        {
            let what = format!("{} is not read: the id of this agent is {}", self.fields.named("name"), quoted(id));
            let hint = "remove it, or give the file or table that name";
            self.fields.report(node, Report::warning("D086", what).hint(hint));
        }
    }
}

/// Whether such a declaration is offered to parents: one that is hidden, or only ever the first, is not.
pub(crate) fn is_offered(solo: &Solo) -> bool {
    let mode = solo.verbatim.get("mode").and_then(Value::as_str).unwrap_or_default();
    let is_hidden = solo.hidden.as_ref().is_some_and(|said| said.value);
    !is_hidden && !mode.trim().eq_ignore_ascii_case("primary")
}

/// Names in a list, or with commas between them; a list's items may have commas too.
fn names(node: &Node) -> Option<Vec<At<String>>> {
    let items = match &node.tree {
        Tree::List(items) => items.iter().map(|item| Some((item.scalar_text()?, item))).collect::<Option<Vec<_>>>()?,
        _ => vec![(node.scalar_text()?, node)],
    };
    let mut names = Vec::new();
    for (text, item) in items {
        let text = text.trim();
        let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        names.extend(parts.map(|part| At { value: part.to_owned(), spot: item.spot }));
    }
    Some(names)
}

/// A number, perhaps in quotes.
fn number(node: &Node) -> Option<f64> {
    let number = match &node.tree {
        Tree::Number(number) => number.as_f64(),
        Tree::Text(text) => text.trim().parse().ok(),
        Tree::Null | Tree::Flag(_) | Tree::Function | Tree::Alien(_) | Tree::List(_) | Tree::Object(_) => None,
    };
    number.filter(|number| number.is_finite())
}

/// A number of calls; a fraction is cut off.
fn count(node: &Node) -> Option<u32> {
    let whole = number(node)?.trunc();
    (whole >= 1.0 && whole <= f64::from(u32::MAX)).then_some(whole as u32)
}

fn flag(node: &Node) -> Option<bool> {
    match &node.tree {
        Tree::Flag(flag) => Some(*flag),
        Tree::Text(text) if text.trim().eq_ignore_ascii_case("true") => Some(true),
        Tree::Text(text) if text.trim().eq_ignore_ascii_case("false") => Some(false),
        Tree::Null
        | Tree::Number(_)
        | Tree::Text(_)
        | Tree::Function
        | Tree::Alien(_)
        | Tree::List(_)
        | Tree::Object(_) => None,
    }
}
