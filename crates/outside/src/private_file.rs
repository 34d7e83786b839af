//! Small files that only their owner can read: credentials, keys and tokens.

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};

/// Tells the drafts of one process apart.
static DRAFTS: AtomicU64 = AtomicU64::new(0);

/// Writes the file whole under another name, which nobody else may read from its first byte on, and lets it take the
/// place of the one that was there. Nobody ever reads half of it; a failure leaves nothing behind.
pub fn write(folder: &Dir, name: &str, text: &str) -> io::Result<()> {
    drafted(folder, name, text, |draft| folder.rename(draft, folder, name))
}

/// The same where there is no such file yet; one that is there stays, be it made in the same instant.
pub fn create(folder: &Dir, name: &str, text: &str) -> io::Result<()> {
    drafted(folder, name, text, |draft| {
        match folder.hard_link(draft, folder, name) {
            Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => {}
            // A file system without links has nobody else on it, as far as one can do anything about it.
            Err(_) => return folder.rename(draft, folder, name),
            Ok(()) => {}
        }
        folder.remove_file(draft)
    })
}

fn drafted(folder: &Dir, name: &str, text: &str, place: impl FnOnce(&str) -> io::Result<()>) -> io::Result<()> {
    let draft = format!("{name}.{}-{}.new", std::process::id(), DRAFTS.fetch_add(1, Ordering::Relaxed));
    match folder.remove_file(&draft) {
        Err(fault) if fault.kind() != io::ErrorKind::NotFound => return Err(fault),
        Ok(()) | Err(_) => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let written = folder.open_with(&draft, &options).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    let placed = written.and_then(|()| place(&draft));
    if placed.is_err() {
        // It holds a secret; the fault that is reported is the first one.
        _ = folder.remove_file(&draft);
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;
    use cap_std::fs::PermissionsExt as _;

    #[test]
    fn a_file_is_the_owner_s_alone_and_a_failure_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
        for text in ["one\n", "other\n"] {
            write(&folder, "token", text).unwrap();
            assert_eq!(folder.read_to_string("token").unwrap(), text);
            assert_eq!(folder.metadata("token").unwrap().permissions().mode() & 0o777, 0o600);
        }
        folder.create_dir_all("taken/by").unwrap();
        write(&folder, "taken", "never").unwrap_err();
        create(&folder, "token", "third\n").unwrap();
        assert_eq!(folder.read_to_string("token").unwrap(), "other\n", "the one that is there stays");
        assert_eq!(folder.entries().unwrap().count(), 2, "no draft is left");
    }

    #[test]
    fn of_many_who_make_a_file_in_one_instant_one_does_and_all_read_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
        for round in 0..50 {
            let name = format!("key{round}");
            let make = |who: usize| {
                create(&folder, &name, &who.to_string()).unwrap();
                folder.read_to_string(&name).unwrap()
            };
            let read: Vec<String> = std::thread::scope(|scope| {
                let makers: Vec<_> = (0..4).map(|who| scope.spawn(move || make(who))).collect();
                makers.into_iter().map(|maker| maker.join().unwrap()).collect()
            });
            assert!(read.iter().all(|text| *text == read[0]), "{read:?}");
        }
    }
}
