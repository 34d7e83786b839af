//! GitHub Copilot: `.github/agents/*.agent.md`, earlier `.chatmode.md`. An agent's name is its file's.

use crate::Format;
use crate::exchange::delegate::Beyonds;
use crate::exchange::entries::sound;
use crate::exchange::servers::{self, Spelling};
use crate::exchange::{File, Record, Written, complete, file_stem, keys, models, page, said};
use crate::faults::Faults;
use crate::fields::Fields;
use crate::front::Reading;
use crate::solo::{Invocation, Said, Solo};
use crate::stax;
use crate::tree::{At, Node, Tree};
use entourage_model::Name;
use serde_json::{Map, Value};

const FORMAT: Format = Format::GithubCopilot;

/// A longer prompt is refused there.
const BODY_CHARS_MAX: usize = 30_000;

/// Two of its documents spell it differently.
const SHOWN: [&str; 2] = ["user-invocable", "user-invokable"];

pub(super) fn read(file: &File<'_>, faults: &mut Faults) -> Vec<(Name, Solo)> {
    let Some((node, body)) = page::read(file, Reading::Strict, faults) else { return Vec::new() };
    let name = Name::from(file.stem(&[".agent.md", ".chatmode.md", ".md"]));
    let solo = sound(faults, |faults| reread(&name, &node, body, faults));
    solo.map(|solo| (name, solo)).into_iter().collect()
}

pub(super) fn reread(_: &Name, node: &Node, body: &str, faults: &mut Faults) -> Option<Solo> {
    let kept = super::without_nulls(node);
    let mut fields = Fields::of(&kept, "", faults)?;
    let mut solo = Solo::new(FORMAT, body);
    fields.require("description");
    solo.description = said(&mut fields, "description", Fields::text);
    solo.title = said(&mut fields, "name", Fields::text);
    solo.tools = said(&mut fields, "tools", keys::listed_texts);
    read_models(&mut fields, &mut solo);
    solo.children = said(&mut fields, "agents", children);
    for key in SHOWN {
        let shown = said(&mut fields, key, Fields::flag);
        solo.hidden = solo.hidden.or(shown.map(|said| said.map(|shown| !shown)));
    }
    let disabled = said(&mut fields, "disable-model-invocation", Fields::flag);
    let infer = said(&mut fields, "infer", Fields::flag).map(|said| said.map(|infer| !infer));
    let is_usual = |said: &Option<Said<bool>>| said.as_ref().is_some_and(|said| !said.value);
    let usual = [(is_usual(&disabled), "disable-model-invocation"), (is_usual(&infer), "infer")];
    let by_hand = disabled.or(infer).filter(|said| said.value);
    solo.invocation = by_hand.map(|said| said.map(|_| Invocation::Manual));
    solo.servers = said(&mut fields, "mcp-servers", servers::map);
    solo.metadata = said(&mut fields, "metadata", keys::text_map);
    for key in ["target", "argument-hint", "handoffs", stax::LEFTOVER] {
        fields.node(key);
    }
    fields.finish();
    let implied: Vec<_> = usual.into_iter().filter_map(|(is_usual, key)| is_usual.then_some(key)).collect();
    complete(&mut solo, node, &implied);
    stax::take_leftover(&mut solo, &kept);
    Some(solo)
}

/// One model, or several of which the first that can answer is meant.
fn read_models(fields: &mut Fields<'_>, solo: &mut Solo) {
    let Some(node) = fields.node("model") else { return };
    let models = if matches!(node.tree, Tree::List(_)) {
        keys::texts(fields, "model").unwrap_or_default()
    } else {
        fields.text("model").map(|value| At { value, spot: node.spot }).into_iter().collect()
    };
    let mut wishes = models.into_iter().map(|model| models::of_bare_id(&model.value));
    let said = |value| Said { key: "model".to_owned(), spot: node.spot, value };
    solo.model = wishes.next().map(said);
    let others: Vec<_> = wishes.collect();
    solo.fallbacks = (!others.is_empty()).then(|| Said { key: "model".to_owned(), spot: node.spot, value: others });
}

/// Absent: any agent is meant.
fn children(fields: &mut Fields<'_>, key: &'static str) -> Option<Vec<At<Name>>> {
    let names = keys::listed_texts(fields, key)?;
    let is_open = names.iter().any(|name| name.value == "*");
    (!is_open).then(|| names.into_iter().map(|name| At { value: Name::from(name.value), spot: name.spot }).collect())
}

pub(super) fn write(agents: &[(Name, Solo)], beyonds: &Beyonds) -> Written {
    let mut written = Written::default();
    for (name, solo) in agents {
        let Record { keys, losses } = record(name, solo).settle(FORMAT, beyonds.get(name));
        let path = format!(".github/agents/{}.agent.md", file_stem(name.as_str()));
        written.add(name, path, page(&keys, &solo.body), losses);
    }
    written
}

const SERVERS: Spelling =
    Spelling { command_type: Some("local"), url_type: Some("http"), all_tools: true, known: false };

fn record(name: &Name, solo: &Solo) -> Record {
    if solo.format == FORMAT {
        return Record::verbatim(solo, None);
    }
    let mut left = solo.clone();
    let mut record = Record::default();
    record.describe(name, &mut left);
    record.copy("name", left.title.take());
    record.tools("tools", &mut left, FORMAT);
    write_models(&mut record, &mut left);
    record.put("agents", left.children.take(), |children| {
        Some(children.iter().map(|child| Value::from(child.value.as_str())).collect())
    });
    if left.hidden.take_if(|said| said.value).is_some() {
        record.set("user-invocable", false);
    }
    if left.invocation.take_if(|said| said.value == Invocation::Manual).is_some() {
        record.set("disable-model-invocation", true);
    }
    if let Some(servers) = record.servers(&mut left, SERVERS) {
        record.set("mcp-servers", servers);
    }
    record.put("metadata", left.metadata.take(), |metadata| {
        Some(
            metadata
                .iter()
                .map(|(key, value)| (key.clone(), Value::from(value.as_str())))
                .collect::<Map<_, _>>()
                .into(),
        )
    });
    if solo.body.chars().count() > BODY_CHARS_MAX {
        record.losses.name("body");
    }
    record.lose(left)
}

/// A list is written only where there are others to fall back to.
fn write_models(record: &mut Record, left: &mut Solo) {
    let first = left.model.as_ref().and_then(|said| models::bare_id(&said.value));
    let others =
        left.fallbacks.as_ref().and_then(|said| said.value.iter().map(models::bare_id).collect::<Option<Vec<_>>>());
    match (first, others) {
        (Some(first), Some(others)) => {
            (left.model, left.fallbacks) = (None, None);
            record.set("model", [vec![first], others].concat());
        }
        _ => record.model(left, models::bare_id),
    }
}
