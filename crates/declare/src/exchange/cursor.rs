//! Cursor: `.cursor/agents/*.md`.

use crate::Format;
use crate::exchange::delegate::Beyonds;
use crate::exchange::{File, Record, Written, complete, file_stem, keys, models, page, said};
use crate::faults::Faults;
use crate::fields::Fields;
use crate::front::Reading;
use crate::solo::{ModelWish, Solo};
use crate::stax;
use crate::tree::Node;
use entourage_model::Name;

const FORMAT: Format = Format::Cursor;

pub(super) fn read(file: &File<'_>, faults: &mut Faults) -> Vec<(Name, Solo)> {
    let Some((node, body)) = page::read(file, Reading::Lax, faults) else { return Vec::new() };
    let kept = super::without_nulls(&node);
    let name = Fields::of(&kept, "", faults).and_then(|mut fields| fields.name("name"));
    let name = name.map_or_else(|| Name::from(file.stem(&[".md"])), |name| name.value);
    let solo = reread(&name, &node, body, faults).filter(|_| !faults.has_error());
    solo.map(|solo| (name, solo)).into_iter().collect()
}

pub(super) fn reread(_: &Name, node: &Node, body: &str, faults: &mut Faults) -> Option<Solo> {
    let kept = super::without_nulls(node);
    let mut fields = Fields::of(&kept, "", faults)?;
    let mut solo = Solo::new(FORMAT, body);
    solo.description = said(&mut fields, "description", Fields::text);
    solo.model = said(&mut fields, "model", Fields::text).map(|said| said.map(|text| models::of_bare_id(&text)));
    solo.read_only = said(&mut fields, "readonly", keys::lax_flag);
    solo.background = said(&mut fields, "is_background", keys::lax_flag);
    for key in ["name", stax::LEFTOVER] {
        fields.node(key);
    }
    fields.finish();
    complete(&mut solo, node, &["name"]);
    stax::take_leftover(&mut solo, &kept);
    Some(solo)
}

pub(super) fn write(agents: &[(Name, Solo)], beyonds: &Beyonds) -> Written {
    let mut written = Written::default();
    for (name, solo) in agents {
        let Record { keys, losses } = record(name, solo).settle(FORMAT, beyonds.get(name));
        let path = format!(".cursor/agents/{}.md", file_stem(name.as_str()));
        written.add(name, path, page(&keys, &solo.body), losses);
    }
    written
}

fn record(name: &Name, solo: &Solo) -> Record {
    if solo.format == FORMAT {
        // Without a name of its own it has its file's, which is written as such.
        let is_named = solo.verbatim.contains_key("name") || file_stem(name.as_str()) != name.as_str();
        return Record::verbatim(solo, is_named.then_some(name));
    }
    let mut left = solo.clone();
    let mut record = Record::default();
    record.set("name", name.as_str());
    record.describe(name, &mut left);
    if left.model.as_ref().is_some_and(|said| said.value == ModelWish::Inherit) {
        record.set("model", "inherit");
    }
    record.model(&mut left, models::bare_id);
    if record.only_looks(&mut left) {
        record.set("readonly", true);
    }
    record.copy("is_background", left.background.take());
    record.lose(left)
}
