//! Skills, knowledge and memory: folders that a harness is given file by file.

use super::adapter::Adapter;
use super::loss::unsaid;
use super::plan::Plan;
use super::source::{Part, Source};
use crate::Fault;
use crate::knowledge::{self, Wrong, shown};

const SKILL_FILE: &str = "SKILL.md";

pub(super) fn add(source: &Source<'_>, plan: &mut Plan) -> Result<(), Fault> {
    let shape = plan.adapter.shape();
    let left_out = ["writeSkills", "writeWorkflows"].into_iter().find(|key| source.leaves_out(key));
    match left_out {
        Some(key) if source.folder("skills").is_some() => plan.leave_out("skills", key),
        _ => {
            for part in source.parts("skills")? {
                let path = skill_path(plan.adapter, &part.path);
                copy(plan, shape.skills, &path, part);
            }
        }
    }
    let knowledge = source.parts("knowledge")?;
    warn_of_absent(&knowledge, plan);
    for part in knowledge {
        let path = part.path.clone();
        copy(plan, shape.knowledge, &path, part);
    }
    let remembers = matches!(plan.adapter, Adapter::Openclaw | Adapter::Generic);
    for part in source.parts("memory")? {
        if remembers {
            let path = part.path.clone();
            copy(plan, "memory", &path, part);
        } else {
            plan.lose(format!("memory.{}", part.path), unsaid(plan.adapter));
        }
    }
    Ok(())
}

/// What a manifest says about files that are not there means nothing.
fn warn_of_absent(parts: &[Part], plan: &mut Plan) {
    let Some(manifest) = parts.iter().find(|part| part.path == knowledge::MANIFEST) else { return };
    for wrong in knowledge::check(&manifest.bytes, |path| parts.iter().any(|part| part.path == path)) {
        let what = match wrong {
            Wrong::Malformed(reason) => format!("the manifest of the knowledge is malformed: {reason}"),
            Wrong::Outside(paths) | Wrong::Absent(paths) => {
                format!("the manifest of the knowledge names files that the bundle does not have: {}", shown(&paths))
            }
        };
        plan.warn("B085", what, "ask whoever published the bundle; everything that is there was written");
    }
}

fn copy(plan: &mut Plan, folder: &str, path: &str, part: Part) {
    plan.put(format!("{folder}/{path}"), part.bytes, part.executable);
}

/// Windsurf has a workflow where others have a skill; what else belongs to the skill lies in a folder beside it.
fn skill_path(adapter: Adapter, path: &str) -> String {
    match path.strip_suffix(SKILL_FILE).and_then(|folder| folder.strip_suffix('/')) {
        Some(skill) if adapter == Adapter::Windsurf && !skill.contains('/') => format!("{skill}.md"),
        _ => path.to_owned(),
    }
}
