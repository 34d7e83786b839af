//! Paths that a definition names: relative to the file that names them, inside the project.

/// `said` in the file `base`, relative to the project. Absent: it is no such path.
pub(super) fn resolve(base: &str, said: &str) -> Option<String> {
    if said.trim().is_empty() || said.starts_with('/') || said.contains(['\\', '\0']) || said.contains("://") {
        return None;
    }
    let mut segments: Vec<&str> = base.split('/').collect();
    segments.pop();
    for segment in said.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop()?;
            }
            // A drive letter is no folder of ours.
            _ if segments.is_empty() && segment.ends_with(':') => return None,
            _ => segments.push(segment),
        }
    }
    (!segments.is_empty()).then(|| segments.join("/"))
}

/// Whether `said` in the file `base` is the project's own folder.
pub(super) fn is_root(base: &str, said: &str) -> bool {
    !said.trim().is_empty() && resolve(base, &format!("{said}/inside")).as_deref() == Some("inside")
}

/// Whether a string in JSON is meant as a path to instructions rather than as the instructions themselves.
pub fn is_meant_as_path(text: &str) -> bool {
    !text.contains(['\n', '\r'])
        && (["./", "../", "/"].iter().any(|start| text.starts_with(start)) || is_markdown(text))
}

pub(super) fn is_markdown(path: &str) -> bool {
    [".md", ".markdown"].iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_inside_the_project() {
        let cases = [
            ("agent.ts", "./a.md", Some("a.md")),
            ("agent.ts", "a/b.md", Some("a/b.md")),
            ("agent.ts", "a/../b.md", Some("b.md")),
            ("agent.ts", "a//./b.md", Some("a/b.md")),
            ("defs/subagents.ts", "./a.md", Some("defs/a.md")),
            ("defs/subagents.ts", "../a.md", Some("a.md")),
            ("agent.ts", "../a.md", None),
            ("defs/subagents.ts", "../../a.md", None),
            ("agent.ts", "a/../../defs/a.md", None),
            ("agent.ts", "/etc/passwd", None),
            ("agent.ts", "C:/a.md", None),
            ("agent.ts", "file:///etc/passwd", None),
            ("agent.ts", "a\\b.md", None),
            ("agent.ts", "a\0.md", None),
            ("agent.ts", "", None),
            ("agent.ts", " ", None),
            ("agent.ts", "./", None),
        ];
        for (base, said, expected) in cases {
            assert_eq!(resolve(base, said).as_deref(), expected, "{said:?} in {base}");
        }
    }

    #[test]
    fn a_string_in_json_is_a_path_if_it_looks_like_one() {
        for path in ["./a", "../a", "/a", "a.md", "docs/a.markdown"] {
            assert!(is_meant_as_path(path), "{path}");
        }
        for text in ["Review the code.", "See a.md for more.", "./a\nb", "a.MD"] {
            assert!(!is_meant_as_path(text), "{text}");
        }
    }
}
