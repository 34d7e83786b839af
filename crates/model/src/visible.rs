//! Texts of strangers, as a terminal may show them.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a terminal obeys a character instead of showing it: control characters but for the end of a line and the
/// tabulator, and marks that change the direction of writing.
pub fn is_obeyed(character: char) -> bool {
    let turns = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (character.is_control() && !matches!(character, '\n' | '\t'))
}

/// The text with everything that a terminal obeys written out, as JSON writes it. Ends of lines stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            harmful if is_obeyed(harmful) => _ = write!(safe, "\\u{:04x}", u32::from(harmful)),
            harmless => safe.push(harmless),
        }
    }
    Cow::Owned(safe)
}

/// The same on one line.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    match visible(text) {
        shown if shown.contains(['\n', '\t']) => Cow::Owned(shown.replace('\n', "\\n").replace('\t', "\\t")),
        shown => shown,
    }
}

/// The words of a text on one line, with single spaces between them.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        for (text, shown, line) in [
            ("plain ä\n\tmore", "plain ä\n\tmore", "plain ä\\n\\tmore"),
            ("\u{1b}[31mred\u{9b}2J", "\\u001b[31mred\\u009b2J", "\\u001b[31mred\\u009b2J"),
            ("a\r\nb\rc\u{7}", "a\nb\\u000dc\\u0007", "a\\nb\\u000dc\\u0007"),
            ("\u{202e}txt", "\\u202etxt", "\\u202etxt"),
        ] {
            assert_eq!((&*visible(text), &*visible_line(text)), (shown, line), "{text:?}");
        }
    }
}
