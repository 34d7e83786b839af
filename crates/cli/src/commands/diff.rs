//! `entourage diff`: what two artifacts do not have in common.

use crate::bundle_source;
use crate::failure::Failure;
use crate::invocation::Invocation;
use clap::Args;
use entourage_bundle::{Bundle, ChangeKind, Difference, Target};
use serde_json::json;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage diff registry.example.com/team/agent:1.0.0 registry.example.com/team/agent:1.1.0
  entourage diff sha256:… sha256:…

`+` is only in the second, `-` only in the first, `~` in both and different. Exits 0 either way.")]
pub(crate) struct Arguments {
    /// A reference or a digest
    #[arg(value_name = "A")]
    one: String,
    /// The one to compare it with
    #[arg(value_name = "B")]
    other: String,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let one = open(invocation, &arguments.one).await?;
    let other = open(invocation, &arguments.other).await?;
    let difference = entourage_bundle::diff(&one, &other);
    if invocation.is_json() {
        let Difference { equal, config, layers, subagents, packages } = &difference;
        invocation.screen.json(&json!({
            "a": one.digest,
            "b": other.digest,
            "equal": equal,
            "config": config,
            "layers": layers,
            "subagents": subagents,
            "packages": packages,
        }));
    } else {
        invocation.screen.data(&text(&difference));
    }
    Ok(())
}

async fn open(invocation: &Invocation, text: &str) -> Result<Bundle, Failure> {
    let target = Target::parse(Some(text)).map_err(Failure::of_bundle)?;
    let (layout, found) = bundle_source::find(invocation, &target).await?;
    Bundle::open(&layout, found.digest, invocation.settings.limits.artifact_bytes).map_err(Failure::of_bundle)
}

fn text(difference: &Difference) -> String {
    let mark = |change: ChangeKind| match change {
        ChangeKind::Added => '+',
        ChangeKind::Removed => '-',
        ChangeKind::Changed => '~',
    };
    let mut lines = Vec::new();
    lines.extend(difference.config.map(|change| format!("{} config", mark(change))));
    lines.extend(difference.layers.iter().map(|layer| format!("{} {}", mark(layer.change), layer.media_type)));
    let subagents = &difference.subagents;
    lines.extend(subagents.iter().map(|subagent| format!("{} subagent {}", mark(subagent.change), subagent.name)));
    let packages = &difference.packages;
    lines.extend(packages.iter().map(|package| format!("{} package {}", mark(package.change), package.reference)));
    match (difference.equal, lines.is_empty()) {
        (true, _) => "they are the same".to_owned(),
        (false, true) => "only their annotations differ".to_owned(),
        (false, false) => lines.join("\n"),
    }
}
