//! What somebody probably meant.

/// The candidate that `word` most resembles, if it resembles one: a third of its letters may be wrong.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let bound = word.chars().count().div_ceil(3).min(4);
    let distance = |candidate: &str| strsim::damerau_levenshtein(&word.to_lowercase(), &candidate.to_lowercase());
    let nearest = candidates.into_iter().map(|candidate| (distance(candidate), candidate)).min_by_key(|(far, _)| *far);
    nearest.filter(|(far, _)| *far <= bound).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_finger_is_understood_and_another_word_is_not() {
        let known = ["model", "limits", "dialects"];
        assert_eq!(nearest("modle", known), Some("model"));
        assert_eq!(nearest("Limit", known), Some("limits"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("model", []), None);
    }
}
