//! What people set: the user's file, the project's file, variables; later wins. Flags are laid over it by the commands.

mod file;
mod known;
mod mcp;
mod shell;
mod variable;

pub(crate) use file::place_of;
pub(crate) use mcp::{sends_key, untrusted};
pub(crate) use shell::ShellWish;
pub(crate) use variable::PREFIX;

use entourage_bundle::signature::Policy;
use entourage_model::{Dialect, Limits, ModelRef, Name, Place, Report, Secret, ServerAddress, ServerKey, Variables};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// What declarations that name no model use when nobody set one.
const MODEL: &str = "openai:gpt-5";

/// One settings file, as text.
#[derive(Clone, Debug)]
pub(crate) struct SettingsFile {
    /// As people know it.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) trust: Trust,
}

/// Whose word a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The user's own, or a project that the user trusts.
    User,
    /// A project that somebody else may have written: it may not send keys elsewhere.
    Nobody,
}

/// Settings that later code takes as they are. Tables that no command uses yet are checked and not kept.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) model: ModelRef,
    /// The key in the file that names the model. Absent: a variable does, or nobody.
    pub(crate) model_place: Option<Place>,
    /// Whose word the model is.
    pub(crate) model_trust: Trust,
    /// Whose word the project's own files are.
    pub(crate) trust: Trust,
    pub(crate) limits: Limits,
    pub(crate) providers: BTreeMap<String, Provider>,
    pub(crate) variables: Variables,
    /// The users whose variables are not given to the project, because nobody trusts it.
    pub(crate) withheld: BTreeSet<String>,
    /// How `lead` drives children.
    pub(crate) dialects: Vec<Dialect>,
    /// The same for agents by their names.
    pub(crate) agent_dialects: BTreeMap<String, Vec<Dialect>>,
    /// Whether the built-in `general-purpose` is there.
    pub(crate) general_purpose: bool,
    /// Whether tasks are also written to `agents/<parent>/tasks/<session>.json`.
    pub(crate) task_files: bool,
    pub(crate) profile_folders: Option<ProfileFolders>,
    pub(crate) shell: ShellWish,
    /// What variables say of `[subagents.ID]`, by id: it counts over what the last file says.
    pub(crate) subagents: BTreeMap<String, serde_json::Value>,
    /// MCP servers that may be used.
    pub(crate) servers: BTreeMap<ServerKey, ServerAddress>,
    /// Those that may be used once the project is trusted. Whoever names one does without it.
    pub(crate) servers_left_out: BTreeSet<ServerKey>,
    /// What becomes of bundles that none of the keys has signed.
    pub(crate) signature_policy: Policy,
    pub(crate) signature_keys: Option<SignatureKeys>,
}

/// Files with keys whose signatures are believed, and who names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SignatureKeys {
    /// Absent: a variable does.
    pub(crate) file: Option<String>,
    pub(crate) paths: Vec<String>,
}

/// Folders with dex profiles, and who names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProfileFolders {
    /// Absent: a variable does.
    pub(crate) file: Option<String>,
    pub(crate) paths: Vec<String>,
}

/// What is set about one provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Provider {
    pub(crate) base_url: Option<String>,
    pub(crate) stream: Option<bool>,
    pub(crate) concurrency: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Self::of(&Table::new())
    }
}

impl Settings {
    /// Reads the files in order, then the variables. What is at fault is reported and counts as not set. A project that
    /// nobody trusts does not get what the user's own file holds for users.
    pub(crate) fn load(files: &[SettingsFile], variables: &[(String, String)], project: Trust) -> (Self, Vec<Report>) {
        let mut merged = Table::new();
        let (mut reports, mut withheld, mut left_out) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let (mut folders, mut keys, mut model_place) = (None, None, None);
        let (mut model_trust, mut varied) = (Trust::Nobody, Table::new());
        for SettingsFile { name, text, trust } in files {
            let (mut table, faults) = file::read(name, text);
            reports.extend(faults);
            if *trust == Trust::Nobody {
                reports.extend(distrust(&mut table, (name, text)));
                for (server, report) in mcp::distrust(&mut table, (name, text)) {
                    left_out.insert(server);
                    reports.push(report);
                }
            }
            if *trust == Trust::User && project == Trust::Nobody {
                let users = table.remove("users");
                withheld.extend(users.iter().filter_map(Value::as_table).flat_map(Table::keys).cloned());
            }
            folders = profile_folders(&table, Some(name)).or(folders);
            keys = signature_keys(&table, Some(name)).or(keys);
            if table.contains_key("model") {
                model_place = Some(place_of(name, text, &["model"]));
                model_trust = *trust;
            }
            mcp::take_over(&mut merged, &table);
            merge(&mut merged, table);
        }
        for (name, text) in variables {
            match variable::read(name, text, &merged) {
                Ok(table) => {
                    folders = profile_folders(&table, None).or(folders);
                    keys = signature_keys(&table, None).or(keys);
                    if table.contains_key("model") {
                        (model_place, model_trust) = (None, Trust::User);
                    }
                    merge(&mut varied, table.clone());
                    merge(&mut merged, table);
                }
                Err(fault) => reports.push(fault),
            }
        }
        let (servers, faults) = mcp::servers(&merged, files);
        reports.extend(faults);
        left_out.retain(|server| !servers.contains_key(server));
        let settings = Self { model_place, model_trust, trust: project, withheld, servers, ..Self::of(&merged) };
        let settings = Self { servers_left_out: left_out, profile_folders: folders, signature_keys: keys, ..settings };
        let settings = Self { subagents: part(&varied, "subagents"), ..settings };
        (settings, reports)
    }

    /// The MCP servers that declarations may name, whether or not they may be used yet.
    pub(crate) fn known_servers(&self) -> Vec<Name> {
        let known: BTreeSet<_> = self.servers.keys().chain(&self.servers_left_out).map(|key| &key.name).collect();
        known.into_iter().cloned().collect()
    }

    fn of(table: &Table) -> Self {
        let model = table.get("model").and_then(Value::as_str).and_then(ModelRef::parse);
        Self {
            model: model.unwrap_or_else(|| ModelRef::parse(MODEL).expect("the default names provider and model")),
            model_place: None,
            model_trust: Trust::Nobody,
            trust: Trust::Nobody,
            limits: part(table, "limits"),
            providers: part(table, "providers"),
            variables: held(table),
            withheld: BTreeSet::new(),
            dialects: table.get("dialects").map_or_else(|| vec![Dialect::AgentScope], |_| part(table, "dialects")),
            agent_dialects: agent_dialects(table),
            general_purpose: in_table(table, "agentscope", "general_purpose").and_then(Value::as_bool).unwrap_or(true),
            task_files: in_table(table, "agentscope", "task_files").and_then(Value::as_bool).unwrap_or_default(),
            profile_folders: None,
            shell: part(table, "shell"),
            subagents: BTreeMap::new(),
            servers: BTreeMap::new(),
            servers_left_out: BTreeSet::new(),
            signature_policy: in_table(table, "signatures", "policy")
                .and_then(Value::as_str)
                .and_then(Policy::of_word)
                .unwrap_or_default(),
            signature_keys: None,
        }
    }
}

/// Agents whose table says nothing of dialects have none of their own.
fn agent_dialects(table: &Table) -> BTreeMap<String, Vec<Dialect>> {
    #[derive(Default, Deserialize)]
    struct Agent {
        dialects: Option<Vec<Dialect>>,
    }
    let agents: BTreeMap<String, Agent> = part(table, "agents");
    agents.into_iter().filter_map(|(name, agent)| Some((name, agent.dialects?))).collect()
}

fn profile_folders(table: &Table, file: Option<&String>) -> Option<ProfileFolders> {
    let paths = in_table(table, "dex", "profile_dirs")?.as_array()?;
    let paths = paths.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    Some(ProfileFolders { file: file.cloned(), paths })
}

fn signature_keys(table: &Table, file: Option<&String>) -> Option<SignatureKeys> {
    let paths = in_table(table, "signatures", "keys")?.as_array()?;
    let paths = paths.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    Some(SignatureKeys { file: file.cloned(), paths })
}

fn in_table<'a>(table: &'a Table, name: &str, key: &str) -> Option<&'a Value> {
    table.get(name)?.as_table()?.get(key)
}

/// What `[env]` and `[users.ID.env]` hold.
fn held(table: &Table) -> Variables {
    #[derive(Default, Deserialize)]
    struct User {
        #[serde(default)]
        env: BTreeMap<String, String>,
    }
    let hide =
        |env: BTreeMap<String, String>| env.into_iter().map(|(name, value)| (name, Secret::new(value))).collect();
    let users: BTreeMap<String, User> = part(table, "users");
    Variables {
        instance: hide(part(table, "env")),
        users: users.into_iter().map(|(id, user)| (id, hide(user.env))).collect(),
    }
}

/// The values of a checked table fit their type; whatever was left out has its default.
fn part<'de, T: Deserialize<'de> + Default>(table: &Table, name: &str) -> T {
    table.get(name).cloned().and_then(|value| T::deserialize(value).ok()).unwrap_or_default()
}

/// Takes away what a project's own file may not say before the user trusts the project.
fn distrust(table: &mut Table, (name, text): (&str, &str)) -> Vec<Report> {
    let mut reports: Vec<Report> = shell::distrust(table, (name, text)).into_iter().collect();
    if table.remove("signatures").is_some() {
        let what = "`signatures` is ignored: a project may not say whose bundles are believed before it is trusted";
        let report = Report::warning("C007", what).at(place_of(name, text, &["signatures"]));
        reports.push(report.hint("if you trust this project, add `--trust`"));
    }
    let Some(Value::Table(providers)) = table.get_mut("providers") else { return reports };
    for (provider, settings) in providers {
        let Value::Table(settings) = settings else { continue };
        if settings.remove("base_url").is_some() {
            let what = format!(
                "`providers.{provider}.base_url` is ignored: a project may not point a provider elsewhere before it is trusted"
            );
            let report = Report::warning("C007", what).at(place_of(name, text, &["providers", provider, "base_url"]));
            reports.push(report.hint("if you trust this project, add `--trust`"));
        }
    }
    reports
}

/// Lays `over` over `under`: tables key by key, everything else as a whole.
fn merge(under: &mut Table, over: Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(Value::Table(under)), Value::Table(over)) => merge(under, over),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests;
