//! Where each piece of JavaScript came from in TypeScript: a table that travels with the JavaScript itself, as its last
//! line, so that a program which was stored for months still places its faults.

use crate::fault::Spot;

/// Begins the last line of a module's JavaScript.
const MARK: &str = "\n//# places=";
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// From a spot in JavaScript on, as the engine counts (lines at LF, columns in bytes, both from 1), the text is that of
/// a spot in TypeScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) source: Spot,
}

/// JavaScript with its table, which must be in the order of the JavaScript.
pub(crate) fn attach(mut javascript: String, origins: &[Origin]) -> String {
    javascript.push_str(MARK);
    let mut last = [0i64; 4];
    for origin in origins {
        let next = [origin.line, origin.column, origin.source.line, origin.source.column].map(i64::from);
        for (next, last) in next.into_iter().zip(last) {
            push(&mut javascript, next - last);
        }
        last = next;
    }
    javascript.push('\n');
    javascript
}

/// The spot in TypeScript of a line and a column in JavaScript; nothing for JavaScript without a table.
pub(crate) fn find(javascript: &str, line: u32, column: u32) -> Option<Spot> {
    let (code, table) = javascript.rsplit_once(MARK)?;
    let column = begin(code, line, column);
    let mut numbers = table.trim_end().bytes();
    let mut last = [0i64; 4];
    let mut found = None;
    while let Some(step) = pull(&mut numbers) {
        last[0] += step;
        for number in &mut last[1..] {
            *number += pull(&mut numbers)?;
        }
        let [at_line, at_column, source_line, source_column] = last.map(|number| u32::try_from(number).ok());
        // What lies on an earlier line says nothing about this one, but is nearer than nothing.
        if (at_line?, at_column?) > (line, column) {
            break;
        }
        found = Some(Spot { line: source_line?, column: source_column? });
    }
    found
}

/// The engine places `new Error()` at `Error`; people look for it at `new`.
fn begin(code: &str, line: u32, column: u32) -> u32 {
    let text = code.split('\n').nth(line.saturating_sub(1) as usize);
    let before = text.and_then(|text| text.get(..column.saturating_sub(1) as usize));
    if before.is_some_and(|before| before.ends_with("new ")) { column - 4 } else { column }
}

/// Five bits a digit, the lowest first; the lowest bit of all is the sign.
fn push(text: &mut String, number: i64) {
    let mut rest = number.unsigned_abs() << 1 | u64::from(number < 0);
    loop {
        let more = if rest >= 32 { 32 } else { 0 };
        text.push(char::from(DIGITS[(rest & 31 | more) as usize]));
        rest >>= 5;
        if rest == 0 {
            return;
        }
    }
}

fn pull(digits: &mut impl Iterator<Item = u8>) -> Option<i64> {
    let mut number = 0u64;
    for shift in (0..60).step_by(5) {
        let digit = digits.next()?;
        let value = DIGITS.iter().position(|known| *known == digit)? as u64;
        number |= (value & 31) << shift;
        if value < 32 {
            let size = i64::try_from(number >> 1).ok()?;
            return Some(if number & 1 == 1 { -size } else { size });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spot_is_that_of_the_nearest_piece_before_it() {
        let origin = |line, column, to: (u32, u32)| Origin { line, column, source: Spot { line: to.0, column: to.1 } };
        let origins = [origin(1, 1, (3, 7)), origin(1, 40, (2, 1)), origin(3, 2, (900, 100_000)), origin(4, 1, (1, 1))];
        let javascript = attach("let x;".to_owned(), &origins);
        for (line, column, expected) in [
            (1, 1, Some((3, 7))),
            (1, 39, Some((3, 7))),
            (1, 40, Some((2, 1))),
            (3, 1, Some((2, 1))),
            (3, 9, Some((900, 100_000))),
            (4, 1, Some((1, 1))),
            (9, 9, Some((1, 1))),
        ] {
            let expected = expected.map(|(line, column)| Spot { line, column });
            assert_eq!(find(&javascript, line, column), expected, "{line}:{column}");
        }
    }

    #[test]
    fn javascript_without_a_table_or_with_a_broken_one_has_no_places() {
        for text in
            ["let x;", "\n//# places=!", "\n//# places=gggggggggggggggggggg", "\n//# places=A", "\n//# places=DDDD"]
        {
            assert_eq!(find(text, 1, 1), None, "{text}");
        }
    }
}
