//! `knowledge.manifest.json`: what an author says about single files of the knowledge.

use serde_json::Value;

/// At the root of the folder.
pub(crate) const MANIFEST: &str = "knowledge.manifest.json";

/// What is wrong with a manifest of knowledge.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It is none.
    Malformed(String),
    /// A path that leads out of the folder, or is spelt as none in it can be.
    Outside(Vec<String>),
    /// Files that are not there.
    Absent(Vec<String>),
}

/// Compares a manifest with the files of its folder.
pub(crate) fn check(manifest: &[u8], is_there: impl Fn(&str) -> bool) -> Vec<Wrong> {
    let files = match serde_json::from_slice::<Value>(manifest) {
        Ok(Value::Object(mut manifest)) => {
            manifest.remove("files").unwrap_or_else(|| Value::Object(Default::default()))
        }
        Ok(_) => return vec![Wrong::Malformed("it is no object".to_owned())],
        Err(fault) => return vec![Wrong::Malformed(fault.to_string())],
    };
    let Value::Object(files) = files else {
        return vec![Wrong::Malformed("its `files` are no object by path".to_owned())];
    };
    if let Some((path, _)) = files.iter().find(|(_, said)| !said.is_object()) {
        return vec![Wrong::Malformed(format!("what it says of `{}` is no object", path.escape_debug()))];
    }
    let (inside, outside): (Vec<_>, Vec<_>) = files.into_iter().map(|(path, _)| path).partition(|path| is_inside(path));
    let absent: Vec<_> = inside.into_iter().filter(|path| !is_there(path)).collect();
    let mut wrong = Vec::new();
    wrong.extend((!outside.is_empty()).then_some(Wrong::Outside(outside)));
    wrong.extend((!absent.is_empty()).then_some(Wrong::Absent(absent)));
    wrong
}

fn is_inside(path: &str) -> bool {
    !path.contains('\\') && path.split('/').all(|segment| !matches!(segment, "" | "." | ".."))
}

/// Paths as people read them.
pub(crate) fn shown(paths: &[String]) -> String {
    paths.iter().map(|path| format!("`{}`", path.escape_debug())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_speaks_of_files_that_are_there_and_of_no_others() {
        let paths = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let cases = [
            (r#"{"specVersion":"1.0.0","files":{"a/b.md":{"title":"B","new":1}},"more":true}"#, vec![]),
            (r#"{}"#, vec![]),
            (r#"{"files":{"c.md":{},"a/b.md":{},"d.md":{}}}"#, vec![Wrong::Absent(paths(&["c.md", "d.md"]))]),
            (
                r#"{"files":{"../x":{},"./a/b.md":{},"/a/b.md":{},"a//b.md":{},"c.md":{}}}"#,
                vec![
                    Wrong::Outside(paths(&["../x", "./a/b.md", "/a/b.md", "a//b.md"])),
                    Wrong::Absent(paths(&["c.md"])),
                ],
            ),
            ("[]", vec![Wrong::Malformed("it is no object".to_owned())]),
            (r#"{"files":["a/b.md"]}"#, vec![Wrong::Malformed("its `files` are no object by path".to_owned())]),
            (r#"{"files":{"a/b.md":1}}"#, vec![Wrong::Malformed("what it says of `a/b.md` is no object".to_owned())]),
        ];
        for (manifest, expected) in cases {
            assert_eq!(check(manifest.as_bytes(), |path| path == "a/b.md"), expected, "{manifest}");
        }
        assert!(matches!(check(b"{", |_| true).as_slice(), [Wrong::Malformed(_)]));
    }
}
