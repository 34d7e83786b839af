//! JSON with one spelling: no white space, sorted keys, numbers as ECMAScript prints them.

use entourage_model::{Letter, letters};
use serde_json::Value;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write as _;

/// What keys are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyOrder {
    /// The bytes of UTF-8, as the specification says.
    #[default]
    Utf8,
    /// The code units of UTF-16, as the reference program does.
    Utf16,
}

impl KeyOrder {
    pub(crate) fn compare(self, a: &str, b: &str) -> Ordering {
        match self {
            Self::Utf8 => a.cmp(b),
            Self::Utf16 => units(a).cmp(units(b)),
        }
    }
}

fn units(text: &str) -> impl Iterator<Item = u16> + '_ {
    let units = letters(text).flat_map(|letter| match letter {
        Letter::Whole(character) => {
            let mut units = [0; 2];
            let is_pair = character.encode_utf16(&mut units).len() == 2;
            [Some(units[0]), Some(units[1]).filter(|_| is_pair)]
        }
        Letter::Half(half) => [Some(half), None],
    });
    units.flatten()
}

/// The bytes of a value.
pub fn canonical(value: &Value, order: KeyOrder) -> Vec<u8> {
    let mut text = String::new();
    write_value(value, order, &mut text);
    text.into_bytes()
}

fn write_value(value: &Value, order: KeyOrder, text: &mut String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => {
            // Every number passes through a double, as it does in ECMAScript.
            text.push_str(&number_text(number.as_f64().expect("numbers are not of arbitrary precision")));
        }
        Value::String(string) => write_string(string, text),
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_value(item, order, text);
            }
            text.push(']');
        }
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by(|(a, _), (b, _)| order.compare(a, b));
            text.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_string(key, text);
                text.push(':');
                write_value(value, order, text);
            }
            text.push('}');
        }
    }
}

/// Only what JSON demands is escaped, in its short form where there is one, and half a character.
fn write_string(string: &str, text: &mut String) {
    let escape = |unit: u32, text: &mut String| {
        write!(text, "\\u{unit:04x}").expect("a string takes all that is written");
    };
    text.push('"');
    for letter in letters(string) {
        match letter {
            Letter::Half(half) => escape(half.into(), text),
            Letter::Whole('"') => text.push_str("\\\""),
            Letter::Whole('\\') => text.push_str("\\\\"),
            Letter::Whole('\u{8}') => text.push_str("\\b"),
            Letter::Whole('\t') => text.push_str("\\t"),
            Letter::Whole('\n') => text.push_str("\\n"),
            Letter::Whole('\u{c}') => text.push_str("\\f"),
            Letter::Whole('\r') => text.push_str("\\r"),
            Letter::Whole(control) if u32::from(control) < 0x20 => escape(control.into(), text),
            Letter::Whole(other) => text.push(other),
        }
    }
    text.push('"');
}

/// `Number.prototype.toString`: the shortest digits that read back as the same double, laid out by their magnitude.
fn number_text(number: f64) -> Cow<'static, str> {
    if number == 0.0 {
        return Cow::Borrowed("0");
    }
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("`{:e}` writes an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is a number");
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |mantissa| ("-", mantissa));
    let digits = mantissa.replace('.', "");
    let count = i32::try_from(digits.len()).expect("a double has at most 17 digits");
    let text = match exponent {
        0..=20 if count <= exponent + 1 => format!("{digits}{}", "0".repeat(zeros(exponent + 1 - count))),
        0..=20 => {
            let (whole, fraction) = digits.split_at(zeros(exponent + 1));
            format!("{whole}.{fraction}")
        }
        -6..=-1 => format!("0.{}{digits}", "0".repeat(zeros(-exponent - 1))),
        _ => {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            format!("{first}{point}{rest}e{exponent:+}")
        }
    };
    Cow::Owned(format!("{sign}{text}"))
}

fn zeros(count: i32) -> usize {
    usize::try_from(count).expect("the arm holds only for counts from zero")
}

#[cfg(test)]
mod tests {
    use super::*;
    use entourage_model::mark_halves;
    use proptest::prelude::*;

    fn check(source: &str, expected: &str) {
        let value: Value = serde_json::from_str(source).expect(source);
        let bytes = canonical(&value, KeyOrder::Utf8);
        assert_eq!(String::from_utf8(bytes).expect("it is UTF-8"), expected, "{source}");
    }

    #[test]
    fn numbers_are_printed_as_ecmascript_does() {
        let cases = [
            ("1.0", "1"),
            ("1.50", "1.5"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("1e20", "100000000000000000000"),
            ("123456789012345680000", "123456789012345680000"),
            ("1e21", "1e+21"),
            ("1.5e300", "1.5e+300"),
            ("-2.5e-9", "-2.5e-9"),
            ("1e-6", "0.000001"),
            ("1.25e-5", "0.0000125"),
            ("1e-7", "1e-7"),
            ("9007199254740993", "9007199254740992"),
            ("18446744073709551615", "18446744073709552000"),
            ("-9223372036854775808", "-9223372036854776000"),
            ("333333333.33333329", "333333333.3333333"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ];
        for (source, expected) in cases {
            check(source, expected);
        }
    }

    #[test]
    fn strings_escape_only_what_they_must() {
        check(
            r#""\u0000\u001f\b\t\n\f\r\"\\\/\u007f\u2028é""#,
            "\"\\u0000\\u001f\\b\\t\\n\\f\\r\\\"\\\\/\u{7f}\u{2028}é\"",
        );
    }

    #[test]
    fn half_a_character_is_escaped() {
        check(&mark_halves(r#"{"\uDC00":"a\ud800\ud83d\ude00"}"#), r#"{"\udc00":"a\ud800😀"}"#);
        let value: Value =
            serde_json::from_str(&mark_halves(r#"{"\ue000":1,"\ud800":2,"\ud7ff":3,"😀":4}"#)).expect("valid");
        let text = String::from_utf8(canonical(&value, KeyOrder::Utf16)).expect("it is UTF-8");
        assert_eq!(text, "{\"\u{d7ff}\":3,\"\\ud800\":2,\"😀\":4,\"\u{e000}\":1}");
    }

    #[test]
    fn keys_are_sorted_and_white_space_goes() {
        check(
            r#" { "b" : [ 1 , { } , [ ] ] , "a" : null , "A" : true , "10" : false , "9" : "x" } "#,
            r#"{"10":false,"9":"x","A":true,"a":null,"b":[1,{},[]]}"#,
        );
    }

    #[test]
    fn the_two_orders_differ_only_above_the_basic_plane() {
        let value: Value = serde_json::from_str(r#"{"～":1,"😀":2,"z":3}"#).expect("valid");
        let text = |order| String::from_utf8(canonical(&value, order)).expect("it is UTF-8");
        assert_eq!(text(KeyOrder::Utf8), r#"{"z":3,"～":1,"😀":2}"#);
        assert_eq!(text(KeyOrder::Utf16), r#"{"z":3,"😀":2,"～":1}"#);
    }

    proptest! {
        #[test]
        fn a_number_reads_back_as_the_same_double(bits: u64) {
            let number = f64::from_bits(bits);
            prop_assume!(number.is_finite() && number != 0.0);
            prop_assert_eq!(number_text(number).parse::<f64>().expect("it is a number").to_bits(), bits);
        }
    }
}
