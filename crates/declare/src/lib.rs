//! Declaration text in, checked agents and faults with their places out.
//!
//! A format is one module that reads text into drafts; `check` turns the drafts of all formats into agents. Nothing
//! here opens a file: [`load`] is handed a reader confined to the project. Read the modules in this order.

mod files;
mod tools;

mod load;

mod faults;
mod tree;

mod fields;
mod json;

mod draft;
mod standard_agents;

mod check;
mod lead;

pub use files::{FILE_BYTES_MAX, Files, MemoryFiles};
pub use load::{Loaded, load};
pub use tools::Tools;
