//! What a command in a sandbox can reach, and what it cannot.

use super::stage::{OWN_VARIABLE, SANDBOXES, SECRET, Stage, Way};
use entourage_outside::tool::ShellSettings;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::symlink;
use std::sync::Arc;

#[tokio::test]
async fn the_workspace_can_be_changed_as_one_likes() {
    // Without namespaces nothing new can be made beside the closed folder, but everything further down.
    for (way, folder) in [(Way::Bubblewrap, "."), (Way::Landlock, "."), (Way::LandlockAlone, "src")] {
        let stage = Stage::new(way);
        if !stage.works().await {
            continue;
        }
        let command = format!(
            "cd {folder} && mkdir -p a/b && echo new > a/b/f && cat a/b/f && mv a/b/f g && rm -r a && ln -s g h && cat h \
             && sed -i s/new/newer/ g && cat g && echo x > $TMPDIR/t && cat $TMPDIR/t && echo done > /dev/null && pwd -P"
        );
        let command = if way == Way::Bubblewrap { format!("TMPDIR=/tmp; {command}") } else { command };
        let output = stage.run(&command).await;
        let place = fs::canonicalize(stage.path(folder)).unwrap();
        let expected = format!("Exit code: 0\n\nstdout:\nnew\nnew\nnewer\nx\n{}", place.display());
        assert_eq!(output.text, expected, "{way:?}");
        assert_eq!(fs::read_to_string(stage.path(folder).join("g")).unwrap(), "newer\n");
    }
}

#[tokio::test]
async fn nothing_outside_is_read_or_changed() {
    for way in SANDBOXES {
        let stage = Stage::new(way);
        if !stage.works().await {
            continue;
        }
        symlink("../secret.txt", stage.path("src/out")).unwrap();
        symlink("../.own/token", stage.path("src/own")).unwrap();
        symlink("../secret.txt", stage.path("out")).unwrap();
        symlink("..", stage.path("up")).unwrap();
        let around = stage.around.path().to_str().unwrap().to_owned();
        for command in [
            format!(
                "cat ../secret.txt {around}/secret.txt src/out out up/secret.txt /proc/self/root{around}/secret.txt"
            ),
            format!(
                "ln ../secret.txt src/a; ln {around}/secret.txt src/b; ln -L out src/c; cat src/a src/b src/c; echo x > src/a"
            ),
            "cat .own/token src/own src/../.own/token; cat < .own/token; cp .own/token src/copy; cat src/copy"
                .to_owned(),
            "ln .own/token src/hard; cat src/hard; mv .own moved; cat moved/token; cp -r .own src/all; cat src/all/*"
                .to_owned(),
            "cat ~/.ssh/id $HOME/.ssh/id; grep -r 7c1f $HOME .own".to_owned(),
            format!(
                "echo changed > ../secret.txt; echo changed > {around}/secret.txt; echo changed > src/out; echo changed > out"
            ),
            "echo changed > .own/token; echo changed > src/own; rm -rf .own; touch .own/new".to_owned(),
            format!("touch {around}/made ../made ~/made /etc/made-by-a-test /usr/made-by-a-test; rm -f ../secret.txt"),
            "env; cat /proc/*/environ | tr '\\0' '\\n'".to_owned(),
        ] {
            let output = stage.run(&command).await;
            assert!(!output.text.contains(SECRET), "{way:?} {command}: {}", output.text);
            assert!(!output.text.contains(OWN_VARIABLE), "{way:?} {command}: {}", output.text);
        }
        for path in ["../secret.txt", ".own/token", "../home/.ssh/id"] {
            assert_eq!(fs::read_to_string(stage.path(path)).unwrap(), SECRET, "{way:?} {path}");
        }
        for path in ["../made", "../home/made", ".own/new", "/etc/made-by-a-test", "/usr/made-by-a-test"] {
            assert!(!stage.path(path).exists(), "{way:?} {path}");
        }
    }
}

#[tokio::test]
async fn what_is_closed_stays_so_where_the_folders_above_it_are_moved() {
    for way in SANDBOXES {
        let stage = Stage::closing(way, "state/deep/own");
        if !stage.works().await {
            continue;
        }
        for command in [
            "mv state moved; cat moved/deep/own/token; mv state/deep state/other; cat state/other/own/token",
            "cat moved/deep/own/token state/other/own/token state/deep/own/token; ls state/deep/own",
        ] {
            let output = stage.run(command).await;
            assert!(!output.text.contains(SECRET), "{way:?} {command}: {}", output.text);
        }
        assert_eq!(fs::read_to_string(stage.path("state/deep/own/token")).unwrap(), SECRET, "{way:?}");
    }
}

#[tokio::test]
async fn the_temporary_folder_is_the_commands_own() {
    for way in SANDBOXES {
        let stage = Stage::new(way);
        if !stage.works().await {
            continue;
        }
        let name = format!("entourage-test-{:016x}", fastrand::u64(..));
        let path = std::env::temp_dir().join(&name);
        fs::write(&path, SECRET).unwrap();
        let output = stage.run(&format!("cat /tmp/{name}; echo changed > /tmp/{name}; touch /tmp/{name}-made")).await;
        let (after, made) = (fs::read_to_string(&path).unwrap(), path.with_file_name(format!("{name}-made")).exists());
        fs::remove_file(&path).unwrap();
        assert!(!output.text.contains(SECRET), "{way:?}: {}", output.text);
        assert_eq!((after.as_str(), made), (SECRET, false), "{way:?}");
        stage.run("echo x > ${TMPDIR:-/tmp}/left").await;
        let output = stage.run("cat ${TMPDIR:-/tmp}/left").await;
        assert!(output.text.starts_with("Exit code: 1"), "{way:?}: {}", output.text);
    }
}

#[tokio::test]
async fn there_is_no_network_unless_it_is_allowed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let (tcp, udp) = (listener.local_addr().unwrap().port(), socket.local_addr().unwrap().port());
    let command = format!(
        "bash -c 'echo sent > /dev/udp/127.0.0.1/{udp}'; bash -c 'echo sent > /dev/tcp/127.0.0.1/{tcp}' && echo connected"
    );
    for way in SANDBOXES {
        for network in [false, true] {
            let stage = Stage::with(way, |settings| settings.network = network);
            if !stage.works().await {
                continue;
            }
            let output = stage.run(&command).await;
            assert_eq!(output.text.contains("connected"), network, "{way:?}: {}", output.text);
            let mut bytes = [0; 16];
            assert_eq!(socket.recv(&mut bytes).is_ok(), network, "{way:?}: {}", output.text);
        }
    }
}

/// The settings choose, and `auto` takes what works.
#[tokio::test]
async fn auto_finds_a_sandbox() {
    let stage = Stage::with(Way::Nothing, |settings| settings.sandbox = entourage_outside::sandbox::SandboxWish::Auto);
    if stage.works().await {
        let output = stage.run("cat ../secret.txt .own/token; echo here").await;
        assert!(output.text.contains("stdout:\nhere"), "{}", output.text);
        assert!(!output.text.contains(SECRET), "{}", output.text);
    }
}

/// What is run before a command is found outside the workspace.
#[tokio::test]
async fn a_bwrap_of_the_project_is_not_trusted() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Stage::new(Way::Bubblewrap);
    let fake = project.path("bwrap");
    fs::write(&fake, format!("#!/bin/sh\ntouch {}\nexit 0\n", project.path("fooled").display())).unwrap();
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    let search = project.path("").display().to_string();
    let mut stage = Stage::with(Way::Bubblewrap, |settings| {
        let own = ShellSettings::new(1 << 30, |name| (name == "PATH").then(|| search.clone()));
        *settings = ShellSettings { sandbox: settings.sandbox, keeper: settings.keeper.clone(), ..own };
    });
    stage.caller.workspace = Arc::clone(&project.caller.workspace);
    let output = stage.run("true").await;
    assert!(output.text.contains("`bwrap` is not installed"), "{}", output.text);
    assert!(!project.path("fooled").exists());
}
