//! The paths that an archive may hold.

const BYTES_MAX: usize = 4096;
const SEGMENT_BYTES_MAX: usize = 255;
const DEPTH_MAX: usize = 64;

/// Why a path may not be in an archive. Absent: it may.
pub(crate) fn refusal(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("it is empty");
    }
    if path.starts_with('/') {
        return Some("it is absolute");
    }
    if path.contains('\\') {
        return Some("it has a backslash");
    }
    if path.chars().any(char::is_control) {
        return Some("it has a control character");
    }
    if path.len() > BYTES_MAX {
        return Some("it is too long");
    }
    if path.split('/').count() > DEPTH_MAX {
        return Some("it lies too deep");
    }
    path.split('/').find_map(|segment| match segment {
        "" => Some("it has an empty part"),
        "." | ".." => Some("it has a part `.` or `..`"),
        _ if segment.len() > SEGMENT_BYTES_MAX => Some("a part of it is too long"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths_are_taken() {
        for path in ["a", "a/b", "a..b.md", "...", "日本/～ x", "C:"] {
            assert_eq!(refusal(path), None, "{path}");
        }
        let (long, deep) = ("a".repeat(256), "a/".repeat(64) + "a");
        for path in ["", "/a", "../a", "a/../b", "./a", "a/.", "a//b", "a/", "a\\b", "a\0", "a\nb", &long, &deep] {
            assert!(refusal(path).is_some(), "{path:?}");
        }
    }
}
