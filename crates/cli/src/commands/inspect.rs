//! `entourage inspect`: what an artifact says of itself and holds.

use crate::amount;
use crate::bundle_source;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::packing::{descriptor_json, heading};
use clap::Args;
use entourage_bundle::{Bundle, Target};
use serde_json::{Value, json};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage inspect                                  the latest build
  entourage inspect registry.example.com/team/agent:1.0.0

An artifact that is not in the local store is fetched.")]
pub(crate) struct Arguments {
    /// A reference or a digest [default: the latest build]
    #[arg(value_name = "REF")]
    reference: Option<String>,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let target = Target::parse(arguments.reference.as_deref()).map_err(Failure::of_bundle)?;
    let (layout, found) = bundle_source::find(invocation, &target).await?;
    let bytes_max = invocation.settings.limits.artifact_bytes;
    let bundle = Bundle::open(&layout, found.digest, bytes_max).map_err(Failure::of_bundle)?;
    if invocation.is_json() {
        invocation.screen.json(&document(&bundle, arguments.reference.as_deref()));
    } else {
        invocation.screen.data(&text(&bundle));
    }
    Ok(())
}

fn document(bundle: &Bundle, reference: Option<&str>) -> Value {
    let subagents =
        bundle.agents().map(|(name, agent)| json!({ "name": name, "description": agent.get("description") }));
    json!({
        "reference": reference,
        "digest": bundle.digest,
        "artifact_type": bundle.kind.artifact_type(),
        "name": bundle.name,
        "version": bundle.version,
        "adapter": bundle.adapter("type"),
        "annotations": bundle.manifest.annotations,
        "config": bundle.config,
        "layers": bundle.manifest.layers.iter().map(descriptor_json).collect::<Vec<_>>(),
        "subagents": subagents.collect::<Vec<_>>(),
        "packages": bundle.packages.iter().map(|entry| json!({ "ref": entry.text, "digest": entry.digest })).collect::<Vec<_>>(),
    })
}

fn text(bundle: &Bundle) -> String {
    let mut lines = vec![heading(bundle)];
    let said = |key: &str| bundle.config.get(key).and_then(Value::as_str);
    lines.extend(said("description").map(|text| text.escape_debug().to_string()));
    lines.extend(bundle.adapter("type").map(|adapter| format!("made for {}", adapter.escape_debug())));
    lines.push(String::new());
    for layer in &bundle.manifest.layers {
        lines.push(format!("{}  {}  {}", layer.digest, amount::bytes(layer.size), layer.media_type.escape_debug()));
    }
    for entry in &bundle.packages {
        let pinned = entry.digest.map(|digest| format!(", which is {digest}")).unwrap_or_default();
        lines.push(format!("depends on {}{pinned}", entry.text));
    }
    if bundle.agents().next().is_some() {
        lines.extend([String::new(), "subagents".to_owned()]);
    }
    for (name, agent) in bundle.agents() {
        let description = agent.get("description").and_then(Value::as_str).unwrap_or_default();
        lines.push(format!("  {name}  {}", description.escape_debug()));
    }
    lines.join("\n")
}
