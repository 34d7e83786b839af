//! What a plain scalar is by the core schema of YAML 1.2.

use crate::tree::Tree;
use serde_json::Number;

pub(super) fn resolve(text: &str) -> Tree {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Tree::Null,
        "true" | "True" | "TRUE" => Tree::Flag(true),
        "false" | "False" | "FALSE" => Tree::Flag(false),
        _ => number(text).map_or_else(|| Tree::Text(text.to_owned()), Tree::Number),
    }
}

/// Absent: a word. So are infinities and what is not a number, for which JSON has none.
fn number(text: &str) -> Option<Number> {
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    if exponent.is_some_and(|exponent| !is_digits(exponent)) {
        return None;
    }
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let fits = match fraction {
        None => is_digits(whole),
        Some(fraction) => {
            (is_digits(whole) && (fraction.is_empty() || is_digits(fraction)))
                || (whole.is_empty() && is_digits(fraction))
        }
    };
    if !fits {
        return None;
    }
    let integer = (exponent.is_none() && fraction.is_none()).then(|| integer(text)).flatten();
    integer.or_else(|| text.parse().ok().and_then(Number::from_f64))
}

fn integer(text: &str) -> Option<Number> {
    let text = text.strip_prefix('+').unwrap_or(text);
    text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from)).ok()
}

fn radix(digits: &str, radix: u32) -> Option<Number> {
    let fits = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    fits.then(|| u64::from_str_radix(digits, radix).ok().map(Number::from)).flatten()
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
