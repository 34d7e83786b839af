//! Offsets in a text as lines and columns, and back.

use crate::fault::Spot;
use std::cell::Cell;

/// The lines of a text, broken as JavaScript breaks them: at LF, CR LF, CR, U+2028 and U+2029.
///
/// Questions mostly come in the order of the text, so each answer starts at the one before: a file of one long line
/// would else be read again for each of its tokens.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    last: Cell<Mark>,
}

/// A character and how far into its line it lies, in three measures.
#[derive(Clone, Copy, Default)]
struct Mark {
    line: usize,
    byte: usize,
    characters: usize,
    units: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        let mut index = 0;
        while index < bytes.len() {
            let step = match &bytes[index..] {
                [b'\r', b'\n', ..] => 2,
                [b'\n' | b'\r', ..] => 1,
                [0xe2, 0x80, 0xa8 | 0xa9, ..] => 3,
                _ => {
                    index += 1;
                    continue;
                }
            };
            index += step;
            starts.push(index);
        }
        Self { text, starts, last: Cell::default() }
    }

    /// Where a byte lies. An offset beyond the end is the end; one inside a character is the next one.
    pub(crate) fn spot(&self, offset: usize) -> Spot {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let mark = self.walk(line, offset, |mark| mark.byte);
        Spot { line: count(mark.line + 1), column: count(mark.characters + 1) }
    }

    /// The byte at a line and a column in UTF-16 units, both from 0.
    pub(crate) fn offset(&self, line: u32, column: u32) -> usize {
        if line as usize >= self.starts.len() {
            return self.text.len();
        }
        self.walk(line as usize, column as usize, |mark| mark.units).byte
    }

    /// The first character of a line, or after it, that is as far as `target` by this measure.
    fn walk(&self, line: usize, target: usize, measure: impl Fn(&Mark) -> usize) -> Mark {
        let last = self.last.get();
        let start = Mark { line, byte: self.starts[line], characters: 0, units: 0 };
        // The mark before may be too far already; only the line's beginning then leads there. One that is just there
        // is asked for again in the other measure, for every token.
        let mut mark = if last.line == line && measure(&last) <= target { last } else { start };
        let mut characters = self.text[mark.byte..].chars();
        while measure(&mark) < target
            && let Some(character) = characters.next()
        {
            mark.byte += character.len_utf8();
            mark.characters += 1;
            mark.units += character.len_utf16();
        }
        self.last.set(mark);
        mark
    }
}

/// No text here is long enough to matter.
fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found_by_line_and_character_in_any_order() {
        let text = "ab\nc\u{e9}d\r\n\u{1f600}x\u{2028}y\rz";
        let lines = Lines::new(text);
        let spots = [
            ('a', 1, 1),
            ('b', 1, 2),
            ('c', 2, 1),
            ('\u{e9}', 2, 2),
            ('d', 2, 3),
            ('\u{1f600}', 3, 1),
            ('x', 3, 2),
            ('y', 4, 1),
            ('z', 5, 1),
        ];
        for (character, line, column) in spots.into_iter().chain(spots.into_iter().rev()) {
            let offset = text.find(character).unwrap();
            assert_eq!(lines.spot(offset), Spot { line, column }, "{character}");
        }
        assert_eq!(lines.offset(2, 2), text.find('x').unwrap(), "an astral character is two units");
        assert_eq!(lines.offset(2, 0), text.find('\u{1f600}').unwrap());
        assert_eq!(lines.offset(9, 0), text.len());
        assert_eq!(lines.spot(usize::MAX), Spot { line: 5, column: 2 });
    }
}
