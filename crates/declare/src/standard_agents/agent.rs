//! An agent definition → draft.

use super::side::{self, Seat};
use super::{Definition, Named, variable};
use crate::Format;
use crate::draft::{AgentDraft, ParentHookDraft, SideDraft};
use crate::fields::{Fields, Shape};
use crate::tree::{Node, Tree};
use entourage_model::{HookStage, Kind, Program, Report};
use std::collections::BTreeMap;
use std::sync::Arc;

const KINDS: [(&str, Kind); 2] = [("ai_human", Kind::AiHuman), ("dual_ai", Kind::DualAi)];

/// Whether a hook of a child runs on its parent before or after the parent's own.
const STAGES: [(&str, HookStage); 2] =
    [("before_parent", HookStage::BeforeParent), ("after_parent", HookStage::AfterParent)];

impl Definition for AgentDraft {
    const FOLDER: &'static str = "agents/agents";
    const NAMED: Named = Named::ByField("name");

    fn read(mut fields: Fields<'_>, _: Option<Arc<Program>>) -> Self {
        let said = fields.choice("type", &KINDS);
        let side_a = side_a(&mut fields);
        let (kind, side_b) = side_b(&mut fields, said);
        for key in ["icon", "packageName", "version", "license"] {
            fields.keep(key, Shape::Text);
        }
        fields.keep("author", Shape::Any);
        fields.keep("primary", Shape::Flag);
        let parent_hooks = parent_hooks(&mut fields);
        let env = env(&mut fields);
        let variables = variable::read_all(&mut fields);
        Self {
            format: Format::StandardAgents.name(),
            kind,
            says_type: said.is_some(),
            title: fields.text("title"),
            description: fields.text("description").unwrap_or_default(),
            side_a,
            side_b,
            session_turns_max: fields.count("maxSessionTurns"),
            expose_as_tool: fields.flag("exposeAsTool").unwrap_or_default(),
            tool_description: fields.text("toolDescription"),
            env,
            variables,
            hooks: fields.names("hooks"),
            parent_hooks,
            extra: fields.finish(),
        }
    }
}

fn side_a(fields: &mut Fields<'_>) -> Option<SideDraft> {
    let node = fields.require("sideA")?;
    match side::read(fields, "sideA", node)? {
        Seat::Model(side) => Some(*side),
        Seat::Person => {
            let report = Report::error("D029", "`sideA` is a person's, but side A is always a model's");
            fields.report(node, report.hint("let the person be `sideB`"));
            None
        }
    }
}

/// What `type` says, or else what side B is.
fn side_b(fields: &mut Fields<'_>, said: Option<Kind>) -> (Kind, Option<SideDraft>) {
    let node = fields.node("sideB");
    match (said, node) {
        (Some(Kind::AiHuman), Some(node)) if !is_person(node) => {
            let report =
                Report::warning("D008", "`sideB` has no effect: side B of an agent of type `ai_human` is a person");
            fields.report(node, report.hint("remove it, or set `type` to `dual_ai`"));
            fields.keep_value("sideB", node.value());
            (Kind::AiHuman, None)
        }
        (Some(Kind::DualAi), None) => {
            let report = Report::error("D005", "`sideB` is missing, which an agent of type `dual_ai` must have");
            let asked = fields.spot("type");
            fields.report_at(asked.expect("only `type` can have said so"), report.hint("add `sideB`"));
            (Kind::DualAi, None)
        }
        (None | Some(Kind::AiHuman), None) => (Kind::AiHuman, None),
        (_, Some(node)) => match side::read(fields, "sideB", node) {
            Some(Seat::Model(side)) => (Kind::DualAi, Some(*side)),
            Some(Seat::Person) if said == Some(Kind::DualAi) => {
                let report = Report::error("D029", "`sideB` is a person's, but `type` is `dual_ai`");
                fields.report(node, report.hint("remove `type`, or give `sideB` a `prompt`"));
                (Kind::DualAi, None)
            }
            Some(Seat::Person) => (Kind::AiHuman, None),
            None => (said.unwrap_or_default(), None),
        },
    }
}

fn is_person(node: &Node) -> bool {
    matches!(&node.tree, Tree::Object(entries) if entries.iter().any(|(key, _)| key == "human"))
}

/// Variables' values; `tenvs` is their older name.
fn env(fields: &mut Fields<'_>) -> BTreeMap<String, String> {
    let env = fields.text_map("env");
    let older = fields.text_map("tenvs");
    if let (Some(_), Some(spot)) = (&env, fields.spot("tenvs")) {
        let report = Report::error("D021", "`tenvs` is the older name of `env`, and both are there");
        fields.report_at(spot, report.hint("move what it says into `env`"));
    }
    env.or(older).unwrap_or_default()
}

/// They are also kept whole, with the reasons that people are told.
fn parent_hooks(fields: &mut Fields<'_>) -> Vec<ParentHookDraft> {
    let Some(node) = fields.node("parentHooks") else { return Vec::new() };
    let mut hooks = Vec::new();
    for (index, item) in fields.list("parentHooks").unwrap_or_default().iter().enumerate() {
        let Some(mut inner) = fields.within(item, &format!("parentHooks[{index}]")) else { continue };
        let hook = inner.require_name("hook");
        inner.require("reason").and_then(|_| inner.text("reason"));
        let stage = inner.choice("stage", &STAGES).unwrap_or_default();
        hooks.extend(hook.map(|hook| ParentHookDraft { hook, stage }));
        inner.finish();
    }
    fields.keep_value("parentHooks", node.value());
    hooks
}
