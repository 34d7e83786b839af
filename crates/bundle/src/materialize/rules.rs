//! Rules in files of their own, for harnesses that choose among them; others are told them with the instructions.

use super::adapter::{Adapter, Rules};
use super::loss::unsaid;
use super::plan::{Plan, is_inside};
use super::source::Source;
use crate::{Exit, Fault};
use entourage_declare::{Rule, Scope, page, rules_in};
use entourage_model::Report;
use serde_json::{Map, Value, json};

/// A rule that says nothing of its order has this priority.
const PRIORITY: i64 = 100;

/// Windsurf cuts longer files.
const WINDSURF_CHARS_MAX: usize = 12_000;

pub(super) fn add(source: &Source<'_>, plan: &mut Plan) -> Result<(), Fault> {
    let Some(folder) = source.folder("rules") else { return Ok(()) };
    let style = plan.adapter.shape().rules;
    let left_out = ["writeRules", "writePathInstructions"].into_iter().find(|key| source.leaves_out(key));
    for rule in rules_in(source.files, folder) {
        let field = format!("rules.{}", rule.id);
        let is_file = !style.embeds(rule.scope);
        if let Some(key) = left_out.filter(|_| is_file) {
            plan.leave_out(&field, key);
            continue;
        }
        name_unsaid(&rule, &field, is_file, plan);
        if is_file {
            write(&rule, style, plan)?;
        } else if !source.leaves_out("writeInstructions") {
            plan.translate(field, plan.adapter.shape().documents.first().copied().unwrap_or_default());
        }
    }
    Ok(())
}

/// The order is kept where rules are told one after the other.
fn name_unsaid(rule: &Rule, field: &str, is_file: bool, plan: &mut Plan) {
    let reason = unsaid(plan.adapter);
    let unsaid = [
        ("severity", rule.severity.as_deref().is_some_and(|severity| severity != "warn")),
        ("tags", !rule.tags.is_empty()),
        ("triggers", !rule.triggers.is_empty()),
        ("priority", is_file && rule.priority != PRIORITY),
        ("globs", rule.scope != Scope::Glob && !rule.globs.is_empty()),
    ];
    let unsaid = unsaid.into_iter().filter(|(_, is_said)| *is_said).map(|(key, _)| key);
    for key in unsaid.chain(rule.unknown.iter().map(String::as_str)) {
        plan.lose(format!("{field}.{key}"), &reason);
    }
    if plan.adapter == Adapter::Cursor && rule.scope == Scope::Manual && rule.description.is_some() {
        plan.lose(format!("{field}.description"), "by a description Cursor would choose the rule by itself");
    }
    let is_joined = rule.scope == Scope::Glob && plan.adapter == Adapter::GithubCopilot;
    if is_joined && rule.globs.iter().any(|glob| undivided(glob) != *glob) {
        let reason = "GitHub Copilot divides globs at commas: `?`, which is any letter, stands in for one";
        plan.lose(format!("{field}.globs"), reason);
    }
}

fn write(rule: &Rule, style: Rules, plan: &mut Plan) -> Result<(), Fault> {
    let stem = stem(&rule.id)?;
    let (folder, end, keys) = match style {
        Rules::Cursor => (".cursor/rules", "mdc", cursor(rule)),
        Rules::GithubCopilot => (".github/instructions", "instructions.md", github_copilot(rule)),
        Rules::Windsurf => (".windsurf/rules", "md", windsurf(rule)),
        Rules::Embedded => return Ok(()),
    };
    // Two rules may have one id.
    let others = (2..).map(|number| format!("{folder}/{stem}-{number}.{end}"));
    let path = plan.free([format!("{folder}/{stem}.{end}")].into_iter().chain(others));
    let text = page(&keys, &format!("\n{}", rule.text.trim_start_matches(['\r', '\n'])));
    if plan.adapter == Adapter::Windsurf && text.chars().count() > WINDSURF_CHARS_MAX {
        let what =
            format!("the rule `{}` has more than {WINDSURF_CHARS_MAX} characters, and Windsurf cuts it", rule.id);
        plan.warn("B081", what, "split it");
    }
    plan.translate(format!("rules.{}", rule.id), &path);
    plan.write(path, text);
    Ok(())
}

fn cursor(rule: &Rule) -> Map<String, Value> {
    // A description makes Cursor choose the rule by itself, so that it is named as lost.
    let description = rule.description.as_ref().filter(|_| rule.scope != Scope::Manual);
    let globs = (rule.scope == Scope::Glob).then(|| json!(rule.globs));
    keys([
        ("description", description.map(|text| text.as_str().into())),
        ("globs", globs),
        ("alwaysApply", Some((rule.scope == Scope::Always).into())),
    ])
}

fn github_copilot(rule: &Rule) -> Map<String, Value> {
    let globs: Vec<_> = rule.globs.iter().map(|glob| undivided(glob)).collect();
    let apply_to = (rule.scope == Scope::Glob).then(|| globs.join(",").into());
    // Front matter without a key is no map, which readers insist on. A name is only shown.
    let name = (rule.description.is_none() && apply_to.is_none()).then(|| rule.id.as_str().into());
    keys([("name", name), ("description", rule.description.as_deref().map(Value::from)), ("applyTo", apply_to)])
}

/// The glob without the commas at which Copilot would divide it, those outside of braces and brackets: any letter
/// stands in for one.
fn undivided(glob: &str) -> String {
    let (mut in_braces, mut in_brackets) = (false, false);
    let letter = |letter| {
        match letter {
            '{' | '}' => in_braces = letter == '{',
            '[' | ']' => in_brackets = letter == '[',
            _ => {}
        }
        if letter == ',' && !in_braces && !in_brackets { '?' } else { letter }
    };
    glob.chars().map(letter).collect()
}

fn windsurf(rule: &Rule) -> Map<String, Value> {
    let trigger = match rule.scope {
        Scope::Always => "always_on",
        Scope::Glob => "glob",
        Scope::Auto => "model_decision",
        Scope::Manual => "manual",
    };
    keys([
        ("trigger", Some(trigger.into())),
        ("description", rule.description.as_deref().map(Value::from)),
        ("globs", (rule.scope == Scope::Glob).then(|| json!(rule.globs))),
    ])
}

fn keys<const N: usize>(said: [(&str, Option<Value>); N]) -> Map<String, Value> {
    said.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// The rule's id as a file's name without its ending.
fn stem(id: &str) -> Result<String, Fault> {
    let path = id.strip_suffix(".md").or_else(|| id.strip_suffix(".markdown")).unwrap_or(id);
    let odd = |letter: char| r#"*?"<>|"#.contains(letter);
    if is_inside(path) && !path.split('/').any(|segment| segment.starts_with('.')) {
        return Ok(path.replace(odd, "-"));
    }
    let report =
        Report::error("B077", format!("a rule's `id` is `{}`, which can be no file's name", id.escape_debug()));
    Err(Fault::new(Exit::Usage, report.hint("give it a plain name, such as `code-style`")))
}
