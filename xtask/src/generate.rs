//! `cargo x gen`: writes the files that a program of ours prints.

use crate::{failure::Failure, step::program};
use std::{fs, path::Path};

#[derive(Debug, Clone, Copy)]
struct Generated {
    file: &'static str,
    /// Run at the root; what it prints is the file.
    command: &'static [&'static str],
}

/// One line each, for example:
/// `Generated { file: "docs/cli.md", command: &["cargo", "run", "-q", "-p", "entourage", "--", "gen-docs"] }`
const GENERATED: &[Generated] = &[];

pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    if GENERATED.is_empty() {
        eprintln!("nothing to generate");
    }
    GENERATED.iter().try_for_each(|generated| write(root, generated))
}

/// The file is only touched when the program ended well.
fn write(root: &Path, generated: &Generated) -> Result<(), Failure> {
    let failure = |fault: String| Failure::new(format!("cannot generate `{}`: {fault}", generated.file));
    let output = program(generated.command).current_dir(root).output().map_err(|fault| failure(fault.to_string()))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(failure(format!("{}\n{words}", output.status)).code(output.status.code()));
    }
    fs::write(root.join(generated.file), &output.stdout).map_err(|fault| failure(fault.to_string()))?;
    eprintln!("wrote {}", generated.file);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_prints_is_the_file_and_a_failed_one_leaves_it_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path();
        write(folder, &Generated { file: "page.md", command: &["echo", "words"] }).expect("`echo` ends well");
        let failed = write(folder, &Generated { file: "page.md", command: &["sh", "-c", "echo bad; exit 3"] });
        assert_eq!(failed.expect_err("3 is not success").code, 3);
        assert_eq!(fs::read_to_string(folder.join("page.md")).expect("it was written"), "words\n");
    }
}
