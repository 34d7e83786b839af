//! What was typed: read by clap, complained about in our own form.

use crate::arguments::Arguments;
use crate::failure::Exit;
use crate::screen::{Format, Screen};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};
use entourage_model::Report;
use std::process::ExitCode;

/// The arguments of this process, or the code that it ends with: after help, or after a complaint.
pub(crate) fn arguments() -> Result<Arguments, ExitCode> {
    let error = match Arguments::try_parse() {
        Ok(arguments) => return Ok(Arguments { options: arguments.options.or_variables(), ..arguments }),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            _ = error.print();
            Err(ExitCode::SUCCESS)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            _ = error.print();
            Err(Exit::Usage.into())
        }
        _ => {
            Screen::new(Format::Text).report(&complaint(&error));
            Err(Exit::Usage.into())
        }
    }
}

/// Clap's words as a report: its first paragraph, and its tip or else where to read on.
fn complaint(error: &clap::Error) -> Report {
    let rendered = error.render().to_string();
    let paragraphs: Vec<_> = rendered.split("\n\n").map(str::trim).collect();
    let what = paragraphs.first().map_or("", |first| first.trim_start_matches("error: "));
    let lines: Vec<_> = what.lines().map(str::trim).collect();
    let what = lines.join(" ");
    let tip = paragraphs.iter().find_map(|paragraph| paragraph.strip_prefix("tip: "));
    let usage = rendered.lines().find_map(|line| line.trim().strip_prefix("Usage: "));
    let hint = match (command_like(error).as_deref().or(tip), usage) {
        (Some(tip), _) => backticks(tip.lines().next().unwrap_or(tip)),
        (None, Some(usage)) => format!("it is used as `{usage}`; `--help` says more"),
        (None, None) => "`entourage --help` says more".to_owned(),
    };
    Report::error("C001", backticks(&what)).hint(hint)
}

/// Among commands clap takes a longer name for nearer than an exchange of two letters.
fn command_like(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let command = Arguments::command();
    let names = command.get_subcommands().map(clap::Command::get_name);
    Some(format!("did you mean '{}'?", entourage_model::meant(typed, names)?))
}

/// Names stand in backticks; clap puts them between apostrophes. One within a word stays.
fn backticks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut is_open = false;
    for (place, character) in text.char_indices() {
        let after = text[place + character.len_utf8()..].chars().next().unwrap_or(' ');
        let opens = !is_open && !before.is_alphanumeric();
        let closes = is_open && !after.is_alphanumeric();
        if character == '\'' && (opens || closes) {
            is_open = !is_open;
            out.push('`');
        } else {
            out.push(character);
        }
        before = character;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str], expected: &str) {
        let error = Arguments::try_parse_from(arguments).unwrap_err();
        assert_eq!(complaint(&error).to_string(), expected);
    }

    #[test]
    fn what_cannot_be_understood_is_a_report_with_a_hint() {
        check(&["entourage", "rnu", "hello"], "error[C001]: unrecognized subcommand `rnu`\nhint: did you mean `run`?");
        check(
            &["entourage", "check", "--jsn"],
            "error[C001]: unexpected argument `--jsn` found\nhint: a similar argument exists: `--json`",
        );
        check(
            &["entourage", "show"],
            "error[C001]: the following required arguments were not provided: <ID>\n\
             hint: it is used as `entourage show <ID>`; `--help` says more",
        );
    }

    #[test]
    fn the_commands_are_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn global_options_stand_before_or_after_the_command() {
        for arguments in [["entourage", "--json", "threads"], ["entourage", "threads", "--json"]] {
            assert!(Arguments::try_parse_from(arguments).unwrap().options.json);
        }
    }
}
