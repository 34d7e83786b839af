//! What the process has used so far, as the kernel tells it.

use std::time::Duration;

use anyhow::{Context, Result};
use rustix::time::{ClockId, clock_gettime};

/// Processor time of all threads, user and system together, finer than the ticks of `/proc/self/stat`.
pub(super) fn cpu_time() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().expect("processor time is not negative")
}

/// The highest resident memory so far, in KiB.
#[expect(clippy::disallowed_methods, reason = "the one door for /proc")]
pub(super) fn peak_kib() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").context("reading /proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM in /proc/self/status")?;
    line.trim().trim_end_matches(" kB").parse().context("VmHWM is not a number")
}

/// Rounded to a tenth.
pub(super) fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 10_000.0).round() / 10.0
}
