//! The known name that is most like an unknown one.

/// A name is compared no further than this; a model can send a megabyte of it.
const CHARS_COMPARED: usize = 64;

/// The first of the known names that need the fewest changes of a character.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name: Vec<char> = name.chars().take(CHARS_COMPARED).collect();
    known.min_by_key(|candidate| distance(&name, candidate))
}

/// Levenshtein's distance: insertions, deletions and replacements.
fn distance(a: &[char], b: &str) -> usize {
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (line, character) in b.chars().take(CHARS_COMPARED).enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for column in 0..a.len() {
            let replaced = diagonal + usize::from(a[column] != character);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[a.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_needs_the_fewest_changes() {
        let known = ["find_files", "grep_files", "list_files", "read_file"];
        for (given, expected) in [
            ("read_fil", "read_file"),
            ("readfile", "read_file"),
            ("fnd_files", "find_files"),
            ("grep_file", "grep_files"),
            ("list_files", "list_files"),
        ] {
            assert_eq!(nearest(given, known.into_iter()), Some(expected), "{given}");
        }
        assert_eq!(nearest("x", std::iter::empty()), None);
    }
}
