//! Names as targets allow them.

use crate::Format;
use crate::agentscope;
use crate::exchange::{Loss, Written};
use crate::faults::quoted;
use crate::solo::Solo;
use crate::stax;
use entourage_model::{Name, Report};
use std::collections::BTreeMap;

/// Agents under names that the target allows.
#[derive(Debug, Default)]
pub(super) struct Fitted {
    pub(super) agents: Vec<(Name, Solo)>,
    /// The agent by its name in the target.
    sources: BTreeMap<Name, Source>,
}

#[derive(Debug)]
struct Source {
    /// As the project knows it.
    name: Name,
    is_renamed: bool,
}

/// Two agents that become one are an error, since one would silently take the other's place.
pub(super) fn fit(to: Format, agents: Vec<(Name, Solo)>, reports: &mut Vec<Report>) -> Fitted {
    let mut fitted = Fitted::default();
    let mut targets = BTreeMap::new();
    let mut known: BTreeMap<String, Name> = BTreeMap::new();
    for (name, solo) in agents {
        let own = own_name(&name, solo.format);
        let keeps = solo.format == to && !is_strict(to);
        let target = if keeps { own.clone() } else { allowed(to, &own) };
        targets.insert(name.clone(), target.clone());
        let source = Source { is_renamed: target != own, name: name.clone() };
        let id = id(to, &target);
        if let Some(other) = known.insert(id.clone(), name.clone()) {
            reports.push(clash(&other, &name, &id));
        }
        fitted.sources.insert(target.clone(), source);
        fitted.agents.push((target, solo));
    }
    for (_, solo) in &mut fitted.agents {
        for child in solo.children.iter_mut().flat_map(|said| &mut said.value) {
            if let Some(target) = targets.get(&child.value) {
                child.value = target.clone();
            }
        }
    }
    fitted
}

/// Whether an agent of this format may be known here by a name that the format itself refuses.
fn is_strict(format: Format) -> bool {
    matches!(format, Format::Gemini | Format::Stax | Format::AgentScope)
}

/// What the target knows an agent by. A recipe has a title, and whoever reads it makes the name of that.
fn id(to: Format, name: &Name) -> String {
    if to == Format::Goose { slug(name.as_str()) } else { name.to_string() }
}

/// The name that the declaration gives it: where two formats have the same, a project knows one with its format.
fn own_name(name: &Name, format: Format) -> Name {
    let own = name.as_str().strip_prefix(format.name()).and_then(|rest| rest.strip_prefix('/'));
    own.filter(|own| !own.is_empty()).map_or_else(|| name.clone(), Name::from)
}

impl Fitted {
    /// Names what was renamed, and gives every loss the name that its agent has in the project.
    pub(super) fn finish(&self, written: &mut Written, reports: &mut Vec<Report>) {
        for loss in &mut written.losses {
            if let Some(source) = self.sources.get(loss.agent.as_str()) {
                loss.agent = source.name.to_string();
            }
        }
        for source in self.sources.values().filter(|source| source.is_renamed) {
            written.losses.push(Loss { agent: source.name.to_string(), field: "name".to_owned() });
        }
        written.losses.sort();
        written.losses.dedup();
        self.compare_files(written, reports);
    }

    /// Two agents that would have one file. Some file systems take `A.md` and `a.md` for one.
    fn compare_files(&self, written: &Written, reports: &mut Vec<Report>) {
        let mut known: BTreeMap<String, &str> = BTreeMap::new();
        let has_own_file = written.files.len() == written.agents.len();
        for (name, path) in written.agents.iter().filter(|_| has_own_file) {
            if let Some(other) = known.insert(path.to_lowercase(), name) {
                let source =
                    |name: &str| self.sources.get(name).map_or_else(|| Name::from(name), |source| source.name.clone());
                reports.push(clash(&source(other), &source(name), path));
            }
        }
    }
}

fn clash(one: &Name, other: &Name, target: &str) -> Report {
    let names = format!("{} and {}", quoted(one.as_str()), quoted(other.as_str()));
    let report = Report::error("D110", format!("the agents {names} would both become {}", quoted(target)));
    report.hint("rename one of them, or export them one by one into folders of their own")
}

/// The name itself if the target takes it.
fn allowed(to: Format, name: &Name) -> Name {
    let text = name.as_str();
    if to == Format::AgentScope && agentscope::RESERVED.contains(&text) {
        return Name::from(format!("{text}-agent"));
    }
    let fits = match to {
        Format::Stax if stax::name::is_valid(text) => true,
        Format::Stax => return Name::from(stax::name::slug(text).unwrap_or_else(|| "agent".to_owned())),
        Format::ClaudeCode | Format::Cursor => text.chars().all(|letter| is_slug_letter(letter) || letter == '-'),
        Format::Gemini => text.chars().all(|letter| is_slug_letter(letter) || matches!(letter, '-' | '_')),
        Format::StandardAgents
        | Format::Dex
        | Format::AgentScope
        | Format::Codex
        | Format::Opencode
        | Format::GithubCopilot
        | Format::Goose
        | Format::DockerAgent
        | Format::Windsurf
        | Format::Openclaw
        | Format::Generic => file_stem(text) == text,
    };
    if fits && !text.is_empty() { name.clone() } else { Name::from(slug(text)) }
}

fn is_slug_letter(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter.is_ascii_digit()
}

/// Lower-case letters, digits and single hyphens between them.
pub(crate) fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    let words: Vec<_> = lower.split(|letter| !is_slug_letter(letter)).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "agent".to_owned() } else { words.join("-") }
}

/// A name as a file's: nothing that leads elsewhere, and nothing that some system refuses.
pub(crate) fn file_stem(name: &str) -> String {
    let refused = |letter: char| letter.is_control() || r#"/\:*?"<>|"#.contains(letter);
    let hidden = name.starts_with('.') || name.ends_with(['.', ' ']) || name.starts_with(' ');
    if name.is_empty() || name.len() > 200 || hidden || name.contains(refused) { slug(name) } else { name.to_owned() }
}
