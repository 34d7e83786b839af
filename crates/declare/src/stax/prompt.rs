//! One text out of all that says who the primary agent is and how it works.

use super::rules::Rule;
use super::source::Source;
use crate::draft::Declared;
use crate::faults::Faults;
use crate::solo::{Said, Server, Solo};
use crate::tree::Spot;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What the agent's definition led to.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) persona: Option<Persona>,
    pub(super) prompt: Option<String>,
    /// `surfaces/instructions.md`.
    pub(super) surface: Option<String>,
    /// The others, by name.
    pub(super) surfaces: BTreeMap<String, String>,
    /// The instruction tree's instructions for the whole project.
    pub(super) root_instructions: Option<String>,
    /// Those for single folders.
    pub(super) instructions: BTreeMap<String, String>,
    pub(super) rules: Vec<Rule>,
    pub(super) skills: Vec<Skill>,
    pub(super) shelves: Vec<Shelf>,
    pub(super) servers: Option<Said<BTreeMap<String, Server>>>,
    pub(super) subagents: Vec<Declared<Solo>>,
    pub(super) subagents_at: Option<Spot>,
}

#[derive(Debug)]
pub(super) struct Persona {
    pub(super) verbatim: Map<String, Value>,
}

#[derive(Debug)]
pub(super) struct Skill {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) path: String,
    /// What it says, where its file cannot be opened.
    pub(super) text: Option<String>,
    /// What else belongs to it then.
    pub(super) files: Vec<String>,
}

impl Skill {
    /// The skill as a part of a longer text. Absent: it is read when it is needed.
    fn section(&self) -> Option<String> {
        let text = self.text.as_ref()?;
        let mut section = format!("## Skill: {}\n\n{}\n\n{text}", self.name, self.description);
        if !self.files.is_empty() {
            section.push_str("\n\nFiles of this skill:\n");
            list(&mut section, &self.files);
        }
        Some(section)
    }
}

/// A folder in which the agent looks things up.
#[derive(Debug)]
pub(super) struct Shelf {
    /// What is said of it, as far as its files.
    words: &'static str,
    folder: String,
    /// Where each file is, if they lie in no folder.
    files: Option<Vec<String>>,
}

impl Shelf {
    fn of(source: &mut Source<'_>, words: &'static str, folder: &str, paths: &[String]) -> Self {
        let files = (!source.files.is_on_disk()).then(|| {
            let Source { files, luggage, .. } = source;
            paths.iter().filter_map(|path| luggage.take(*files, path)).collect()
        });
        Self { words, folder: folder.to_owned(), files }
    }

    /// Absent: nothing of it is there.
    fn section(&self) -> Option<String> {
        match &self.files {
            None => Some(format!("{} the files of `{}/`.", self.words, self.folder)),
            Some(files) if files.is_empty() => None,
            Some(files) => {
                let mut section = format!("{} these files:\n", self.words);
                list(&mut section, files);
                Some(section)
            }
        }
    }
}

fn list(section: &mut String, files: &[String]) {
    files.iter().for_each(|path| _ = write!(section, "\n- `{path}`"));
}

impl Parts {
    /// What lies in the folders that only matter as files, where the agent reads it from the start.
    pub(super) fn of_folders(source: &mut Source<'_>, folders: &[(&str, String)], faults: &mut Faults) -> Self {
        let mut parts = Self::default();
        for (key, folder) in folders {
            let files = source.files_beneath(folder, faults);
            let mut text = |name: &str| {
                let path = format!("{folder}/{name}");
                files.contains(&path).then(|| source.text(&path, Spot::START, faults))?
            };
            match *key {
                "knowledge" | "memory" if source.is_imported => {}
                "surfaces" => {
                    parts.surface = text("instructions.md");
                    parts.surfaces = texts(source, folder, &files, ".md");
                    parts.surfaces.remove("instructions");
                }
                "instructionTree" => {
                    parts.root_instructions = text("_root/instructions.md");
                    parts.instructions = texts(source, folder, &files, "/instructions.md");
                    parts.instructions.remove("_root");
                }
                "knowledge" => {
                    parts.shelves.push(Shelf::of(source, "## Knowledge\n\nLook things up in", folder, &files));
                }
                "memory" => {
                    let words = "## Memory\n\nWhat is remembered from earlier is in";
                    parts.shelves.push(Shelf::of(source, words, folder, &files));
                }
                _ => {}
            }
        }
        parts
    }
}

/// The texts of a folder whose paths end like this, by what comes before. One that cannot be read is told to nobody.
fn texts(source: &Source<'_>, folder: &str, paths: &[String], end: &str) -> BTreeMap<String, String> {
    let text = |path: &String| {
        let name = path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(end)?.to_owned();
        Some((name, String::from_utf8(source.files.read(path).ok()?).ok()?))
    };
    paths.iter().filter_map(text).collect()
}

/// Who the agent is comes first, then what it is to do, then the rules and what it can look up.
pub(super) fn compose(parts: &Parts) -> String {
    let mut sections = Vec::new();
    sections.extend(parts.persona.as_ref().map(|persona| preamble(&persona.verbatim)));
    sections.extend(parts.surface.clone());
    sections.extend(parts.prompt.as_ref().map(|text| match &parts.persona {
        Some(persona) => render_prompt(text, &persona.verbatim),
        None => text.clone(),
    }));
    sections.extend(parts.root_instructions.clone());
    sections.extend(parts.instructions.iter().map(|(folder, text)| format!("## In `{folder}/`\n\n{text}")));
    sections.extend(parts.rules.iter().map(Rule::section));
    sections.extend(parts.surfaces.iter().map(|(name, text)| surface_section(name, text)));
    sections.extend(parts.skills.iter().filter_map(Skill::section));
    let unread: Vec<_> = parts.skills.iter().filter(|skill| skill.text.is_none()).collect();
    if !unread.is_empty() {
        let mut text = "## Skills\n\nRead the file of a skill before you do what it is for.\n".to_owned();
        for Skill { name, description, path, .. } in unread {
            _ = write!(text, "\n- {name}: {description} (`{path}`)");
        }
        sections.push(text);
    }
    sections.extend(parts.shelves.iter().filter_map(Shelf::section));
    match sections.as_slice() {
        // The only text stays as its author left it.
        [only] => only.clone(),
        _ => sections.iter().map(|text| text.trim_end()).collect::<Vec<_>>().join("\n\n"),
    }
}

/// What a surface says, as a part of a longer text.
pub fn surface_section(name: &str, text: &str) -> String {
    let mut letters = name.chars();
    let title: String = letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default();
    format!("## {title}\n\n{text}")
}

/// What a persona says in the first lines, by other means, or of itself alone.
const PERSONA_HEAD: [&str; 6] = ["specVersion", "name", "displayName", "role", "background", PREFERENCES];
const PREFERENCES: &str = "preferences";

/// What else it may say, in the order in which it is told.
const PERSONA_LINES: [(&str, &str); 14] = [
    ("Expert in", "expertise.primary"),
    ("Also knows", "expertise.secondary"),
    ("Is learning", "expertise.learning"),
    ("Traits", "personality.traits"),
    ("Communication", "personality.communicationStyle"),
    ("Verbosity", "personality.verbosity"),
    ("Tone", "voice.tone"),
    ("Comments in code", "voice.codeComments"),
    ("Ways to put things", "voice.patterns"),
    ("Ways not to put things", "voice.avoid"),
    ("Values", "values"),
    ("Never", "boundaries.willNot"),
    ("Always", "boundaries.always"),
    ("Hand over to a person", "boundaries.escalates"),
];

/// Who the agent is, in a few lines.
pub fn preamble(persona: &Map<String, Value>) -> String {
    let text = |key: &str| persona.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut text = format!("# {}\n\n**Role:** {}", text("displayName"), text("role"));
    if let Some(Value::String(background)) = persona.get("background") {
        _ = write!(text, "\n\n{background}");
    }
    let mut tell = |title: &str, said: String| {
        if !said.is_empty() {
            _ = write!(text, "\n\n**{title}:** {said}");
        }
    };
    for (title, path) in PERSONA_LINES {
        tell(title, lookup(&format!("persona.{path}"), persona));
    }
    let preferences = persona.get(PREFERENCES).and_then(Value::as_object).into_iter().flatten();
    let preferences = preferences.map(|(key, value)| format!("{key}: {}", plain(value)));
    tell("Preferences", preferences.collect::<Vec<_>>().join(", "));
    text
}

/// What a persona says and [`preamble`] does not, nested as `a.b`.
pub fn untold(persona: &Map<String, Value>) -> Vec<String> {
    let is_told = |path: &str| PERSONA_LINES.iter().any(|(_, told)| *told == path);
    let is_section = |key: &str| PERSONA_LINES.iter().any(|(_, told)| told.starts_with(&format!("{key}.")));
    let mut paths = Vec::new();
    for (key, value) in persona.iter().filter(|(key, _)| !PERSONA_HEAD.contains(&key.as_str())) {
        match value {
            Value::Object(section) if is_section(key) => {
                paths.extend(section.keys().map(|inner| format!("{key}.{inner}")).filter(|path| !is_told(path)));
            }
            _ if is_told(key) => {}
            _ => paths.push(key.clone()),
        }
    }
    paths
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Puts the persona's values in place of `{{persona.a.b}}`; what is not there renders empty, `\{{` is `{{`.
pub fn render_prompt(text: &str, persona: &Map<String, Value>) -> String {
    let mut rendered = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let (before, marked) = rest.split_at(at);
        if let Some(before) = before.strip_suffix('\\') {
            rendered.push_str(before);
            rendered.push_str("{{");
            rest = &marked[2..];
            continue;
        }
        let Some((inside, after)) = marked[2..].split_once("}}") else { break };
        rendered.push_str(before);
        rendered.push_str(&lookup(inside.trim(), persona));
        rest = after;
    }
    rendered + rest
}

fn lookup(path: &str, persona: &Map<String, Value>) -> String {
    let Some(path) = path.strip_prefix("persona.") else { return String::new() };
    let mut segments = path.split('.');
    let first = segments.next().and_then(|key| persona.get(key));
    match segments.try_fold(first, |value, key| Some(value?.get(key))).flatten() {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
        Some(Value::Object(_) | Value::Null) | None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_word_of_a_persona_is_told_and_the_others_are_known() {
        let persona = json!({
            "specVersion": "1.0.0", "name": "ada", "displayName": "Ada", "role": "Engineer", "background": "Old hand.",
            "expertise": { "primary": ["go", "c"], "secondary": ["sql"], "learning": ["rust"] },
            "personality": { "traits": ["calm"], "communicationStyle": "direct", "verbosity": "concise", "mood": "x" },
            "voice": { "tone": "dry", "codeComments": "minimal", "patterns": ["In short"], "avoid": ["Obviously"] },
            "values": ["honesty"], "preferences": { "lang": "go", "tabs": 2 },
            "boundaries": { "willNot": ["guess"], "always": ["test"], "escalates": ["law"] }, "x-more": 1,
        });
        let Value::Object(persona) = persona else { unreachable!("an object was written") };
        let expected = "# Ada|**Role:** Engineer|Old hand.|**Expert in:** go, c|**Also knows:** sql|**Is learning:** rust|\
            **Traits:** calm|**Communication:** direct|**Verbosity:** concise|**Tone:** dry|**Comments in code:** minimal|\
            **Ways to put things:** In short|**Ways not to put things:** Obviously|**Values:** honesty|**Never:** guess|\
            **Always:** test|**Hand over to a person:** law|**Preferences:** lang: go, tabs: 2";
        assert_eq!(preamble(&persona), expected.replace('|', "\n\n"));
        assert_eq!(untold(&persona), ["personality.mood", "x-more"]);
    }

    #[test]
    fn a_prompt_may_quote_the_persona() {
        let persona = json!({ "name": "ada", "voice": { "tone": "calm" }, "values": ["care", "speed"], "age": 7 });
        let Value::Object(persona) = persona else { unreachable!("an object was written") };
        let cases = [
            ("I am {{persona.name}}.", "I am ada."),
            ("{{ persona.voice.tone }}", "calm"),
            ("{{persona.values}}", "care, speed"),
            ("{{persona.age}}", "7"),
            ("[{{persona.voice}}]", "[]"),
            ("[{{persona.nothing.here}}]", "[]"),
            ("[{{other}}]", "[]"),
            ("\\{{persona.name}}", "{{persona.name}}"),
            ("open {{persona.name", "open {{persona.name"),
            ("{{", "{{"),
        ];
        for (text, expected) in cases {
            assert_eq!(render_prompt(text, &persona), expected, "{text}");
        }
    }
}
