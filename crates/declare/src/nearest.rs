//! The known name that is most like an unknown one.

/// A name is compared no further than this.
const CHARS_COMPARED: usize = 64;

/// A hint at the first of the known names that need the fewest changes of a character. Absent: nothing is known.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let name: Vec<char> = name.chars().take(CHARS_COMPARED).collect();
    let nearest = known.into_iter().min_by_key(|candidate| distance(&name, candidate))?;
    Some(format!("did you mean `{nearest}`?"))
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
        let known = ["maxSessionTurns", "maxSteps", "prompt", "stopTool"];
        for (given, expected) in
            [("maxstep", "maxSteps"), ("promt", "prompt"), ("stop_tool", "stopTool"), ("turns", "prompt")]
        {
            assert_eq!(did_you_mean(given, known), Some(format!("did you mean `{expected}`?")), "{given}");
        }
        assert_eq!(did_you_mean("x", []), None);
    }
}
