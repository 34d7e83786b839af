//! What Landlock grants: reading the system, changing the workspace, and nothing else.

use super::{Plan, git};
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The newest rules that we know; an older kernel enforces those that it knows.
const NEWEST: ABI = ABI::V6;

/// Read and written by everybody, and harmless.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// What programs ask the kernel about. In a namespace of our own the secrets of other processes are out of reach.
const KERNEL: [&str; 2] = ["/proc", "/sys/devices/system/cpu"];

/// The same where every process of the system lies beside: nothing there that belongs to another one.
const KERNEL_SHARED: [&str; 11] = [
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel",
    "/proc/sys/vm",
    "/proc/uptime",
    "/proc/version",
    "/sys/devices/system/cpu",
];

/// Whether this kernel can enforce anything at all.
pub(super) fn is_supported() -> bool {
    let wanted = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    wanted.handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create).is_ok()
}

/// Restricts this process, and everything that it starts, for good. `temporary` is its own folder for passing files.
pub(super) fn restrict(plan: &Plan, temporary: &Path, namespaces: bool) -> Result<(), RulesetError> {
    let all = AccessFs::from_all(NEWEST);
    let read = AccessFs::from_read(NEWEST);
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .scope(Scope::from_all(NEWEST))?;
    let rules = if plan.network { rules } else { rules.handle_access(AccessNet::from_all(NEWEST))? };
    // What holds the closed folder cannot be granted, unless that is covered.
    let holds_closed = |path: &Path| !namespaces && plan.closed.as_ref().is_some_and(|closed| closed.starts_with(path));
    let mut rules = rules
        .create()?
        .add_rules(path_beneath_rules(plan.readable.iter().filter(|path| !holds_closed(path)), read))?
        .add_rules(path_beneath_rules(if namespaces { &KERNEL[..] } else { &KERNEL_SHARED }, read))?
        .add_rules(path_beneath_rules(DEVICES, all))?
        .add_rules(path_beneath_rules([temporary], all))?;
    // With namespaces all of this is covered or held already: the whole workspace can be granted.
    let repository: Vec<PathBuf> =
        git::repository(&plan.workspace).iter().map(|path| plan.workspace.join(path)).collect();
    let closed = plan.closed.iter().filter(|closed| closed.starts_with(&plan.workspace));
    let kept: Vec<&Path> = closed.chain(&repository).map(PathBuf::as_path).filter(|_| !namespaces).collect();
    rules = if kept.is_empty() {
        rules.add_rules(path_beneath_rules([&plan.workspace], all))?
    } else {
        rules
            .add_rules(path_beneath_rules(beside(&plan.workspace, &kept), all))?
            .add_rules(path_beneath_rules([&plan.workspace], around()))?
            // No part of it can be granted without what git obeys: the index is written beside the configuration.
            .add_rules(path_beneath_rules(&repository, read))?
    };
    rules.restrict_self()?;
    Ok(())
}

/// Rights on a folder count for everything below it, and so the way down to what is kept is granted piece by piece: every
/// entry beside it. A link is none of them: a right counts for what it leads to, be it outside.
fn beside(workspace: &Path, kept: &[&Path]) -> Vec<PathBuf> {
    let leads = |path: &Path| kept.iter().any(|kept| kept.starts_with(path));
    let ways = kept.iter().flat_map(|kept| kept.ancestors().skip(1));
    let ways: BTreeSet<&Path> = ways.filter(|folder| folder.starts_with(workspace)).collect();
    let entries = ways.into_iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    entries.map(|entry| entry.path()).filter(|path| !leads(path)).collect()
}

/// What may be done on that way itself: names are seen. To make or remove one there, a command would need a right that it
/// then had in what is kept, too.
fn around() -> BitFlags<AccessFs> {
    AccessFs::ReadDir.into()
}
