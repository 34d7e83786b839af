//! `entourage completions SHELL`: a completion script for a shell.

use crate::screen::Screen;
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  entourage completions bash > ~/.local/share/bash-completion/completions/entourage")]
pub(crate) struct Arguments {
    shell: Shell,
}

pub(crate) fn perform(arguments: &Arguments, screen: &Screen) {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::arguments::Arguments::command(), "entourage", &mut script);
    screen.data(&String::from_utf8_lossy(&script));
}
