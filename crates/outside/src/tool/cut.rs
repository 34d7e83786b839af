//! Bounding a text, with a mark where it was cut.

/// `text`, or as much of its beginning as fits into `bytes_max` together with the mark, which is the last line and names
/// the file that holds all of it.
///
/// The mark itself is always whole: with a limit of less than its own length, it is all that is left.
pub fn bounded(text: String, bytes_max: usize, whole: Option<&str>) -> String {
    if text.len() <= bytes_max {
        return text;
    }
    let total = text.len();
    // The mark is longest when everything is shown; the line break before it counts too.
    let room = bytes_max.saturating_sub(mark(total, total, whole).len() + 1);
    let mut head = text;
    head.truncate(head.floor_char_boundary(room));
    let shown = head.len();
    if shown > 0 && !head.ends_with('\n') {
        head.push('\n');
    }
    head + &mark(shown, total, whole)
}

/// The same with the mark in the middle, on a line of its own: of what a program writes, the end matters most.
pub(super) fn in_the_middle(text: &str, bytes_max: usize, whole: Option<&str>) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let total = text.len();
    let room = bytes_max.saturating_sub(mark(total, total, whole).len() + 2);
    let head = &text[..text.floor_char_boundary(room / 2)];
    let tail = &text[text.ceil_char_boundary(total - room / 2)..];
    let mark = mark(head.len() + tail.len(), total, whole);
    let end = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    format!("{head}{end}{mark}\n{tail}")
}

fn mark(shown: usize, total: usize, whole: Option<&str>) -> String {
    match whole {
        Some(path) => {
            format!("[cut: {shown} of {total} bytes shown; all of it is in `{path}`, which `read_file` reads]")
        }
        None => format!("[cut: {shown} of {total} bytes shown]"),
    }
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
            assert_eq!(bounded(text, bytes_max, None), expected);
        }
        let whole = bounded("é".repeat(100), 90, Some("/a"));
        assert_eq!(whole, "éééééé\n[cut: 12 of 200 bytes shown; all of it is in `/a`, which `read_file` reads]");
    }

    #[test]
    fn a_cut_in_the_middle_keeps_both_ends() {
        let text = format!("first\n{}\nlast", "é".repeat(50));
        for (bytes_max, expected) in [
            (200, text.clone()),
            (50, "first\né\n[cut: 17 of 111 bytes shown]\néé\nlast".to_owned()),
            (0, "[cut: 0 of 111 bytes shown]\n".to_owned()),
        ] {
            assert_eq!(in_the_middle(&text, bytes_max, None), expected);
        }
    }
}
