//! The media types of stax, the kinds of layers and their order: one table.

pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// Of agents and packages alike.
pub const CONFIG: &str = "application/vnd.stax.config.v1+json";
pub const EMPTY: &str = "application/vnd.oci.empty.v1+json";

/// The name that a layout, or a registry, knows a manifest by.
pub const REF_NAME: &str = "org.opencontainers.image.ref.name";
pub const TITLE: &str = "org.opencontainers.image.title";
pub const VERSION: &str = "org.opencontainers.image.version";
pub const CREATED: &str = "org.opencontainers.image.created";
pub const DESCRIPTION: &str = "org.opencontainers.image.description";
pub const VENDOR: &str = "org.opencontainers.image.vendor";
pub const SPEC_VERSION: &str = "dev.stax.spec.version";
pub const ADAPTER_TYPE: &str = "dev.stax.adapter.type";
pub const ADAPTER_RUNTIME: &str = "dev.stax.adapter.runtime";
pub const PERSONA: &str = "dev.stax.persona";
pub const LOCK_DIGEST: &str = "dev.stax.lock.digest";

/// What an artifact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactKind {
    Agent,
    Package,
}

impl ArtifactKind {
    pub const ALL: [Self; 2] = [Self::Agent, Self::Package];

    pub fn artifact_type(self) -> &'static str {
        match self {
            Self::Agent => "application/vnd.stax.agent.v1",
            Self::Package => "application/vnd.stax.package.v1",
        }
    }

    /// The `kind` in the config.
    pub fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Package => "package",
        }
    }

    pub fn of_artifact_type(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.artifact_type() == text)
    }
}

/// The layers of an artifact, in the order in which a manifest names them. There is at most one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    Knowledge,
    Rules,
    Skills,
    Mcp,
    Secrets,
    Packages,
    InstructionTree,
    Surfaces,
    Prompt,
    Persona,
    Subagents,
    Memory,
}

/// How a layer's blob is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerForm {
    Json,
    Markdown,
    /// A tar archive in gzip.
    Archive,
}

impl LayerKind {
    pub const ALL: [Self; 12] = [
        Self::Knowledge,
        Self::Rules,
        Self::Skills,
        Self::Mcp,
        Self::Secrets,
        Self::Packages,
        Self::InstructionTree,
        Self::Surfaces,
        Self::Prompt,
        Self::Persona,
        Self::Subagents,
        Self::Memory,
    ];

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Knowledge => "application/vnd.stax.knowledge.v1.tar+gzip",
            Self::Rules => "application/vnd.stax.rules.v1.tar+gzip",
            Self::Skills => "application/vnd.stax.skills.v1.tar+gzip",
            Self::Mcp => "application/vnd.stax.mcp.v1+json",
            Self::Secrets => "application/vnd.stax.secrets.v1+json",
            Self::Packages => "application/vnd.stax.packages.v1+json",
            Self::InstructionTree => "application/vnd.stax.instruction-tree.v1.tar+gzip",
            Self::Surfaces => "application/vnd.stax.surfaces.v1.tar+gzip",
            Self::Prompt => "application/vnd.stax.prompt.v1+markdown",
            Self::Persona => "application/vnd.stax.persona.v1+json",
            Self::Subagents => "application/vnd.stax.subagents.v1+json",
            Self::Memory => "application/vnd.stax.memory.v1.tar+gzip",
        }
    }

    pub fn of_media_type(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.media_type() == text)
    }

    pub fn form(self) -> LayerForm {
        match self {
            Self::Mcp | Self::Secrets | Self::Packages | Self::Persona | Self::Subagents => LayerForm::Json,
            Self::Prompt => LayerForm::Markdown,
            Self::Knowledge | Self::Rules | Self::Skills | Self::InstructionTree | Self::Surfaces | Self::Memory => {
                LayerForm::Archive
            }
        }
    }

    /// The layer's name, and that of its folder or, with an ending, of its file when it is unpacked.
    pub fn word(self) -> &'static str {
        match self {
            Self::Knowledge => "knowledge",
            Self::Rules => "rules",
            Self::Skills => "skills",
            Self::Mcp => "mcp",
            Self::Secrets => "secrets",
            Self::Packages => "packages",
            Self::InstructionTree => "instruction-tree",
            Self::Surfaces => "surfaces",
            Self::Prompt => "prompt",
            Self::Persona => "persona",
            Self::Subagents => "subagents",
            Self::Memory => "memory",
        }
    }

    /// Where the layer lies when it is unpacked: a file, or a folder for an archive.
    pub fn path(self) -> String {
        match self.form() {
            LayerForm::Json => format!("{}.json", self.word()),
            LayerForm::Markdown => format!("{}.md", self.word()),
            LayerForm::Archive => self.word().to_owned(),
        }
    }

    /// The key of a definition that names what becomes this layer.
    pub fn key(self) -> &'static str {
        match self {
            Self::InstructionTree => "instructionTree",
            Self::Knowledge
            | Self::Rules
            | Self::Skills
            | Self::Mcp
            | Self::Secrets
            | Self::Packages
            | Self::Surfaces
            | Self::Prompt
            | Self::Persona
            | Self::Subagents
            | Self::Memory => self.word(),
        }
    }

    /// The most that a layer may hold when it is unpacked.
    pub fn bytes_max(self) -> u64 {
        const MIB: u64 = 1 << 20;
        match self {
            Self::Knowledge => 256 * MIB,
            Self::Skills | Self::Memory | Self::Subagents => 64 * MIB,
            Self::Rules | Self::Surfaces | Self::InstructionTree => 16 * MIB,
            Self::Prompt | Self::Persona | Self::Mcp | Self::Secrets | Self::Packages => MIB,
        }
    }

    /// The annotation that says how much there is in the layer.
    pub fn count_annotation(self) -> Option<&'static str> {
        match self {
            Self::Knowledge => Some("dev.stax.knowledge.files"),
            Self::Rules => Some("dev.stax.rules.count"),
            Self::Skills => Some("dev.stax.skills.count"),
            Self::Mcp => Some("dev.stax.mcp.count"),
            Self::InstructionTree => Some("dev.stax.instruction-tree.count"),
            Self::Surfaces => Some("dev.stax.surfaces.count"),
            Self::Subagents => Some("dev.stax.subagents.count"),
            Self::Memory => Some("dev.stax.memory.entries"),
            Self::Secrets | Self::Packages | Self::Prompt | Self::Persona => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_type_names_its_kind_and_its_form() {
        for kind in LayerKind::ALL {
            let media_type = kind.media_type();
            assert_eq!(LayerKind::of_media_type(media_type), Some(kind));
            let ending = match kind.form() {
                LayerForm::Json => "+json",
                LayerForm::Markdown => "+markdown",
                LayerForm::Archive => ".tar+gzip",
            };
            assert_eq!(media_type, format!("application/vnd.stax.{}.v1{ending}", kind.word()));
        }
    }

    #[test]
    fn layers_are_named_in_the_order_of_their_kinds() {
        assert!(LayerKind::ALL.is_sorted());
    }
}
