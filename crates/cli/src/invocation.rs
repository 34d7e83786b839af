//! One call of the binary: its options, the screen, the project and the settings that hold for it.

use crate::arguments::{LogLevel, Options};
use crate::failure::{Exit, Failure};
use crate::live::Show;
use crate::packed::Packed;
use crate::project::Project;
use crate::screen::{Format, Screen};
use crate::settings::{PREFIX, Settings, SettingsFile, Trust};
use crate::{commands, declarations, environment, trusted};
use entourage_declare::Loaded;
use entourage_model::{Report, Severity};

pub(crate) struct Invocation {
    pub(crate) options: Options,
    pub(crate) screen: Screen,
    pub(crate) project: Project,
    /// The bundle that is to be the project, if one is.
    pub(crate) packed: Option<Packed>,
    pub(crate) settings: Settings,
    pub(crate) settings_files: Vec<SettingsFile>,
    /// What is wrong with the settings.
    pub(crate) settings_reports: Vec<Report>,
}

impl Invocation {
    /// Opens the project and reads its settings, at fault or not.
    pub(crate) fn open(options: Options, screen: Screen) -> Result<Self, Failure> {
        let packed = options.project.as_deref().and_then(Packed::of_option).transpose()?;
        let project = match packed {
            Some(_) => Project::of_bundle(options.data.as_deref())?,
            None => Project::open(options.project.as_deref(), options.data.as_deref())?,
        };
        // A bundle comes from elsewhere: that the folder it works in is trusted says nothing of it.
        let is_trusted = options.trust || (packed.is_none() && trusted::contains(&project.root));
        let trust = if is_trusted { Trust::User } else { Trust::Nobody };
        let (files, mut settings_reports) = project.settings_files(trust);
        let (settings, reports) = Settings::load(&files, &environment::variables(PREFIX), trust);
        settings_reports.extend(reports);
        Ok(Self { options, screen, project, packed, settings, settings_files: files, settings_reports })
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

    /// Looks into the bundle that is to be the project, fetching it if it is not here. A folder needs nothing.
    pub(crate) fn open_bundle(&mut self) -> Result<(), Failure> {
        let Some(packed) = &self.packed else { return Ok(()) };
        let (artifact, files) = commands::wait_for(packed.open(self))?;
        self.project.unpack(artifact, files);
        Ok(())
    }

    pub(crate) fn is_json(&self) -> bool {
        self.screen.format == Format::Json
    }

    /// What the project declares, ready to be run, faults included.
    pub(crate) fn declarations(&self) -> Loaded {
        declarations::load(&self.project, &self.settings, &self.settings_files)
    }

    /// The same as it is written: a prompt that lies in a folder of its own is not in it.
    pub(crate) fn declared(&self) -> Loaded {
        declarations::read(&self.project, &self.settings, &self.settings_files)
    }

    /// How much of a tree at work is shown: the picture where it can be drawn, else a line for each step. Whoever reads
    /// documents, or wants to hear of faults alone, is told nothing.
    pub(crate) fn show(&self) -> Show {
        let is_told = self.options.log.map_or(!self.is_json(), |level| level >= LogLevel::Info);
        match (self.screen.is_live, is_told) {
            (true, _) => Show::Tree,
            (false, true) => Show::Lines,
            (false, false) => Show::Nothing,
        }
    }
}
