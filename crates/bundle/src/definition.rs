//! The keys of a definition that are no layers.

/// For whom an agent is made.
pub(crate) const ADAPTER: &str = "adapter";

/// What an agent is to be given to work in.
pub(crate) const WORKSPACE_SOURCES: &str = "workspaceSources";

/// What a definition says of itself beside its adapter.
pub(crate) const ABOUT: [&str; 11] = [
    "specVersion",
    "name",
    "version",
    "description",
    "author",
    "license",
    "url",
    "tags",
    "adapterFallback",
    "hints",
    WORKSPACE_SOURCES,
];

/// What it says of its adapter.
pub(crate) const ADAPTER_KEYS: [&str; 11] = [
    "type",
    "runtime",
    "adapterVersion",
    "runtimeVersionRange",
    "model",
    "modelParams",
    "importMode",
    "fidelity",
    "config",
    "features",
    "targets",
];
