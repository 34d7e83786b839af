//! Every test that `docs/standard-agents.md` names for a statement is there.

use super::{House, Report, house::PROMISES};

/// Where the tests lie that a word before the name stands for; without one it is a script of the engine.
const FOLDERS: &[(&str, &str)] = &[
    ("", "crates/engine/tests/script"),
    ("cli", "crates/cli/tests/binary"),
    ("declare", "crates/declare/tests/declare"),
    ("runtime", "crates/runtime/tests/runtime"),
    ("serve", "crates/serve/tests/serve"),
    ("trial", "crates/trial/tests"),
];

pub(super) fn check(house: &House) -> Vec<Report> {
    let lines = house.promises.lines().enumerate();
    let named = lines.flat_map(|(index, line)| named(line).map(move |name| (index + 1, name)));
    named
        .filter(|(_, name)| !exists(house, name))
        .map(|(line, name)| Report {
            path: PROMISES.to_owned(),
            line,
            what: format!("there is no test `{name}`"),
            hint: "name the test that holds the statement",
        })
        .collect()
}

/// What stands between backticks and reads as `[crate ]file::test`.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted.filter(|text| {
        let is_word = |word: &str| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        let (_, path) = text.split_once(' ').unwrap_or(("", text));
        path.split_once("::").is_some_and(|(file, test)| is_word(file) && is_word(test))
    })
}

fn exists(house: &House, name: &str) -> bool {
    let (word, path) = name.split_once(' ').unwrap_or(("", name));
    let folder = FOLDERS.iter().find(|(known, _)| *known == word).map(|(_, folder)| folder);
    let Some((folder, (file, test))) = folder.zip(path.split_once("::")) else { return false };
    let (file, head) = (format!("{folder}/{file}.rs"), format!("fn {test}("));
    house.sources.iter().any(|source| source.path == file && source.text.contains(&head))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaints;

    #[test]
    fn a_test_that_is_named_and_not_there_is_reported() {
        let found = complaints(
            check,
            &[
                ("crates/engine/tests/script/turns.rs", "fn a_turn() {}"),
                ("crates/serve/tests/serve/keys.rs", "async fn a_key() {}"),
                (
                    PROMISES,
                    "| one | `turns::a_turn`, `serve keys::a_key` |\n| two | `turns::a_key`, `nobody keys::a_key`, `std::Vec` |",
                ),
            ],
        );
        let expected = ["there is no test `turns::a_key`", "there is no test `nobody keys::a_key`"];
        assert_eq!(found, expected.map(|what| format!("{PROMISES}:2: {what}")));
    }
}
