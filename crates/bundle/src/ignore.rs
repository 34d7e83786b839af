//! `.staxignore`: which files of a project are not packed, by the rules of `.gitignore`.

use entourage_model::{Place, Report};
use globset::{GlobBuilder, GlobMatcher};

/// Beside the definition.
pub const IGNORE_FILE: &str = ".staxignore";

/// Never packed, whatever the file says.
const NEVER: [&str; 2] = [".git", ".stax"];

/// Not packed unless the file says otherwise.
const UNLESS_SAID: &str = "node_modules/";

#[derive(Debug, Default)]
pub(crate) struct Ignore {
    rules: Vec<Rule>,
    /// Folders relative to the project: what we write ourselves.
    outputs: Vec<String>,
}

#[derive(Debug)]
struct Rule {
    matcher: GlobMatcher,
    is_negated: bool,
    only_folders: bool,
}

impl Ignore {
    /// Reads the text of the file, if there is one. A line that is no pattern has no effect and is reported.
    pub(crate) fn new(text: Option<&str>, outputs: Vec<String>) -> (Self, Vec<Report>) {
        let mut ignore = Self { rules: Vec::new(), outputs };
        let mut reports = Vec::new();
        ignore.rules.extend(Rule::parse(UNLESS_SAID).ok().flatten());
        // Some editors begin a file with a mark that is no part of its first line.
        let text = text.map(|text| text.strip_prefix('\u{feff}').unwrap_or(text));
        for (line, pattern) in (1..).zip(text.unwrap_or_default().lines()) {
            match Rule::parse(pattern) {
                Ok(rule) => ignore.rules.extend(rule),
                Err(reason) => {
                    let what = format!("`{}` is no pattern and has no effect: {reason}", pattern.escape_debug());
                    let report = Report::warning("B024", what).at(Place::at(IGNORE_FILE, line, 1));
                    reports.push(report.hint("patterns are those of `.gitignore`"));
                }
            }
        }
        (ignore, reports)
    }

    /// Whether what lies at a path is left out. What is in a folder that is left out cannot be taken back in.
    pub(crate) fn is_ignored(&self, path: &str, is_folder: bool) -> bool {
        let parents = path.match_indices('/').map(|(end, _)| (&path[..end], true));
        parents.chain([(path, is_folder)]).any(|(path, is_folder)| self.is_left_out(path, is_folder))
    }

    fn is_left_out(&self, path: &str, is_folder: bool) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        if is_folder && (NEVER.contains(&name) || self.outputs.iter().any(|output| output == path)) {
            return true;
        }
        let last =
            self.rules.iter().rev().find(|rule| (is_folder || !rule.only_folders) && rule.matcher.is_match(path));
        last.is_some_and(|rule| !rule.is_negated)
    }
}

impl Rule {
    /// Absent: the line says nothing.
    fn parse(line: &str) -> Result<Option<Self>, String> {
        let line = without_trailing_spaces(line);
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let (line, is_negated) = line.strip_prefix('!').map_or((line, false), |line| (line, true));
        let (line, only_folders) = line.strip_suffix('/').map_or((line, false), |line| (line, true));
        if line.is_empty() {
            return Ok(None);
        }
        // A slash anywhere but at the end ties the pattern to the project's folder.
        let mut glob = match line.strip_prefix('/') {
            Some(line) => line.to_owned(),
            None if line.contains('/') => line.to_owned(),
            None => format!("**/{line}"),
        };
        // More stars than two say nothing more.
        while glob.contains("***") {
            glob = glob.replace("***", "**");
        }
        let glob = without_classes(&without_braces(&glob))?;
        let glob = GlobBuilder::new(&glob).literal_separator(true).backslash_escape(true).build();
        let matcher = glob.map_err(|fault| fault.kind().to_string())?.compile_matcher();
        Ok(Some(Self { matcher, is_negated, only_folders }))
    }
}

/// A backslash keeps a space.
fn without_trailing_spaces(line: &str) -> &str {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let trimmed = line.trim_end_matches(' ');
    if trimmed.ends_with('\\') && trimmed.len() < line.len() { &line[..=trimmed.len()] } else { trimmed }
}

/// Braces are letters there.
fn without_braces(glob: &str) -> String {
    let mut escaped = String::new();
    let mut is_escaped = false;
    for letter in glob.chars() {
        if matches!(letter, '{' | '}') && !is_escaped {
            escaped.push('\\');
        }
        is_escaped = letter == '\\' && !is_escaped;
        escaped.push(letter);
    }
    escaped
}

/// Classes such as `[:digit:]` with the letters that they stand for.
fn without_classes(glob: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut rest = glob;
    let mut is_inside = false;
    while let Some(letter) = rest.chars().next() {
        if is_inside && let Some((name, after)) = class(rest) {
            plain.push_str(letters(name).ok_or_else(|| format!("there is no class `[:{name}:]`"))?);
            rest = after;
            continue;
        }
        // What follows a backslash, or begins a set, says nothing of where the set ends.
        let taken = match letter {
            '\\' => 2,
            '[' if !is_inside => {
                is_inside = true;
                let negated = usize::from(rest[1..].starts_with(['!', '^']));
                1 + negated + usize::from(rest[1 + negated..].starts_with(']'))
            }
            ']' => {
                is_inside = false;
                1
            }
            _ => 1,
        };
        let end = rest.char_indices().nth(taken).map_or(rest.len(), |(end, _)| end);
        plain.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    Ok(plain)
}

/// The name of the class at the start of a text, and what follows it.
fn class(text: &str) -> Option<(&str, &str)> {
    let (name, after) = text.strip_prefix("[:")?.split_once(']')?;
    Some((name.strip_suffix(':')?, after))
}

/// The letters of a class within a set, as git has them: a slash is in none. No list begins with a letter that negates
/// or ends the set.
fn letters(class: &str) -> Option<&'static str> {
    Some(match class {
        "alnum" => "0-9A-Za-z",
        "alpha" => "A-Za-z",
        "blank" => " \t",
        "cntrl" => "\u{1}-\u{1f}\u{7f}",
        "digit" => "0-9",
        "graph" => "\"-.0-~!",
        "lower" => "a-z",
        "print" => " -.0-~",
        "punct" => ":-@[-`{-~!-.",
        "space" => " \t-\r",
        "upper" => "A-Z",
        "xdigit" => "0-9A-Fa-f",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, ignored: &[&str], kept: &[&str]) {
        let (ignore, reports) = Ignore::new(Some(text), vec!["out/data".to_owned()]);
        assert_eq!(reports, []);
        for path in ignored {
            let (path, is_folder) = path.strip_suffix('/').map_or((*path, false), |path| (path, true));
            assert!(ignore.is_ignored(path, is_folder), "{path} by {text:?}");
        }
        for path in kept {
            let (path, is_folder) = path.strip_suffix('/').map_or((*path, false), |path| (path, true));
            assert!(!ignore.is_ignored(path, is_folder), "{path} by {text:?}");
        }
    }

    #[test]
    fn patterns_mean_what_they_do_to_git() {
        check("*.log", &["a.log", "d/a.log", ".log"], &["a.logs", "log"]);
        check("/a.txt", &["a.txt"], &["d/a.txt"]);
        check("d/a.txt", &["d/a.txt"], &["e/d/a.txt"]);
        check("build/", &["build/", "d/build/", "build/x", "d/build/e/x"], &["build", "d/build"]);
        check("a/**", &["a/x", "a/b/x"], &["a/", "b/x"]);
        check("**/cache", &["cache", "a/cache", "a/b/cache/x"], &["a/caches"]);
        check("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["b", "x/a/b"]);
        check("k/***/c.log\n****/d", &["k/c.log", "k/a/c.log", "d", "a/b/d"], &["c.log", "k/d.log"]);
        check("a?c", &["abc"], &["a/c", "ac"]);
        check("[ab].md", &["a.md", "d/b.md"], &["c.md"]);
        check("[!ab].md", &["c.md"], &["a.md"]);
        check("[[:digit:]].log", &["1.log"], &["a.log", "12.log"]);
        check("[![:alpha:]_]*", &["1a", "-"], &["a1", "_"]);
        check("[[:upper:][:digit:]x]", &["A", "7", "x"], &["a", ":"]);
        check("a[[:punct:]]b", &["a!b", "a]b", "a-b", "a{b", "a\\b"], &["a1b", "a b", "a/b"]);
        check("[[:graph:]]", &["!", "z", "]"], &[" ", "é"]);
        check("[]:[]x", &["]x", ":x", "[x"], &["ax"]);
        check("{a,b}", &["{a,b}"], &["a", "b"]);
        check("*.md\n!keep.md", &["a.md"], &["keep.md", "d/keep.md"]);
        check("d/\n!d/keep.md", &["d/keep.md"], &[]);
        check("d/*\n!d/keep.md", &["d/a.md"], &["d/keep.md"]);
        check("# a.md\n\n\\#b\nc  \ne\\ \r\n\\!f", &["#b", "c", "e ", "!f"], &["a.md", "# a.md", "e", "f"]);
    }

    #[test]
    fn a_mark_at_the_start_is_no_part_of_the_first_line() {
        check("\u{feff}*.key\n*.pem", &["a.key", "a.pem"], &["a.md"]);
    }

    #[test]
    fn some_folders_are_never_packed() {
        check("!.git/\n!.stax/\n!out/data/", &[".git/", "a/.git/x", ".stax/x", "out/data/x"], &[".gitkeep", "out/x"]);
        check("", &["node_modules/", "a/node_modules/b/x"], &["node_modules"]);
        check("!node_modules/", &[], &["node_modules/x"]);
    }

    #[test]
    fn a_line_that_is_no_pattern_is_reported() {
        let (_, reports) = Ignore::new(Some("ok\n[a\n[[:number:]]"), Vec::new());
        assert_eq!(
            reports.iter().map(|report| report.place.as_ref().and_then(|place| place.line)).collect::<Vec<_>>(),
            [Some(2), Some(3)]
        );
    }
}
