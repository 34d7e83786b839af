//! A project's declarations in, its team and the reports about them out.

use crate::check::check;
use crate::{Files, Tools, lead, standard_agents};
use entourage_model::{Report, Team};
use std::sync::Arc;

/// What a project declares.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Agents without an error, and `lead`. Every prompt, tool and child that they name exists.
    pub team: Team,
    /// By file, then line.
    pub reports: Vec<Report>,
}

/// Reads and checks everything that the project declares. A broken file never stops the others.
pub fn load(files: &dyn Files, known_tools: &dyn Tools) -> Loaded {
    let drafts = standard_agents::read(files);
    let has_lead = drafts.declares_agent(lead::NAME);
    let checked = check(drafts, known_tools);
    let mut team = Team::default();
    team.agents.extend(checked.agents.into_iter().map(|agent| (agent.name.clone(), Arc::new(agent))));
    let mut reports = checked.reports;
    if !has_lead {
        let lead = lead::lead(files, known_tools, &team, &mut reports);
        team.agents.insert(lead.name.clone(), Arc::new(lead));
    }
    reports.sort_by(|a, b| (&a.place, a.code, &a.what).cmp(&(&b.place, b.code, &b.what)));
    Loaded { team, reports }
}
