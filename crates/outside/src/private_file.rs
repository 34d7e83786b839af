//! Small files that only their owner can read: credentials, keys and tokens.

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use std::io::{self, Write as _};

/// Writes the file whole under another name, which nobody else may read from its first byte on, and lets it take the
/// place of the one that was there. Nobody ever reads half of it; a failure leaves nothing behind.
pub fn write(folder: &Dir, name: &str, text: &str) -> io::Result<()> {
    let draft = format!("{name}.new");
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
    let moved = written.and_then(|()| folder.rename(&draft, folder, name));
    if moved.is_err() {
        // It holds a secret; the fault that is reported is the first one.
        _ = folder.remove_file(&draft);
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use cap_std::fs::PermissionsExt as _;

    #[test]
    fn a_file_is_the_owner_s_alone_and_a_failure_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
        // Left by somebody who was killed, and readable by everybody.
        folder.write("token.new", "half").unwrap();
        for text in ["one\n", "other\n"] {
            write(&folder, "token", text).unwrap();
            assert_eq!(folder.read_to_string("token").unwrap(), text);
            assert_eq!(folder.metadata("token").unwrap().permissions().mode() & 0o777, 0o600);
        }
        folder.create_dir_all("taken/by").unwrap();
        write(&folder, "taken", "never").unwrap_err();
        assert!(!folder.exists("taken.new") && !folder.exists("token.new"));
    }
}
