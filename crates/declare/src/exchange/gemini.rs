//! Gemini CLI: `.gemini/agents/*.md`. A file has one agent, or an array of remote ones. Unknown keys are errors there.

use crate::Format;
use crate::exchange::delegate::Beyonds;
use crate::exchange::entries::{entry, sound};
use crate::exchange::servers::{self, Spelling};
use crate::exchange::strict::{self, Shape};
use crate::exchange::{File, Record, Written, complete, file_stem, keys, models, page, said};
use crate::faults::Faults;
use crate::fields::Fields;
use crate::front::Reading;
use crate::solo::Solo;
use crate::tree::{Node, Tree};
use entourage_model::{Name, Report};
use serde_json::Value;

const FORMAT: Format = Format::Gemini;

const LOCAL: Shape = Shape::Keys(&local(SERVERS_READ));
const LOCAL_AS_DOCUMENTED: Shape = Shape::Keys(&local(SERVERS_DOCUMENTED));

const fn local(servers_key: &'static str) -> [(&'static str, &'static Shape); 10] {
    [
        ("kind", &Shape::Any),
        ("name", &Shape::Any),
        ("description", &Shape::Any),
        ("display_name", &Shape::Any),
        ("tools", &Shape::Any),
        (servers_key, &Shape::Named(&SERVER)),
        ("model", &Shape::Any),
        ("temperature", &Shape::Any),
        ("max_turns", &Shape::Any),
        ("timeout_mins", &Shape::Any),
    ]
}

const REMOTE: Shape = Shape::Keys(&[
    ("kind", &Shape::Any),
    ("name", &Shape::Any),
    ("description", &Shape::Any),
    ("display_name", &Shape::Any),
    ("agent_card_url", &Shape::Any),
    ("agent_card_json", &Shape::Any),
    ("auth", &Shape::Any),
]);

const SERVER: Shape = Shape::Keys(&[
    ("command", &Shape::Any),
    ("args", &Shape::Any),
    ("env", &Shape::Any),
    ("cwd", &Shape::Any),
    ("url", &Shape::Any),
    ("http_url", &Shape::Any),
    ("headers", &Shape::Any),
    ("tcp", &Shape::Any),
    ("type", &Shape::Any),
    ("timeout", &Shape::Any),
    ("trust", &Shape::Any),
    ("description", &Shape::Any),
    ("include_tools", &Shape::Any),
    ("exclude_tools", &Shape::Any),
    ("auth", &Shape::Any),
]);

/// Its documentation has one spelling, and its reader the other, which is written.
const SERVERS_READ: &str = "mcp_servers";
const SERVERS_DOCUMENTED: &str = "mcpServers";

pub(super) fn read(file: &File<'_>, faults: &mut Faults) -> Vec<(Name, Solo)> {
    let Some((node, body)) = page::read(file, Reading::Strict, faults) else { return Vec::new() };
    match &node.tree {
        Tree::List(items) => items.iter().filter_map(|item| sound(faults, |faults| agent(item, "", faults))).collect(),
        _ => sound(faults, |faults| agent(&node, body, faults)).into_iter().collect(),
    }
}

fn agent(node: &Node, body: &str, faults: &mut Faults) -> Option<(Name, Solo)> {
    let name = Fields::of(node, "", faults)?.require_name("name");
    let solo = reread(&Name::from(""), node, body, faults);
    let name = name?;
    if !is_slug(name.value.as_str()) {
        let what = format!("Gemini CLI refuses the name `{}`", name.value);
        let hint = "use lower-case letters, digits, `-` and `_`";
        faults.push(name.spot, Report::warning("D115", what).hint(hint));
    }
    Some((name.value, solo?))
}

fn is_slug(name: &str) -> bool {
    name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '_'))
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Local,
    Remote,
}

pub(super) fn reread(_: &Name, node: &Node, body: &str, faults: &mut Faults) -> Option<Solo> {
    let kept = &super::without_nulls(node);
    let kind = kind(kept, faults)?;
    let servers_key = servers_key(|key| entry(kept, key).is_some());
    strict::check(kept, "", shape(kind, servers_key), faults);
    let mut fields = Fields::of(kept, "", faults)?;
    let mut solo = Solo::new(FORMAT, body);
    if kind == Kind::Local {
        fields.require("description");
    }
    solo.description = said(&mut fields, "description", Fields::text);
    solo.title = said(&mut fields, "display_name", Fields::text);
    if kind == Kind::Local {
        solo.tools = said(&mut fields, "tools", keys::texts);
        solo.servers = said(&mut fields, servers_key, servers::map);
        solo.model = said(&mut fields, "model", Fields::text).map(|said| said.map(|text| models::of_bare_id(&text)));
        solo.temperature = said(&mut fields, "temperature", keys::number);
        solo.steps_max = said(&mut fields, "max_turns", Fields::count);
        let minutes = said(&mut fields, "timeout_mins", Fields::count);
        solo.seconds_max = minutes.map(|said| said.map(|minutes| u64::from(minutes) * 60));
    }
    // A remote agent is another kind of thing; a local one is what every format means.
    let implied: &[&str] = if kind == Kind::Local { &["name", "kind"] } else { &["name"] };
    complete(&mut solo, node, implied);
    Some(solo)
}

fn shape(kind: Kind, servers_key: &str) -> &'static Shape {
    match kind {
        Kind::Local if servers_key == SERVERS_DOCUMENTED => &LOCAL_AS_DOCUMENTED,
        Kind::Local => &LOCAL,
        Kind::Remote => &REMOTE,
    }
}

/// Absent: reported.
fn kind(node: &Node, faults: &mut Faults) -> Option<Kind> {
    let mut fields = Fields::of(node, "", faults)?;
    let is_said = fields.node("kind").is_some();
    let kind = fields.choice("kind", &[("local", Kind::Local), ("remote", Kind::Remote)]);
    if is_said { kind } else { Some(Kind::Local) }
}

/// The key by which this declaration has its servers.
fn servers_key(is_there: impl Fn(&str) -> bool) -> &'static str {
    if is_there(SERVERS_DOCUMENTED) && !is_there(SERVERS_READ) { SERVERS_DOCUMENTED } else { SERVERS_READ }
}

pub(super) fn write(agents: &[(Name, Solo)], beyonds: &Beyonds) -> Written {
    let mut written = Written::default();
    for (name, solo) in agents {
        let record = if solo.format == FORMAT { own(name, solo) } else { record(name, solo) };
        let Record { keys, losses } = record.settle(FORMAT, beyonds.get(name));
        let path = format!(".gemini/agents/{}.md", file_stem(name.as_str()));
        written.add(name, path, page(&keys, &solo.body), losses);
    }
    written
}

/// Whatever the harness would not refuse.
fn own(name: &Name, solo: &Solo) -> Record {
    let mut record = Record::verbatim(solo, Some(name));
    record.keys.retain(|_, value| !value.is_null());
    let servers_key = servers_key(|key| record.keys.contains_key(key));
    let kind = if record.keys.get("kind").is_some_and(|kind| kind == "remote") { Kind::Remote } else { Kind::Local };
    let mut value = Value::Object(std::mem::take(&mut record.keys));
    strict::prune(&mut value, "", shape(kind, servers_key)).iter().for_each(|path| record.losses.name(path));
    if let Value::Object(keys) = value {
        record.keys = keys;
    }
    if let Some(servers) = record.keys.remove(SERVERS_DOCUMENTED) {
        record.set(SERVERS_READ, servers);
    }
    record
}

const SERVERS: Spelling = Spelling { command_type: None, url_type: Some("http"), all_tools: false, known: false };

fn record(name: &Name, solo: &Solo) -> Record {
    let mut left = solo.clone();
    let mut record = Record::default();
    record.set("kind", "local");
    record.set("name", name.as_str());
    record.describe(name, &mut left);
    record.copy("display_name", left.title.take());
    record.tools("tools", &mut left, FORMAT);
    if let Some(servers) = record.servers(&mut left, SERVERS) {
        record.set(SERVERS_READ, servers);
    }
    record.model(&mut left, |wish| models::id_of(wish, "gemini"));
    record.copy("temperature", left.temperature.take());
    record.copy("max_turns", left.steps_max.take());
    record
        .put("timeout_mins", left.seconds_max.take(), |seconds| (seconds % 60 == 0).then(|| Value::from(seconds / 60)));
    record.lose(left)
}
