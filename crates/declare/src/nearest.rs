//! The known name that is most like an unknown one.

use crate::faults::quoted;

/// A name is compared no further than this.
const CHARS_COMPARED: usize = 64;

/// A hint at the known name that `name` was probably meant to be. Absent: nothing is known.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let name = letters(name);
    let nearest = known.into_iter().min_by_key(|candidate| unlikeness(&name, &letters(candidate)))?;
    Some(format!("did you mean {}?", quoted(nearest)))
}

fn letters(name: &str) -> Vec<char> {
    name.chars().take(CHARS_COMPARED).map(|character| character.to_ascii_lowercase()).collect()
}

/// In thousandths. Relative to the length, else every unknown name would be most like the shortest known one.
fn unlikeness(a: &[char], b: &[char]) -> usize {
    distance(a, b) * 1000 / a.len().max(b.len()).max(1)
}

/// Levenshtein's distance: insertions, deletions and replacements.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (line, character) in b.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for column in 0..a.len() {
            let replaced = diagonal + usize::from(a[column] != *character);
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
    fn the_nearest_name_is_the_one_that_was_probably_meant() {
        let known = ["maxSessionTurns", "maxSteps", "name", "prompt", "stopTool"];
        for (given, expected) in [
            ("maxstep", "maxSteps"),
            ("promt", "prompt"),
            ("stop_tool", "stopTool"),
            ("maxTurns", "maxSessionTurns"),
            ("NAME", "name"),
        ] {
            assert_eq!(did_you_mean(given, known), Some(format!("did you mean `{expected}`?")), "{given}");
        }
        assert_eq!(did_you_mean("x", []), None);
        assert_eq!(did_you_mean("", [""]), Some("did you mean ``?".to_owned()));
    }
}
