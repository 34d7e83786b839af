//! Markdown with front matter → its YAML and its body.

mod lines;

use crate::faults::Faults;
use crate::tree::{Node, Spot, Tree};
use crate::yaml;
use entourage_model::Report;

/// The parts of a Markdown file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Front<'a> {
    /// The file does not begin with a delimiter: all of it is body.
    None,
    /// There is a delimiter at the beginning and no second one.
    Unclosed(Spot),
    Parts {
        yaml: &'a str,
        /// The line of the file that the YAML begins in.
        first_line: u32,
        /// Everything behind the closing line, as it is.
        body: &'a str,
    },
}

/// A Markdown file, its front matter read.
#[derive(Debug)]
pub(crate) enum Page<'a> {
    /// It has no front matter.
    Plain,
    /// Its front matter cannot be read, and that is reported.
    Broken,
    Parts(Node, &'a str),
}

/// How front matter is read that is no YAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Strict,
    /// Line by line, and refused only if that fails as well. Harnesses that do it take what stands behind the first
    /// colon as it is, so that authors write values with a colon or with a sign of YAML's, and never see a fault.
    Lax,
}

pub(crate) fn read<'a>(text: &'a str, reading: Reading, faults: &mut Faults) -> Page<'a> {
    let (yaml, first_line, body) = match split(text) {
        Front::None => return Page::Plain,
        Front::Unclosed(spot) => {
            faults.push(spot, Report::error("D113", "the front matter has no end").hint("close it with a line `---`"));
            return Page::Broken;
        }
        Front::Parts { yaml, first_line, body } => (yaml, first_line, body),
    };
    match yaml::parse(yaml, first_line) {
        // Front matter that says nothing has no keys.
        Ok(Node { spot, tree: Tree::Null }) => Page::Parts(Node { spot, tree: Tree::Object(Vec::new()) }, body),
        Ok(node) => Page::Parts(node, body),
        Err(fault) => match (reading, lines::parse(yaml, first_line)) {
            (Reading::Lax, Some(node)) => Page::Parts(node, body),
            (Reading::Lax, None) | (Reading::Strict, _) => {
                faults.push(fault.spot, yaml::report(&fault));
                Page::Broken
            }
        },
    }
}

/// Whether a page without front matter has some all the same, behind blank lines. That is told.
pub(crate) fn is_late(text: &str, faults: &mut Faults) -> bool {
    let is_late = split(text.trim_start()) != Front::None;
    if is_late {
        let what = "this file declares nothing: its front matter does not begin in the first line";
        faults.push(Spot::START, Report::warning("D081", what).hint("remove what stands before `---`"));
    }
    is_late
}

/// A delimiter is a whole line of three dashes, perhaps with blanks behind them: a longer rule, an indented one or
/// dashes within a value delimit nothing. Lines may end in `\r\n`, and a byte order mark may come first.
pub(crate) fn split(text: &str) -> Front<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let Some(opening) = lines.next().filter(|line| is_delimiter(line)) else { return Front::None };
    let start = opening.len();
    let mut end = start;
    for line in lines {
        if is_delimiter(line) {
            return Front::Parts { yaml: &text[start..end], first_line: 2, body: &text[end + line.len()..] };
        }
        end += line.len();
    }
    Front::Unclosed(Spot::START)
}

fn is_delimiter(line: &str) -> bool {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    line.trim_end_matches([' ', '\t']) == "---"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_line_of_three_dashes_delimits() {
        let parts = |yaml, body| Front::Parts { yaml, first_line: 2, body };
        for (text, expected) in [
            ("", Front::None),
            ("body\n---\na: 1\n---\n", Front::None),
            ("\n---\na: 1\n---\n", Front::None),
            (" ---\na: 1\n---\n", Front::None),
            ("----\na: 1\n----\n", Front::None),
            ("--- a: 1\n---\n", Front::None),
            ("---", Front::Unclosed(Spot::START)),
            ("---\na: 1\n", Front::Unclosed(Spot::START)),
            ("---\na: 1\n----\n ---\n---x\n", Front::Unclosed(Spot::START)),
            ("---\n---", parts("", "")),
            ("---\n---\n", parts("", "")),
            ("---\na: 1\n---\n", parts("a: 1\n", "")),
            ("---\na: x --- y\nb: '---'\n---\nbody\n---\nmore", parts("a: x --- y\nb: '---'\n", "body\n---\nmore")),
            ("--- \t\r\na: 1\r\n---  \r\n\r\nbody\r\n", parts("a: 1\r\n", "\r\nbody\r\n")),
            ("\u{feff}---\na: é\n---\né", parts("a: é\n", "é")),
        ] {
            assert_eq!(split(text), expected, "{text:?}");
        }
    }
}
