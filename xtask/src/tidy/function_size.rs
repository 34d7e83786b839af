//! A function fits a screen; a test may tell a longer story.

use super::{House, Report, functions::functions};

const LINES_MAX: usize = 70;
const TEST_LINES_MAX: usize = 120;

pub(super) fn check(house: &House) -> Vec<Report> {
    let mut reports = Vec::new();
    for source in &house.sources {
        for function in functions(source) {
            let max = if function.in_tests { TEST_LINES_MAX } else { LINES_MAX };
            if function.lines > max {
                let what = format!("function `{}` has {} lines, at most {max}", function.name, function.lines);
                reports.push(source.report(function.line, what, "split it where it changes its subject"));
            }
        }
    }
    reports
}

#[cfg(test)]
mod tests {
    use super::{super::complaints, *};

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    work();\n".repeat(lines - 2))
    }

    #[test]
    fn a_function_over_70_lines_is_too_long() {
        assert_eq!(complaints(check, &[("crates/a/src/lib.rs", &function(70))]), [""; 0]);
        let expected = ["crates/a/src/lib.rs:1: function `long` has 71 lines, at most 70"];
        assert_eq!(complaints(check, &[("crates/a/src/lib.rs", &function(71))]), expected);
    }

    #[test]
    fn a_method_counts_like_a_function() {
        let method = format!("impl A {{\n{}}}", function(71));
        let expected = ["crates/a/src/lib.rs:2: function `long` has 71 lines, at most 70"];
        assert_eq!(complaints(check, &[("crates/a/src/lib.rs", &method)]), expected);
    }

    #[test]
    fn a_test_may_have_120_lines() {
        let module = |lines| format!("#[cfg(test)]\nmod tests {{\n{}}}", function(lines));
        assert_eq!(complaints(check, &[("crates/a/src/lib.rs", &module(120))]), [""; 0]);
        let expected = ["crates/a/src/lib.rs:3: function `long` has 121 lines, at most 120"];
        assert_eq!(complaints(check, &[("crates/a/src/lib.rs", &module(121))]), expected);
    }
}
