//! What an agent of opencode may use: `permission`, and the older `tools`.

use super::FORMAT;
use crate::exchange::{Record, vocabulary};
use crate::fields::Fields;
use crate::solo::{Said, Solo};
use crate::tree::{At, Node, Spot, Tree};
use serde_json::{Map, Value};

#[derive(Clone, Copy, PartialEq)]
enum Action {
    Allow,
    Ask,
    Deny,
}

/// A rule is about one tool, or with `*` about all; of several that fit, the last counts.
struct Rules {
    usual: Action,
    single: Vec<(At<String>, Action)>,
    /// Whether the rules so far are all that was said.
    complete: bool,
}

pub(super) fn read(fields: &mut Fields<'_>, solo: &mut Solo) {
    let mut rules = Rules { usual: Action::Allow, single: Vec::new(), complete: true };
    let tools = fields.node("tools");
    let permission = fields.node("permission");
    if let Some(node) = tools {
        read_tools(fields, node, &mut rules);
    }
    if let Some(node) = permission {
        read_permission(fields, node, &mut rules);
    }
    let (key, node) = match (permission, tools) {
        (Some(node), _) => ("permission", node),
        (None, Some(node)) => ("tools", node),
        (None, None) => return,
    };
    let said = |value| Said { key: key.to_owned(), spot: node.spot, value };
    let of = |action| {
        let fitting = rules.single.iter().filter(move |(_, single)| *single == action);
        fitting.map(|(tool, _)| tool.clone()).collect::<Vec<_>>()
    };
    match rules.usual {
        Action::Deny => solo.tools = Some(said(of(Action::Allow))),
        Action::Allow | Action::Ask => {
            let denied = of(Action::Deny);
            solo.denied_tools = (!denied.is_empty()).then(|| said(denied));
        }
    }
    let asks = rules.usual == Action::Ask || !of(Action::Ask).is_empty();
    if asks || !rules.complete {
        solo.rest.push(Said { key: key.to_owned(), spot: node.spot, value: node.value() });
    }
}

impl Rules {
    fn add(&mut self, tool: &str, spot: Spot, action: Action) {
        if tool == "*" {
            self.usual = action;
            self.single.clear();
            return;
        }
        self.single.retain(|(known, _)| known.value != tool);
        self.single.push((At { value: tool.to_owned(), spot }, action));
    }
}

fn read_tools(fields: &mut Fields<'_>, node: &Node, rules: &mut Rules) {
    let Tree::Object(entries) = &node.tree else {
        fields.wrong::<()>("tools", "an object whose values are `true` or `false`", node);
        return;
    };
    for (tool, node) in entries {
        match node.tree {
            Tree::Flag(true) => rules.add(tool, node.spot, Action::Allow),
            Tree::Flag(false) => rules.add(tool, node.spot, Action::Deny),
            _ => {
                fields.wrong::<()>(&format!("tools.{tool}"), "`true` or `false`", node);
            }
        }
    }
}

fn read_permission(fields: &mut Fields<'_>, node: &Node, rules: &mut Rules) {
    match &node.tree {
        Tree::Object(entries) => {
            for (tool, node) in entries {
                read_rule(fields, tool, node, rules);
            }
        }
        _ => {
            if let Some(action) = action(fields, "permission", node) {
                rules.add("*", node.spot, action);
            }
        }
    }
}

/// An action, or one for each pattern of what the tool is given.
fn read_rule(fields: &mut Fields<'_>, tool: &str, node: &Node, rules: &mut Rules) {
    let path = format!("permission.{tool}");
    let Tree::Object(patterns) = &node.tree else {
        if let Some(action) = action(fields, &path, node) {
            rules.add(tool, node.spot, action);
        }
        return;
    };
    let mut actions = Vec::new();
    for (pattern, node) in patterns {
        actions.extend(action(fields, &format!("{path}.{pattern}"), node));
    }
    // What is allowed for some patterns only is not allowed, and not all that was said.
    let is_denied = actions.iter().all(|action| *action == Action::Deny);
    rules.complete &= is_denied && patterns.iter().any(|(pattern, _)| pattern == "*");
    rules.add(tool, node.spot, if is_denied { Action::Deny } else { Action::Ask });
}

fn action(fields: &mut Fields<'_>, path: &str, node: &Node) -> Option<Action> {
    match &node.tree {
        Tree::Text(word) if word == "allow" => Some(Action::Allow),
        Tree::Text(word) if word == "ask" => Some(Action::Ask),
        Tree::Text(word) if word == "deny" => Some(Action::Deny),
        _ => fields.wrong(path, "`allow`, `ask` or `deny`", node),
    }
}

/// Allowed tools become exceptions from a rule that denies all.
pub(super) fn write(record: &mut Record, left: &mut Solo) {
    let mut rules = Map::new();
    if let Some(said) = left.tools.take() {
        let translated = vocabulary::translate(&said.value, left.format, FORMAT);
        if !translated.exact {
            record.losses.name(&said.key);
        }
        if !translated.everything {
            rules.insert("*".to_owned(), "deny".into());
            rules.extend(translated.names.into_iter().map(|tool| (tool, Value::from("allow"))));
        }
    }
    if let Some(said) = left.denied_tools.take() {
        let translated = vocabulary::translate(&said.value, left.format, FORMAT);
        if !translated.exact || translated.everything {
            record.losses.name(&said.key);
        }
        rules.extend(translated.names.into_iter().map(|tool| (tool, Value::from("deny"))));
    }
    if left.read_only.take_if(|said| said.value).is_some() {
        rules.insert("edit".to_owned(), "deny".into());
        rules.insert("bash".to_owned(), "deny".into());
    }
    if !rules.is_empty() {
        record.set("permission", rules);
    }
}
