//! What a process says about its commands.

use crate::sandbox::SandboxWish;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// This program itself, also after somebody put a newer one in its place.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Without them many programs do not run. None of them is a place for keys.
const INHERITED: [&str; 12] = [
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "USER",
    "LOGNAME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "JAVA_HOME",
];

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

#[derive(Clone, Debug)]
pub struct ShellSettings {
    pub sandbox: SandboxWish,
    pub network: bool,
    /// How much memory each process of a command may ask for.
    pub bytes_max: u64,
    /// A program that calls [`serve`](crate::sandbox::serve) first.
    pub keeper: PathBuf,
    /// What they find in their environment.
    pub variables: BTreeMap<String, String>,
}

impl ShellSettings {
    /// Commands get those of the caller's variables that they cannot do without. `variable` gives their values.
    pub fn new(bytes_max: u64, variable: impl Fn(&str) -> Option<String>) -> Self {
        let inherited = INHERITED.iter().filter_map(|name| Some(((*name).to_owned(), variable(name)?)));
        let mut variables: BTreeMap<String, String> = inherited.collect();
        variables.entry("PATH".to_owned()).or_insert_with(|| PATH.to_owned());
        variables.insert("TERM".to_owned(), "dumb".to_owned());
        Self { sandbox: SandboxWish::Auto, network: false, bytes_max, keeper: THIS_PROGRAM.into(), variables }
    }

    pub(super) fn variable(&self, name: &str) -> &str {
        self.variables.get(name).map_or("", String::as_str)
    }

    pub(super) fn home(&self) -> Option<PathBuf> {
        self.variables.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
    }
}
