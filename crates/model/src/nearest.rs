//! What somebody probably meant by a name that nobody knows.

/// A name is compared no further than this; a model can send a megabyte of it.
const CHARS_COMPARED: usize = 64;

/// The known name that `word` is most like, however little. Nothing when no name is known.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    ranked(word, known).map(|(_, candidate)| candidate)
}

/// The same, if `word` may well be a slip of the finger: about a third of its letters may be wrong.
pub fn meant<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (likeness, candidate) = ranked(word, known)?;
    (likeness >= 0.6).then_some(candidate)
}

/// Likeness is relative to the length, else every unknown name would be most like the shortest known one.
fn ranked<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<(f64, &'a str)> {
    let word = letters(word);
    let likeness = |candidate: &str| strsim::normalized_damerau_levenshtein(&word, &letters(candidate));
    let ranked = known.into_iter().map(|candidate| (likeness(candidate), candidate));
    // Of two that are equally like it, the first.
    ranked.reduce(|best, next| if next.0 > best.0 { next } else { best })
}

fn letters(name: &str) -> String {
    name.chars().take(CHARS_COMPARED).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_the_one_that_was_probably_meant() {
        let known = ["maxSessionTurns", "maxSteps", "name", "prompt", "stopTool", "read_file", "grep_files"];
        for (given, expected) in [
            ("maxstep", "maxSteps"),
            ("promt", "prompt"),
            ("stop_tool", "stopTool"),
            ("maxTurns", "maxSessionTurns"),
            ("NAME", "name"),
            ("readfile", "read_file"),
            ("grep_file", "grep_files"),
        ] {
            assert_eq!(nearest(given, known), Some(expected), "{given}");
        }
        assert_eq!(nearest("x", []), None);
        assert_eq!(nearest("", [""]), Some(""));
    }

    #[test]
    fn a_slip_of_the_finger_is_understood_and_another_word_is_not() {
        let known = ["model", "limits", "dialects", "lead"];
        assert_eq!(meant("modle", known), Some("model"));
        assert_eq!(meant("Limit", known), Some("limits"));
        assert_eq!(meant("laed", known), Some("lead"));
        assert_eq!(meant("colour", known), None);
    }
}
