//! Declaration text in, checked agents and faults with their places out.
//!
//! A format is one module that reads text into drafts; `check` turns the drafts of all formats into agents. Nothing
//! here opens a file: [`load`] is handed a reader confined to the project. Read the modules in this order.

mod files;
mod tools;

mod load;

mod format;

mod faults;
mod tree;

mod fields;
mod front;
mod json;
mod toml;
mod typescript;
mod yaml;

mod draft;
mod solo;
mod standard_agents;

mod agentscope;
mod builtin;
mod dex;
mod harness;
mod settings;
mod stax;

mod check;
mod lead;

mod exchange;

pub use check::DeclaredServer;
pub use exchange::{
    Imported, ImportedAgent, Loss, Written, declared_as, declared_in, delegate, export, import, import_beside,
    model_keys, needs_prompt, page,
};
pub use files::{FILE_BYTES_MAX, Files, Kind, MemoryFiles};
pub use format::Format;
pub use json::DEPTH_MAX as JSON_DEPTH_MAX;
pub use load::{Loaded, Project, Wishes, load};
pub use stax::{
    LUGGAGE_BYTES_MAX, NamedPackage, PackedFolder, Parcel, ParcelKind, Rule, Scope, WantedSecret, agent_slug,
    is_agent_name, is_instructions_path, parcel, parcel_of_team, preamble, render_prompt, rule_id, rules_in,
    surface_section, unknown_spec_version, untold,
};
pub use tools::Tools;
