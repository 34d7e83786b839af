//! Which format a file is: by where it lies, else by what it says.

use crate::Format;
use crate::exchange::File;
use crate::exchange::entries::{entries, entry};
use crate::faults::quoted;
use crate::files::{self, Files};
use crate::front::{self, Front};
use crate::json::Fault;
use crate::tree::{Node, Tree};
use crate::{json, stax, toml, yaml};
use entourage_model::{Place, Report};

/// Folders that a harness looks for its agents in, and how their files end.
const HOMES: [(&str, &[&str], Format); 14] = [
    (".claude/agents", &["md"], Format::ClaudeCode),
    (".agents/agents", &["md"], Format::ClaudeCode),
    // goose takes these from Claude Code, with fewer keys.
    (".goose/agents", &["md"], Format::ClaudeCode),
    (".goose/recipes", &["yaml", "yml", "json"], Format::Goose),
    (".codex/agents", &["toml"], Format::Codex),
    (".opencode/agents", &["md"], Format::Opencode),
    (".opencode/agent", &["md"], Format::Opencode),
    ("opencode/agents", &["md"], Format::Opencode),
    (".github/agents", &["md"], Format::GithubCopilot),
    (".github/chatmodes", &["md"], Format::GithubCopilot),
    (".copilot/agents", &["md"], Format::GithubCopilot),
    (".gemini/agents", &["md"], Format::Gemini),
    (".cursor/agents", &["md"], Format::Cursor),
    (".dex/agents", &["md"], Format::Dex),
];

/// Files that may define the agents of a whole folder: the first that does counts, since it names the others.
const STAX: [&str; 4] = ["agent.ts", "agent.json", "subagents.ts", "subagents.json"];

/// Folders whose own files, and not those below, are declarations of AgentScope if they look like it.
const SUBAGENTS: &str = "subagents";

/// Files that say by their own path what they are, wherever that path begins.
const NAMES: [(&str, Format); 8] = [
    (".codex/config.toml", Format::Codex),
    ("opencode.json", Format::Opencode),
    ("opencode.jsonc", Format::Opencode),
    ("docker-agent.yaml", Format::DockerAgent),
    ("docker-agent.yml", Format::DockerAgent),
    ("cagent.yaml", Format::DockerAgent),
    ("recipe.yaml", Format::Goose),
    ("recipe.json", Format::Goose),
];

/// What a file's name may end in to say what it is.
const ENDINGS: [(&str, Format); 2] = [(".agent.md", Format::GithubCopilot), (".chatmode.md", Format::GithubCopilot)];

/// The keys that each format knows in front matter, of those that tell formats apart or are common.
const FRONT_KEYS: [(Format, &str); 7] = [
    (
        Format::ClaudeCode,
        "name description tools disallowedTools model permissionMode maxTurns skills mcpServers hooks memory background \
         effort isolation color initialPrompt",
    ),
    (
        Format::GithubCopilot,
        "name description target tools model disable-model-invocation user-invocable user-invokable infer mcp-servers \
         metadata argument-hint agents handoffs",
    ),
    (
        Format::Gemini,
        "kind name description display_name tools mcp_servers mcpServers model temperature max_turns timeout_mins \
         agent_card_url agent_card_json auth",
    ),
    (Format::Cursor, "name description model readonly is_background"),
    (
        Format::Opencode,
        "description mode model variant prompt temperature top_p steps maxSteps permission tools disable hidden color \
         options request system disabled permissions",
    ),
    (Format::Dex, "id name description tools disabledTools"),
    (
        Format::AgentScope,
        "description workspace model steps maxIters tools temperature top_p topP variant mode hidden \
         expose_to_user exposeToUser skills",
    ),
];

/// The format in which a file declares agents, by its path alone: what `import` takes from a folder. Absent: it
/// declares none, or only what it says can tell.
pub fn declared_as(path: &str) -> Option<Format> {
    let path = path.replace('\\', "/");
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let named = |known: &&(&str, Format)| ends_with_path(&path, known.0);
    let ending = |known: &&(&str, Format)| name.len() > known.0.len() && name.ends_with(known.0);
    if let Some((_, format)) = NAMES.iter().find(named).or_else(|| ENDINGS.iter().find(ending)) {
        return Some(*format);
    }
    let (_, extension) = name.rsplit_once('.')?;
    let home = |home: &&(&str, &[&str], Format)| home.1.contains(&extension) && lies_in(folders, home.0);
    let subagent = || (extension == "md" && lies_directly_in(folders, SUBAGENTS)).then_some(Format::AgentScope);
    HOMES.iter().find(home).map(|(_, _, format)| *format).or_else(subagent)
}

/// The files of a folder that declare agents, of those whose `paths`, below the folder, are given. Where the folder
/// lies counts, and so does what a file says if its path alone tells too little.
pub fn declared_in(folder: &str, files: &dyn Files, paths: Vec<String>) -> Vec<String> {
    let definition = STAX.into_iter().find(|path| is_stax(files, path));
    let claimed = definition.map(|path| stax::claimed(files, path)).unwrap_or_default();
    let folder = folder.replace('\\', "/");
    let is_declared = |path: &String| match declared_as(&format!("{}/{path}", folder.trim_end_matches('/'))) {
        Some(Format::AgentScope) => !claimed.contains(path) && has_front(files, path),
        // Their agents are called as their files, and need say nothing else.
        Some(Format::Opencode | Format::Cursor) => !is_readme(path) || has_front(files, path),
        Some(_) => !path.ends_with(".md") || has_front(files, path),
        None => definition == Some(path) || is_team_or_recipe(files, path),
    };
    paths.into_iter().filter(is_declared).collect()
}

/// Whether the file is there and defines agents of stax.
fn is_stax(files: &dyn Files, path: &str) -> bool {
    let text = files::text(files, path).ok().flatten();
    text.is_some_and(|text| sniff(&File { path, text: &text, beside: None }).is_ok_and(|format| format == Format::Stax))
}

/// Whether a file in YAML defines agents of Docker Agent or goose, which may be called anything. Much else is in YAML, so
/// that more is asked for than where somebody says that the file is to be imported.
fn is_team_or_recipe(files: &dyn Files, path: &str) -> bool {
    if !path.ends_with(".yaml") && !path.ends_with(".yml") {
        return false;
    }
    let text = files::text(files, path).ok().flatten();
    let Some(node) = text.and_then(|text| yaml::parse(&text, 1).ok()) else { return false };
    match of_data(&node).as_slice() {
        [Format::Goose] => has_any(entry(&node, "recipe").unwrap_or(&node), &["description"]),
        [Format::DockerAgent] => entry(&node, "agents").is_some_and(|agents| {
            let is_agent = |agent| has_any(agent, &["model", "instruction", "instruction_file", "harness", "toolsets"]);
            values(agents).next().is_some() && values(agents).all(is_agent)
        }),
        _ => false,
    }
}

/// Whether a Markdown file is more than a text for people. One that cannot be read, or whose front matter begins too
/// late, is told of when it is imported.
fn has_front(files: &dyn Files, path: &str) -> bool {
    let text = files::text(files, path);
    text.map_or(true, |text| text.is_some_and(|text| front::split(text.trim_start()) != Front::None))
}

fn is_readme(path: &str) -> bool {
    files::stem(path).eq_ignore_ascii_case("readme")
}

/// Whether `path` is `known`, or ends in it behind a separator.
fn ends_with_path(path: &str, known: &str) -> bool {
    path.strip_suffix(known).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn lies_directly_in(folders: &str, home: &str) -> bool {
    folders.rsplit('/').next() == Some(home)
}

/// Whether one of `folders` is `home`, or a folder somewhere below it.
fn lies_in(folders: &str, home: &str) -> bool {
    format!("/{folders}/").contains(&format!("/{home}/"))
}

/// The format of a file, by its path, else by what it says.
pub(super) fn sniff(file: &File<'_>) -> Result<Format, Report> {
    if let Some(format) = declared_as(file.path) {
        return Ok(format);
    }
    let candidates = match candidates(file) {
        Ok(candidates) => candidates,
        Err(fault) => {
            let what = format!("the file's format cannot be told, since it cannot be read: {}", fault.what);
            let place = Place::at(file.path, fault.spot.line, fault.spot.column);
            return Err(Report::error("D126", what).at(place).hint(hint(&Format::ALL)));
        }
    };
    match candidates.as_slice() {
        [format] => Ok(*format),
        [] => {
            let report = Report::error("D126", format!("{} is in no format that is known here", quoted(file.path)));
            Err(report.at(Place::file(file.path)).hint(hint(&Format::ALL)))
        }
        several => {
            let names: Vec<_> = several.iter().map(|format| format!("`{format}`")).collect();
            let what = format!("{} may be in any of these formats: {}", quoted(file.path), names.join(", "));
            Err(Report::error("D125", what).at(Place::file(file.path)).hint(hint(several)))
        }
    }
}

fn hint(formats: &[Format]) -> String {
    let names: Vec<_> = formats.iter().copied().filter(|format| is_read(*format)).map(Format::name).collect();
    format!("say which with `--from FORMAT`: {}", names.join(", "))
}

/// Whether there are files of this format that hold whole agents. Of the others some are only written, and some spread
/// an agent over several files, which lie in a project.
pub(super) fn is_read(format: Format) -> bool {
    match format {
        Format::Dex
        | Format::AgentScope
        | Format::Stax
        | Format::ClaudeCode
        | Format::Codex
        | Format::Opencode
        | Format::GithubCopilot
        | Format::Gemini
        | Format::Cursor
        | Format::Goose
        | Format::DockerAgent => true,
        Format::StandardAgents | Format::Windsurf | Format::Openclaw | Format::Generic => false,
    }
}

/// The formats that fit what the file says.
fn candidates(file: &File<'_>) -> Result<Vec<Format>, Fault> {
    let extension = file.path.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension {
        "ts" if STAX.contains(&file.stem(&[])) => Ok(vec![Format::Stax]),
        "toml" => Ok(of_toml(&toml::parse(file.text)?)),
        "json" => {
            let node = json::parse(file.text)?;
            Ok(if defines_stax(&node) { vec![Format::Stax] } else { of_data(&node) })
        }
        "yaml" | "yml" => Ok(of_data(&yaml::parse(file.text, 1)?)),
        _ => match front::split(file.text) {
            Front::Parts { yaml, first_line, .. } => Ok(of_front(&yaml::parse(yaml, first_line)?)),
            Front::Unclosed(spot) => Err(Fault { spot, what: "the front matter has no end".to_owned() }),
            Front::None => Ok(Vec::new()),
        },
    }
}

fn of_toml(node: &Node) -> Vec<Format> {
    let is_role = |node: &Node| has_any(node, &["description", "config_file", "nickname_candidates"]);
    let has_role = entry(node, "agents").is_some_and(|agents| values(agents).any(is_role));
    let is_agent = has_any(node, &["developer_instructions", "nickname_candidates"]);
    if has_role || is_agent { vec![Format::Codex] } else { Vec::new() }
}

/// A bundle of subagents, or an agent. Docker Agent has `instruction` instead.
fn defines_stax(node: &Node) -> bool {
    let is_subagent = |node: &Node| has_any(node, &["instructions"]);
    let is_bundle = entry(node, "agents").is_some_and(|agents| values(agents).any(is_subagent));
    is_bundle || (has_any(node, &["adapter"]) && has_any(node, &["version"]))
}

fn of_data(node: &Node) -> Vec<Format> {
    let is_recipe = |node: &Node| has_any(node, &["title"]) && has_any(node, &["instructions", "prompt"]);
    if is_recipe(node) || entry(node, "recipe").is_some_and(is_recipe) {
        return vec![Format::Goose];
    }
    if entry(node, "agents").is_some_and(|agents| matches!(agents.tree, Tree::Object(_))) {
        return vec![Format::DockerAgent];
    }
    if has_any(node, &["agent"]) {
        return vec![Format::Opencode];
    }
    let is_claude = |node: &Node| has_any(node, &["description"]) && has_any(node, &["prompt"]);
    let claude = values(node).next().is_some() && values(node).all(is_claude);
    if claude { vec![Format::ClaudeCode] } else { Vec::new() }
}

/// Those that know most of the keys: none if nobody knows any of them.
fn of_front(node: &Node) -> Vec<Format> {
    // Only Gemini CLI has several agents in one front matter.
    if matches!(node.tree, Tree::List(_)) {
        return vec![Format::Gemini];
    }
    let is_among = |key: &str, keys: &str| keys.split_whitespace().any(|known| known == key);
    let known = |keys: &str| entries(node).iter().filter(|(key, _)| is_among(key, keys)).count();
    let most = FRONT_KEYS.iter().map(|(_, keys)| known(keys)).max().filter(|most| *most > 0);
    FRONT_KEYS.iter().filter(|(_, keys)| Some(known(keys)) == most).map(|(format, _)| *format).collect()
}

fn has_any(node: &Node, keys: &[&str]) -> bool {
    keys.iter().any(|key| entry(node, key).is_some())
}

fn values(node: &Node) -> impl Iterator<Item = &Node> {
    entries(node).iter().map(|(_, node)| node)
}
