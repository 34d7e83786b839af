//! Whether a source holds documentation tests, so that the gate starts rustdoc only when there is work for it.

/// First words of a fence that rustdoc takes for Rust; any other names another language.
const RUST: &[&str] = &["", "rust", "no_run", "should_panic", "compile_fail", "ignore"];

pub(crate) fn has_any(source: &str) -> bool {
    let mut inside = false;
    for line in source.lines().map(str::trim_start) {
        let Some(comment) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            inside = false;
            continue;
        };
        let Some(info) = comment.trim_start().strip_prefix("```") else { continue };
        inside = !inside;
        let language = info.split([',', ' ']).next().unwrap_or_default();
        if inside && (RUST.contains(&language) || language.starts_with("edition")) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_of_rust_is_a_documentation_test_and_any_other_is_not() {
        let cases = [
            ("/// Adds.\n/// ```\n/// assert_eq!(add(1, 2), 3);\n/// ```\nfn add() {}", true),
            ("//! ```rust,no_run\n//! main()\n//! ```", true),
            ("/// ```text\n/// a picture\n/// ```\nfn draw() {}", false),
            ("/// ```toml\n/// a = 1\n/// ```\n/// ```\n/// fine()\n/// ```\nfn read() {}", true),
            ("// ```\n// only a comment\n// ```", false),
            ("const TEXT: &str = \"```\";", false),
        ];
        for (source, expected) in cases {
            assert_eq!(has_any(source), expected, "{source}");
        }
    }
}
