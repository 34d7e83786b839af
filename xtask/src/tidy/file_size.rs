//! A file is one noun or one command; past 800 lines it is two.

use super::{House, Report};

const LINES_MAX: usize = 800;

pub(super) fn check(house: &House) -> Vec<Report> {
    let mut reports = Vec::new();
    for source in &house.sources {
        let lines = source.text.lines().count();
        if lines > LINES_MAX {
            let what = format!("the file has {lines} lines, at most {LINES_MAX}");
            reports.push(source.report(LINES_MAX + 1, what, "split it by noun"));
        }
    }
    reports
}

#[cfg(test)]
mod tests {
    use super::{super::complaints, *};

    #[test]
    fn a_file_over_800_lines_is_too_long() {
        let (fits, long) = ("\n".repeat(800), "\n".repeat(801));
        assert_eq!(complaints(check, &[("crates/a/src/lib.rs", &fits)]), [""; 0]);
        let expected = ["crates/a/src/lib.rs:801: the file has 801 lines, at most 800"];
        assert_eq!(complaints(check, &[("crates/a/src/lib.rs", &long)]), expected);
    }
}
