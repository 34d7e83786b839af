//! Commands and git: they may commit, and may not plant anything that git runs for whoever calls it outside.

use super::stage::{SANDBOXES, Stage, Way};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

/// The boxes in which a command can commit.
const COMMITTING: [Way; 2] = [Way::Bubblewrap, Way::Landlock];

/// Calls git as a person does, outside of any box.
fn git(stage: &Stage, line: &str) -> String {
    let mut git = Command::new("git");
    git.args(line.split(' ')).current_dir(stage.path("")).env_clear();
    git.env("PATH", std::env::var("PATH").unwrap()).env("HOME", stage.path("../home"));
    let output = git.output().unwrap();
    assert!(output.status.success(), "git {line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Makes the workspace a repository with one commit.
fn commit_first(stage: &Stage, init: &str) {
    git(stage, init);
    for line in ["config user.name n", "config user.email n@example.org", "add src", "commit -qm first"] {
        git(stage, line);
    }
}

/// A repository with a submodule's own one, and with a second working tree in the folder `tree`.
fn repository(way: Way) -> Stage {
    let stage = Stage::new(way);
    commit_first(&stage, "init -qb main");
    git(&stage, "worktree add -q tree");
    fs::create_dir_all(stage.path(".git/modules/sub")).unwrap();
    fs::write(stage.path(".git/modules/sub/config"), "[core]\n\tbare = false\n").unwrap();
    fs::write(stage.path(".git/hooks/pre-commit"), "#!/bin/sh\necho the hook\n").unwrap();
    fs::set_permissions(stage.path(".git/hooks/pre-commit"), fs::Permissions::from_mode(0o755)).unwrap();
    stage
}

/// Everything that git obeys: files by their text, links by where they lead. A configuration that is empty counts for none.
fn obeyed(stage: &Stage) -> BTreeMap<String, String> {
    fn look(path: &Path, seen: &mut BTreeMap<String, String>) {
        let Ok(kind) = fs::symlink_metadata(path).map(|metadata| metadata.file_type()) else { return };
        let name = path.display().to_string();
        if kind.is_dir() {
            fs::read_dir(path).unwrap().for_each(|entry| look(&entry.unwrap().path(), seen));
        } else if kind.is_symlink() {
            seen.insert(name, fs::read_link(path).unwrap().display().to_string());
        } else {
            seen.insert(name, fs::read_to_string(path).unwrap());
        }
    }
    let mut seen = BTreeMap::new();
    for path in ["config", "config.worktree", "hooks", "commondir", "modules"] {
        look(&stage.path(".git").join(path), &mut seen);
    }
    for path in ["commondir", "config.worktree"] {
        look(&stage.path(".git/worktrees/tree").join(path), &mut seen);
    }
    seen.retain(|name, text| !text.is_empty() || !name.contains("/config"));
    seen
}

/// Every way to it that we know of. `$evil` is a command that leaves a trace outside.
const PLANTING: [&str; 17] = [
    "printf '#!/bin/sh\n%s' \"$evil\" > .git/hooks/post-checkout; chmod 755 .git/hooks/post-checkout",
    "echo \"$evil\" >> .git/hooks/pre-commit; rm .git/hooks/pre-commit; touch .git/hooks/new",
    "git config core.fsmonitor \"$evil\"",
    "printf '[core]\n\tfsmonitor = \"%s\"\n' \"$evil\" > src/c; cat src/c >> .git/config; cp src/c .git/config; mv src/c .git/config",
    "cp src/lib.rs .git/config.lock; mv .git/config.lock .git/config; rm -f .git/config.lock",
    "rm -rf .git/hooks .git/config; mkdir .git/hooks; printf '[core]\n\tfsmonitor = \"%s\"\n' \"$evil\" > .git/config",
    "mv .git/hooks .git/old; cp -r .git/old .git/hooks; touch .git/hooks/new",
    "mv .git x && cp -r x .git; git config core.fsmonitor \"$evil\"; rm -rf x",
    "mv .git src/x && cp -r src/x .git; git config core.fsmonitor \"$evil\"",
    "printf '[core]\n\tfsmonitor = \"%s\"\n' \"$evil\" > .git/config.worktree; git config extensions.worktreeConfig true",
    "cp -r .git/. src/fake; git config -f src/fake/config core.fsmonitor \"$evil\"; echo ../src/fake > .git/commondir",
    "rm -f .git/commondir; ln -s ../src/fake/commondir .git/commondir; echo ../fake > src/fake/commondir",
    "git config -f .git/modules/sub/config core.fsmonitor \"$evil\"; mv .git/modules .git/m; cp -r .git/m .git/modules; \
     touch .git/modules/sub/new",
    "echo ../../../src/fake > .git/worktrees/tree/commondir; mv .git/worktrees/tree .git/worktrees/t; \
     mv .git/worktrees .git/w; cp -r .git/w .git/worktrees; touch .git/worktrees/tree/config.worktree; \
     git config -f .git/worktrees/tree/config.worktree core.fsmonitor \"$evil\"",
    "ln .git/config src/hard; ln .git/hooks/pre-commit src/hook; echo \"$evil\" >> src/hard; echo \"$evil\" >> src/hook",
    "umount .git/config; umount -l .git; mount -o remount,rw,bind .git/config; unshare -Urm sh -c 'umount .git/config; \
     umount -l .git; mount -o remount,rw,bind .git/config; mount --bind . /tmp; git -C /tmp config core.fsmonitor \"$evil\"; \
     git config core.fsmonitor \"$evil\"'",
    "(sleep 0.1; echo ../src/fake > .git/commondir) & exec 3<.git; echo \"$evil\" > /proc/self/fd/3/hooks/new; sleep 0.2",
];

#[tokio::test]
async fn no_command_plants_what_git_runs() {
    for way in SANDBOXES {
        let stage = repository(way);
        if !stage.works().await {
            continue;
        }
        let (before, trace) = (obeyed(&stage), stage.around.path().join("trace"));
        let evil = format!("evil='touch {}; false'; export evil; ", trace.display());
        for planting in PLANTING {
            let output = stage.run(&format!("{evil}{planting}")).await;
            assert_eq!(obeyed(&stage), before, "{way:?} {planting}: {}", output.text);
        }
        git(&stage, "status");
        git(&stage, "-C tree status");
        git(&stage, "checkout -qb person");
        assert!(!trace.exists(), "{way:?}");
        // What is lost then is the command's own work: nothing else comes to stand in the place of what git obeys.
        let output = stage
            .run(&format!("{evil}cp -r .git src/copy; rm -rf .git; mv src/copy .git; echo \"$evil\" >> .git/config"))
            .await;
        assert_eq!(obeyed(&stage), before, "{way:?}: {}", output.text);
    }
}

/// What is not there yet cannot be made either.
#[tokio::test]
async fn what_a_repository_lacks_is_not_planted() {
    for way in SANDBOXES {
        let stage = Stage::new(way);
        commit_first(&stage, "init -qb main --template=");
        if !stage.works().await {
            continue;
        }
        fs::remove_file(stage.path(".git/config")).unwrap();
        fs::remove_dir_all(stage.path(".git/hooks")).ok();
        let command =
            "mkdir .git/hooks; for f in config config.worktree commondir hooks/pre-commit; do echo x > .git/$f; done";
        stage.run(command).await;
        assert_eq!(obeyed(&stage), BTreeMap::new(), "{way:?}");
        assert_eq!(
            git(&stage, "log --format=%s"),
            "first\n",
            "{way:?}: git makes do with what was made in their place"
        );
    }
}

#[tokio::test]
async fn commands_commit_and_branch() {
    for way in COMMITTING {
        let stage = repository(way);
        if !stage.works().await {
            continue;
        }
        let output = stage
            .run(
                "git checkout -qb topic && echo more > src/new && git add src && git commit -qm second && git branch other \
                 && git tag one && echo again > src/new && git stash -q && git stash pop -q && git commit -qam third \
                 && git merge -q main && git gc -q && git branch -qd other && git log --format=%s && git status --short src",
            )
            .await;
        assert!(output.text.starts_with("Exit code: 0\n\nstdout:\nthird\nsecond\nfirst"), "{way:?}: {}", output.text);
        assert!(output.text.contains("the hook"), "{way:?}: hooks that are there count: {}", output.text);
        let output = stage.run("cd tree && echo more > src/new && git add src && git commit -qm tree").await;
        assert!(output.text.starts_with("Exit code: 0"), "{way:?}: {}", output.text);
        assert_eq!(git(&stage, "log --format=%s topic"), "third\nsecond\nfirst\n", "{way:?}");
        assert_eq!(git(&stage, "log --format=%s refs/heads/tree"), "tree\nfirst\n", "{way:?}");
        git(&stage, "fsck");
    }
}

/// Without namespaces nothing can be taken out of a folder that is granted: git only looks.
#[tokio::test]
async fn without_namespaces_a_repository_is_only_read() {
    let stage = repository(Way::LandlockAlone);
    if !stage.works().await {
        return;
    }
    let output =
        stage.run("git log --format=%s; git status --short; echo more >> src/lib.rs; git commit -qam second").await;
    assert!(output.text.contains("stdout:\nfirst"), "{}", output.text);
    assert_eq!(git(&stage, "log --format=%s"), "first\n");
    assert_eq!(fs::read_to_string(stage.path("src/lib.rs")).unwrap(), "insidemore\n");
}

#[tokio::test]
async fn a_file_that_names_a_repository_stays_what_it_is() {
    for way in SANDBOXES {
        let stage = Stage::new(way);
        fs::create_dir(stage.path("deep")).unwrap();
        commit_first(&stage, "init -qb main --separate-git-dir deep/repo");
        if !stage.works().await {
            continue;
        }
        let pointer = fs::read_to_string(stage.path(".git")).unwrap();
        let config = fs::read_to_string(stage.path("deep/repo/config")).unwrap();
        for command in [
            "cp -r deep/repo src/fake; echo 'gitdir: src/fake' > .git; rm .git; mv .git src/g; echo 'gitdir: src/fake' > .git",
            "echo x >> deep/repo/config; mv deep d; cp -r d deep; echo x >> deep/repo/config",
            "mv deep/repo deep/r; cp -r deep/r deep/repo; echo x >> deep/repo/config; echo ../../src > deep/repo/commondir",
        ] {
            let output = stage.run(command).await;
            assert_eq!(fs::read_to_string(stage.path(".git")).unwrap(), pointer, "{way:?} {command}: {}", output.text);
            let now = fs::read_to_string(stage.path("deep/repo/config")).unwrap();
            assert_eq!(now, config, "{way:?} {command}: {}", output.text);
            assert!(!stage.path("deep/repo/commondir").exists(), "{way:?} {command}");
        }
        if COMMITTING.contains(&way) {
            let output = stage.run("git commit -q --allow-empty -m second").await;
            assert!(output.text.starts_with("Exit code: 0"), "{way:?}: {}", output.text);
        }
    }
}

/// A link cannot be held, and so all of the repository is.
#[tokio::test]
async fn hooks_behind_a_link_close_the_whole_repository() {
    for way in SANDBOXES {
        let stage = repository(way);
        fs::rename(stage.path(".git/hooks"), stage.path("src/hooks")).unwrap();
        symlink("../src/hooks", stage.path(".git/hooks")).unwrap();
        let config = fs::read_to_string(stage.path(".git/config")).unwrap();
        if !stage.works().await {
            continue;
        }
        let output = stage.run("git log --format=%s; rm .git/hooks; mkdir .git/hooks; echo x >> .git/config").await;
        assert!(output.text.contains("stdout:\nfirst"), "{way:?}: {}", output.text);
        assert_eq!(fs::read_link(stage.path(".git/hooks")).unwrap(), Path::new("../src/hooks"), "{way:?}");
        assert_eq!(fs::read_to_string(stage.path(".git/config")).unwrap(), config, "{way:?}");
    }
}

/// A project without a repository may get one.
#[tokio::test]
async fn a_repository_can_be_made() {
    for way in COMMITTING {
        let stage = Stage::new(way);
        if !stage.works().await {
            continue;
        }
        let output =
            stage.run("git init -q && git -c user.name=n -c user.email=n commit -q --allow-empty -m first").await;
        assert!(output.text.starts_with("Exit code: 0"), "{way:?}: {}", output.text);
        let output = stage.run("git config core.fsmonitor evil").await;
        assert!(!output.text.starts_with("Exit code: 0"), "{way:?}: from then on it is held: {}", output.text);
    }
}

/// One that takes paths only is not given any of a repository.
#[tokio::test]
async fn an_old_bubblewrap_shows_no_repository() {
    if !Stage::new(Way::Bubblewrap).works().await {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let old =
        "#!/bin/sh\ncase \"$*\" in *-bind-fd*) echo unknown >&2; exit 1;; esac\nexec /usr/bin/env -- bwrap \"$@\"\n";
    let path = std::env::var("PATH").unwrap();
    let old = old.replace("env -- bwrap", &format!("env PATH='{path}' bwrap"));
    fs::write(folder.path().join("bwrap"), old).unwrap();
    fs::set_permissions(folder.path().join("bwrap"), fs::Permissions::from_mode(0o755)).unwrap();
    let stage = Stage::with(Way::Bubblewrap, |settings| {
        settings.variables.insert("PATH".to_owned(), format!("{}:{path}", folder.path().display()));
    });
    commit_first(&stage, "init -qb main");
    let config = fs::read_to_string(stage.path(".git/config")).unwrap();
    let output = stage.run("ls -A .git; echo x >> .git/config; mv .git x; echo here > src/made").await;
    assert!(!output.text.contains("stdout"), "{}", output.text);
    assert_eq!(fs::read_to_string(stage.path(".git/config")).unwrap(), config);
    assert_eq!(fs::read_to_string(stage.path("src/made")).unwrap(), "here\n");
    assert_eq!(git(&stage, "log --format=%s"), "first\n");
}
