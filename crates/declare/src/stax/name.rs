//! The characters that names may have.

const CHARS_MAX: usize = 63;

/// What a name must look like, for people.
pub(super) const RULE: &str = "1 to 63 lower-case letters, digits and inner hyphens";

/// Whether an agent, a subagent or a package may be called so.
pub fn is_valid(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    name.len() <= CHARS_MAX
        && !name.is_empty()
        && name.bytes().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// What to write instead.
pub(super) fn hint(text: &str) -> String {
    format!("such as `{}`", slug(text).as_deref().unwrap_or("reviewer"))
}

/// The nearest valid name, to be offered.
pub fn slug(text: &str) -> Option<String> {
    let fit = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let slug: String = text.chars().map(fit).take(CHARS_MAX).collect();
    let slug = slug.trim_matches('-');
    (!slug.is_empty()).then(|| slug.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_lower_case_letters_digits_and_inner_hyphens() {
        let longest = "a".repeat(CHARS_MAX);
        for name in ["a", "7", "a-b", "a--b", "reviewer2", &longest] {
            assert!(is_valid(name), "{name}");
        }
        let too_long = "a".repeat(CHARS_MAX + 1);
        for name in ["", "-a", "a-", "A", "a_b", "a b", "ä", "a.b", &too_long] {
            assert!(!is_valid(name), "{name}");
        }
    }
}
