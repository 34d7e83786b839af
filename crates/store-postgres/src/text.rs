//! Texts that people and models wrote may hold a NUL, which PostgreSQL cannot keep in a text.

use std::borrow::Cow;

const ESCAPE: char = '\u{1a}';

/// The text as it lies in a column.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => escaped.extend([ESCAPE, '0']),
            ESCAPE => escaped.extend([ESCAPE, '1']),
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

/// The text as it was given.
pub(crate) fn unescape(column: String) -> String {
    if !column.contains(ESCAPE) {
        return column;
    }
    let mut text = String::with_capacity(column.len());
    let mut characters = column.chars();
    while let Some(character) = characters.next() {
        match character {
            ESCAPE => text.push(if characters.next() == Some('0') { '\0' } else { ESCAPE }),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_and_none_holds_a_nul() {
        for text in ["", "plain", "\0", "a\0b\0", "\u{1a}", "\u{1a}0", "\u{1a}1\0", "\0\u{1a}"] {
            let column = escape(text).into_owned();
            assert!(!column.contains('\0'), "{text:?}");
            assert_eq!(unescape(column), text);
        }
    }
}
