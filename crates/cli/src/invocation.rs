//! One call of the binary: its options, the screen, the project and the settings that hold for it.

use crate::arguments::{LogLevel, Options};
use crate::environment;
use crate::failure::{Exit, Failure};
use crate::live::Show;
use crate::project::Project;
use crate::screen::{Format, Screen};
use crate::settings::{PREFIX, Settings, Trust};
use entourage_declare::{Loaded, Tools};
use entourage_model::{Name, Report, Severity};
use entourage_outside::tool::Toolbox;

pub(crate) struct Invocation {
    pub(crate) options: Options,
    pub(crate) screen: Screen,
    pub(crate) project: Project,
    pub(crate) settings: Settings,
    /// What is wrong with the settings.
    pub(crate) settings_reports: Vec<Report>,
}

impl Invocation {
    /// Opens the project and reads its settings, at fault or not.
    pub(crate) fn open(options: Options, screen: Screen) -> Result<Self, Failure> {
        let project = Project::open(options.project.as_deref(), options.data.as_deref())?;
        let files = project.settings_files(if options.trust { Trust::User } else { Trust::Nobody })?;
        let (settings, settings_reports) = Settings::load(&files, &environment::variables(PREFIX));
        Ok(Self { options, screen, project, settings, settings_reports })
    }

    /// Tells what is odd about the settings, and goes no further when something is wrong.
    pub(crate) fn insist_on_settings(&self) -> Result<(), Failure> {
        let (errors, warnings): (Vec<_>, Vec<_>) =
            self.settings_reports.iter().cloned().partition(|report| report.severity == Severity::Error);
        for warning in &warnings {
            self.screen.report(warning);
        }
        if errors.is_empty() { Ok(()) } else { Err(Failure { reports: errors, exit: Exit::Usage }) }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.screen.format == Format::Json
    }

    /// What the project declares, faults included.
    pub(crate) fn declarations(&self) -> Loaded {
        entourage_declare::load(&self.project, &KnownTools(Toolbox::builtin()))
    }

    /// How much of a tree at work is shown: the picture where it can be drawn, else nothing unless it is asked for.
    pub(crate) fn show(&self) -> Show {
        let is_told = self.options.log.unwrap_or_default() >= LogLevel::Info;
        match (self.screen.is_live, is_told) {
            (true, _) => Show::Tree,
            (false, true) => Show::Lines,
            (false, false) => Show::Nothing,
        }
    }
}

/// The tools of this process, as declarations may name them.
struct KnownTools(Toolbox);

impl Tools for KnownTools {
    fn canonical(&self, name: &str) -> Option<Name> {
        self.0.canonical(name).cloned()
    }

    fn names(&self) -> Vec<Name> {
        self.0.specs().map(|spec| spec.name.clone()).collect()
    }
}
