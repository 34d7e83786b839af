//! Small files in the data folder that only their owner can read.

use crate::failure::{Exit, Failure};
use crate::project::Project;
use cap_std::fs::Dir;
use entourage_model::{Place, Report};
use entourage_outside::private_file;
use std::io::{self, Read as _};

const BYTES_MAX: u64 = 64 << 10;

pub(crate) fn exists(project: &Project, name: &str) -> bool {
    folder(project).is_ok_and(|folder| folder.metadata(name).is_ok_and(|found| found.is_file()))
}

/// What `parse` makes of the file's text. Where there is no file, one is made with what `generate` gives; of two who do so
/// in one instant both are given what lies there then.
pub(crate) fn open<T>(
    project: &Project,
    name: &str,
    generate: impl FnOnce() -> io::Result<String>,
    parse: impl FnOnce(&str) -> io::Result<T>,
) -> Result<T, Failure> {
    let text = folder(project).and_then(|folder| match read(&folder, name) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => {
            private_file::create(&folder, name, &format!("{}\n", generate()?))?;
            read(&folder, name)
        }
        read => read,
    });
    text.and_then(|text| parse(&text)).map_err(|fault| {
        let report = Report::error("C038", format!("the {name} cannot be used: {fault}"));
        Failure::new(Exit::File, report.at(Place::file(project.data.join(name).display().to_string())))
    })
}

/// Takes a file away that was made in vain.
pub(crate) fn remove(project: &Project, name: &str) {
    if let Err(fault) = folder(project).and_then(|folder| folder.remove_file(name)) {
        tracing::warn!("the {name} that was just made cannot be removed: {fault}");
    }
}

/// Bytes that nobody can guess.
#[expect(clippy::disallowed_methods, reason = "the system's own source of randomness is a file")]
pub(crate) fn randomness() -> io::Result<impl io::Read> {
    std::fs::File::open("/dev/urandom")
}

fn folder(project: &Project) -> io::Result<Dir> {
    Dir::open_ambient_dir(&project.data, cap_std::ambient_authority())
}

fn read(folder: &Dir, name: &str) -> io::Result<String> {
    let mut text = String::new();
    folder.open(name)?.take(BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// Writes a file of one line, which only its owner can read.
pub(crate) fn make(folder: &Dir, name: &str, text: &str) -> io::Result<String> {
    private_file::write(folder, name, &format!("{text}\n"))?;
    Ok(text.to_owned())
}
