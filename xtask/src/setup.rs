//! `cargo x setup`: the system packages that tests need, installed when we are root, named when we are not; and the
//! Python packages, in a folder of their own beneath `target`.

use crate::{
    failure::Failure,
    step::{Step, program, succeeds},
};
use std::path::Path;

/// A Debian package and the shell line that succeeds when it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Need {
    package: &'static str,
    probe: &'static str,
    why: &'static str,
}

const NEEDS: &[Need] = &[
    Need { package: "bubblewrap", probe: "bwrap --version", why: "the sandbox of the shell tool" },
    Need {
        package: "default-jdk-headless",
        probe: "javac -version",
        why: "the client on the JVM that plays the remote task protocol",
    },
    Need {
        package: "docker-registry",
        probe: "command -v docker-registry || command -v registry",
        why: "the registry that artifacts are pushed to and pulled from",
    },
    Need { package: "git", probe: "git --version", why: "the commits of agents" },
    Need {
        package: "pgbouncer",
        probe: "PATH=$PATH:/usr/sbin pgbouncer --version",
        why: "the transaction pooler before the store of many nodes",
    },
    Need {
        package: "postgresql",
        probe: "command -v postgres || ls /usr/lib/postgresql/*/bin/postgres",
        why: "the store of many nodes",
    },
    Need {
        package: "python3-venv",
        probe: "python3 -m ensurepip --version",
        why: "what comes from Python's registry: the client that fuzzes the API, the official SDK of the Model Context \
              Protocol, and a server that speaks like S3",
    },
];

/// The folder of the Python packages, and those.
const PYTHON: &str = "target/python";
const PYTHON_PACKAGES: &str = "mcp==2.3.0 moto[s3]==5.2.5 flask==3.1.3 flask-cors==6.0.5";

const INSTALL: &str = "apt-get install -y --no-install-recommends";

pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    install_packages()?;
    install_python(root)
}

/// A folder with other packages than these is filled again.
fn install_python(root: &Path) -> Result<(), Failure> {
    let python = root.join(PYTHON).join("bin/python").display().to_string();
    if succeeds(&[&python, "-c", &probe(PYTHON_PACKAGES)]) {
        return Ok(());
    }
    for (name, command) in [
        ("a folder for Python", format!("python3 -m venv {PYTHON}")),
        ("Python packages", format!("{python} -m pip install --quiet {PYTHON_PACKAGES}")),
    ] {
        Step::new(name, &command).run(root)?;
    }
    Ok(())
}

/// What Python runs to its end only if these packages are there, in these versions.
fn probe(packages: &str) -> String {
    let plain = |package: &str| {
        let (name, version) = package.split_once("==").expect("a package is pinned");
        format!("assert m.version('{}') == '{version}'", name.split('[').next().unwrap_or(name))
    };
    let asserts: Vec<String> = packages.split(' ').map(plain).collect();
    format!("import importlib.metadata as m; {}", asserts.join("; "))
}

fn install_packages() -> Result<(), Failure> {
    let is_there = |need: &Need| succeeds(&["sh", "-c", need.probe]);
    let missing = missing(NEEDS, is_there);
    if missing.is_empty() {
        eprintln!("set up: nothing is missing ({} packages needed)", NEEDS.len());
        return Ok(());
    }
    if !is_root() {
        return Err(ask_for(&missing));
    }
    install(&missing)?;
    let still: Vec<Need> = missing.into_iter().filter(|need| !is_there(need)).collect();
    match still.as_slice() {
        [] => Ok(()),
        [need, ..] => {
            Err(Failure::new(format!("package `{}` is installed, but `{}` still fails", need.package, need.probe)))
        }
    }
}

fn missing(needs: &[Need], is_there: impl Fn(&Need) -> bool) -> Vec<Need> {
    needs.iter().copied().filter(|need| !is_there(need)).collect()
}

fn is_root() -> bool {
    program(&["id", "-u"]).output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn ask_for(missing: &[Need]) -> Failure {
    let reasons: Vec<String> = missing.iter().map(|need| format!("\n  {}: {}", need.package, need.why)).collect();
    Failure::new(format!("the tests need packages that are not here:{}", reasons.concat()))
        .hint(format!("sudo {INSTALL} {}", packages(missing)))
}

fn install(missing: &[Need]) -> Result<(), Failure> {
    for (name, command) in
        [("package lists", "apt-get update".to_owned()), ("packages", format!("{INSTALL} {}", packages(missing)))]
    {
        let command = format!("env DEBIAN_FRONTEND=noninteractive {command}");
        Step::new(name, &command).run(Path::new("/")).map_err(|failure| failure.hint(ask_for(missing).what))?;
    }
    Ok(())
}

fn packages(needs: &[Need]) -> String {
    needs.iter().map(|need| need.package).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Need = Need { package: "here", probe: "true", why: "it is always there" };
    const AWAY: Need = Need { package: "away", probe: "false", why: "the far tests" };

    #[test]
    fn only_what_a_probe_does_not_find_is_missing() {
        let missing = missing(&[HERE, AWAY], |need| succeeds(&["sh", "-c", need.probe]));
        assert_eq!(missing, [AWAY]);
    }

    #[test]
    fn python_is_asked_for_every_package_by_its_version() {
        let expected = "import importlib.metadata as m; assert m.version('a') == '1'; assert m.version('b-c') == '2.0'";
        assert_eq!(probe("a==1 b-c[d]==2.0"), expected);
    }

    #[test]
    fn who_is_not_root_is_told_exactly_what_to_install_and_why() {
        let failure = ask_for(&[AWAY, HERE]);
        assert_eq!(failure.code, 1);
        assert!(failure.what.contains("away: the far tests"), "{failure}");
        assert_eq!(failure.hint.as_deref(), Some("sudo apt-get install -y --no-install-recommends away here"));
    }
}
