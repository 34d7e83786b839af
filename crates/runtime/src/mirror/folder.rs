//! The one door of this crate to the file system: a folder in which files are replaced whole, or grow at their end.
//!
//! Everything here blocks, briefly; callers are on threads that may.

use cap_std::fs::{Dir, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder at `path`, which a person chose. It is made when the first file is written.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// What a file holds; nothing where there is none.
    pub(crate) fn read(&self, file: &str) -> io::Result<Option<Vec<u8>>> {
        match self.open().and_then(|dir| dir.read(file)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Puts a file in place, or another in its place: whoever reads it sees the one or the other, never a part.
    pub(crate) fn replace(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        let dir = self.make(file)?;
        let draft = format!("{file}.new");
        dir.write(&draft, bytes)?;
        dir.rename(&draft, &dir, file)
    }

    /// Puts whole lines behind those that the file has.
    pub(crate) fn append(&self, file: &str, lines: &[u8]) -> io::Result<()> {
        let dir = self.make(file)?;
        dir.open_with(file, OpenOptions::new().append(true).create(true))?.write_all(lines)
    }

    /// The last line of a file of whole lines; nothing where there is none. A piece of a line that a crash left behind
    /// it is taken away.
    pub(crate) fn last_line(&self, file: &str) -> io::Result<Option<Vec<u8>>> {
        let opened = self.open().and_then(|dir| dir.open_with(file, OpenOptions::new().read(true).write(true)));
        let mut file = match opened {
            Ok(file) => BufReader::new(file),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(fault) => return Err(fault),
        };
        let (mut last, mut whole) = (None, 0);
        loop {
            let mut line = Vec::new();
            let length = file.read_until(b'\n', &mut line)?;
            if !line.ends_with(b"\n") {
                if length > 0 {
                    file.get_ref().set_len(whole)?;
                }
                return Ok(last);
            }
            whole += length as u64;
            line.pop();
            last = Some(line);
        }
    }

    /// Takes a folder away with all that is in it. A missing one is a no-op.
    pub(crate) fn remove(&self, folder: &str) -> io::Result<()> {
        match self.open().and_then(|dir| dir.remove_dir_all(folder)) {
            Err(fault) if fault.kind() != io::ErrorKind::NotFound => Err(fault),
            _ => Ok(()),
        }
    }

    /// A missing file is a no-op.
    pub(crate) fn remove_file(&self, file: &str) -> io::Result<()> {
        match self.open().and_then(|dir| dir.remove_file(file)) {
            Err(fault) if fault.kind() != io::ErrorKind::NotFound => Err(fault),
            _ => Ok(()),
        }
    }

    /// The only place in this crate where a path is resolved with the authority of the process.
    fn open(&self) -> io::Result<Dir> {
        Dir::open_ambient_dir(&self.path, cap_std::ambient_authority())
    }

    /// The folder, with all that leads to the file.
    fn make(&self, file: &str) -> io::Result<Dir> {
        let dir = match self.open() {
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => {
                Dir::create_ambient_dir_all(&self.path, cap_std::ambient_authority())?;
                self.open()?
            }
            opened => opened?,
        };
        if let Some(parent) = Path::new(file).parent() {
            dir.create_dir_all(parent)?;
        }
        Ok(dir)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_is_taken_away_and_whole_ones_stay() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path().join("data"));
        assert_eq!(folder.last_line("a/b").unwrap(), None);
        folder.append("a/b", b"one\ntwo\n").unwrap();
        assert_eq!(folder.last_line("a/b").unwrap().as_deref(), Some(&b"two"[..]));
        folder.append("a/b", b"{\"half").unwrap();
        assert_eq!(folder.last_line("a/b").unwrap().as_deref(), Some(&b"two"[..]));
        assert_eq!(folder.read("a/b").unwrap().as_deref(), Some(&b"one\ntwo\n"[..]));
        folder.append("a/b", b"three\n").unwrap();
        assert_eq!(folder.last_line("a/b").unwrap().as_deref(), Some(&b"three"[..]));
    }

    #[test]
    fn a_file_is_replaced_whole_and_leaves_no_draft() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path().to_owned());
        folder.replace("runs/1/status.json", b"first").unwrap();
        folder.replace("runs/1/status.json", b"2").unwrap();
        assert_eq!(folder.read("runs/1/status.json").unwrap().as_deref(), Some(&b"2"[..]));
        assert_eq!(folder.read("runs/1/status.json.new").unwrap(), None);
        folder.remove("runs/1").unwrap();
        folder.remove("runs/1").unwrap();
        assert_eq!(folder.read("runs/1/status.json").unwrap(), None);
    }
}
