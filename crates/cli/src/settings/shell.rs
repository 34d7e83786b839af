//! `[shell]`: the box that commands run in.

use super::file::place_of;
use entourage_model::Report;
use entourage_outside::sandbox::SandboxWish;
use serde::Deserialize;
use toml::{Table, Value};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct ShellWish {
    sandbox: Word,
    pub(crate) network: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    #[default]
    Auto,
    Bubblewrap,
    Landlock,
    None,
}

impl ShellWish {
    pub(crate) fn sandbox(self) -> SandboxWish {
        match self.sandbox {
            Word::Auto => SandboxWish::Auto,
            Word::Bubblewrap => SandboxWish::Bubblewrap,
            Word::Landlock => SandboxWish::Landlock,
            Word::None => SandboxWish::None,
        }
    }
}

/// Takes the wish for no sandbox away from a file that nobody trusts.
pub(super) fn distrust(table: &mut Table, (name, text): (&str, &str)) -> Option<Report> {
    let Some(Value::Table(shell)) = table.get_mut("shell") else { return None };
    if shell.get("sandbox").and_then(Value::as_str) != Some("none") {
        return None;
    }
    shell.remove("sandbox");
    let what = "`shell.sandbox = \"none\"` is ignored: a project may not switch the sandbox off before it is trusted";
    Some(
        Report::warning("T001", what)
            .at(place_of(name, text, &["shell", "sandbox"]))
            .hint("if you trust this project, add `--trust`"),
    )
}
