//! The key to the server, in a file that only its owner can read.

use crate::failure::{Exit, Failure};
use crate::project::Project;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use entourage_model::{Place, Report};
use entourage_serve::Token;
use std::io::{self, Read as _, Write as _};

const NAME: &str = "token";
const BYTES_MAX: u64 = 4096;

pub(crate) fn exists(project: &Project) -> bool {
    folder(project).is_ok_and(|folder| folder.metadata(NAME).is_ok_and(|found| found.is_file()))
}

/// The token, made if there is none.
pub(crate) fn open(project: &Project) -> Result<Token, Failure> {
    let found = folder(project).and_then(|folder| match read(&folder) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => make(&folder),
        read => read,
    });
    found.map_err(|fault| {
        let report = Report::error("C038", format!("the token cannot be used: {fault}"));
        Failure::new(Exit::File, report.at(Place::file(project.data.join(NAME).display().to_string())))
    })
}

fn folder(project: &Project) -> io::Result<Dir> {
    Dir::open_ambient_dir(&project.data, cap_std::ambient_authority())
}

fn read(folder: &Dir) -> io::Result<Token> {
    let mut text = String::new();
    folder.open(NAME)?.take(BYTES_MAX).read_to_string(&mut text)?;
    Token::parse(&text).ok_or_else(|| io::Error::other("it must be one line of at least 16 characters"))
}

/// Written whole under another name first, so that nobody ever reads half of it.
fn make(folder: &Dir) -> io::Result<Token> {
    const DRAFT: &str = "token.new";
    let token = generate()?;
    match folder.remove_file(DRAFT) {
        Err(fault) if fault.kind() != io::ErrorKind::NotFound => return Err(fault),
        Ok(()) | Err(_) => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    writeln!(folder.open_with(DRAFT, &options)?, "{}", token.reveal())?;
    folder.rename(DRAFT, folder, NAME)?;
    Ok(token)
}

#[expect(clippy::disallowed_methods, reason = "the system's own source of randomness is a file")]
fn generate() -> io::Result<Token> {
    Token::generate(std::fs::File::open("/dev/urandom")?)
}
