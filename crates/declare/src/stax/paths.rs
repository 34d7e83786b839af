//! The files and folders that a definition names, and what lies there.

use super::agent::Secrets;
use super::parcel::{PackedFolder, Parcel, ParcelKind};
use super::source::{Source, Wanted};
use super::{mcp, path, persona, prompt, rules, set_names, skills, subagents};
use crate::faults::{Faults, quoted};
use crate::fields::Fields;
use crate::solo::Said;
use crate::tree::{At, Spot};
use entourage_model::Report;
use serde_json::Value;

/// Files and folders that an agent may name, beside those with a rule of their own.
const FOLDERS: [&str; 4] = ["knowledge", "memory", "surfaces", "instructionTree"];

/// Packed like the others, but made by running: it need not be there.
const OPTIONAL_FOLDER: &str = "memory";

/// The paths that a definition names, each where it does.
#[derive(Default)]
pub(super) struct Paths {
    persona: Option<At<String>>,
    prompt: Option<At<String>>,
    mcp: Option<At<String>>,
    subagents: Option<At<String>>,
    skills: Option<At<String>>,
    rules: Option<At<String>>,
    folders: Vec<(&'static str, At<String>)>,
}

impl Paths {
    /// A package is nobody: it has no persona, no prompt and no memory.
    pub(super) fn read(fields: &mut Fields<'_>, kind: ParcelKind) -> Self {
        let is_agent = kind == ParcelKind::Agent;
        let mut path = |key: &'static str| {
            let spot = fields.node(key)?.spot;
            Some(At { value: fields.text(key)?, spot })
        };
        let folders = FOLDERS.into_iter().filter(|key| is_agent || *key != OPTIONAL_FOLDER);
        Self {
            persona: is_agent.then(|| path("persona")).flatten(),
            prompt: is_agent.then(|| path("prompt")).flatten(),
            mcp: path("mcp"),
            subagents: path("subagents"),
            skills: path("skills"),
            rules: path("rules"),
            folders: folders.filter_map(|key| Some((key, path(key)?))).collect(),
        }
    }

    /// Reads all of it. What is to be packed as it was written goes to `parcel`.
    pub(super) fn follow(
        self,
        source: &mut Source<'_>,
        secrets: &Secrets,
        parcel: &mut Parcel,
        faults: &mut Faults,
    ) -> prompt::Parts {
        let file = |source: &Source<'_>, said: Option<At<String>>, key: &str, faults: &mut Faults| {
            source.locate(&said?, key, Wanted::File, faults)
        };
        let subagents_at = self.subagents.as_ref().map(|said| said.spot);
        let prompt_at = self.prompt.as_ref().map_or(Spot::START, |said| said.spot);
        let persona_path = file(source, self.persona, "persona", faults);
        let prompt_path = file(source, self.prompt, "prompt", faults);
        source.claimed.extend(prompt_path.clone());
        let servers_at = self.mcp.as_ref().map(|said| said.spot);
        let mcp_path = file(source, self.mcp, "mcp", faults);
        let subagents_path = file(source, self.subagents, "subagents", faults);
        let mut folder = |key: &'static str, said: Option<At<String>>, faults: &mut Faults| {
            let said = said?;
            if key == OPTIONAL_FOLDER && is_missing(source, &said, faults) {
                return None;
            }
            let path = source.locate(&said, key, Wanted::Folder, faults)?;
            parcel.folders.push(PackedFolder { key, path: path.clone(), place: faults.place(said.spot) });
            Some(path)
        };
        let rules_path = folder("rules", self.rules, faults);
        let skills_path = folder("skills", self.skills, faults);
        let folders: Vec<_> = self.folders.into_iter().collect();
        let folders: Vec<_> =
            folders.into_iter().filter_map(|(key, said)| Some((key, folder(key, Some(said), faults)?))).collect();
        set_names::check(source, &folders, faults);
        let persona = persona_path.and_then(|path| persona::read(source, &path, faults));
        parcel.persona = persona.as_ref().map(|persona| Value::Object(persona.verbatim.clone()));
        let prompt = prompt_path.and_then(|path| source.text(&path, prompt_at, faults));
        parcel.prompt.clone_from(&prompt);
        let servers = mcp_path.zip(servers_at).and_then(|(path, spot)| {
            let mcp::Read { document, servers, wanted } = mcp::read(source, &path, secrets, faults)?;
            parcel.mcp = Some(document);
            parcel.want_secrets(wanted, faults);
            Some(Said { key: "mcp".to_owned(), spot, value: servers })
        });
        let bundle = subagents_path.map(|path| subagents::read(source, &path, faults)).unwrap_or_default();
        parcel.subagents = bundle.document;
        prompt::Parts {
            persona,
            prompt,
            servers,
            subagents: bundle.agents,
            subagents_at,
            rules: rules_path.map(|path| rules::read(source, &path, faults)).unwrap_or_default(),
            skills: skills_path.map(|path| skills::read(source, &path, faults)).unwrap_or_default(),
            ..prompt::Parts::of_folders(source, &folders, faults)
        }
    }
}

fn is_missing(source: &Source<'_>, said: &At<String>, faults: &mut Faults) -> bool {
    let path = path::resolve(&faults.file, &said.value);
    let missing = path.is_some_and(|path| source.files.kind(&path).is_err());
    if missing {
        let what = format!("`{OPTIONAL_FOLDER}` is {}, which does not exist yet", quoted(&said.value));
        faults.push(said.spot, Report::warning("D052", what).hint("nothing, if running the agent is to make it"));
    }
    missing
}
