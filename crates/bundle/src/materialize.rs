//! A bundle in the files of the harness that is to run it.
//!
//! Nothing here touches the disk: [`plan`] turns a bundle into documents and names what they cannot hold, [`decide`]
//! compares them with what lies in the target folder, and whoever asked carries the changes out.

mod adapter;
mod choice;

mod loss;
mod plan;
mod source;

mod folders;
mod instructions;
mod rules;
mod servers;
mod settings;
mod subagents;

mod decide;
mod merge;
mod record;

pub use adapter::Adapter;
pub use decide::{Changes, Found, NewFile, OnClash, There, decide, removal};
pub use loss::{Loss, refuse};
pub use plan::{Content, Document, Plan, Setting, Translation, plan};
pub use record::{RECORD, Record};
