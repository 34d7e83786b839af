//! One named program run of a command.

use crate::failure::Failure;
use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) command: Vec<String>,
    pub(crate) environment: Vec<(&'static str, String)>,
}

impl Step {
    /// `command` is split at spaces: no word of ours holds one.
    pub(crate) fn new(name: &'static str, command: &str) -> Self {
        Self { name, command: command.split(' ').map(str::to_owned).collect(), environment: Vec::new() }
    }

    /// With a variable that its program sees.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }

    /// Runs it in the terminal of the caller, without input, and says how long it took.
    pub(crate) fn run(&self, folder: &Path) -> Result<Duration, Failure> {
        eprintln!("==> {}: {}", self.name, self.command.join(" "));
        let begin = Instant::now();
        let mut program = program(&self.command);
        program.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let status = program.current_dir(folder).status().map_err(|fault| self.no_start(&fault))?;
        let took = begin.elapsed();
        eprintln!("    {} took {:.1} s", self.name, took.as_secs_f32());
        if !status.success() {
            return Err(Failure::new(format!("step `{}` failed ({status})", self.name)).code(status.code()));
        }
        Ok(took)
    }

    fn no_start(&self, fault: &std::io::Error) -> Failure {
        Failure::new(format!("step `{}`: cannot start `{}`: {fault}", self.name, self.command[0]))
    }
}

/// A program that knows nothing of the `cargo run` around us. Build scripts watch these variables
/// (ring's does), so a cargo that saw ours would build everything above them again.
pub(crate) fn program<W: AsRef<str>>(command: &[W]) -> Command {
    let mut words = command.iter().map(AsRef::as_ref);
    let mut program = Command::new(words.next().expect("a command has a first word"));
    program.args(words).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        let shown = name.to_string_lossy();
        if shown.starts_with("CARGO_PKG_") || shown.starts_with("CARGO_MANIFEST_") {
            program.env_remove(&name);
        }
    }
    program
}

/// Whether a program starts and ends well; its words are nobody's concern.
pub(crate) fn succeeds(command: &[&str]) -> bool {
    program(command).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(name: &'static str, line: &str) -> Step {
        Step { command: ["sh", "-c", line].map(str::to_owned).into(), ..Step::new(name, "") }
    }

    #[test]
    fn a_step_sees_the_variables_it_was_given() {
        let step = shell("variables", "test \"$SERVER\" = there");
        assert!(step.clone().with("SERVER", "there").run(Path::new(".")).is_ok());
        assert!(step.run(Path::new(".")).is_err());
    }

    #[test]
    fn a_red_step_passes_on_its_exit_code() {
        let step = shell("red", "exit 7");
        let failure = step.run(Path::new(".")).expect_err("7 is not success");
        assert_eq!((failure.code, failure.what.contains("`red`")), (7, true));
    }

    #[test]
    fn a_program_that_is_not_there_is_a_failure_that_names_it() {
        let failure = Step::new("absent", "no-such-program-here").run(Path::new(".")).expect_err("it is not there");
        assert!(failure.what.contains("`no-such-program-here`"), "{failure}");
    }

    #[test]
    fn a_program_does_not_see_the_package_that_started_it() {
        let output = program(&["env"]).env("CARGO_TERM_COLOR", "never").output().expect("`env` is everywhere");
        let seen = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!seen.contains("CARGO_PKG_") && !seen.contains("CARGO_MANIFEST_"), "{seen}");
        assert!(seen.contains("CARGO_TERM_COLOR"), "settings of the caller stay");
    }
}
