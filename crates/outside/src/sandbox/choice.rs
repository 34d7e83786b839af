//! Which box is used: the one that people want, if it works here.

use super::{Confinement, SandboxWish};
use std::path::Path;

/// Finds it out, which takes a few processes; whoever asks remembers the answer. An error says what is missing.
#[cfg(target_os = "linux")]
pub(crate) fn choose(
    wish: SandboxWish,
    keeper: &Path,
    search_path: &str,
    workspace: &Path,
) -> Result<Confinement, String> {
    use super::{bubblewrap, landlock, namespaces};
    let bubblewrap = || bubblewrap::find(search_path, workspace);
    let landlock = || -> Result<Confinement, String> {
        if !landlock::is_supported() {
            return Err("the kernel has no Landlock".to_owned());
        }
        Ok(Confinement::Landlock { namespaces: namespaces::work(keeper) })
    };
    match wish {
        SandboxWish::None => Ok(Confinement::None),
        SandboxWish::Bubblewrap => bubblewrap(),
        SandboxWish::Landlock => landlock(),
        SandboxWish::Auto => bubblewrap().or_else(|why| landlock().map_err(|also| format!("{why}, and {also}"))),
    }
}

/// Commands have a box on Linux only.
#[cfg(not(target_os = "linux"))]
pub(crate) fn choose(_: SandboxWish, _: &Path, _: &str, _: &Path) -> Result<Confinement, String> {
    Err("commands are run on Linux only".to_owned())
}
