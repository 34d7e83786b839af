//! What another harness said of a subagent that was packed: as far as it limits the subagent, it holds here too.

use crate::exchange::{reread, vocabulary};
use crate::faults::Faults;
use crate::format::Format;
use crate::solo::{Said, Solo};
use crate::tree::{At, Node};
use entourage_model::Name;
use serde_json::Value;

/// Takes over the limits that are kept under `x-<format>`. What the definition says itself counts before them; words
/// that cannot be read limit nothing, as in a definition that never came from that harness.
pub(super) fn limit(solo: &mut Solo, name: &str) {
    let carried = solo.verbatim.iter().find_map(|(key, value)| Some((format_of(key)?, value.clone())));
    let Some((format, value @ Value::Object(_))) = carried else { return };
    let mut unread = Faults::new("");
    let foreign = reread(format, &Name::from(name), &Node::without_place(&value), &solo.body, &mut unread);
    let Some(foreign) = foreign else { return };
    solo.tools = solo.tools.take().or_else(|| foreign.tools.map(|said| in_our_words(said, format)));
    solo.denied_tools =
        solo.denied_tools.take().or_else(|| foreign.denied_tools.map(|said| in_our_words(said, format)));
    solo.read_only = solo.read_only.take().or(foreign.read_only);
    solo.steps_max = solo.steps_max.take().or(foreign.steps_max);
    solo.seconds_max = solo.seconds_max.take().or(foreign.seconds_max);
}

/// The harness that keeps its words under this key.
fn format_of(key: &str) -> Option<Format> {
    let format = Format::of_name(key.strip_prefix("x-")?)?;
    (!matches!(format, Format::Stax | Format::StandardAgents)).then_some(format)
}

/// The same tools by the names that they have here. One that nobody knows keeps its name.
fn in_our_words(said: Said<Vec<At<String>>>, format: Format) -> Said<Vec<At<String>>> {
    let ours = |entry: At<String>| match vocabulary::our_tools(format, &entry.value) {
        Some(tools) => tools.into_iter().map(|tool| At { value: tool.to_owned(), spot: entry.spot }).collect(),
        None => vec![entry],
    };
    said.map(|entries| entries.into_iter().flat_map(ours).collect())
}
