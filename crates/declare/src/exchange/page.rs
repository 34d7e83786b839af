//! Markdown with front matter, read and written: most harnesses keep an agent in one such file.

use crate::exchange::File;
use crate::faults::Faults;
use crate::front::{self, Page, Reading};
use crate::tree::{Node, Spot, Tree};
use serde::Serialize;
use serde_json::{Map, Value};
use serde_saphyr::SerializerOptions;

/// The front matter and the body of a file; one without front matter has no keys. Absent: reported.
pub(crate) fn read<'a>(file: &File<'a>, reading: Reading, faults: &mut Faults) -> Option<(Node, &'a str)> {
    match front::read(file.text, reading, faults) {
        Page::Plain => Some((Node { spot: Spot::START, tree: Tree::Object(Vec::new()) }, file.text)),
        Page::Broken => None,
        Page::Parts(node, body) => Some((node, body)),
    }
}

/// A file with this front matter and this body, byte for byte. Several lines of text are written as one in quotes: some
/// readers cut the front matter before its last line break, which would be part of a block.
pub fn page(keys: &Map<String, Value>, body: &str) -> String {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    let front = if keys.is_empty() { String::new() } else { serialised(keys, options) };
    format!("---\n{front}---\n{body}")
}

/// YAML, ending in a line break. Several lines of text are written as such, a long line stays one line.
pub(crate) fn yaml_text(value: &impl Serialize) -> String {
    serialised(value, serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX })
}

/// In a way that readers of both versions of YAML understand alike.
fn serialised(value: &impl Serialize, options: SerializerOptions) -> String {
    serde_saphyr::to_string_with_options(value, options).expect("a JSON value can be written as YAML")
}
