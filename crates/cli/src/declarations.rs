//! What the project declares: where it is looked for, and what it may name.

use crate::invocation::Invocation;
use crate::project::{self, Project};
use crate::settings::{ProfileFolders, Settings, SettingsFile, Trust, place_of, sends_key, untrusted};
use crate::{definition_folder, environment, memory, servers};
use entourage_declare::{Files, Loaded, NamedPackage, Tools, Wishes};
use entourage_model::{Agent, EffectClass, Name, Place, Report, server_of};
use entourage_outside::remote::Remotes;
use entourage_outside::tool::{ShellSettings, Toolbox};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The code of the report about packages that only a bundle brings along.
const ONLY_PACKED: &str = "B092";

/// Whether whoever starts or lists agents should know: an agent without its packages has other rules, skills and subagents
/// than its author thinks.
pub(crate) fn is_of_packages(report: &Report) -> bool {
    report.code.0 == ONLY_PACKED
}

/// Reads and checks everything that can be run, faults included.
pub(crate) fn load(project: &Project, settings: &Settings, files: &[SettingsFile]) -> Loaded {
    let mut loaded = read(project, settings, files);
    let trust = |agent: &Agent| {
        let file = files.iter().find(|file| agent.source.file.as_ref() == Some(&file.name));
        file.map_or(settings.trust, |file| file.trust)
    };
    servers::distrust(&mut loaded, project, &settings.servers_left_out, trust);
    withhold_keys(&mut loaded, files, trust);
    definition_folder::read_prompts(&mut loaded, project, trust);
    // Nobody needs the packages to run an agent, but nobody could pack it either.
    let faults = loaded.packages.iter().filter_map(|named| entourage_bundle::package_reference(named).err());
    let faults: Vec<_> = faults.collect();
    let primary = loaded.team.agent(&loaded.primary).and_then(|agent| agent.source.file.as_ref());
    let named = loaded.packages.first().filter(|named| faults.is_empty() && primary == Some(&named.place.file));
    loaded.reports.extend(named.map(only_packed));
    loaded.reports.extend(faults);
    loaded.team.artifact = project.artifact();
    loaded.reports.sort_by(|a, b| a.place.cmp(&b.place));
    loaded
}

/// Packages are merged where an artifact is used. A folder is read as it lies there.
fn only_packed(first: &NamedPackage) -> Report {
    let what = "the agent goes without its `packages` where it runs from its folder";
    let hint = "`entourage build` prints a digest; `--project oci:DIGEST` runs the bundle, with its packages";
    Report::warning(ONLY_PACKED, what).at(first.place.clone()).hint(hint)
}

/// Takes the headers that hold a provider's key away from agents that another server runs, where nobody trusts whoever
/// names the server.
fn withhold_keys(loaded: &mut Loaded, files: &[SettingsFile], trust: impl Fn(&Agent) -> Trust) {
    for agent in loaded.team.agents.values_mut().filter(|agent| trust(agent) == Trust::Nobody) {
        let Some(remote) = &agent.remote else { continue };
        let names = remote.headers.iter().filter(|(_, value)| sends_key(value)).map(|(name, _)| name.clone());
        for header in names.collect::<Vec<_>>() {
            let agent = Arc::make_mut(agent);
            agent.remote.iter_mut().for_each(|remote| drop(remote.headers.remove(&header)));
            let (name, file) = (agent.name.as_str(), agent.source.file.clone().unwrap_or_default());
            let text = files.iter().find(|known| known.name == file).map(|known| known.text.as_str());
            let place = match text {
                Some(text) => place_of(&file, text, &["subagents", name, "headers", &header]),
                None => Place::file(file),
            };
            loaded.reports.push(untrusted(&format!("the header `{header}` of agent `{name}`"), place));
        }
    }
}

/// The same as it is written: prompts that lie in folders of their own are empty, and reports are in no order.
pub(crate) fn read(project: &Project, settings: &Settings, files: &[SettingsFile]) -> Loaded {
    let home = environment::home().and_then(|home| Project::open(Some(&home), None).ok());
    let mut reports = Vec::new();
    let folders = settings.profile_folders.as_ref().map(|named| {
        let file = files.iter().find(|file| named.file.as_ref() == Some(&file.name));
        let place = file.map(|file| place_of(&file.name, &file.text, &["dex", "profile_dirs"]));
        open_all(project, named, place.as_ref(), &mut reports)
    });
    let folders: Vec<_> = folders.iter().flatten().map(|(shown, files)| (shown.clone(), files as &dyn Files)).collect();
    let wishes = Wishes {
        dialects: settings.dialects.clone(),
        agent_dialects: settings.agent_dialects.clone(),
        general_purpose: settings.general_purpose,
        files: files.iter().map(|file| (file.name.clone(), file.text.clone())).collect(),
        subagents: settings.subagents.clone(),
    };
    let mut loaded = entourage_declare::load(&entourage_declare::Project {
        files: project,
        home: home.as_ref().map(|home| home as &dyn Files),
        profile_folders: &folders,
        settings: &wishes,
        tools: &KnownTools {
            toolbox: Toolbox::builtin().with_shell(ShellSettings::new(0, |_| None)),
            servers: settings.known_servers(),
        },
        memory: &*memory::open(),
    });
    loaded.reports.splice(0..0, reports);
    loaded
}

/// The servers that run agents for this project, with what its settings say to them.
pub(crate) fn remotes(invocation: &Invocation) -> Remotes {
    let (root, data) = (invocation.project.root.clone(), invocation.project.data.clone());
    let (settings, files) = (invocation.settings.clone(), invocation.settings_files.clone());
    let headers = move || {
        let project = Project::open(Some(&root), Some(&data));
        project.map(|project| read(&project, &settings, &files).headers).unwrap_or_default()
    };
    Remotes::new(headers, environment::variable)
}

/// The folders that can be opened, each as people know it.
fn open_all(
    project: &Project,
    named: &ProfileFolders,
    place: Option<&Place>,
    reports: &mut Vec<Report>,
) -> Vec<(String, Project)> {
    let mut folders = Vec::new();
    for path in &named.paths {
        match open(project, named, path) {
            Ok(folder) => folders.push(folder),
            Err(report) => reports.push(Report { place: place.cloned(), ..report }),
        }
    }
    folders
}

/// Wherever it lies: profiles are only read, and give their agents nothing but the tools that there are.
fn open(project: &Project, named: &ProfileFolders, path: &str) -> Result<(String, Project), Report> {
    let full = base(project, named).join(expanded(path));
    let folder = Project::open(Some(&full), None).map_err(|_| unopened(path, "it is no folder that can be read"))?;
    Ok((shown(project, named, &without_steps_back(&full)), folder))
}

/// What the user's own file names is known from the user's home, wherever that lies.
fn shown(project: &Project, named: &ProfileFolders, path: &Path) -> String {
    let is_users = named.file.as_deref().is_some_and(|file| file != project::SETTINGS);
    let is_homely = environment::home().is_some_and(|home| path.starts_with(home));
    match path.strip_prefix(&project.root) {
        Ok(beneath) if !(is_users && is_homely) => beneath.display().to_string(),
        _ => project::shown(path),
    }
}

/// The path without `.` and `..`, as people would write it.
fn without_steps_back(path: &Path) -> PathBuf {
    let mut straight = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                straight.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => straight.push(component),
        }
    }
    straight
}

fn unopened(path: &str, reason: &str) -> Report {
    let report = Report::warning("D101", format!("the profile folder `{path}` cannot be opened: {reason}"));
    report.hint("paths in `profile_dirs` begin at the folder of the file that names them")
}

/// The folder of the file that names them; a variable's begin where the person is.
fn base(project: &Project, named: &ProfileFolders) -> PathBuf {
    match named.file.as_deref() {
        Some(project::SETTINGS) => project.root.clone(),
        Some(_) => environment::config_file().and_then(|file| file.parent().map(Path::to_owned)).unwrap_or_default(),
        None => environment::current_folder(),
    }
}

fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), environment::home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// The tools of this process, as declarations may name them.
struct KnownTools {
    toolbox: Toolbox,
    /// The MCP servers of the settings.
    servers: Vec<Name>,
}

impl Tools for KnownTools {
    fn canonical(&self, name: &str) -> Option<Name> {
        let is_served =
            || server_of(name).is_some_and(|server| self.servers.iter().any(|known| known.as_str() == server));
        self.toolbox.canonical(name).cloned().or_else(|| is_served().then(|| Name::from(name)))
    }

    fn names(&self) -> Vec<Name> {
        self.toolbox.specs().map(|spec| spec.name.clone()).collect()
    }

    fn servers(&self) -> Vec<Name> {
        self.servers.clone()
    }

    fn is_pure(&self, name: &Name) -> bool {
        self.toolbox.spec(name.as_str()).is_some_and(|spec| spec.class == EffectClass::Pure)
    }
}
