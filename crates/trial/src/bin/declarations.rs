//! `cargo x bench declarations`: how long `check` takes, for one TypeScript agent and for a large project.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]
#![expect(clippy::disallowed_methods, reason = "a benchmark writes the project and starts what it measures")]

use clap::Parser;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Checks projects with a cache of their own, empty and filled.
#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long, default_value_t = 11)]
    rounds: usize,
    /// Declarations of the large project, in mixed formats
    #[arg(long, default_value_t = 500)]
    declarations: usize,
}

fn main() -> anyhow::Result<()> {
    let Arguments { rounds, declarations } = Arguments::parse();
    let small = tempfile::tempdir()?;
    standard(small.path(), 0)?;
    let large = tempfile::tempdir()?;
    for number in 0..declarations / FORMATS.len() {
        FORMATS.iter().try_for_each(|write| write(large.path(), number))?;
    }
    // What the processes write must not be part of what they read.
    for (what, project) in [("one TypeScript agent", &small), ("the large project", &large)] {
        let (mut cold, mut warm) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let home = tempfile::tempdir()?;
            cold.push(check(project.path(), home.path())?);
            warm.push(check(project.path(), home.path())?);
        }
        for (state, mut times) in [("cold", cold), ("warm", warm)] {
            times.sort_unstable();
            let (median, best, worst) = (times[rounds / 2], times[0], times[rounds - 1]);
            println!("{what}, {state}: median {median:.1?}, best {best:.1?}, worst {worst:.1?}");
        }
    }
    Ok(())
}

fn check(project: &Path, home: &Path) -> anyhow::Result<Duration> {
    let program = std::env::current_exe()?.with_file_name("entourage");
    let mut command = std::process::Command::new(program);
    command.arg("check").current_dir(project).env("HOME", home).env_remove("XDG_CACHE_HOME");
    let began = Instant::now();
    let output = command.stdin(Stdio::null()).output()?;
    let took = began.elapsed();
    let said = String::from_utf8_lossy(&output.stdout);
    anyhow::ensure!(output.status.success() && said.contains("0 errors, 0 warnings"), "check said: {said}");
    Ok(took)
}

type Writer = fn(&Path, usize) -> anyhow::Result<()>;

/// Each writes one declaration, but for Standard Agents, which spreads one over an agent, a prompt and a tool.
const FORMATS: [Writer; 5] = [standard, standard_json, agentscope, dex, claude_code];

fn standard(root: &Path, number: usize) -> anyhow::Result<()> {
    let agent = format!(
        "import {{ defineAgent }} from '@standardagents/builder';\n\ninterface Label {{ text: string }}\nconst label: Label = {{ text: 'Worker' }};\n\nexport default defineAgent({{\n  name: 'ts_{number}',\n  description: 'Works on {number}.',\n  sideA: {{ label: label.text, prompt: 'ts_{number}' }},\n}});\n"
    );
    let prompt = format!(
        "import {{ definePrompt }} from '@standardagents/builder';\nimport {{ z }} from 'zod';\n\nexport default definePrompt({{\n  name: 'ts_{number}',\n  toolDescription: 'Works.',\n  model: 'openai:gpt-5',\n  prompt: 'You work on {number}.',\n  requiredSchema: z.object({{ goal: z.string().describe('What to reach'), tries: z.number().int().optional() }}),\n  tools: ['tool_{number}'],\n}});\n"
    );
    let tool = format!(
        "import {{ defineTool }} from '@standardagents/builder';\nimport {{ z }} from 'zod';\n\nexport default defineTool({{\n  description: 'Counts to {number}.',\n  args: z.object({{ from: z.number(), label: z.enum(['a', 'b']).optional() }}),\n  execute: async (_state, args) => String(args.from + {number}),\n}});\n"
    );
    write(root, &format!("agents/agents/ts_{number}.ts"), &agent)?;
    write(root, &format!("agents/prompts/ts_{number}.ts"), &prompt)?;
    write(root, &format!("agents/tools/tool_{number}.ts"), &tool)
}

fn standard_json(root: &Path, number: usize) -> anyhow::Result<()> {
    let agent = format!("{{ \"name\": \"json_{number}\", \"sideA\": {{ \"prompt\": \"json_{number}\" }} }}\n");
    let prompt = format!(
        "{{ \"name\": \"json_{number}\", \"toolDescription\": \"Works.\", \"prompt\": \"You work.\", \"model\": \"openai:gpt-5\" }}\n"
    );
    write(root, &format!("agents/agents/json_{number}.json"), &agent)?;
    write(root, &format!("agents/prompts/json_{number}.json"), &prompt)
}

fn agentscope(root: &Path, number: usize) -> anyhow::Result<()> {
    let text = format!(
        "---\ndescription: Reviews part {number}.\ntools: [read_file, grep_files]\nmaxIters: 8\n---\nYou review.\n"
    );
    write(root, &format!("subagents/scope-{number}.md"), &text)
}

fn dex(root: &Path, number: usize) -> anyhow::Result<()> {
    let text = format!(
        "---\nid: dex-{number}\nname: Dex {number}\ndescription: Gathers.\ntools:\n  - read\n---\nYou gather.\n"
    );
    write(root, &format!(".dex/agents/dex-{number}.md"), &text)
}

fn claude_code(root: &Path, number: usize) -> anyhow::Result<()> {
    let text = format!("---\nname: claude-{number}\ndescription: Audits.\ntools: Read, Grep\n---\nYou audit.\n");
    write(root, &format!(".claude/agents/claude-{number}.md"), &text)
}

fn write(root: &Path, path: &str, text: &str) -> anyhow::Result<()> {
    let path = root.join(path);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    Ok(std::fs::write(path, text)?)
}
