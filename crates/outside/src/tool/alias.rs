//! What other harnesses call our tools.

/// Their name, our name. Ours need not be in a given toolbox.
const ALIASES: [(&str, &str); 26] = [
    ("read", "read_file"),
    ("Read", "read_file"),
    ("view", "read_file"),
    ("ls", "list_files"),
    ("LS", "list_files"),
    ("list", "list_files"),
    ("list_dir", "list_files"),
    ("list_directory", "list_files"),
    ("glob", "find_files"),
    ("Glob", "find_files"),
    ("find", "find_files"),
    ("grep", "grep_files"),
    ("Grep", "grep_files"),
    ("search", "grep_files"),
    ("grep_search", "grep_files"),
    ("search_file_content", "grep_files"),
    ("write", "write_file"),
    ("Write", "write_file"),
    ("create_file", "write_file"),
    ("edit", "edit_file"),
    ("Edit", "edit_file"),
    ("str_replace", "edit_file"),
    ("bash", "shell"),
    ("Bash", "shell"),
    ("run_shell_command", "shell"),
    ("run_in_terminal", "shell"),
];

/// Our name for `alias`, if it is one.
pub(super) fn resolve(alias: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(theirs, _)| *theirs == alias).map(|(_, ours)| *ours)
}
