//! What models, tools and strangers wrote, made safe for a terminal: nothing moves the cursor, changes the title or
//! turns the line round. Colours may stay where there are any, because ours look the same.

use crate::screen::Paint;
use entourage_model::is_obeyed;
use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with everything a terminal would obey written out, as JSON writes it.
pub(crate) fn harmless(text: &str, paint: Paint) -> Cow<'_, str> {
    replaced(text, paint, |safe, harmful| {
        let mut letters = harmful.chars();
        letters.next().into_iter().for_each(|first| _ = write!(safe, "\\u{:04x}", u32::from(first)));
        safe.push_str(letters.as_str());
    })
}

/// The same without all of it, and so of the same width.
pub(crate) fn bare(text: &str, paint: Paint) -> Cow<'_, str> {
    replaced(text, paint, |_, _| {})
}

fn replaced(text: &str, paint: Paint, replace: impl Fn(&mut String, &str)) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let (mut safe, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let (length, stays) = match colour(rest) {
            // Where nothing is painted, none of them is ours.
            Some(length) => (length, paint.coloured),
            None if rest.starts_with("\r\n") => (2, true),
            None => (first.len_utf8(), !is_obeyed(first)),
        };
        let (piece, behind) = rest.split_at(length);
        if stays {
            safe.push_str(piece);
        } else {
            replace(&mut safe, piece);
        }
        rest = behind;
    }
    Cow::Owned(safe)
}

/// How many bytes at the beginning are the code of a colour.
fn colour(text: &str) -> Option<usize> {
    let code = text.strip_prefix("\u{1b}[")?;
    let length = code.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    code[length..].starts_with('m').then_some(length + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLOURED: Paint = Paint { coloured: true };
    const PLAIN: Paint = Paint { coloured: false };

    #[test]
    fn only_colours_and_line_ends_reach_a_terminal() {
        for (text, safe) in [
            ("plain ä\n\tand more\r\n", "plain ä\n\tand more\r\n"),
            ("\u{1b}[1;32mgreen\u{1b}[0m", "\u{1b}[1;32mgreen\u{1b}[0m"),
            ("\u{1b}[2Jgone", "\\u001b[2Jgone"),
            ("\u{1b}]0;owned\u{7}", "\\u001b]0;owned\\u0007"),
            ("over\rwritten\u{8}", "over\\u000dwritten\\u0008"),
            ("\u{9b}31m \u{7f}", "\\u009b31m \\u007f"),
            ("\u{202e}txt.exe", "\\u202etxt.exe"),
            ("\u{1b}", "\\u001b"),
            ("\u{1b}[12", "\\u001b[12"),
        ] {
            assert_eq!(harmless(text, COLOURED), safe, "{text:?}");
        }
        assert_eq!(bare("\u{1b}[1ma\u{1b}[0m\u{7}\u{1b}[2Jb", COLOURED), "\u{1b}[1ma\u{1b}[0m[2Jb");
    }

    #[test]
    fn where_nothing_is_painted_nobody_else_paints() {
        assert_eq!(harmless("\u{1b}[1;31mred\u{1b}[0m ä\r\n", PLAIN), "\\u001b[1;31mred\\u001b[0m ä\r\n");
        assert_eq!(bare("\u{1b}[1ma\u{1b}[0m\u{7}b", PLAIN), "ab");
    }
}
