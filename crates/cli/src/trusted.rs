//! The projects that the user trusts: a list of folders in the user's own configuration, which only its owner reads.

use crate::environment;
use crate::failure::{Exit, Failure};
use crate::project::{self, shown};
use cap_std::fs::Dir;
use entourage_declare::FILE_BYTES_MAX;
use entourage_model::{Place, Report};
use entourage_outside::private_file;
use std::io;
use std::path::{Path, PathBuf};

const NAME: &str = "trusted";

/// Whether this folder is on the list. One that cannot be read trusts nobody.
pub(crate) fn contains(folder: &Path) -> bool {
    let Ok(folder) = std::fs::canonicalize(folder) else { return false };
    read().is_ok_and(|list| list.iter().any(|line| Path::new(line) == folder))
}

/// Puts a folder on the list or takes it off, and returns what it is really called.
pub(crate) fn set(folder: &Path, is_trusted: bool) -> Result<String, Failure> {
    let name = really(folder).map_err(|fault| {
        let what = format!("the folder `{}` cannot be trusted: {fault}", folder.display());
        Failure::usage(Report::error("C052", what).hint("give an existing folder"))
    })?;
    let change = || {
        let mut list = read()?;
        list.retain(|line| *line != name);
        list.extend(is_trusted.then(|| name.clone()));
        write(&list)
    };
    match change() {
        Ok(()) => Ok(name),
        Err(fault) => {
            let report = Report::error("C053", format!("the list of trusted projects cannot be changed: {fault}"));
            let place = file().ok().map(|path| Place::file(shown(&path)));
            Err(Failure::new(Exit::File, Report { place, ..report }))
        }
    }
}

/// A project cannot come to be trusted by a link, or by a name that reads as two.
fn really(folder: &Path) -> io::Result<String> {
    let path = std::fs::canonicalize(folder)?;
    if !path.is_dir() {
        return Err(io::Error::other("it is no folder"));
    }
    let name = path.into_os_string().into_string().ok().filter(|name| !name.contains(['\n', '\r']));
    name.ok_or_else(|| io::Error::other("its name is not one line of UTF-8"))
}

fn file() -> io::Result<PathBuf> {
    let settings = environment::config_file().ok_or_else(|| io::Error::other("there is no home folder"))?;
    Ok(settings.with_file_name(NAME))
}

fn read() -> io::Result<Vec<String>> {
    match project::read_outside(&file()?, FILE_BYTES_MAX).and_then(project::text) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(fault) => Err(fault),
    }
}

fn write(list: &[String]) -> io::Result<()> {
    let file = file()?;
    let folder = file.parent().ok_or_else(|| io::Error::other("there is no folder for it"))?;
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    let folder = Dir::open_ambient_dir(folder, cap_std::ambient_authority())?;
    private_file::write(&folder, NAME, &list.iter().map(|line| format!("{line}\n")).collect::<String>())
}
