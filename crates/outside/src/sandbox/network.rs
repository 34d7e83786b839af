//! No network where there is no namespace for it: sockets of every kind but local ones cannot be made.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use std::collections::BTreeMap;

/// Restricts this process, and everything that it starts, for good.
pub(super) fn close() -> Result<(), String> {
    let program = filter().map_err(|error| error.to_string())?;
    seccompiler::apply_filter(&program).map_err(|error| error.to_string())
}

fn filter() -> Result<BpfProgram, seccompiler::BackendError> {
    let local = u64::from(libc::AF_UNIX.unsigned_abs());
    let other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, local)?;
    let rules = BTreeMap::from([
        (libc::SYS_socket, vec![SeccompRule::new(vec![other])?]),
        // By this way the kernel makes sockets without being asked for one by name.
        (libc::SYS_io_uring_setup, Vec::new()),
    ]);
    let refused = SeccompAction::Errno(libc::EACCES.unsigned_abs());
    let architecture = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture)?.try_into()
}
