//! `entourage trust [DIR]`: from now on the project may do what only a trusted one may.

use crate::arguments::Options;
use crate::environment;
use crate::failure::Failure;
use crate::screen::{Format, Screen};
use crate::trusted;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
A trusted project may start MCP commands, switch the shell's sandbox off, point providers at other addresses, and read
your own variables of users. Look at its `entourage.toml` first. `--trust` trusts a project for one call.

Examples:
  entourage trust
  entourage trust ../other --remove")]
pub(crate) struct Arguments {
    /// The project's folder [default: that of `--project`, else the current one]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Trust it no longer
    #[arg(long)]
    remove: bool,
}

pub(crate) fn perform(arguments: &Arguments, options: &Options, screen: &Screen) -> Result<(), Failure> {
    let here = environment::current_folder();
    let folder = arguments.folder.as_ref().or(options.project.as_ref());
    let folder = folder.map_or_else(|| here.clone(), |folder| here.join(folder));
    let name = trusted::set(&folder, !arguments.remove)?;
    match (screen.format, arguments.remove) {
        (Format::Json, removed) => screen.json(&json!({ "project": name, "trusted": !removed })),
        (Format::Text, false) => screen.note(&format!("`{name}` is trusted from now on")),
        (Format::Text, true) => screen.note(&format!("`{name}` is not trusted any more")),
    }
    Ok(())
}
