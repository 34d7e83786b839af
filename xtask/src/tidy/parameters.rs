//! Five parameters are enough; `self` is free, and a trait's own declaration answers for those who implement it.

use super::{House, Report, functions::functions};

const PARAMETERS_MAX: usize = 5;

pub(super) fn check(house: &House) -> Vec<Report> {
    let mut reports = Vec::new();
    for source in &house.sources {
        for function in functions(source).into_iter().filter(|function| !function.implements_trait) {
            let count = function.parameters;
            if count > PARAMETERS_MAX {
                let what = format!("function `{}` has {count} parameters, at most {PARAMETERS_MAX}", function.name);
                reports.push(source.report(function.line, what, "give the ones that belong together a type"));
            }
        }
    }
    reports
}

#[cfg(test)]
mod tests {
    use super::{super::complaints, *};

    fn check_text(text: &str) -> Vec<String> {
        complaints(check, &[("crates/a/src/lib.rs", text)])
    }

    #[test]
    fn six_parameters_are_too_many() {
        let expected = ["crates/a/src/lib.rs:1: function `six` has 6 parameters, at most 5"];
        assert_eq!(check_text("fn six(a: A, b: B, c: C, d: D, e: E, f: F) {}"), expected);
        assert_eq!(check_text("trait T { fn six(&self, a: A, b: B, c: C, d: D, e: E, f: F); }"), expected);
    }

    #[test]
    fn self_is_free_and_who_implements_a_trait_did_not_choose() {
        assert_eq!(check_text("impl A { fn five(&self, a: A, b: B, c: C, d: D, e: E) {} }"), [""; 0]);
        assert_eq!(check_text("impl T for A { fn six(a: A, b: B, c: C, d: D, e: E, f: F) {} }"), [""; 0]);
    }
}
