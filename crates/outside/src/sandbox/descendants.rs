//! Ending everything that a keeper's command started, also what left its group, its session or its parent.
//!
//! A keeper adopts the orphans below it, and so nothing below it can get away as long as the keeper is there: whatever
//! it does, it has the keeper among its ancestors.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(2);
/// About four seconds. Who lives longer hangs in the kernel, and dies when that lets go.
const ROUNDS_MAX: usize = 2000;

/// Kills all of them and waits until they are gone. New ones that appear meanwhile are killed in the next round.
pub(super) fn end_all() {
    for _ in 0..ROUNDS_MAX {
        for pid in below(getpid()) {
            // One that has gone by itself is none of ours any more, and its number was not given away: it is unreaped.
            _ = kill_process(pid, Signal::KILL);
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                // No child is left.
                Err(_) => return,
            }
        }
        std::thread::sleep(PAUSE);
    }
}

fn below(root: Pid) -> Vec<Pid> {
    let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        let Some(pid) = pid else { continue };
        if let Some(parent) = parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let (mut found, mut seen, mut next) = (Vec::new(), HashSet::from([root]), vec![root]);
    while let Some(pid) = next.pop() {
        let new = children.get(&pid).into_iter().flatten().copied().filter(|child| seen.insert(*child));
        let new: Vec<Pid> = new.collect();
        found.extend(&new);
        next.extend(new);
    }
    found
}

/// The name of a program may hold anything, so that what follows is looked for behind its last bracket.
fn parent(pid: Pid) -> Option<Pid> {
    let path = format!("/proc/{}/stat", pid.as_raw_nonzero());
    let file =
        rustix::fs::open(path, rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC, rustix::fs::Mode::empty());
    let mut bytes = [0; 512];
    let length = rustix::io::read(file.ok()?, &mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
    let (_, rest) = text.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok().and_then(Pid::from_raw)
}
