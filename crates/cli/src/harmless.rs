//! What models, tools and strangers wrote, made safe for a terminal: nothing moves the cursor, changes the title or
//! turns the line round. Colours may stay, because ours look the same.

use entourage_model::is_obeyed;
use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with everything a terminal would obey written out, as JSON writes it.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    replaced(text, |safe, harmful| _ = write!(safe, "\\u{:04x}", u32::from(harmful)))
}

/// The same without all of it, and so of the same width.
pub(crate) fn bare(text: &str) -> Cow<'_, str> {
    replaced(text, |_, _| {})
}

fn replaced(text: &str, replace: impl Fn(&mut String, char)) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let (mut safe, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let kept = kept(rest);
        if kept > 0 {
            safe.push_str(&rest[..kept]);
            rest = &rest[kept..];
        } else {
            replace(&mut safe, first);
            rest = &rest[first.len_utf8()..];
        }
    }
    Cow::Owned(safe)
}

/// How many bytes at the beginning may stay as they are.
fn kept(text: &str) -> usize {
    if let Some(code) = text.strip_prefix("\u{1b}[") {
        let length = code.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
        return if code[length..].starts_with('m') { length + 3 } else { 0 };
    }
    if text.starts_with("\r\n") {
        return 2;
    }
    text.chars().next().filter(|first| !is_obeyed(*first)).map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(harmless(text), safe, "{text:?}");
        }
        assert_eq!(bare("\u{1b}[1ma\u{1b}[0m\u{7}\u{1b}[2Jb"), "\u{1b}[1ma\u{1b}[0m[2Jb");
    }
}
