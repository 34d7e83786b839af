//! Half a character: one of the two code units of UTF-16 that only together are a character, by itself.
//!
//! A text of JavaScript may hold one, and JSON may write one (`"\ud800"`); Unicode has no such text, and neither has Rust.
//! Where it is to be given on as it came, two characters stand for it that no text has beside each other: a code point
//! that is no character, and a private one that says which half it is.

use std::borrow::Cow;

const MARK: char = '\u{10ffff}';

/// What stands for the first of the halves, U+D800; the others follow it.
const FIRST: u32 = 0x10_0000;

const LEADING: std::ops::RangeInclusive<u16> = 0xd800..=0xdbff;
const TRAILING: std::ops::RangeInclusive<u16> = 0xdc00..=0xdfff;

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letter {
    Whole(char),
    Half(u16),
}

/// The letters of a text in which halves are marked.
pub fn letters(text: &str) -> impl Iterator<Item = Letter> + '_ {
    let mut rest = text.chars();
    std::iter::from_fn(move || {
        let letter = rest.next()?;
        match rest.clone().next().filter(|_| letter == MARK).and_then(meant) {
            Some(half) => {
                rest.next();
                Some(Letter::Half(half))
            }
            None => Some(Letter::Whole(letter)),
        }
    })
}

/// Whether a text has a half in it.
pub fn has_half(text: &str) -> bool {
    // Nearly no text has the mark.
    text.contains(MARK) && letters(text).any(|letter| matches!(letter, Letter::Half(_)))
}

/// JSON in which every half that is written as an escape is marked. Whatever is no JSON stays what it is.
pub fn mark_halves(json: &str) -> Cow<'_, str> {
    let mut marked = String::new();
    let (mut start, mut at) = (0, 0);
    while let Some(found) = json[at..].find('\\') {
        at += found;
        let length = match (unit(&json[at..]), unit(json.get(at + 6..).unwrap_or_default())) {
            (Some(leading), Some(trailing)) if LEADING.contains(&leading) && TRAILING.contains(&trailing) => 12,
            (Some(half), _) if LEADING.contains(&half) || TRAILING.contains(&half) => {
                marked.push_str(&json[start..at]);
                let which = FIRST + u32::from(half - LEADING.start());
                marked.extend([MARK, char::from_u32(which).expect("it is a private character")]);
                start = at + 6;
                6
            }
            (Some(_), _) => 6,
            // What follows is escaped, or there is nothing.
            (None, _) => 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
        at += length;
    }
    if start == 0 {
        return Cow::Borrowed(json);
    }
    marked.push_str(&json[start..]);
    Cow::Owned(marked)
}

/// The code unit that an escape at the start of a text writes.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_number.then(|| u16::from_str_radix(digits, 16).ok())?
}

/// The half that a character stands for, behind the mark.
fn meant(letter: char) -> Option<u16> {
    let which = u16::try_from(u32::from(letter).checked_sub(FIRST)?).ok()?;
    let half = LEADING.start().checked_add(which)?;
    (half <= *TRAILING.end()).then_some(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Vec<Letter> {
        let text: String = serde_json::from_str(&mark_halves(json)).expect(json);
        assert_eq!(has_half(&text), letters(&text).any(|letter| matches!(letter, Letter::Half(_))), "{json}");
        letters(&text).collect()
    }

    #[test]
    fn only_halves_are_marked() {
        use Letter::{Half, Whole};
        let cases = [
            (r#""\ud800""#, vec![Half(0xd800)]),
            (r#""\udfff""#, vec![Half(0xdfff)]),
            (r#""a\uDBFFb""#, vec![Whole('a'), Half(0xdbff), Whole('b')]),
            (r#""\ud83d\ude00""#, vec![Whole('😀')]),
            (r#""\ude00\ud83d""#, vec![Half(0xde00), Half(0xd83d)]),
            (r#""\ud83d\ud83d\ude00""#, vec![Half(0xd83d), Whole('😀')]),
            (r#""\\ud800""#, "\\ud800".chars().map(Whole).collect()),
            (r#""\\\ud800""#, vec![Whole('\\'), Half(0xd800)]),
            (r#""\"\u0041\n""#, "\"A\n".chars().map(Whole).collect()),
            (r#""\udbff\udfff""#, vec![Whole(MARK)]),
            (r#""\udbff\udfff\udbff\udfff""#, vec![Whole(MARK), Whole(MARK)]),
        ];
        for (json, expected) in cases {
            assert_eq!(read(json), expected, "{json}");
        }
    }

    #[test]
    fn what_is_no_json_stays_what_it_is() {
        for text in ["", "\\", "\\u", "\\ud80", "\\uzzzz", "\\u+123", "\\é\\ud8é", "\\ud83d\\u"] {
            let marked = mark_halves(text);
            assert_eq!(marked.contains(MARK), text.starts_with("\\ud83d"), "{text}");
        }
    }
}
