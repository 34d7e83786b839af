//! A project's declarations in, its team and the reports about them out.

use crate::check::{DeclaredServer, Owner, Solitary, Stage, Toolkit, cast, check, check_solo, is_offered};
use crate::draft::Declared;
use crate::faults::{did_you_mean, quoted};
use crate::solo::Solo;
use crate::stax::{self, NamedPackage, Stax};
use crate::{Files, Format, Tools, agentscope, builtin, dex, harness, lead, settings, standard_agents};
use entourage_model::{Agent, Dialect, Kind, Name, Place, Report, Secret, Severity, Team};
use entourage_script::OneReading;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// What a project declares.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Agents without an error, and `lead`. Every prompt, tool and child that they name exists.
    pub team: Team,
    /// Whom people talk to when they name nobody: `lead`, or the primary agent of stax, which may be broken.
    pub primary: Name,
    /// Header values that settings files write out, by agent and header. They are to be in no other file, so that the
    /// agents themselves, which are stored, do not hold them.
    pub headers: BTreeMap<Name, BTreeMap<String, Secret>>,
    /// The MCP servers that declarations bring. They are not stored either.
    pub servers: Vec<DeclaredServer>,
    /// Where declarations name the folder that defines their agent, by agent. Whoever reads the folder reports there.
    pub definition_folders: BTreeMap<Name, Place>,
    /// The packages that the definition of stax names. Whether each is a reference is for whoever packs to say.
    pub packages: Vec<NamedPackage>,
    /// The agents that are declared and not in the team, each with its file.
    pub broken: BTreeMap<Name, String>,
    /// By file, then line.
    pub reports: Vec<Report>,
}

impl Loaded {
    /// The first reason why an agent is not in the team although it is declared. Where its own file has none, something
    /// that it needs is broken.
    pub fn first_fault(&self, agent: &Name) -> Option<&Report> {
        let file = self.broken.get(agent)?;
        let is_own = |report: &&Report| report.place.as_ref().is_some_and(|place| place.file == *file);
        let mut errors = self.reports.iter().filter(|report| report.severity == Severity::Error);
        errors.clone().find(is_own).or_else(|| errors.next())
    }
}

/// Where a project's declarations are looked for, and what they may name.
#[derive(Clone, Copy)]
pub struct Project<'a> {
    pub files: &'a dyn Files,
    /// The user's home folder, for what holds in every project; shown as `~/…`.
    pub home: Option<&'a dyn Files>,
    /// Further folders with dex profiles, in the order in which they count, as people know them.
    pub profile_folders: &'a [(String, &'a dyn Files)],
    pub settings: &'a Wishes,
    pub tools: &'a dyn Tools,
    pub memory: &'a dyn entourage_script::Memory,
}

/// What the settings say about declarations.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// How `lead` drives children.
    pub dialects: Vec<Dialect>,
    /// The same for agents by their names.
    pub agent_dialects: BTreeMap<String, Vec<Dialect>>,
    /// Whether the built-in `general-purpose` is there.
    pub general_purpose: bool,
    /// The settings files, the user's before the project's: name and text. Their `[subagents.<id>]` are declarations.
    pub files: Vec<(String, String)>,
    /// What variables say of such declarations, by id: keys with their values.
    pub subagents: BTreeMap<String, Value>,
}

impl fmt::Debug for Project<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Project").field("settings", self.settings).finish_non_exhaustive()
    }
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            dialects: vec![Dialect::AgentScope],
            agent_dialects: BTreeMap::new(),
            general_purpose: true,
            files: Vec::new(),
            subagents: BTreeMap::new(),
        }
    }
}

/// Reads and checks everything that the project declares. A broken file never stops the others.
pub fn load(project: &Project<'_>) -> Loaded {
    let Project { files, settings: wishes, tools: known, .. } = *project;
    let mut reports = Vec::new();
    let settled = settings::read(wishes);
    let memory = OneReading::new(project.memory);
    let drafts = standard_agents::read(files, &memory);
    let mut stax = stax::read(files, &memory);
    let luggage = stax.as_mut().map(|stax| std::mem::take(&mut stax.luggage)).unwrap_or_default();
    let stax_primary = stax.as_ref().and_then(Stax::agent);
    let packages = stax.as_ref().map(|stax| stax.packages().to_vec()).unwrap_or_default();
    let solos = read_solos(project, settled.subagents, stax, &mut reports);
    let ids = drafts.agents.iter().map(Declared::id_and_file).chain(solos.iter().map(Declared::id_and_file));
    let mut ids: BTreeMap<Name, String> = ids.collect();
    let has_lead = stax_primary.is_some() || drafts.declares_agent(lead::NAME);
    let mut team = Team { files: luggage.files, ..Team::default() };
    let checked = check(drafts, known);
    team.agents.extend(checked.agents.into_iter().map(|agent| (agent.name.clone(), Arc::new(agent))));
    team.tools.extend(checked.tools.into_iter().map(|(name, tool)| (name, Arc::new(tool))));
    team.hooks.extend(checked.hooks.into_iter().map(|(name, hook)| (name, Arc::new(hook))));
    team.prompts.extend(checked.prompts.into_iter().map(|(name, prompt)| (name, Arc::new(prompt))));
    reports.extend(checked.reports);
    let joined = join(&mut team, &solos, known, !has_lead, &mut reports);
    if !has_lead {
        let kit = Toolkit { known, own: &team.tools };
        let dialects = wishes.dialects.clone();
        let offered = dialects.contains(&Dialect::Standard).then_some(&joined.offered);
        let lead = lead::lead(files, kit, &team, offered, &mut reports);
        team.agents.insert(lead.name.clone(), Arc::new(Agent { dialects, ..lead }));
    }
    mirror(&mut team, files);
    give_dialects(&mut team, wishes, &settled.agents, &ids, &mut reports);
    reports.extend(solos.into_iter().flat_map(|declared| declared.faults.reports));
    reports.sort_by(|a, b| (&a.place, a.code, &a.what).cmp(&(&b.place, b.code, &b.what)));
    // A broken module is found by everybody who imports it.
    reports.dedup();
    let primary = stax_primary.map_or_else(|| Name::from(lead::NAME), |name| as_known(name, &team));
    ids.retain(|name, _| !team.agents.contains_key(name));
    let Joined { headers, servers, definition_folders, .. } = joined;
    Loaded { team, primary, headers, servers, definition_folders, packages, broken: ids, reports }
}

/// The name under which the team has the primary agent of stax: another agent may have its own.
fn as_known(name: Name, team: &Team) -> Name {
    let apart = Name::from(format!("{}/{name}", Format::Stax));
    if team.agents.contains_key(&apart) { apart } else { name }
}

/// The declarations with one side, in the order in which they count. Markdown files that stax names are its own.
fn read_solos(
    project: &Project<'_>,
    settled: Vec<Declared<Solo>>,
    stax: Option<Stax>,
    reports: &mut Vec<Report>,
) -> Vec<Declared<Solo>> {
    let mut solos = builtin::profiles();
    solos.extend(project.settings.general_purpose.then(builtin::general_purpose));
    solos.extend(settled);
    solos.extend(dex::read(project, reports));
    let claimed = stax.as_ref().map(|stax| stax.claimed.clone()).unwrap_or_default();
    solos.extend(agentscope::read(project.files, &claimed, reports));
    solos.extend(harness::read(project.files, reports));
    solos.extend(stax.into_iter().flat_map(|stax| stax.into_declared(reports)));
    solos
}

/// What came with the agents that have one side.
#[derive(Debug, Default)]
struct Joined {
    /// Those that `lead` may start.
    offered: BTreeSet<Name>,
    headers: BTreeMap<Name, BTreeMap<String, Secret>>,
    servers: Vec<DeclaredServer>,
    definition_folders: BTreeMap<Name, Place>,
}

/// Brings the agents with one side into the team.
fn join(
    team: &mut Team,
    solos: &[Declared<Solo>],
    known: &dyn Tools,
    keeps_lead: bool,
    reports: &mut Vec<Report>,
) -> Joined {
    let owner = |agent: &Agent| Owner {
        shown: agent.source.file.as_ref().map_or_else(String::new, |file| format!("`{file}`")),
        is_startable_file: agent.expose_as_tool && agent.kind == Kind::DualAi,
    };
    let mut taken: BTreeMap<_, _> = team.agents.iter().map(|(name, agent)| (name.clone(), owner(agent))).collect();
    if keeps_lead {
        let itself = Owner { shown: "entourage itself".to_owned(), is_startable_file: false };
        taken.insert(Name::from(lead::NAME), itself);
    }
    let cast = cast(solos, &taken, reports);
    let children = team.agents.values().filter(|agent| agent.kind == Kind::DualAi);
    let broken = solos.iter().filter(|declared| declared.faults.has_error());
    let stage = Stage {
        toolkit: Toolkit { known, own: &team.tools },
        cast: &cast,
        children: children.map(|agent| agent.name.clone()).collect(),
        broken: broken.map(|declared| &declared.name.value).collect(),
    };
    let mut joined = Joined::default();
    let mut agents = Vec::new();
    for (name, role) in &cast {
        let Solitary { agent, headers, servers, folder } = check_solo(name, role, &stage, reports);
        joined.servers.extend(servers);
        joined.definition_folders.extend(folder.map(|place| (name.clone(), place)));
        joined.offered.extend(Some(name.clone()).filter(|_| is_offered(role)));
        joined.headers.extend((!headers.is_empty()).then(|| (name.clone(), headers)));
        agents.push((name.clone(), Arc::new(agent)));
    }
    team.agents.extend(agents);
    joined
}

/// The built-in agent that is as capable as its caller works on the same project: it is told what the project says.
fn mirror(team: &mut Team, files: &dyn Files) {
    // A text that cannot be read is told of where `lead` is made.
    let Ok(Some(text)) = lead::main_text(files) else { return };
    for agent in team.agents.values_mut().filter(|agent| builtin::is_general_purpose(agent)) {
        Arc::make_mut(agent).side_a.prompt.instructions = text.clone().into();
    }
}

/// An agent's own dialects, as the settings name them. `ids` are those of all declarations, broken or not.
fn give_dialects(
    team: &mut Team,
    wishes: &Wishes,
    places: &BTreeMap<String, Place>,
    ids: &BTreeMap<Name, String>,
    reports: &mut Vec<Report>,
) {
    for (name, dialects) in &wishes.agent_dialects {
        let Some(agent) = team.agents.get_mut(name.as_str()) else { continue };
        if builtin::is_general_purpose(agent) && !dialects.is_empty() {
            let what = format!("agent {} has `dialects`, but it never starts others", quoted(name));
            let hint = "declare an agent of your own for that, such as `subagents/<id>.md`".to_owned();
            reports.push(Report {
                hint: Some(hint),
                place: places.get(name).cloned(),
                ..Report::warning("X001", what)
            });
            continue;
        }
        Arc::make_mut(agent).dialects.clone_from(dialects);
    }
    let named: BTreeSet<_> = wishes.agent_dialects.keys().chain(places.keys()).collect();
    for name in named {
        if team.agents.contains_key(name.as_str()) || ids.contains_key(name.as_str()) {
            continue;
        }
        let what = format!("the settings speak of agent {}, which is not declared", quoted(name));
        let hint = did_you_mean(name, team.agents.keys().map(Name::as_str));
        reports.push(Report { hint, place: places.get(name).cloned(), ..Report::warning("D098", what) });
    }
}
