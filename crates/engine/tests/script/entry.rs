//! What a prompt may call beside tools, as words of an agent's line.
//!
//! `children=A,B`, each of them `[~][ALIAS=]NAME`, then in this order where they are meant: `:PROPERTY` of the message, `*`
//! resumable, a number of instances, `@b` the receiving side, `!` explicit, `&` not blocking; with `~` only code starts it.
//! `handoffs=A,B:PROPERTY` may take the thread over.
//! By the names that these have here: `immediate=A,B:NAME_ENV:DESCRIPTION_ENV` start by themselves, `optional=A:FLAG` are
//! switched on by a variable, `files=A:PROPERTY` and `names=A:PROPERTY` are arguments. `gives=A` hands variables on to all
//! children.

use crate::team::{number, side_named};
use entourage_model::{ChildEntry, Communication, HandoffEntry, Immediate, Name, Resumable, Side, ToolEntry};

pub(crate) fn entries<'a>(own: &impl Fn(&str) -> Option<&'a str>) -> Vec<ToolEntry> {
    let list = |key| own(key).into_iter().flat_map(|words| words.split(','));
    // What stands behind the name in one of the lists.
    let said = |key, name: &Name| list(key).find_map(|word| after(word, name.as_str()));
    let text = |key, name: &Name| said(key, name).map(str::to_owned);
    let child = |word| {
        let plain = child(word);
        let name = plain.name().clone();
        ToolEntry::Child(ChildEntry {
            optional: text("optional", &name),
            immediate: said("immediate", &name).map(immediate),
            attachments_property: text("files", &name),
            name_property: text("names", &name),
            scoped_env: list("gives").map(str::to_owned).collect(),
            ..plain
        })
    };
    let handoff = |word: &str| {
        let (agent, property) = word.split_once(':').unzip();
        let agent = Name::from(agent.unwrap_or(word));
        ToolEntry::Handoff(HandoffEntry {
            optional: text("optional", &agent),
            message_property: property.map(str::to_owned),
            attachments_property: text("files", &agent),
            agent,
        })
    };
    list("children").map(child).chain(list("handoffs").map(handoff)).collect()
}

fn after<'a>(word: &'a str, name: &str) -> Option<&'a str> {
    let rest = word.strip_prefix(name)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(':') }
}

fn immediate(text: &str) -> Immediate {
    let mut words = text.split(':').map(|word| Some(word.to_owned()).filter(|word| !word.is_empty()));
    Immediate { name_env: words.next().flatten(), description_env: words.next().flatten() }
}

fn child(text: &str) -> ChildEntry {
    let (text, hidden) = text.strip_prefix('~').map_or((text, false), |rest| (rest, true));
    let (alias, text) = text.split_once('=').map_or((None, text), |(alias, rest)| (Some(alias.into()), rest));
    let (text, blocking) = text.strip_suffix('&').map_or((text, true), |rest| (rest, false));
    let (text, communication) = match text.strip_suffix('!') {
        Some(rest) => (rest, Communication::Explicit),
        None => (text, Communication::Implicit),
    };
    let (text, receives) = text.split_once('@').map_or((text, Side::A), |(rest, side)| (rest, side_named(side)));
    let resumable = text.split_once('*').map(|(_, instances)| Resumable {
        receives,
        instances_max: (!instances.is_empty()).then(|| number(instances)),
        communication,
    });
    let text = text.split_once('*').map_or(text, |(rest, _)| rest);
    let (agent, property) = text.split_once(':').map_or((text, None), |(agent, property)| (agent, Some(property)));
    ChildEntry {
        blocking,
        message_property: property.map(str::to_owned),
        resumable,
        alias,
        hidden,
        ..ChildEntry::blocking(agent.into())
    }
}
