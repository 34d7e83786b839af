//! What other harnesses call our tools.

/// Their name, our name. Ours need not be in a given toolbox.
const ALIASES: [(&str, &str); 18] = [
    ("read", "read_file"),
    ("Read", "read_file"),
    ("view", "read_file"),
    ("ls", "list_files"),
    ("LS", "list_files"),
    ("list", "list_files"),
    ("glob", "find_files"),
    ("Glob", "find_files"),
    ("find", "find_files"),
    ("grep", "grep_files"),
    ("Grep", "grep_files"),
    ("search", "grep_files"),
    ("write", "write_file"),
    ("Write", "write_file"),
    ("edit", "edit_file"),
    ("Edit", "edit_file"),
    ("bash", "shell"),
    ("Bash", "shell"),
];

/// Our name for `alias`, if it is one.
pub(super) fn resolve(alias: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(theirs, _)| *theirs == alias).map(|(_, ours)| *ours)
}
