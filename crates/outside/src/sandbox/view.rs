//! What a command may read beside its workspace: the system, and the tools that people have in their home.

use std::path::{Path, PathBuf};

const SYSTEM: [&str; 11] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu"];

/// Where the names of hosts are looked up, on systems that keep that elsewhere.
const RESOLVER: [&str; 2] = ["/run/systemd/resolve", "/run/NetworkManager"];

/// Beneath the home, and none of it a place for keys.
const TOOLS: [&str; 20] = [
    ".cargo/bin",
    ".cargo/config.toml",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".rustup",
    ".local/bin",
    ".local/lib",
    ".local/share/mise",
    ".nvm",
    ".volta",
    ".asdf",
    ".pyenv",
    ".rbenv",
    ".sdkman",
    ".bun/bin",
    ".deno/bin",
    "go",
    ".gitconfig",
    ".config/git",
];

/// What is there of all this, given the value of `PATH`.
pub(crate) fn readable(search_path: &str, home: Option<&Path>, network: bool) -> Vec<PathBuf> {
    let system = SYSTEM.iter().map(PathBuf::from);
    let resolver = RESOLVER.iter().map(PathBuf::from).filter(|_| network);
    let tools = home.into_iter().flat_map(|home| TOOLS.iter().map(|tool| home.join(tool)));
    // A folder of programs that holds the home, too, would open all of it.
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let real_home = home.map(real);
    let holds_home = |path: &Path| real_home.as_ref().is_some_and(|home| home.starts_with(real(path)));
    let programs = std::env::split_paths(search_path).filter(|path| path.is_absolute() && !holds_home(path));
    let mut found: Vec<PathBuf> =
        system.chain(resolver).chain(tools).chain(programs).filter(|path| path.exists()).collect();
    // Shorter paths come first, so that a box is built from the outside in.
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_programs_never_opens_the_home() {
        let home = tempfile::tempdir().unwrap();
        for folder in [".cargo/bin", ".ssh", "own/bin"] {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        let at = |path: &str| home.path().join(path);
        let path = std::env::join_paths([at("own/bin"), at(""), at("").join("../"), "/".into(), "bin".into()]).unwrap();
        let found = readable(path.to_str().unwrap(), Some(home.path()), false);
        let own: Vec<_> = found.iter().filter(|path| path.starts_with(home.path())).collect();
        assert_eq!(own, [&at(".cargo/bin"), &at("own/bin")]);
        assert!(!found.contains(&PathBuf::from("/")) && !found.contains(&PathBuf::from("bin")), "{found:?}");
        assert!(found.contains(&PathBuf::from("/usr")));
    }
}
