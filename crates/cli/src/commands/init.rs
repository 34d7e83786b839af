//! `entourage init`: a starter project, in the format that its author prefers.

use crate::failure::{Exit, Failure};
use crate::invocation::Invocation;
use crate::output::{Output, texts};
use clap::{Args, ValueEnum};
use entourage_bundle::materialize::OnClash;
use entourage_model::Report;
use serde_json::json;

/// Files by path and text.
type Files = &'static [(&'static str, &'static str)];

/// What every project has.
const COMMON: Files = &[
    ("AGENTS.md", include_str!("../../starter/AGENTS.md")),
    ("entourage.toml", include_str!("../../starter/entourage.toml")),
];

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage init                              Markdown files in `subagents/`
  entourage init --format standard-agents     agents, prompts and tools in TypeScript

Never overwrites a file. Try `entourage agents` next, then `entourage run 'What is here?'`.")]
pub(crate) struct Arguments {
    /// How the starter's subagents are declared
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Starter,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Starter {
    /// Markdown files in `subagents/`
    #[default]
    Agentscope,
    /// TypeScript in `agents/`: two models that face each other, with tools
    StandardAgents,
    /// Markdown files in `.dex/agents/`
    Dex,
    /// Markdown files in `.claude/agents/`
    ClaudeCode,
    /// `agent.ts` and `subagents.ts`, to be packed as an artifact
    Stax,
}

impl Starter {
    fn files(self) -> Files {
        match self {
            Self::Agentscope => {
                &[("subagents/reviewer.md", include_str!("../../starter/agentscope/subagents/reviewer.md"))]
            }
            Self::StandardAgents => &[
                ("agents/agents/editor.ts", include_str!("../../starter/standard-agents/agents/agents/editor.ts")),
                ("agents/prompts/critic.ts", include_str!("../../starter/standard-agents/agents/prompts/critic.ts")),
                ("agents/prompts/writer.ts", include_str!("../../starter/standard-agents/agents/prompts/writer.ts")),
                ("agents/tools/accept.ts", include_str!("../../starter/standard-agents/agents/tools/accept.ts")),
                (
                    "agents/tools/word_count.ts",
                    include_str!("../../starter/standard-agents/agents/tools/word_count.ts"),
                ),
            ],
            Self::Dex => &[(".dex/agents/reviewer.md", include_str!("../../starter/dex/.dex/agents/reviewer.md"))],
            Self::ClaudeCode => {
                &[(".claude/agents/reviewer.md", include_str!("../../starter/claude-code/.claude/agents/reviewer.md"))]
            }
            Self::Stax => &[
                ("agent.ts", include_str!("../../starter/stax/agent.ts")),
                ("subagents.ts", include_str!("../../starter/stax/subagents.ts")),
                ("subagents/reviewer.md", include_str!("../../starter/stax/subagents/reviewer.md")),
            ],
        }
    }
}

/// Writes nothing at all if any of the files is there already.
pub(crate) fn perform(invocation: &Invocation, arguments: &Arguments) -> Result<(), Failure> {
    let files: Vec<_> = COMMON.iter().chain(arguments.format.files()).copied().collect();
    let in_the_way: Vec<_> =
        files.iter().filter(|(path, _)| invocation.project.has(path)).map(|(path, _)| format!("`{path}`")).collect();
    if let Some((first, rest)) = in_the_way.split_first() {
        let others = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        let report = Report::error("C029", format!("{first}{others} would be overwritten; nothing was written"));
        let hint = "move them away, or begin in another folder by `--project DIR`";
        return Err(Failure::new(Exit::File, report.hint(hint)));
    }
    Output::open(None, &invocation.project)?.write(&texts(files.iter().copied()), OnClash::Refuse)?;
    let paths: Vec<_> = files.iter().map(|(path, _)| *path).collect();
    if invocation.is_json() {
        invocation.screen.json(&json!({ "files": paths }));
    } else {
        invocation.screen.data(&paths.join("\n"));
        let primary = invocation.declared().primary;
        invocation.screen.note(&format!(
            "`entourage agents` lists what is declared, `entourage run 'What is here?'` asks `{primary}`"
        ));
    }
    Ok(())
}
