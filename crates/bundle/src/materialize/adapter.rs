//! The harnesses that a bundle is materialised for, and where each keeps what.

use entourage_declare::Format;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Adapter {
    ClaudeCode,
    Codex,
    Cursor,
    GithubCopilot,
    Opencode,
    Gemini,
    Windsurf,
    Openclaw,
    Generic,
}

impl Adapter {
    pub const ALL: [Self; 9] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Cursor,
        Self::GithubCopilot,
        Self::Opencode,
        Self::Gemini,
        Self::Windsurf,
        Self::Openclaw,
        Self::Generic,
    ];

    /// The format that its subagents are written in.
    pub fn format(self) -> Format {
        match self {
            Self::ClaudeCode => Format::ClaudeCode,
            Self::Codex => Format::Codex,
            Self::Cursor => Format::Cursor,
            Self::GithubCopilot => Format::GithubCopilot,
            Self::Opencode => Format::Opencode,
            Self::Gemini => Format::Gemini,
            Self::Windsurf => Format::Windsurf,
            Self::Openclaw => Format::Openclaw,
            Self::Generic => Format::Generic,
        }
    }

    /// As a definition and `--adapter` name it.
    pub fn name(self) -> &'static str {
        self.format().name()
    }

    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|adapter| adapter.name() == name)
    }

    /// As people call the harness.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::GithubCopilot => "GitHub Copilot",
            Self::Opencode => "opencode",
            Self::Gemini => "Gemini CLI",
            Self::Windsurf => "Windsurf",
            Self::Openclaw => "OpenClaw",
            Self::Generic => "the generic target",
        }
    }

    pub(super) fn shape(self) -> Shape {
        let usual = Shape {
            documents: &["AGENTS.md"],
            nested: Some("AGENTS.md"),
            rules: Rules::Embedded,
            skills: "skills",
            knowledge: "knowledge",
            subagents: Subagents::Native,
        };
        match self {
            Self::ClaudeCode => Shape {
                documents: &["CLAUDE.md"],
                nested: Some("CLAUDE.md"),
                skills: ".claude/skills",
                knowledge: ".claude/knowledge",
                ..usual
            },
            Self::Codex => Shape { skills: ".agents/skills", knowledge: ".agents/knowledge", ..usual },
            Self::Cursor => {
                Shape { rules: Rules::Cursor, skills: ".cursor/skills", knowledge: ".cursor/knowledge", ..usual }
            }
            Self::GithubCopilot => Shape {
                documents: &[".github/copilot-instructions.md", "AGENTS.md"],
                rules: Rules::GithubCopilot,
                skills: ".github/skills",
                knowledge: ".github/knowledge",
                ..usual
            },
            Self::Opencode => Shape { skills: ".opencode/skill", knowledge: ".opencode/knowledge", ..usual },
            Self::Gemini => Shape {
                documents: &["GEMINI.md"],
                nested: Some("GEMINI.md"),
                skills: ".gemini/skills",
                knowledge: ".gemini/knowledge",
                ..usual
            },
            Self::Windsurf => Shape {
                rules: Rules::Windsurf,
                skills: ".windsurf/workflows",
                knowledge: ".windsurf/knowledge",
                subagents: Subagents::Instead("it has no subagents; its text is a workflow that people start"),
                ..usual
            },
            Self::Openclaw => Shape {
                nested: None,
                subagents: Subagents::Instead("it has no subagents; its text is in a folder of its own"),
                ..usual
            },
            Self::Generic => Shape {
                documents: &["INSTRUCTIONS.md"],
                nested: Some("INSTRUCTIONS.md"),
                subagents: Subagents::Instead("nobody says how it calls subagents; its text is in a folder of its own"),
                ..usual
            },
        }
    }
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a harness keeps what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// The files that tell the main agent what to do; all say the same.
    pub(super) documents: &'static [&'static str],
    /// The same file of a folder, for work in it. Absent: there is none.
    pub(super) nested: Option<&'static str>,
    pub(super) rules: Rules,
    pub(super) skills: &'static str,
    pub(super) knowledge: &'static str,
    pub(super) subagents: Subagents,
}

/// How a harness is told rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rules {
    /// Within the instructions.
    Embedded,
    Cursor,
    GithubCopilot,
    Windsurf,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Subagents {
    Native,
    /// The harness has none; why each is a loss all the same.
    Instead(&'static str),
}
