//! `entourage extract`: the files of an artifact in a folder.

use crate::bundle_source;
use crate::environment;
use crate::failure::Failure;
use crate::invocation::Invocation;
use clap::Args;
use entourage_bundle::{Bundle, Target};
use entourage_model::Report;
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage extract registry.example.com/team/agent:1.0.0 unpacked
  entourage extract unpacked                         the latest build

Documents are written as they travel (`prompt.md`, `subagents.json`, …), archives as folders, and `agent.json` names
them. What is in the folder already is never overwritten.")]
pub(crate) struct Arguments {
    /// A reference or a digest [default: the latest build], then the folder
    #[arg(value_names = ["REF", "DIR"], num_args = 1..=2, required = true)]
    places: Vec<String>,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let (reference, folder) = match arguments.places.as_slice() {
        [reference, folder] => (Some(reference.as_str()), folder),
        [folder, ..] => (None, folder),
        [] => return Ok(()),
    };
    let target = Target::parse(reference).map_err(Failure::of_bundle)?;
    let (layout, found) = bundle_source::find_trusted(invocation, &target).await?;
    let bytes_max = invocation.settings.limits.artifact_bytes;
    let folder = environment::current_folder().join(PathBuf::from(folder));
    let bundle = Bundle::open(&layout, found.digest, bytes_max).map_err(Failure::of_bundle)?;
    let names = entourage_bundle::extract(&bundle, &layout, &folder).map_err(Failure::of_bundle)?;
    for media_type in bundle.unknown_layers() {
        let what = format!("the layer `{}` stays packed: nobody here knows its kind", media_type.escape_debug());
        invocation.screen.report(&Report::warning("B087", what).hint("a newer version may know it"));
    }
    if invocation.is_json() {
        let document = json!({ "reference": reference, "digest": found.digest, "folder": folder, "files": names });
        invocation.screen.json(&document);
    } else {
        invocation.screen.data(&names.join("\n"));
    }
    Ok(())
}
