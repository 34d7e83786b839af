//! The table: what each harness calls its tools.

use super::Work::{self, *};
use crate::Format;

pub(super) type Words = &'static [(&'static str, &'static [Work])];

/// Of several words for the same work the first is written.
pub(super) fn words(format: Format) -> Words {
    match format {
        Format::ClaudeCode => CLAUDE_CODE,
        Format::Gemini => GEMINI,
        Format::GithubCopilot => GITHUB_COPILOT,
        Format::Opencode => OPENCODE,
        Format::DockerAgent => DOCKER_AGENT,
        Format::Goose => GOOSE,
        Format::Openclaw => OPENCLAW,
        Format::Dex => DEX,
        Format::StandardAgents | Format::Stax | Format::AgentScope | Format::Generic => OURS,
        Format::Codex | Format::Cursor | Format::Windsurf => &[],
    }
}

pub(super) const OURS: Words = &[
    ("read_file", &[ReadFile]),
    ("list_files", &[ListFiles]),
    ("find_files", &[FindFiles]),
    ("grep_files", &[GrepFiles]),
    ("write_file", &[WriteFile]),
    ("edit_file", &[EditFile]),
    ("shell", &[Shell]),
    ("web_fetch", &[WebFetch]),
    ("web_search", &[WebSearch]),
    ("todo", &[Todo]),
    ("agent", &[Agent]),
];

const DEX: Words = &[
    ("read", &[ReadFile]),
    ("list", &[ListFiles]),
    ("glob", &[FindFiles]),
    ("search", &[GrepFiles]),
    ("write", &[WriteFile]),
    ("edit", &[EditFile]),
    ("bash", &[Shell]),
    ("grep", &[GrepFiles]),
    ("find", &[FindFiles]),
    ("ls", &[ListFiles]),
    ("view", &[ReadFile]),
    ("subagent", &[Agent]),
];

const CLAUDE_CODE: Words = &[
    ("Read", &[ReadFile]),
    ("LS", &[ListFiles]),
    ("Glob", &[FindFiles]),
    ("Grep", &[GrepFiles]),
    ("Write", &[WriteFile]),
    ("Edit", &[EditFile]),
    ("MultiEdit", &[EditFile]),
    ("Bash", &[Shell]),
    ("PowerShell", &[Shell]),
    ("WebFetch", &[WebFetch]),
    ("WebSearch", &[WebSearch]),
    ("TodoWrite", &[Todo]),
    ("TodoRead", &[Todo]),
    ("Agent", &[Agent]),
    ("Task", &[Agent]),
    ("Skill", &[Skill]),
    ("AskUserQuestion", &[Ask]),
    ("NotebookEdit", &[Notebook]),
    ("NotebookRead", &[ReadFile]),
    ("LSP", &[LanguageServer]),
];

const GEMINI: Words = &[
    ("read_file", &[ReadFile]),
    ("read_many_files", &[ReadFile]),
    ("list_directory", &[ListFiles]),
    ("glob", &[FindFiles]),
    ("grep_search", &[GrepFiles]),
    ("search_file_content", &[GrepFiles]),
    ("write_file", &[WriteFile]),
    ("replace", &[EditFile]),
    ("run_shell_command", &[Shell]),
    ("web_fetch", &[WebFetch]),
    ("google_web_search", &[WebSearch]),
    ("write_todos", &[Todo]),
    ("activate_skill", &[Skill]),
    ("ask_user", &[Ask]),
    ("save_memory", &[Memory]),
];

/// The harness's own words for groups of tools, then those of the tools that its editor has in them.
const GITHUB_COPILOT: Words = &[
    ("read", &[ReadFile]),
    ("search", &[FindFiles, GrepFiles]),
    ("edit", &[WriteFile, EditFile]),
    ("execute", &[Shell]),
    ("web", &[WebFetch, WebSearch]),
    ("todo", &[Todo]),
    ("agent", &[Agent]),
    ("search/listDirectory", &[ListFiles]),
    ("search/fileSearch", &[FindFiles]),
    ("search/textSearch", &[GrepFiles]),
    ("read/readFile", &[ReadFile]),
    ("edit/createFile", &[WriteFile]),
    ("edit/editFiles", &[EditFile]),
    ("execute/runInTerminal", &[Shell]),
    ("web/fetch", &[WebFetch]),
    ("agent/runSubagent", &[Agent]),
    ("shell", &[Shell]),
    ("bash", &[Shell]),
    ("powershell", &[Shell]),
    ("view", &[ReadFile]),
    ("grep", &[GrepFiles]),
    ("glob", &[FindFiles]),
    ("multiedit", &[EditFile]),
    ("write", &[WriteFile]),
    ("task", &[Agent]),
    ("custom-agent", &[Agent]),
    ("todowrite", &[Todo]),
    ("websearch", &[WebSearch]),
    ("webfetch", &[WebFetch]),
    ("fetch", &[WebFetch]),
    ("runcommands", &[Shell]),
    ("editfiles", &[EditFile]),
    ("codebase", &[GrepFiles]),
];

/// One permission is for every way of changing a file.
const OPENCODE: Words = &[
    ("read", &[ReadFile]),
    ("list", &[ListFiles]),
    ("glob", &[FindFiles]),
    ("grep", &[GrepFiles]),
    ("edit", &[WriteFile, EditFile]),
    ("write", &[WriteFile, EditFile]),
    ("patch", &[WriteFile, EditFile]),
    ("bash", &[Shell]),
    ("webfetch", &[WebFetch]),
    ("websearch", &[WebSearch]),
    ("todowrite", &[Todo]),
    ("todoread", &[Todo]),
    ("task", &[Agent]),
    ("skill", &[Skill]),
    ("question", &[Ask]),
    ("lsp", &[LanguageServer]),
];

/// Whole toolsets, then the tools in them.
const DOCKER_AGENT: Words = &[
    ("filesystem", &[ReadFile, ListFiles, FindFiles, GrepFiles, WriteFile, EditFile]),
    ("shell", &[Shell]),
    ("fetch", &[WebFetch]),
    ("todo", &[Todo]),
    ("memory", &[Memory]),
    ("think", &[Think]),
    ("lsp", &[LanguageServer]),
    ("read_file", &[ReadFile]),
    ("read_multiple_files", &[ReadFile]),
    ("list_directory", &[ListFiles]),
    ("directory_tree", &[ListFiles]),
    ("search_files", &[FindFiles]),
    ("search_files_content", &[GrepFiles]),
    ("write_file", &[WriteFile]),
    ("edit_file", &[EditFile]),
];

const GOOSE: Words = &[
    ("developer", &[ReadFile, ListFiles, FindFiles, GrepFiles, WriteFile, EditFile, Shell]),
    ("todo", &[Todo]),
    ("memory", &[Memory]),
    ("skills", &[Skill]),
    ("summon", &[Agent]),
];

const OPENCLAW: Words = &[
    ("read", &[ReadFile]),
    ("write", &[WriteFile]),
    ("edit", &[EditFile]),
    ("apply_patch", &[EditFile]),
    ("exec", &[Shell]),
    ("web_fetch", &[WebFetch]),
    ("web_search", &[WebSearch]),
    ("sessions_spawn", &[Agent]),
];
