//! Reading a small file without waiting: what the kernel holds in memory is there at once.

use super::closed::Closed;
use cap_std::fs::Dir;
use std::path::Path;

/// All bytes of a regular file beneath `dir`, if it has at most `bytes_max` and neither finding nor reading it needs
/// the disk. That there are none says nothing about the file: whoever wants to know opens it.
#[cfg(target_os = "linux")]
pub(super) fn read(dir: &Dir, path: &Path, bytes_max: usize, closed: &Closed) -> Option<Vec<u8>> {
    use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
    use rustix::io::{ReadWriteFlags, preadv2};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::CACHED;
    let file = openat2(dir, path, flags, Mode::empty(), how).ok()?;
    let stat = fstat(&file).ok()?;
    let size = usize::try_from(stat.st_size).ok().filter(|size| *size <= bytes_max)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || closed.holds(&file) {
        return None;
    }
    // One byte more than it says it has, for files that have more.
    let mut bytes = vec![0; size + 1];
    let read = preadv2(&file, &mut [std::io::IoSliceMut::new(&mut bytes)], 0, ReadWriteFlags::NOWAIT).ok()?;
    bytes.truncate(size);
    (read == size).then_some(bytes)
}

/// Only Linux can say that it would have to wait.
#[cfg(not(target_os = "linux"))]
pub(super) fn read(_: &Dir, _: &Path, _: usize, _: &Closed) -> Option<Vec<u8>> {
    None
}
