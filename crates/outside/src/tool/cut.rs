//! Bounding a text, with a mark where it was cut.

/// `text`, or as much of its beginning as fits into `bytes_max` together with the mark, which is the last line.
///
/// The mark itself is always whole: with a limit of less than its own length, it is all that is left.
pub(super) fn bounded(text: String, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text;
    }
    let total = text.len();
    // The mark is longest when everything is shown; the line break before it counts too.
    let room = bytes_max.saturating_sub(mark(total, total).len() + 1);
    let mut head = text;
    head.truncate(head.floor_char_boundary(room));
    let shown = head.len();
    if shown > 0 && !head.ends_with('\n') {
        head.push('\n');
    }
    head + &mark(shown, total)
}

fn mark(shown: usize, total: usize) -> String {
    format!("[cut: {shown} of {total} bytes shown]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_marked_and_falls_between_characters() {
        for (text, bytes_max, expected) in [
            ("short".to_owned(), 5, "short".to_owned()),
            ("é".repeat(50), 40, "ééééé\n[cut: 10 of 100 bytes shown]".to_owned()),
            ("é".repeat(50), 41, "ééééé\n[cut: 10 of 100 bytes shown]".to_owned()),
            ("é".repeat(50), 42, "éééééé\n[cut: 12 of 100 bytes shown]".to_owned()),
            ("a\n".repeat(50), 40, "a\na\na\na\na\n[cut: 10 of 100 bytes shown]".to_owned()),
            ("a".repeat(50), 0, "[cut: 0 of 50 bytes shown]".to_owned()),
        ] {
            assert_eq!(bounded(text, bytes_max), expected);
        }
    }
}
