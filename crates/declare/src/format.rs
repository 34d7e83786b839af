//! The formats that declarations come in.

use std::fmt;

/// One way of writing agents down. Its name is what `agents` shows and `export --to` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    StandardAgents,
    Stax,
    Dex,
    AgentScope,
    ClaudeCode,
    Codex,
    Opencode,
    GithubCopilot,
    Gemini,
    Cursor,
    Goose,
    DockerAgent,
    Windsurf,
    Openclaw,
    Generic,
}

impl Format {
    pub const ALL: [Self; 15] = [
        Self::StandardAgents,
        Self::Stax,
        Self::Dex,
        Self::AgentScope,
        Self::ClaudeCode,
        Self::Codex,
        Self::Opencode,
        Self::GithubCopilot,
        Self::Gemini,
        Self::Cursor,
        Self::Goose,
        Self::DockerAgent,
        Self::Windsurf,
        Self::Openclaw,
        Self::Generic,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::StandardAgents => "standard-agents",
            Self::Stax => "stax",
            Self::Dex => "dex",
            Self::AgentScope => "agentscope",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
            Self::GithubCopilot => "github-copilot",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::Goose => "goose",
            Self::DockerAgent => "docker-agent",
            Self::Windsurf => "windsurf",
            Self::Openclaw => "openclaw",
            Self::Generic => "generic",
        }
    }

    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Whether agents can be written in this format. Standard Agents spreads them over files for each of their parts.
    pub fn is_exported(self) -> bool {
        self != Self::StandardAgents
    }

    /// Whether a file of this format holds agents by itself.
    pub fn is_imported(self) -> bool {
        !matches!(self, Self::StandardAgents | Self::Windsurf | Self::Openclaw | Self::Generic)
    }

    /// The key under which an agent keeps what only this format has a word for.
    pub fn vendor_key(self) -> String {
        format!("x-{}", self.name())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
