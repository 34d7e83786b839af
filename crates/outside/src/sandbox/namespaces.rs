//! Namespaces of our own beside Landlock: they hide what Landlock cannot take away from a folder that it grants, and end
//! every process at once.

use super::git::{self, Hold, How, above_closed};
use super::{Plan, WORD};
use rustix::fs::{Mode, OFlags, StatVfsMountFlags, fstatvfs};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::process::{getgid, getuid};
use rustix::thread::UnshareFlags;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// What is covered by an empty folder: sockets of services which Landlock cannot keep anybody from.
const SERVICES: &str = "/run";

/// Whether the kernel lets us have them. Asked of a process of its own, because it cannot be undone.
#[expect(clippy::disallowed_methods, reason = "a probe that ends at once and runs nothing of anybody's")]
pub(super) fn work(keeper: &Path) -> bool {
    let mut probe = Command::new(keeper);
    probe.args([WORD, "probe"]).env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// The other side of [`work`].
pub(super) fn probe() -> ExitCode {
    if leave(false).and_then(|()| cover(Path::new("/tmp"))).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Takes this process out of the namespaces that it shares; processes that it starts from now on are alone.
pub(super) fn enter(plan: &Plan) -> io::Result<()> {
    leave(plan.network)?;
    for held in git::holds(&plan.workspace)?.into_iter().chain(above_closed(plan)) {
        hold(&plan.workspace, &held)?;
    }
    let closed = plan.closed.as_deref().filter(|closed| closed.is_dir());
    let services = Some(Path::new(SERVICES)).filter(|path| path.is_dir() && !plan.workspace.starts_with(path));
    Ok(closed.into_iter().chain(services).try_for_each(cover)?)
}

fn leave(network: bool) -> Result<(), Errno> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let mut flags = UnshareFlags::NEWUSER | UnshareFlags::NEWNS | UnshareFlags::NEWPID | UnshareFlags::NEWIPC;
    flags.set(UnshareFlags::NEWNET, !network);
    #[expect(deprecated, reason = "it is unsafe only with FILES: a descriptor could be missing on another thread")]
    rustix::thread::unshare(flags)?;
    // Whoever we were, we stay: files keep their owners.
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", &format!("{group} {group} 1"))?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", private)
}

/// Lays an empty folder over this one, which nobody may change.
fn cover(folder: &Path) -> Result<(), Errno> {
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount("none", folder, "tmpfs", flags, c"mode=000,size=4k")
}

/// Makes a mount of this place, onto itself. It is named by what was opened: whoever puts a link behind the path meanwhile
/// wins nothing.
fn hold(workspace: &Path, Hold { path, how }: &Hold) -> io::Result<()> {
    let name = |opened: &OwnedFd| format!("/proc/self/fd/{}", opened.as_raw_fd());
    let opened = git::open(workspace, path)?;
    rustix::mount::mount_bind_recursive(name(&opened), name(&opened))?;
    if *how == How::ReadOnly {
        // What was opened before lies below the mount now.
        let mounted = git::open(workspace, path)?;
        let flags = fixed_flags(&mounted)? | MountFlags::BIND | MountFlags::RDONLY;
        rustix::mount::mount_remount(name(&mounted), flags, c"")?;
    }
    Ok(())
}

/// Flags that whoever has no power over the whole system must not leave out.
fn fixed_flags(mounted: &OwnedFd) -> io::Result<MountFlags> {
    let found = fstatvfs(mounted)?.f_flag;
    let known = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
    ];
    Ok(known.into_iter().filter(|(flag, _)| found.contains(*flag)).map(|(_, flag)| flag).collect())
}

fn write(path: &str, text: &str) -> Result<(), Errno> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(file, text.as_bytes()).map(drop)
}
