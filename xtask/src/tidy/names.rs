//! A file or folder is named as what it holds: `foo.rs` beside `foo/`, and no name that fits everything.

use super::{House, Report};

const EMPTY_NAMES: &[&str] = &["util", "utils", "common", "helpers", "manager", "misc"];

pub(super) fn check(house: &House) -> Vec<Report> {
    let mut reports = Vec::new();
    for source in &house.sources {
        let path = source.path.strip_suffix(".rs").unwrap_or(&source.path);
        if path.ends_with("/mod") {
            reports.push(source.report(1, "the file is named `mod.rs`", "name it as its folder and put it beside it"));
        }
        for part in path.split('/').filter(|part| EMPTY_NAMES.contains(part)) {
            reports.push(source.report(1, format!("the name `{part}` says nothing"), "name it as what it holds"));
        }
    }
    reports
}

#[cfg(test)]
mod tests {
    use super::{super::complaints, *};

    #[test]
    fn mod_rs_and_names_that_fit_everything_are_refused() {
        let files = [
            ("crates/a/src/mod.rs", ""),
            ("crates/a/src/utils.rs", ""),
            ("crates/a/src/helpers/text.rs", ""),
            ("crates/a/src/model.rs", ""),
            ("crates/a/src/utility_bill.rs", ""),
        ];
        let expected = [
            "crates/a/src/mod.rs:1: the file is named `mod.rs`",
            "crates/a/src/utils.rs:1: the name `utils` says nothing",
            "crates/a/src/helpers/text.rs:1: the name `helpers` says nothing",
        ];
        assert_eq!(complaints(check, &files), expected);
    }
}
