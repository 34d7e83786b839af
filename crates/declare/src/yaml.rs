//! YAML text → tree with places.
//!
//! Built from the parser's events, because only they have the place of every key. Values follow the core schema of
//! YAML 1.2, where `no` and `on` are words.

mod scalar;

use crate::faults::quoted;
use crate::files::FILE_BYTES_MAX;
use crate::json::{DEPTH_MAX, Fault, VALUES_MAX};
use crate::tree::{Cursor, Node, Spot, Tree};
use entourage_model::Report;
use serde_saphyr::granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, StrInput, Tag, options};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// How much text aliases may repeat.
const ALIASED_BYTES_MAX: usize = FILE_BYTES_MAX;

/// The one document of `text`, which begins in line `first_line` of its file. A text without any value is null.
pub(crate) fn parse(text: &str, first_line: u32) -> Result<Node, Fault> {
    // The parser would take it for the text's end, and what comes behind for a fault of what stands before.
    if let Some(offset) = text.find('\0') {
        let Spot { line, column } = Cursor::new(text).advance(offset);
        let spot = Spot { line: first_line + line - 1, column };
        return Err(Fault { spot, what: "a NUL character is no text".to_owned() });
    }
    let options = options! { emit_comments: false, flow_nesting_limit: DEPTH_MAX, block_nesting_limit: DEPTH_MAX };
    let events = Parser::new_from_str_with_options(text, options);
    let mut builder = Builder { text, events, first_line, values: 0, aliased_bytes: 0, anchors: BTreeMap::new() };
    builder.document()
}

/// What people are told of a fault.
pub(crate) fn report(fault: &Fault) -> Report {
    Report::error("D114", format!("this is not valid YAML: {}", fault.what)).hint(hint(fault))
}

/// What to do about a fault; most often a value was meant as text and is not in quotes.
pub(crate) fn hint(fault: &Fault) -> &'static str {
    const HINTS: [(&str, &str); 8] = [
        ("twice", "remove one of the two"),
        ("NUL character", "remove the character"),
        ("nested", "write it with fewer levels"),
        ("recursion", "write it with fewer levels"),
        ("an alias stands", "write the value out"),
        ("more than", "make it smaller, or split it"),
        ("tab cannot", "indent by blanks"),
        ("tabs disallowed", "indent by blanks"),
    ];
    let fitting = HINTS.iter().find(|(words, _)| fault.what.contains(words)).map(|(_, hint)| *hint);
    fitting.unwrap_or("put a value that has `: ` or begins with a sign in quotes")
}

struct Builder<'a> {
    text: &'a str,
    events: Parser<'a, StrInput<'a>>,
    first_line: u32,
    values: usize,
    aliased_bytes: usize,
    /// Those whose value has ended.
    anchors: BTreeMap<usize, Anchored>,
}

struct Anchored {
    node: Node,
    size: Size,
}

/// What a value costs whenever it is repeated; `depth` is that of what lies within.
#[derive(Clone, Copy, Default)]
struct Size {
    values: usize,
    bytes: usize,
    depth: usize,
}

impl Size {
    fn of(node: &Node) -> Self {
        let one = Self { values: 1, bytes: 0, depth: 0 };
        match &node.tree {
            Tree::Text(text) => Self { bytes: text.len(), ..one },
            Tree::List(items) => items.iter().fold(one, |sum, item| sum.with(Self::of(item))),
            Tree::Object(entries) => entries.iter().fold(one, |sum, (key, item)| {
                let size = Self::of(item);
                sum.with(Self { bytes: size.bytes + key.len(), ..size })
            }),
            Tree::Null | Tree::Flag(_) | Tree::Number(_) | Tree::Function | Tree::Alien(_) => one,
        }
    }

    fn with(self, inner: Self) -> Self {
        Self {
            values: self.values + inner.values,
            bytes: self.bytes + inner.bytes,
            depth: self.depth.max(inner.depth + 1),
        }
    }
}

impl<'a> Builder<'a> {
    fn document(&mut self) -> Result<Node, Fault> {
        let mut document = None;
        loop {
            let (event, span) = self.next()?;
            let spot = self.spot(span);
            match event {
                Event::StreamEnd => {
                    let empty = Node { spot: Spot { line: self.first_line, column: 1 }, tree: Tree::Null };
                    return Ok(document.unwrap_or(empty));
                }
                Event::DocumentStart(..) if document.is_some() => {
                    return Err(Fault { spot, what: "there is more than one document".to_owned() });
                }
                event if event.is_node() => document = Some(self.node(event, spot, 1)?),
                _ => {}
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), Fault> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(fault)) => Err(self.unparsed(&fault)),
            // The stream's end comes first, and ends the document.
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn unparsed(&self, fault: &ScanError) -> Fault {
        let marker = fault.marker();
        // The parser means the text before the tab, which it takes for the text's next line.
        if *fault.kind() == ErrorKind::TabInPlainScalar {
            let lines = self.text.lines().enumerate().skip(marker.line());
            let tabs = lines.filter_map(|(index, line)| {
                let column =
                    line.chars().take_while(|letter| letter.is_whitespace()).position(|letter| letter == '\t')?;
                Some(self.spot_at(index + 1, column))
            });
            let spot = tabs.into_iter().next().unwrap_or_else(|| self.spot_at(marker.line(), marker.col()));
            return Fault { spot, what: "a tab cannot be used as indentation".to_owned() };
        }
        Fault { spot: self.spot_at(marker.line(), marker.col()), what: fault.kind().to_string() }
    }

    fn spot(&self, span: Span) -> Spot {
        self.spot_at(span.start.line(), span.start.col())
    }

    /// The parser counts lines from 1 and columns from 0.
    fn spot_at(&self, line: usize, column: usize) -> Spot {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Spot {
            line: self.first_line.saturating_add(count(line.saturating_sub(1))),
            column: count(column).saturating_add(1),
        }
    }

    fn node(&mut self, event: Event<'a>, spot: Spot, depth: usize) -> Result<Node, Fault> {
        self.spend(spot, Size { values: 1, bytes: 0, depth }, 0)?;
        let (tree, anchor) = match event {
            Event::Alias(id) => return self.alias(id, spot, depth),
            Event::Scalar(text, style, anchor, tag) => (scalar_tree(text, style, tag.as_deref(), spot)?, anchor),
            Event::SequenceStart(_, anchor, tag) => {
                expect_tag(tag.as_deref(), "seq", spot)?;
                (self.items(depth)?, anchor)
            }
            Event::MappingStart(_, anchor, tag) => {
                expect_tag(tag.as_deref(), "map", spot)?;
                (self.entries(depth)?, anchor)
            }
            _ => return Err(Fault { spot, what: "a value is missing".to_owned() }),
        };
        let node = Node { spot, tree };
        if anchor != 0 {
            self.anchors.insert(anchor, Anchored { size: Size::of(&node), node: node.clone() });
        }
        Ok(node)
    }

    /// The anchor's value again, at the place of the alias.
    fn alias(&mut self, id: usize, spot: Spot, depth: usize) -> Result<Node, Fault> {
        let size = self.anchors.get(&id).map(|anchored| anchored.size).unwrap_or_default();
        self.spend(spot, Size { depth: depth + size.depth, ..size }, size.bytes)?;
        match self.anchors.get(&id) {
            Some(anchored) => Ok(Node { spot, tree: anchored.node.tree.clone() }),
            None => Err(Fault { spot, what: "an alias stands within the value that it repeats".to_owned() }),
        }
    }

    /// Counts what is about to be kept, before it costs anything where it is repeated.
    fn spend(&mut self, spot: Spot, size: Size, aliased_bytes: usize) -> Result<(), Fault> {
        self.values += size.values;
        self.aliased_bytes += aliased_bytes;
        let what = if self.values > VALUES_MAX {
            format!("there are more than {VALUES_MAX} values")
        } else if self.aliased_bytes > ALIASED_BYTES_MAX {
            format!("aliases repeat more than {} MiB", ALIASED_BYTES_MAX >> 20)
        } else if size.depth > DEPTH_MAX {
            format!("values are nested more than {DEPTH_MAX} deep")
        } else {
            return Ok(());
        };
        Err(Fault { spot, what })
    }

    fn items(&mut self, depth: usize) -> Result<Tree, Fault> {
        let mut items = Vec::new();
        loop {
            let (event, span) = self.next()?;
            let spot = self.spot(span);
            match event {
                Event::SequenceEnd => return Ok(Tree::List(items)),
                event if event.is_node() => items.push(self.node(event, spot, depth + 1)?),
                _ => {}
            }
        }
    }

    fn entries(&mut self, depth: usize) -> Result<Tree, Fault> {
        let mut entries = Entries::default();
        loop {
            let (event, span) = self.next()?;
            let spot = self.spot(span);
            match event {
                Event::MappingEnd => return Ok(Tree::Object(entries.finish())),
                event if event.is_node() => {
                    let (key, merges) = self.key(event, spot)?;
                    let value = self.value(spot, depth)?;
                    if merges { entries.merge(value)? } else { entries.insert(key, value)? }
                }
                _ => {}
            }
        }
    }

    /// A key as it is written, and whether it asks for the entries of another mapping.
    fn key(&self, event: Event<'a>, spot: Spot) -> Result<(String, bool), Fault> {
        match event {
            Event::Scalar(text, style, _, _) if style != ScalarStyle::Plain || !matches!(&*text, "" | "~") => {
                let merges = style == ScalarStyle::Plain && text == "<<";
                Ok((text.into_owned(), merges))
            }
            Event::Alias(id) => match self.anchors.get(&id).map(|anchored| &anchored.node.tree) {
                Some(Tree::Text(text)) => Ok((text.clone(), false)),
                _ => Err(Fault { spot, what: "a key must be a word".to_owned() }),
            },
            _ => Err(Fault { spot, what: "a key must be a word".to_owned() }),
        }
    }

    /// A field's value, at the place of its key.
    fn value(&mut self, key: Spot, depth: usize) -> Result<Node, Fault> {
        loop {
            let (event, _) = self.next()?;
            match event {
                event if event.is_node() => return self.node(event, key, depth + 1),
                Event::StreamEnd | Event::MappingEnd => {
                    return Err(Fault { spot: key, what: "a value is missing".to_owned() });
                }
                _ => {}
            }
        }
    }
}

/// A mapping's entries. What is merged in counts only where the mapping itself says nothing.
#[derive(Default)]
struct Entries {
    own: Vec<(String, Node)>,
    known: std::collections::BTreeSet<String>,
    merged: Vec<(String, Node)>,
}

impl Entries {
    fn insert(&mut self, key: String, node: Node) -> Result<(), Fault> {
        if !self.known.insert(key.clone()) {
            return Err(Fault { spot: node.spot, what: format!("the key {} is in its mapping twice", quoted(&key)) });
        }
        self.own.push((key, node));
        Ok(())
    }

    fn merge(&mut self, node: Node) -> Result<(), Fault> {
        let refused = || Fault { spot: node.spot, what: "`<<` must be a mapping, or a list of them".to_owned() };
        match node.tree {
            Tree::Object(entries) => self.merged.extend(entries),
            Tree::List(items) => {
                for item in items {
                    let Tree::Object(entries) = item.tree else { return Err(refused()) };
                    self.merged.extend(entries);
                }
            }
            Tree::Null | Tree::Flag(_) | Tree::Number(_) | Tree::Text(_) | Tree::Function | Tree::Alien(_) => {
                return Err(refused());
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Vec<(String, Node)> {
        for (key, node) in self.merged {
            if self.known.insert(key.clone()) {
                self.own.push((key, node));
            }
        }
        self.own
    }
}

fn scalar_tree(text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>, spot: Spot) -> Result<Tree, Fault> {
    let Some(tag) = tag else {
        let plain = style == ScalarStyle::Plain;
        return Ok(if plain { scalar::resolve(&text) } else { Tree::Text(text.into_owned()) });
    };
    if tag.original() == "!" {
        return Ok(Tree::Text(text.into_owned()));
    }
    let resolved = scalar::resolve(&text);
    match (tag.core_suffix(), &resolved) {
        (Some("str"), _) => Ok(Tree::Text(text.into_owned())),
        (Some("null"), Tree::Null) | (Some("bool"), Tree::Flag(_)) | (Some("float"), Tree::Number(_)) => Ok(resolved),
        (Some("int"), Tree::Number(number)) if !number.is_f64() => Ok(resolved),
        _ => Err(unfit_tag(tag, spot)),
    }
}

fn expect_tag(tag: Option<&Tag>, suffix: &str, spot: Spot) -> Result<(), Fault> {
    match tag {
        Some(tag) if tag.core_suffix() != Some(suffix) => Err(unfit_tag(tag, spot)),
        _ => Ok(()),
    }
}

fn unfit_tag(tag: &Tag, spot: Spot) -> Fault {
    Fault { spot, what: format!("the tag {} does not fit this value", quoted(&tag.original())) }
}

#[cfg(test)]
mod tests;
