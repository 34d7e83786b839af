//! An artifact as its author could have written it, so that `declare` reads it like any project.

use super::Bundle;
use crate::archive::EntryKind;
use crate::fault::{Exit, Fault};
use crate::layout::Blobs;
use crate::media::{ArtifactKind, LayerForm, LayerKind};
use entourage_declare::{LUGGAGE_BYTES_MAX, MemoryFiles};
use entourage_model::Report;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Which of the archives are brought into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Everything,
    /// What an agent reads from the start, or while it works. Of knowledge and memories, which may be large, it is given
    /// no more than a team can take along.
    Declarations,
}

impl Wanted {
    /// How many bytes of a layer's files are brought. The others are only known to be there.
    fn bytes_max(self, kind: LayerKind) -> u64 {
        let is_bounded = self == Self::Declarations && matches!(kind, LayerKind::Knowledge | LayerKind::Memory);
        if is_bounded { LUGGAGE_BYTES_MAX } else { u64::MAX }
    }
}

/// The parts of one artifact, or of several that were merged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    pub(crate) config: Map<String, Value>,
    pub(crate) prompt: Option<String>,
    pub(crate) persona: Option<Map<String, Value>>,
    pub(crate) mcp: Option<Map<String, Value>>,
    pub(crate) subagents: Option<Map<String, Value>>,
    pub(crate) secrets: Vec<Value>,
    /// By path. A layer without files is there and empty.
    pub(crate) archives: BTreeMap<LayerKind, BTreeMap<String, PartFile>>,
}

#[derive(Clone, Debug)]
pub(crate) struct PartFile {
    pub(crate) bytes: Vec<u8>,
    /// Whether the bytes are there.
    pub(crate) is_read: bool,
    pub(crate) is_executable: bool,
    /// See `Files::precedence`.
    pub(crate) precedence: usize,
}

impl Bundle {
    /// The artifact by itself as a project. The packages that it depends on are not in it, see `Assembly`.
    pub fn files(&self, blobs: &dyn Blobs, wanted: Wanted) -> Result<MemoryFiles, Fault> {
        self.insist_on_agent()?;
        Ok(self.parts(blobs, wanted, 0)?.into_files())
    }

    pub(crate) fn insist_on_agent(&self) -> Result<(), Fault> {
        match self.kind {
            ArtifactKind::Agent => Ok(()),
            ArtifactKind::Package => {
                let report = Report::error("B015", format!("`{}` is a package, and no agent", self.name));
                Err(Fault::new(Exit::Usage, report.hint("name it among the `packages` of an agent")))
            }
        }
    }

    pub(crate) fn parts(&self, blobs: &dyn Blobs, wanted: Wanted, precedence: usize) -> Result<Parts, Fault> {
        let mut archives = BTreeMap::new();
        for kind in LayerKind::ALL {
            if kind.form() == LayerForm::Archive && self.manifest.layer(kind).is_some() {
                archives.insert(kind, self.unpack(blobs, kind, wanted.bytes_max(kind), precedence)?);
            }
        }
        Ok(Parts {
            config: self.config.clone(),
            prompt: self.prompt.clone(),
            persona: self.persona.clone(),
            mcp: self.mcp.clone(),
            subagents: self.subagents.clone(),
            secrets: self.secrets.clone(),
            archives,
        })
    }

    fn unpack(
        &self,
        blobs: &dyn Blobs,
        kind: LayerKind,
        mut bytes_left: u64,
        precedence: usize,
    ) -> Result<BTreeMap<String, PartFile>, Fault> {
        let mut files = BTreeMap::new();
        self.archive(blobs, kind, &mut |entry, content| {
            if let EntryKind::File { is_executable, size } = entry.kind {
                let (mut bytes, is_read) = (Vec::new(), size <= bytes_left);
                if is_read {
                    content.read_to_end(&mut bytes).map_err(Fault::machine(format!("unpacking `{}`", entry.path)))?;
                    bytes_left -= size;
                }
                files.insert(entry.path.clone(), PartFile { bytes, is_read, is_executable, precedence });
            }
            Ok(())
        })?;
        Ok(files)
    }
}

impl Parts {
    /// `agent.json` and what it names.
    pub(crate) fn into_files(self) -> MemoryFiles {
        let mut files = MemoryFiles::default();
        let mut definition = self.config;
        definition.remove("kind");
        definition.remove("packages");
        let mut name = |kind: LayerKind| {
            definition.insert(kind.key().to_owned(), format!("./{}", kind.path()).into());
            kind.path()
        };
        if let Some(prompt) = self.prompt {
            files.insert(name(LayerKind::Prompt), prompt, false);
        }
        if let Some(persona) = self.persona {
            files.insert(name(LayerKind::Persona), Value::Object(persona).to_string(), false);
        }
        if let Some(mcp) = self.mcp {
            files.insert(name(LayerKind::Mcp), Value::Object(mcp).to_string(), false);
        }
        if let Some(document) = self.subagents {
            let document = with_paths(document, &mut files);
            files.insert(name(LayerKind::Subagents), document.to_string(), false);
        }
        for (kind, archive) in self.archives {
            // A folder without files does not exist, and naming it would be an error.
            if archive.is_empty() {
                continue;
            }
            let folder = name(kind);
            for (path, PartFile { bytes, is_read, is_executable, precedence }) in archive {
                let path = format!("{folder}/{path}");
                files.rank(&path, precedence);
                match is_read {
                    true => files.insert(path, bytes, is_executable),
                    false => files.insert_unread(path),
                }
            }
        }
        if !self.secrets.is_empty() {
            definition.insert(LayerKind::Secrets.key().to_owned(), self.secrets.into());
        }
        files.insert("agent.json", Value::Object(definition).to_string(), false);
        files
    }
}

/// The document with a path in place of each text: a text could look like a path.
fn with_paths(mut document: Map<String, Value>, files: &mut MemoryFiles) -> Value {
    for (name, agent) in document.get_mut("agents").and_then(Value::as_object_mut).into_iter().flatten() {
        let Some(instructions) = agent.get_mut("instructions") else { continue };
        let path = format!("subagents/{name}.md");
        let text = std::mem::replace(instructions, json!(format!("./{path}")));
        files.insert(path, text.as_str().unwrap_or_default(), false);
    }
    Value::Object(document)
}
