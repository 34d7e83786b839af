//! Every file begins with its one purpose.

use super::{House, Report};

pub(super) fn check(house: &House) -> Vec<Report> {
    let mut reports = Vec::new();
    for source in &house.sources {
        let first = source.text.lines().next().unwrap_or_default();
        if first.strip_prefix("//!").is_none_or(|purpose| purpose.trim().is_empty()) {
            reports.push(source.report(1, "the file does not say its purpose", "begin it with a `//!` line"));
        }
    }
    reports
}

#[cfg(test)]
mod tests {
    use super::{super::complaints, *};

    #[test]
    fn a_file_without_a_purpose_on_its_first_line_is_refused() {
        let files = [
            ("crates/a/src/fine.rs", "//! Why it is here.\nfn a() {}"),
            ("crates/a/src/none.rs", "fn a() {}"),
            ("crates/a/src/blank.rs", "//!\n//! Too late."),
            ("crates/a/src/wrong.rs", "/// Of the next item.\nfn a() {}"),
        ];
        let expected = ["none", "blank", "wrong"]
            .map(|name| format!("crates/a/src/{name}.rs:1: the file does not say its purpose"));
        assert_eq!(complaints(check, &files), expected);
    }
}
